"""The server over real HTTP: what it answers, and above all what it does not."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
from html import unescape
from urllib.parse import quote, urlencode

import pytest

from judgekit.core.errors import ConfigError
from judgekit.pages.run import payload
from judgekit.view.server import Viewer

pytestmark = pytest.mark.loopback

ADDRESSES = ["/", "/api/runs", "/run?run=main", "/compare?run=main&run=pr", "/api/run?run=main",
             "/api/case?run=main&case=case-0000"]  # fmt: skip


@pytest.fixture
def pair(make):
    return make("main", [0.9, 0.8, 0.7]), make("pr", [0.9, 0.2, 0.6])


def test_runs_are_listed_newest_first(make, get):
    for name, at in (("old", 1_000), ("deep/er/new", 3_000), ("mid", 2_000)):
        folder = make(name, [0.9, 0.4])
        for path in folder.iterdir():
            os.utime(path, (at, at))

    runs = get("/api/runs").data["runs"]

    assert [run["id"] for run in runs] == ["deep/er/new", "mid", "old"]
    assert runs[0]["state"] == "finished"
    assert runs[0]["verdict"] == "Complete"
    assert runs[0]["cases"] == 2
    assert runs[0]["judges"] == ["fake/judge"]
    (metric,) = runs[0]["metrics"]
    assert (metric["name"], metric["shown"], metric["n"]) == ("worth", "0.650", 2)


@pytest.mark.parametrize("target", ADDRESSES)
def test_everything_comes_with_headers_that_keep_it_here(pair, get, target):
    reply = get(target)

    assert reply.status == 200
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["X-Frame-Options"] == "DENY"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert reply.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
    assert "no-cache" in reply.headers["Cache-Control"]
    assert not [name for name in reply.headers if name.lower().startswith("access-control")]
    if reply.headers["Content-Type"].startswith("text/html"):
        (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', reply.body)
        assert unescape(policy).startswith("default-src 'none'; style-src 'sha256-")
        assert "connect-src 'self'" in unescape(policy) or "/compare" in target


@pytest.mark.parametrize("target", ADDRESSES)
def test_what_has_not_changed_is_not_sent_again(pair, get, target):
    first = get(target)

    again = get(target, headers={"If-None-Match": first.headers["ETag"]})

    assert (again.status, again.body) == (304, "")


@pytest.mark.parametrize("target", [*ADDRESSES, "/nothing"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": "localhost.evil.example:{port}"},
        {"Host": "127.0.0.1:{port}.evil.example"},
        {"Host": "0.0.0.0:{port}"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_nobody_else_is_answered(pair, get, viewer, target, headers):
    reply = get(target, headers={k: v.format(port=viewer.server_port) for k, v in headers.items()})

    assert reply.status == 403
    assert list(reply.data) == ["problem"]
    assert "main" not in reply.body


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "127.0.0.1"])
def test_this_machine_is_answered(pair, get, viewer, host):
    own = f"{host}:{viewer.server_port}"

    reply = get("/", headers={"Host": own, "Origin": f"http://{own}", "Sec-Fetch-Site": "none"})

    assert reply.status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "MAKE"])
def test_nothing_but_get_is_answered(pair, get, method):
    reply = get("/api/runs", method=method)

    assert reply.status == 405
    assert reply.headers["Allow"] == "GET"
    assert "runs" not in reply.body


OUTSIDE = [
    "..", "../", "../secret", "../../etc", "/etc", "/", "main/..", "main/../main", "./main",
    "main/", "main/results.jsonl", "main\\..", "..%2fsecret", "main\x00", "MAIN", "", " ",
    "~", "file:///etc/passwd", "%2e%2e", "..\\..", "．．", "main/.", "//main",
]  # fmt: skip


@pytest.mark.parametrize("id", OUTSIDE)
def test_no_name_leads_out_of_the_folder(pair, get, root, id):
    shutil.copytree(root / "main", root.parent / "secret")

    for route in ("/run", "/api/run", "/api/case"):
        reply = get(f"{route}?{urlencode({'run': id, 'case': 'case-0000'})}")
        assert reply.status == 404, (route, id)
        assert "problem" in reply.data
    reply = get(f"/compare?{urlencode([('run', 'main'), ('run', id)])}")
    assert reply.status == 404


@pytest.mark.parametrize(
    "target",
    [
        "/main/results.jsonl", "/results.jsonl", "/../secret", "/%2e%2e/secret", "/main",
        "/favicon.ico", "/run/", "/run/main", "/static/../../etc/passwd", "/api", "/%00",
        "/run;main", "/runs", "/.git/config", "/tape.jsonl?run=main",
    ],
)  # fmt: skip
def test_files_have_no_address(pair, get, target):
    assert get(target).status == 404


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/run", 400),
        ("/run?run=main&run=pr", 400),
        ("/compare?run=main", 400),
        ("/compare", 400),
        ("/api/case?run=main", 400),
        ("/api/case?run=main&case=none", 404),
        ("/api/case?run=main&case=" + quote("../x"), 404),
        ("/?" + "a=1&" * 100, 400),
        ("/?" + "a" * 9_000, 414),
    ],
)
def test_odd_addresses_get_one_line(pair, get, target, status):
    reply = get(target)

    assert reply.status == status
    assert len(reply.data["problem"].splitlines()) == 1


@pytest.mark.parametrize(
    "sent",
    [
        b"GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
        b"GET //evil.example/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: 127.0.0.1:%d\r\n\r\n",
        b"<script>alert(1)</script> / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
def test_what_is_no_request_is_turned_away(pair, viewer, get, sent):
    with socket.create_connection(("127.0.0.1", viewer.server_port), timeout=20) as connection:
        connection.sendall(sent.replace(b"%d", str(viewer.server_port).encode()))
        connection.shutdown(socket.SHUT_WR)
        reply = b""
        while piece := connection.recv(65536):
            reply += piece

    head = reply.split(b"\r\n")[0]
    assert not re.match(rb"HTTP/1\.[01] (2|5)\d\d (?!Version)", head.replace(b"505", b"405")), head
    assert b"<script>" not in reply
    assert b"main" not in reply
    assert get("/api/runs").status == 200


def test_it_listens_on_this_machine_only(viewer):
    assert viewer.server_address[0] == "127.0.0.1"
    assert viewer.socket.getsockname()[0] == "127.0.0.1"
    assert viewer.address == f"http://127.0.0.1:{viewer.server_port}/"


def test_a_port_in_use_is_one_line(root, viewer):
    with pytest.raises(ConfigError, match=f"port {viewer.server_port} is in use"):
        Viewer(root, port=viewer.server_port)


def test_a_port_that_is_none_is_one_line(root):
    with pytest.raises(ConfigError, match="no such port"):
        Viewer(root, port=70_000)


def test_what_is_no_folder_is_one_line(tmp_path):
    with pytest.raises(ConfigError, match="not a folder"):
        Viewer(tmp_path / "none")


def test_the_folder_itself_may_be_a_run(make, root, get):
    folder = make("one", [0.9])
    for path in folder.iterdir():
        path.rename(root / path.name)
    folder.rmdir()

    assert [run["id"] for run in get("/api/runs").data["runs"]] == ["."]
    assert "worth" in get("/run?run=.").body


def test_a_page_is_made_once_and_again_when_its_files_change(pair, make, get, monkeypatch):
    made = []
    whole = payload.make_payload
    monkeypatch.setattr(
        "judgekit.pages.run.page.make_payload",
        lambda report, **more: made.append(1) or whole(report, **more),
    )

    first = get("/run?run=main").body
    assert get("/run?run=main").body == first
    assert len(made) == 1
    make("main", [0.1, 0.1])
    assert get("/run?run=main").body != first
    assert len(made) == 2


def test_runs_are_compared(pair, get):
    page = get("/compare?run=main&run=pr").body

    assert "pr against main" in page
    assert '<a href="/">All runs</a>' in page
    assert "case-0001" in page
    several = get("/compare?run=main&run=pr&run=main")
    assert several.status == 422
    assert "is compared with itself" in several.body


def test_runs_of_other_rubrics_are_compared_when_wanted(make, get):
    make("main", [0.9, 0.8])
    make("pr", [0.9, 0.1], rubric="2" * 64)

    refused = get("/compare?run=main&run=pr")

    assert refused.status == 422
    assert "the rubric differs" in refused.body
    (link,) = re.findall(r'href="(/compare[^"]+)"', refused.body)
    assert get(unescape(link)).status == 200


def test_what_a_large_page_leaves_out_is_here(make, get, monkeypatch):
    monkeypatch.setattr(payload, "ALL", 2)
    monkeypatch.setattr(payload, "KEPT", 1)
    make("main", [0.9, 0.8, 0.1])

    page = get("/run?run=main").body
    assert "Judge this: 0.1" in page
    assert "Judge this: 0.9" not in page
    (record,) = get("/api/case?run=main&case=case-0000").data["asked"].values()

    assert record["messages"] == [["user", "Judge this: 0.9"]]
    assert record["tries"] == [{"text": '{"worth": 1}', "finish": "stop"}]
    assert json.loads(record["form"])


def test_a_comparison_waits_for_a_report(pair, get, root):
    (root / "pr" / "report.json").unlink()

    reply = get("/compare?run=main&run=pr")

    assert reply.status == 422
    assert "pr has no report yet" in reply.body


# -- damaged folders ----------------------------------------------------------------


def put(name, text):
    def harm(folder):
        data = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(data)

    return harm


def drop(name):
    return lambda folder: (folder / name).unlink()


def link(name, to):
    def harm(folder):
        (folder / name).unlink()
        (folder / name).symlink_to(to)

    return harm


def pipe(name):
    def harm(folder):
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return harm


HEADER = '{"judgekit":"results","manifest":"x","version":1}\n'
LISTED_AS_DAMAGED = {
    "report is no JSON": put("report.json", "{"),
    "report is a list": put("report.json", "[]"),
    "report is binary": put("report.json", b"\xff\xfe\x00"),
    "report is deep": put("report.json", "[" * 100_000),
    "report lacks fields": put("report.json", '{"manifest": {}}'),
    "report is a folder": lambda folder: (drop("report.json")(folder),
                                          (folder / "report.json").mkdir()),
    "occasion is a list": put("run.json", "[1]"),
    "occasion is no JSON": put("run.json", "nope"),
    "results are missing": drop("results.jsonl"),
    "results are of no run": put("results.jsonl", "hello\n"),
    "results lead out": link("results.jsonl", "/etc/hostname"),
    "report leads out": link("report.json", "/etc/hostname"),
    "tape leads out": link("tape.jsonl", "/etc/hostname"),
    "tape is a link to itself": link("tape.jsonl", "tape.jsonl"),
    "results are a pipe": pipe("results.jsonl"),
    "tape is a pipe": pipe("tape.jsonl"),
}  # fmt: skip
FOUND_WHEN_OPENED = {
    "a row is no result": put("results.jsonl", HEADER + "{}\n"),
    "a row is no text": put("results.jsonl", HEADER.encode() + b"\xff\xff\n"),
    "the tape is no tape": put("tape.jsonl", "hello\n"),
    "the tape is cut off": put("tape.jsonl", '{"judgekit":"cassette","version":1}\n{"key":"'),
}


@pytest.mark.parametrize("harm", LISTED_AS_DAMAGED)
def test_a_damaged_folder_is_one_line_in_the_list(make, get, harm):
    make("good", [0.9])
    LISTED_AS_DAMAGED[harm](make("bad", [0.9]))

    runs = {run["id"]: run for run in get("/api/runs").data["runs"]}

    assert runs["good"]["state"] == "finished"
    assert runs["bad"]["state"] == "damaged"
    assert runs["bad"]["problem"]
    assert len(runs["bad"]["problem"].splitlines()) == 1
    assert "/etc" not in runs["bad"]["problem"]
    page = get("/run?run=bad")
    assert page.status == 422
    assert "judgekit view" in page.body
    assert get("/api/run?run=bad").data["state"] == "damaged"
    assert get("/api/case?run=bad&case=case-0000").status == 409
    assert get("/compare?run=good&run=bad").status == 422


ODD = [float("nan"), float("inf"), None, -1, "x", [], {}, 10**400, "\ud800", True, [1], {"a": 1}]


def mutated(value, draw):
    """Return a value with something in it replaced by something odd."""
    if isinstance(value, dict | list) and value and draw.random() < 0.85:
        place = draw.choice(list(value) if isinstance(value, dict) else range(len(value)))
        value[place] = mutated(value[place], draw)
        return value
    return draw.choice(ODD)


@pytest.mark.parametrize("seed", range(40))
def test_whatever_stands_in_the_files_is_answered(make, get, seed):
    make("good", [0.9, 0.1])
    folder = make("bad", [0.9, 0.1], gates={"worth": {"mean": 0.2}})
    draw = random.Random(seed)
    path = folder / draw.choice(["report.json", "report.json", "run.json", "results.jsonl"])
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    place = draw.randrange(len(lines))
    lines[place] = json.dumps(mutated(json.loads(lines[place]), draw))
    path.write_text("\n".join(lines) + "\n")

    runs = {run["id"]: run for run in get("/api/runs").data["runs"]}
    assert runs["good"]["state"] == "finished"
    for target in ("/run?run=bad", "/compare?run=good&run=bad", "/compare?run=bad&run=good",
                   "/api/case?run=bad&case=case-0000"):  # fmt: skip
        assert get(target).status in (200, 404, 409, 422), target


@pytest.mark.parametrize("harm", FOUND_WHEN_OPENED)
def test_what_is_damaged_inside_is_one_line_when_it_is_opened(make, get, harm):
    make("good", [0.9])
    FOUND_WHEN_OPENED[harm](make("bad", [0.9]))

    page = get("/run?run=bad")

    assert page.status == 422
    (said,) = re.findall(r'<p class="trouble" dir="auto">(.*?)</p>', page.body)
    assert said
    assert get("/compare?run=good&run=bad").status in (200, 422)
    assert get("/api/case?run=bad&case=case-0000").status in (404, 422)


def test_hostile_words_of_a_report_are_inert_in_the_list(make, get, root):
    folder = make("bad", [0.9], manifest={"suite": {"name": "<script>x</script>"}})
    data = json.loads((folder / "report.json").read_text())
    data["metrics"][0]["metric"] = "</script><img src=x>"
    (folder / "report.json").write_text(json.dumps(data))

    (run,) = get("/api/runs").data["runs"]

    assert run["title"] == "<script>x</script>"  # as data; the script makes a text of it
    assert "<script>x" not in get("/").body


def test_folders_that_are_links_are_not_entered(make, get, root):
    folder = make("main", [0.9])
    shutil.copytree(folder, root.parent / "elsewhere" / "run")
    (root / "away").symlink_to(root.parent / "elsewhere")
    (root / "loop").symlink_to(root)
    (root / "again").symlink_to(folder)

    assert [run["id"] for run in get("/api/runs").data["runs"]] == ["main"]
    for id in ("away/run", "loop/main", "again"):
        assert get(f"/run?run={id}").status == 404


def test_a_folder_that_becomes_a_link_is_not_followed(make, get, root):
    folder = make("main", [0.9])
    assert get("/run?run=main").status == 200
    folder.rename(root.parent / "moved")
    folder.symlink_to(root.parent / "moved")

    assert get("/run?run=main").status == 404
    assert get("/api/runs").data["runs"] == []


def test_files_of_other_programs_are_not_listed(make, get, root):
    make("main", [0.9])
    for name, files in {
        "a": {"results.jsonl": '{"score": 1}\n'},
        "b": {"results.jsonl": "text\n", "report.json": "{}"},
        "c": {"report.json": "{}", "run.json": "{}"},
        ".hidden": {"results.jsonl": HEADER},
        "node_modules": {"results.jsonl": HEADER},
    }.items():
        (root / name).mkdir()
        for file, text in files.items():
            (root / name / file).write_text(text)

    assert [run["id"] for run in get("/api/runs").data["runs"]] == ["main"]


def test_looking_ends(make, get, root, monkeypatch):
    monkeypatch.setattr("judgekit.view.runs.LOOKED_AT", 20)
    make("a", [0.9])
    (root / "many").mkdir()
    for n in range(40):
        (root / "many" / str(n)).mkdir()
    make("z", [0.9])
    deep = root
    for _ in range(12):
        deep = deep / "d"
    make(str(deep.relative_to(root)), [0.9])

    found = get("/api/runs").data

    assert "a" in [run["id"] for run in found["runs"]]
    assert deep.relative_to(root).as_posix() not in [run["id"] for run in found["runs"]]
    assert "not all was looked at" in found["note"]


# -- a run that is writing ------------------------------------------------------------


def rows(value, case):
    return (
        json.dumps({"type": "case", "case": {"id": case, "input": f"Q {case}", "output": "x"}})
        + "\n"
        + json.dumps({"case": case, "metric": "m", "result": {"type": "score", "value": value}})
        + "\n"
    )


def test_a_run_is_followed_while_it_writes(get, root):
    folder = root / "now"
    folder.mkdir()
    results = folder / "results.jsonl"
    results.write_text(HEADER + rows(0.5, "a"))

    found = get("/api/run?run=now").data

    assert found["state"] == "writing"  # its last row is seconds old
    assert found["progress"]["cases"] == 1
    assert "Figures so far" in get("/run?run=now").body
    with results.open("a") as file:
        file.write(rows(0.7, "b") + '{"case":"c","met')
    found = get("/api/run?run=now").data["progress"]
    (metric,) = found["metrics"]
    assert (found["cases"], metric["mean"], metric["n"], found["skipped"]) == (2, "0.600", 2, 0)
    assert found["latest"][0] == {"id": "b", "line": "Q b", "values": {"m": "0.70"}}
    with results.open("a") as file:
        file.write('ric":"m","result":{"type":"failure","kind":"refused","message":"no"}}\n[]\n')
    found = get("/api/run?run=now").data["progress"]
    assert found["metrics"][0]["states"] == {"failed": 1}
    assert found["skipped"] == 1
    again = HEADER.replace('"x"', '"another"')
    with results.open("r+") as file:  # by another suite, and further than the one before
        file.write(again + rows(0.1, "z") * 20)
    assert get("/api/run?run=now").data["progress"]["metrics"][0]["mean"] == "0.100"
    results.write_text(HEADER)  # begun anew
    assert get("/api/run?run=now").data["progress"]["cases"] == 0


def test_a_run_nobody_writes_any_more_is_said_to_have_stopped(get, root):
    folder = root / "dead"
    folder.mkdir()
    (folder / "results.jsonl").write_text(HEADER + rows(0.5, "a"))
    os.utime(folder / "results.jsonl", (1_000_000, 1_000_000))

    assert get("/api/runs").data["runs"][0]["state"] == "stopped"
    assert get("/api/run?run=dead").data["state"] == "stopped"


def test_a_run_that_is_slow_is_known_to_be_alive(get, root):
    from judgekit.report.folder import ResultsWriter

    writer = ResultsWriter(root / "slow", manifest={})
    os.utime(root / "slow" / "results.jsonl", (1_000_000, 1_000_000))

    assert get("/api/run?run=slow").data["state"] == "writing"
    writer.close()
    assert get("/api/run?run=slow").data["state"] == "stopped"


@pytest.mark.parametrize(
    "row",
    [
        '{"case":1,"metric":"m","result":{}}',
        '{"case":"a","metric":"m","result":{"value":"x"}}',
        '{"case":"a","metric":"m","result":{"value":true}}',
        '{"case":"a","metric":"m","result":{"value":1,"scale":[]}}',
        '{"case":"a","metric":"m","result":{"value":NaN}}',
        '{"case":"a","metric":"m","result":{"value":1e999}}',
        '{"case":"a","metric":"m","result":{"value":1' + "0" * 400 + "}}",
        '{"type":"case","case":{"id":[],"input":{"a":1}}}',
        '{"type":"case","case":5}',
        "[" * 5_000,
        '{"case":"a","metric":{},"result":[]}',
        "\x00\x01",
    ],
)
def test_no_row_stops_the_following(get, root, row):
    folder = root / "odd"
    folder.mkdir()
    (folder / "results.jsonl").write_text(HEADER + row + "\n" + rows(0.5, "z"))

    reply = get("/api/run?run=odd")

    assert reply.status == 200
    assert reply.data["progress"]["latest"][0]["id"] == "z"
