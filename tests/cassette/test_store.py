"""The store: replies kept, and no program in a database ever run."""

from __future__ import annotations

import gc
import os
import pickle  # noqa: TID251 - to make what must never be read
import re
import sqlite3
import struct
import subprocess
import threading
from pathlib import Path

import pytest

from judgekit.cassette import store as module
from judgekit.cassette.cassette import Cassette
from judgekit.cassette.store import Store, store_folder
from judgekit.core.errors import CassetteCorrupt, CassetteError
from judgekit.judges.fake import FakeJudge

KEY = "a" * 64


@pytest.fixture
def folder(tmp_path):
    """Make a store with one reply in it, and return its folder."""
    folder = tmp_path / "store"
    store = Store(folder)
    store.put(KEY, "kept")
    store.close()
    return folder


@pytest.fixture
def change(folder):
    """Change the database behind the store's back."""

    def run(*statements):
        connection = sqlite3.connect(folder / "cache.db", isolation_level=None)
        for statement in statements:
            connection.execute(*(statement if isinstance(statement, tuple) else (statement,)))
        connection.close()

    return run


class Payload:
    """What must never be unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


INSERT = (
    "INSERT INTO Cache(key, raw, store_time, expire_time, access_time, size, mode, filename, value)"
    " VALUES (?, ?, 0, ?, 0, 0, ?, ?, ?)"
)


def test_what_is_put_is_got_again(folder):
    store = Store(folder)

    assert (store.get(KEY), store.get("b" * 64), list(store.keys())) == ("kept", None, [KEY])
    assert len(store) == 1
    assert folder.stat().st_mode & 0o777 == 0o700
    store.close()


def test_the_folder_is_made_private_again(folder):
    folder.chmod(0o755)
    Store(folder).close()

    assert folder.stat().st_mode & 0o777 == 0o700


def test_only_text_goes_in(folder):
    store = Store(folder)

    for key, value in ((1, "x"), ("k", b"x"), ("k", 1), ("k", None), (("k",), "x")):
        with pytest.raises(TypeError):
            store.put(key, value)
    store.close()


# -- rows that diskcache would run, read or delete ----------------------------------------


def test_a_pickled_value_is_refused(folder, change, tmp_path):
    mark = tmp_path / "mark"
    bad = "b" * 64
    change((INSERT, (bad, 1, None, 4, None, pickle.dumps(Payload(mark)))))
    store = Store(folder)

    with pytest.raises(CassetteCorrupt, match="a row judgekit did not write; delete the folder"):
        store.get(bad)

    assert store.get(KEY) == "kept"
    assert not mark.exists()
    store.close()


def test_a_pickled_key_is_refused(folder, change, tmp_path):
    mark = tmp_path / "mark"
    change((INSERT, (pickle.dumps(Payload(mark)), 0, None, 1, None, "x")))
    store = Store(folder)

    with pytest.raises(CassetteCorrupt):
        list(store.keys())

    assert not mark.exists()
    store.close()


@pytest.mark.parametrize("mode", [1, 2, 3, 4, 99])
def test_a_file_outside_is_not_read(folder, change, tmp_path, mode):
    (tmp_path / "victim").write_text("SECRET")
    bad = "b" * 64
    change((INSERT, (bad, 1, None, mode, "../victim", None)))
    store = Store(folder)

    with pytest.raises(CassetteCorrupt) as caught:
        store.get(bad)

    assert "SECRET" not in str(caught.value)
    store.close()


def test_a_file_outside_is_not_deleted(folder, change, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("SECRET")
    for number in range(30):
        change((INSERT, (f"{number:064}", 1, 1.0, 1, "../victim", None)))
    change("UPDATE Settings SET value = 10 WHERE key = 'cull_limit'")
    change("UPDATE Settings SET value = 1 WHERE key = 'size_limit'")
    change("UPDATE Settings SET value = 'least-recently-stored' WHERE key = 'eviction_policy'")
    store = Store(folder)
    for number in range(30):
        store.put(f"{number:064}", "x")
    store.put("c" * 64, "x")

    assert victim.read_text() == "SECRET"
    assert store.get(KEY) == "kept"
    assert store.get("c" * 64) == "x"
    store.close()


@pytest.mark.parametrize("value", [b"bytes", 7, 1.5, None])
def test_a_value_of_another_type_is_refused(folder, change, value):
    bad = "b" * 64
    change((INSERT, (bad, 1, None, 1, None, value)))
    store = Store(folder)

    with pytest.raises(CassetteCorrupt):
        store.get(bad)
    store.close()


# -- settings, schemas and files that are not ours -------------------------------------------


def moved_aside(folder):
    store = Store(folder)
    assert store.get(KEY) is None
    store.put(KEY, "new")
    assert store.get(KEY) == "new"
    store.close()
    assert (folder / "damaged-1.db").exists()
    (note,) = store.notes
    assert "the new store is empty" in note
    return note


def test_settings_of_eviction_are_overruled(folder, change):
    change(
        "UPDATE Settings SET value = 1 WHERE key = 'size_limit'",
        "UPDATE Settings SET value = 1000 WHERE key = 'cull_limit'",
        "UPDATE Settings SET value = 'least-recently-used' WHERE key = 'eviction_policy'",
        "UPDATE Settings SET value = 1 WHERE key = 'statistics'",
    )
    store = Store(folder)
    for number in range(200):
        store.put(f"{number:064}", "x" * 1000)

    assert len(store) == 201
    assert store.notes == []
    store.close()


@pytest.mark.parametrize(
    "change_to_settings",
    [
        ("INSERT INTO Settings VALUES ('sqlite_temp_store_directory', '/tmp')",),
        ("INSERT INTO Settings VALUES ('disk_shell', 'x')",),
        ("INSERT INTO Settings VALUES ('x', 'y')",),
        ("UPDATE Settings SET value = 'off' WHERE key = 'sqlite_journal_mode'",),
        ("UPDATE Settings SET value = '1; ATTACH ''x'' AS y' WHERE key = 'sqlite_cache_size'",),
        ("UPDATE Settings SET value = 0 WHERE key = 'sqlite_synchronous'",),
        ("INSERT INTO Settings VALUES (x'00ff', 'y')",),
    ],
)
def test_a_strange_setting_makes_a_new_store(folder, change, change_to_settings):
    change(*change_to_settings)

    assert "that judgekit did not write" in moved_aside(folder)


@pytest.mark.parametrize(
    "schema",
    [
        ("CREATE TRIGGER t AFTER INSERT ON Cache BEGIN DELETE FROM Cache; END",),
        ("CREATE VIEW v AS SELECT 1",),
        ("CREATE TABLE other(a)",),
        ("CREATE INDEX Cache_tag ON Cache(tag)",),
        (
            "ALTER TABLE Cache RENAME TO Real",
            "CREATE VIEW Cache AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            " SELECT i AS rowid, i AS key FROM n",
        ),
        ("DROP TRIGGER Settings_count_insert", "CREATE TRIGGER Settings_count_insert AFTER INSERT"
         " ON Cache BEGIN DELETE FROM Cache; END"),
    ],
)  # fmt: skip
def test_a_strange_schema_makes_a_new_store(folder, change, schema):
    change(*schema)

    assert "is not a store of judgekit" in moved_aside(folder)


def test_the_schema_is_the_one_diskcache_makes(folder):
    assert module._fault(folder / "cache.db") is None


@pytest.mark.parametrize(
    "data", [b"hello", b"SQLite format 3\0" + b"\xff" * 5000, os.urandom(10_000)]
)
def test_a_file_that_is_no_database_makes_a_new_store(folder, data):
    (folder / "cache.db").write_bytes(data)

    assert "is damaged" in moved_aside(folder)


def test_the_database_of_something_else_is_left_whole(folder):
    (folder / "cache.db").unlink()
    connection = sqlite3.connect(folder / "cache.db")
    connection.execute("CREATE TABLE accounts(name)")
    connection.execute("INSERT INTO accounts VALUES ('mine')")
    connection.commit()
    connection.close()

    moved_aside(folder)

    connection = sqlite3.connect(folder / "damaged-1.db")
    assert connection.execute("SELECT name FROM accounts").fetchall() == [("mine",)]
    connection.close()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_database_that_is_no_file_makes_a_new_store(folder, kind):
    (folder / "cache.db").unlink()
    (folder / "cache.db").mkdir() if kind == "folder" else os.mkfifo(folder / "cache.db")

    assert "is not a file" in moved_aside(folder)


@pytest.mark.parametrize("tail", ["", "-wal", "-shm", "-journal"])
def test_nothing_is_written_through_a_link(folder, tmp_path, tail):
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    link = folder / f"cache.db{tail}"
    link.unlink(missing_ok=True)
    link.symlink_to(victim)
    store = Store(folder)
    store.put("b" * 64, "x" * 10_000)
    store.close()

    assert victim.read_bytes() == b""
    assert not link.is_symlink()
    assert "was a link" in store.notes[0]


def test_a_linked_folder_is_refused(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(home)

    with pytest.raises(CassetteError, match=r"its name is a link.*JUDGEKIT_HOME"):
        Store(tmp_path / "link")

    assert home.stat().st_mode & 0o777 == 0o755
    assert not list(home.iterdir())


def test_a_linked_home_is_followed_because_a_person_named_it(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "link"))

    assert store_folder() == (tmp_path / "real").resolve()


def test_a_variable_in_the_name_is_not_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("ELSEWHERE", str(tmp_path / "elsewhere"))

    with pytest.raises(CassetteError, match=r"holds a \$"):
        Store(tmp_path / "$ELSEWHERE")

    assert not list(tmp_path.iterdir())


def test_a_journal_that_names_another_file_deletes_nothing(folder, tmp_path):
    """SQLite deletes the file that a rollback journal names as the journal above it."""
    victim = tmp_path / "victim"
    victim.write_text("SECRET")
    magic = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    page = 4096
    pages = (folder / "cache.db").stat().st_size // page
    name = str(victim).encode()
    head = (magic + struct.pack(">IIIII", 0, 0, pages, 512, page)).ljust(512, b"\0")
    tail = (
        struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), sum(name))
    )
    (folder / "cache.db-journal").write_bytes(head + tail + magic)

    moved_aside(folder)

    assert victim.read_text() == "SECRET"
    assert not (folder / "cache.db-journal").exists()


# -- trouble ---------------------------------------------------------------------------------


def test_a_damaged_page_says_what_to_do(folder):
    store = Store(folder)
    for number in range(300):
        store.put(f"{number:064}", "x" * 3000)
    store.close()
    data = bytearray((folder / "cache.db").read_bytes())
    for at in range(4096 * 12, len(data), 4096):
        data[at : at + 64] = b"\xff" * 64
    (folder / "cache.db").write_bytes(data)

    def use():
        store = Store(folder)
        try:
            for number in range(300):
                store.get(f"{number:064}")
                store.put(f"{number:064}", "y")
        finally:
            store.close()

    with pytest.raises(CassetteError, match="delete the folder"):
        use()


def test_a_locked_database_says_so(folder, monkeypatch):
    monkeypatch.setattr(module, "_TIMEOUT", 0.2)
    store = Store(folder)
    other = sqlite3.connect(folder / "cache.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(CassetteError, match="another process has held it for too long"):
        store.put("b" * 64, "x")

    assert store.get(KEY) == "kept"
    other.execute("ROLLBACK")
    other.close()
    store.put("b" * 64, "x")
    store.close()


def test_a_file_in_the_place_of_the_folder_says_so(tmp_path):
    (tmp_path / "store").write_text("x")

    with pytest.raises(CassetteError, match=r"cannot be made: File exists; .*JUDGEKIT_HOME"):
        Store(tmp_path / "store")


def test_a_read_only_folder_says_so(folder):
    if os.geteuid() == 0:
        pytest.skip("root writes to read-only folders: run this as another user")
    folder.parent.chmod(0o500)
    folder.chmod(0o500)
    try:
        with pytest.raises(CassetteError, match="JUDGEKIT_HOME"):
            Store(folder.parent / "other")
    finally:
        folder.parent.chmod(0o700)


def test_a_full_disk_says_so(tmp_path):
    place = tmp_path / "full"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no small disk can be mounted here: run this as root")
    try:
        store = Store(place / "store")
        with pytest.raises(CassetteError, match="full; make room"):  # noqa: PT012
            for number in range(1000):
                store.put(f"{number:064}", "x" * 3000)
        assert store.get(f"{0:064}") == "x" * 3000
        store.close()
    finally:
        subprocess.run(["umount", str(place)], check=False, capture_output=True)


def test_several_stores_open_a_new_folder_at_once(tmp_path):
    stores = []
    faults = []

    def opened(number):
        try:
            store = Store(tmp_path / "store")
            store.put(f"{number:064}", "x")
            stores.append(store)
        except Exception as exc:
            faults.append(exc)

    threads = [threading.Thread(target=opened, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert [note for store in stores for note in store.notes] == []
    assert len(stores[0]) == 8
    for store in stores:
        store.close()


# -- nothing else opens one ------------------------------------------------------------------


def test_the_connections_of_all_threads_are_closed(folder):
    store = Store(folder)
    seen, close, done = threading.Event(), threading.Event(), []

    def reader():
        done.append(store.get(KEY))
        connection = store._cache._con
        seen.set()
        close.wait()
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
        done.append(store.get(KEY))  # a store opens again when it is used

    thread = threading.Thread(target=reader)
    thread.start()
    seen.wait()
    store.close()
    close.set()
    thread.join()
    store.close()

    assert done == ["kept", "kept"]
    assert not list(folder.glob("cache.db-*"))  # SQLite removes them with the last connection


def test_a_thread_takes_its_connection_along(folder):
    store = Store(folder)
    store.get(KEY)

    for _ in range(3):
        thread = threading.Thread(target=store.get, args=(KEY,))
        thread.start()
        thread.join()
    gc.collect()  # a connection and its cache of statements refer to each other

    assert len(store._cache._open) == 1
    store.close()


def test_nothing_else_opens_a_diskcache_or_a_pickle():
    package = Path(module.__file__).parents[1]
    strange = re.compile(
        r"diskcache\.(?:Cache|FanoutCache|Deque|Index)\b|from diskcache|import pickle|pickle\.load"
        r"|joblib|marshal\.load|import shelve|shelve\.open"
        r"|yaml\.(?:unsafe_|full_)?load\(|(?<![.\w])(?:eval|exec)\("
    )
    found = [
        f"{path.relative_to(package)}: {hit}"
        for path in sorted(package.rglob("*.py"))
        for hit in strange.findall(path.read_text("utf-8"))
    ]
    uses = [
        path.name for path in package.rglob("*.py") if "import diskcache" in path.read_text("utf-8")
    ]

    assert uses == ["store.py"]
    # What runs inside the sandbox runs the code it was given: that is what it is for.
    sandboxed = ["metrics/benchmarks/sandbox_program.py: exec("] * 2
    assert found == ["cassette/store.py: diskcache.Cache", *sandboxed]


def recorded_in(folder):
    """Return the folders below one that hold a store."""
    return sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob("cache.db"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "tapes/.judgekit"),
        ({"store": "replies"}, "replies"),
        ({"existing": ".judgekit"}, ".judgekit"),
        ({"project": "."}, ".judgekit"),
        ({"existing": "tapes/.judgekit", "project": "."}, ".judgekit"),
        ({"existing": ".judgekit", "store": "replies"}, "replies"),
        ({"home": "home", "project": "."}, "home"),
        ({"home": "home", "store": "replies"}, "replies"),
    ],
)
def test_replies_go_to_the_named_folder_or_beside_the_tape(tmp_path, monkeypatch, given, expected):
    monkeypatch.delenv("JUDGEKIT_HOME")
    place, elsewhere = tmp_path / "place", tmp_path / "elsewhere"
    (place / "tapes").mkdir(parents=True)
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    if "home" in given:
        monkeypatch.setenv("JUDGEKIT_HOME", str(place / given["home"]))
    if "project" in given:
        (place / given["project"] / "pyproject.toml").touch()
    before = []
    if "existing" in given:
        Store(place / given["existing"]).close()
        before = recorded_in(place)
    named = {"store": place / given["store"]} if "store" in given else {}

    tape = place / "tapes" / "tape.jsonl"
    with Cassette.open(tape, FakeJudge(), record="new_episodes", **named) as cassette:
        assert cassette.store.folder == place / expected

    assert recorded_in(place) == sorted({*before, expected})
    assert not list(elsewhere.iterdir())


def test_a_folder_of_something_else_is_not_made_a_store(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir(mode=0o755)
    (folder / "main.py").touch()

    with pytest.raises(CassetteError, match=r"holds 'main.py' and is not a store; name a new"):
        Store(folder)

    assert folder.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in folder.iterdir()] == ["main.py"]
