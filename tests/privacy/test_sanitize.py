"""`judgekit cases sanitize`: what is replaced, what stays, and what is counted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.datasets import derive_id, load_cases
from judgekit.datasets.stratified import sample_cases
from judgekit.privacy.sanitize import Sanitizer
from tests.cli.conftest import judgekit

__all__ = ["judgekit"]

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "alignmenter.json").read_text("utf-8"))
PRIVATE = "I am ann.lee@firma.io, born on 3 May 1980"
MESSAGES = [{"role": "user", "content": PRIVATE}, {"role": "assistant", "content": "Noted."}]
TURNS = [
    {"session_id": "s", "turn_index": n, "role": turn["role"], "text": turn["content"]}
    for n, turn in enumerate(MESSAGES)
]


def rows_of(metric):
    rows = VECTORS if isinstance(VECTORS, list) else VECTORS["cases"]
    return [row for row in rows if row["metric"] == metric]


@pytest.mark.parametrize("row", rows_of("pii_sanitize"), ids=lambda row: row["id"])
def test_the_recorded_replacements_are_matched(row):
    replacement = "pseudonym" if row["parameters"]["use_hashing"] else "kind"
    sanitizer = Sanitizer(compat="alignmenter", replacement=replacement)

    clean = sanitizer.sanitize(Case(id="a", input=row["inputs"]["text"]))

    assert clean.input == row["expected"]["text"]
    assert [kind for kind, _ in sanitizer.counts] == row["expected"]["detected"]


def test_compat_is_chosen_by_a_flag(judgekit, tmp_path):
    (tmp_path / "c.jsonl").write_text('{"id": "a", "input": "a@b.co, 8.8.8.8"}\n', "utf-8")
    command = ["cases", "sanitize", tmp_path / "c.jsonl", "--compat", "alignmenter"]

    hashed = judgekit(*command, "-o", tmp_path / "h.jsonl")
    plain = judgekit(*command, "-o", tmp_path / "p.jsonl", "--replacement", "kind")

    assert (hashed.code, plain.code) == (0, 0)
    assert next(load_cases(tmp_path / "h.jsonl")).input == "email_80305c9b, 8.8.8.8"
    assert next(load_cases(tmp_path / "p.jsonl")).input == "[EMAIL_REDACTED], 8.8.8.8"


def test_a_value_in_the_history_is_counted_once():
    call = {"name": "find", "arguments": {"who": "bob@example.com"}}
    history = [
        {"role": "user", "content": "I am ann@example.com"},
        {"role": "assistant", "content": "One moment.", "tool_calls": [call]},
    ]
    sanitizer = Sanitizer(replacement="kind")

    clean = sanitizer.sanitize(Case(id="a", input="Who?", history=history))

    assert clean.history[0].content == "I am [EMAIL]"
    assert clean.history[1].tool_calls[0].arguments == {"who": "[EMAIL]"}
    assert sanitizer.counts == {("email", "history"): 2}


def text_of(name, rows):
    if name.endswith(".csv"):
        keys = list(rows[0])
        lines = [",".join(f'"{row[key]!s}"' for key in keys) for row in rows]
        return "\n".join([",".join(keys), *lines])
    return json.dumps(rows) if name.endswith(".json") else "\n".join(map(json.dumps, rows))


@pytest.mark.parametrize(
    ("name", "rows", "format", "count"),
    [
        ("a.jsonl", [{"id": "x", "input": PRIVATE}, {"prompt": PRIVATE, "answer": "No."}], None, 2),
        ("a.json", [{"id": "x", "input": PRIVATE}], None, 1),
        ("a.csv", [{"id": "x", "input": PRIVATE}, {"id": "y", "input": PRIVATE}], None, 2),
        ("a.jsonl.gz", [{"id": "x", "input": PRIVATE}], None, 1),
        ("chat.jsonl", [{"id": "x", "messages": MESSAGES}], None, 1),
        ("turns.jsonl", TURNS, "turns", 1),
    ],
)
def test_every_format_is_read_and_the_output_is_read_again(
    judgekit, tmp_path, name, rows, format, count
):
    data = text_of(name, rows).encode()
    source, out = tmp_path / name, tmp_path / "out.jsonl"
    source.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    before = list(load_cases(source, format=format))

    flags = ["--format", format] if format else []
    done = judgekit("cases", "sanitize", source, "-o", out, *flags)

    after = list(load_cases(out))
    assert done.code == 0
    assert len(after) == len(before) == count
    assert "ann.lee" not in out.read_text("utf-8")
    assert "[BIRTH_DATE-" in after[0].input
    assert [case.output for case in after] == [case.output for case in before]


def test_parquet_is_read_too(judgekit, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.table({"id": ["x"], "input": [PRIVATE]}), tmp_path / "a.parquet")

    assert judgekit("cases", "sanitize", tmp_path / "a.parquet", "--dry-run").code == 0


def test_labels_and_plain_metadata_stay_and_ids_still_point_to_each_other():
    sanitizer = Sanitizer()
    original = Case(id="bo@firma.io", input="Hi", labels={"good": 1, "score": 0.5})
    copy = Case(id="copy", parent="bo@firma.io", input="Hi", metadata={"visits": 12, "topic": "x"})

    clean, changed = map(sanitizer.sanitize, [original, copy])

    assert clean.labels == original.labels
    assert changed.metadata == copy.metadata
    assert changed.id == "copy"
    assert changed.parent == clean.id != original.id


def test_a_parent_that_is_not_private_stays():
    cases = [Case(id="p", input="a"), Case(id="q", input="b", parent="p")]

    assert [case.parent for case in map(Sanitizer().sanitize, cases)] == [None, "p"]


def test_ids_that_become_equal_get_a_number():
    cases = [Case(id=f"{name}@firma.io", input="x") for name in ("ann", "bo", "cy")]

    ids = [case.id for case in map(Sanitizer(replacement="kind").sanitize, cases)]

    assert ids == ["[EMAIL]", "[EMAIL]-2", "[EMAIL]-3"]


def test_a_derived_id_does_not_reveal_what_was_replaced():
    (case,) = load_cases([{"input": "SSN 219-45-6780"}])

    clean = Sanitizer(replacement="kind").sanitize(case)

    assert clean.id == derive_id(clean) != case.id


def test_an_entry_is_read_after_its_name():
    metadata = {"passportNumber": "533128841", "n": 533128841, "user": {"ssn": 219456780}}

    clean = Sanitizer(replacement="kind").sanitize(Case(id="a", input="x", metadata=metadata))

    assert clean.metadata == {
        "passportNumber": "[PASSPORT]", "n": 533128841, "user": {"ssn": "[SSN]"}
    }  # fmt: skip


def test_a_salt_keys_the_pseudonyms(judgekit, tmp_path, monkeypatch):
    (tmp_path / "c.jsonl").write_text('{"id": "a", "input": "bo@firma.io"}\n', "utf-8")
    texts = []
    for salt in ("one", "two", "one"):
        monkeypatch.setenv("SALT", salt)
        out = tmp_path / "out.jsonl"
        flags = ["--salt-env", "SALT", "--force"]
        assert judgekit("cases", "sanitize", tmp_path / "c.jsonl", "-o", out, *flags).code == 0
        texts.append(out.read_text("utf-8"))

    assert texts[0] == texts[2] != texts[1]


def test_a_dry_run_counts_and_writes_nothing(judgekit, tmp_path):
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "a", "input": PRIVATE}), "utf-8")

    done = judgekit("cases", "sanitize", tmp_path / "c.jsonl", "--dry-run", "--json")

    counts = {"birth_date": {"input": 1}, "email": {"input": 1}}
    head = {"judgekit": "sanitized", "version": 1}
    assert json.loads(done.out) == head | {"cases": 1, "changed": 1, "counts": counts}
    assert [path.name for path in tmp_path.iterdir()] == ["c.jsonl"]


def test_only_the_kinds_that_are_named_are_replaced():
    clean = Sanitizer(["email"], replacement="kind").sanitize(Case(id="a", input=PRIVATE))

    assert clean.input == "I am [EMAIL], born on 3 May 1980"


def test_nothing_is_written_if_a_row_is_wrong(judgekit, tmp_path):
    (tmp_path / "c.jsonl").write_text('{"id": "a", "input": "x"}\n{"id": "a"}\n', "utf-8")

    done = judgekit("cases", "sanitize", tmp_path / "c.jsonl", "-o", tmp_path / "o.jsonl")

    assert done.code == 2
    assert not (tmp_path / "o.jsonl").exists()


def test_a_long_id_stays_an_id():
    case = Case(id="a@b.co " * 142, input="x")

    assert len(Sanitizer().sanitize(case).id) <= 1000


TEXTS = st.lists(
    st.sampled_from(
        ["ann@firma.io", "SSN 219-45-6780", "4539148803436467", "Dr. Ann Lee", "born 3 May 1980",
         "8.8.8.8", "12 Elm Street", " ", "x", "[", "-", "passport", "533128841"]
    ), max_size=8,
).map(" ".join)  # fmt: skip


@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(["pseudonym", "kind"]))
@settings(max_examples=60, deadline=None)
def test_a_second_pass_changes_nothing(texts, replacement):
    cases = [Case(id=f"c{n}", input=text) for n, text in enumerate(texts)]
    once = list(map(Sanitizer(replacement=replacement).sanitize, cases))
    again = Sanitizer(replacement=replacement)

    assert list(map(again.sanitize, once)) == once
    assert again.changed == 0
    assert len(once) == len(cases) == len({case.id for case in once})


def test_sample_and_sanitize_do_not_replace_files(judgekit, tmp_path):
    source = tmp_path / "c.jsonl"
    source.write_text('{"id": "a", "input": "x"}\n', "utf-8")
    (tmp_path / "o.jsonl").write_text("mine", "utf-8")

    for command in (["sanitize", source], ["sample", source, "-n", "1"]):
        for out in (source, tmp_path / "o.jsonl", tmp_path / "o.csv", tmp_path):
            assert judgekit("cases", *command, "-o", out).code == 2
    assert (tmp_path / "o.jsonl").read_text("utf-8") == "mine"


def test_a_sample_has_the_same_bytes_twice(judgekit, tmp_path):
    rows = [{"id": f"c{n}", "input": str(n), "metadata": {"t": n % 3}} for n in range(30)]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    command = ["cases", "sample", tmp_path / "c.jsonl", "-n", "6", "--by", "t"]

    first, second = judgekit(*command), judgekit(*command)
    other = judgekit(*command, "--seed", "7")

    assert first.out == second.out != other.out
    assert len(first.out.splitlines()) == 6
    assert len(sample_cases(load_cases(rows), 6, by="metadata.t")) == 6
