from __future__ import annotations

import re
from xml.etree import ElementTree

from tests.report.export.conftest import HOSTILE, HOWS, make_report


def junit(report, path):
    report.export("junit", path)
    return ElementTree.fromstring(path.read_bytes())


def outcome(case):
    return case[0].tag if len(case) else "passed"


def test_a_metric_is_a_suite_and_a_case_is_a_test(tmp_path):
    root = junit(make_report(), tmp_path / "junit.xml")

    assert root.tag == "testsuites"
    assert root.get("name") == "Support"
    assert [suite.get("name") for suite in root] == ["tone", "length", "judgekit gates"]
    tone = root[0]
    assert [case.get("name") for case in tone] == [f"plain/{how}" for how in HOWS]
    assert {case.get("classname") for case in tone} == {"tone"}
    assert [outcome(case) for case in tone] == [
        "failure", "error", "error", "skipped", "skipped", "skipped", "passed",
    ]  # fmt: skip


def test_counts_are_those_of_what_is_in_it(tmp_path):
    root = junit(make_report(), tmp_path / "junit.xml")

    for suite in root:
        found = [outcome(case) for case in suite]
        assert int(suite.get("tests")) == len(found)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(name)) == found.count(tag), suite.get("name")
    for name in ("tests", "failures", "errors", "skipped"):
        assert int(root.get(name)) == sum(int(suite.get(name)) for suite in root)


def test_a_failure_says_reason_criterion_and_quote(tmp_path):
    failure = junit(make_report(), tmp_path / "junit.xml")[0][0][0]

    assert failure.get("type") == "below_threshold"
    assert failure.get("message") == "0.25 is below the threshold 0.5: so so"
    assert failure.text.splitlines() == [
        "0.25 is below the threshold 0.5: so so",
        "steps 0",
        "  not met: so so: so so",
        "polite 0.25: so so",
        '  "so so" (in output)',
        '  "made up so so" (not found in the case)',
    ]


def test_what_is_not_scored_says_why(tmp_path):
    tone = junit(make_report(), tmp_path / "junit.xml")[0]

    said = {case.get("name"): case[0].get("message") for case in tone if len(case)}
    assert said["plain/error"] == "cannot: so so"
    assert said["plain/abstained"] == "abstained: so so"
    assert said["plain/not_applicable"] == "not applicable: so so"
    assert said["plain/fallback"] == "the fallback token_f1 gave 0.9: so so"


def test_gates_and_what_is_incomplete_are_a_suite(tmp_path):
    gates = junit(make_report(), tmp_path / "junit.xml")[2]

    found = {case.get("name"): outcome(case) for case in gates}
    assert found == {"tone: mean 0.9": "failure", "complete 1": "error", "complete 2": "error"}
    assert "misses at least 0.9" in gates[0][0].get("message")


def test_hostile_text_stays_text(hostile, tmp_path):
    root = junit(hostile, tmp_path / "junit.xml")

    tags = {element.tag for element in root.iter()}
    assert tags == {"testsuites", "testsuite", "testcase", "failure", "error", "skipped"}
    assert [len(suite) for suite in root] == [7 * len(HOSTILE), 7 * len(HOSTILE), 3]
    names = [case.get("name") for case in root[0]]
    for text in HOSTILE.values():
        plain = re.sub(
            "[\x00-\x08\x7f-\x9f\x1b\ufffe\uffff\u202e\u2028\u200b\ufeff\u2060]", "", text
        )
        assert any(plain == re.sub(r"⟨U\+[0-9A-F]+⟩", "", name) for name in names), text
    data = (tmp_path / "junit.xml").read_text("utf-8")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", data)
    assert "⟨U+0000⟩" in data
    assert not any(line.lstrip().startswith(("<!", "]]>")) for line in data.splitlines())


def test_a_long_reason_is_cut(tmp_path):
    report = make_report(texts={"long": "word " * 100_000}, hows=("bad",))

    root = junit(report, tmp_path / "junit.xml")

    assert len(root[0][0][0].get("message")) <= 1000
    assert len(root[0][0][0].text) <= 10_000


def test_the_same_run_gives_the_same_bytes(tmp_path):
    for name in ("a.xml", "b.xml"):
        make_report(out=tmp_path / name.removesuffix(".xml")).export("junit", tmp_path / name)

    assert (tmp_path / "a.xml").read_bytes() == (tmp_path / "b.xml").read_bytes()
