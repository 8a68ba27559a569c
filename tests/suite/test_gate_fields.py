"""Fields of gates and clusters that no case has are errors before any call."""

from __future__ import annotations

import pytest

from judgekit.core.errors import ConfigError
from judgekit.judges.fake import FakeJudge
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import build_suite
from tests.each import each
from tests.labelled import write_lines


def suite(folder, gate, judge, *, count=12, metadata=None, **keys):
    flags = Overrides(**keys.pop("flags", {}))
    cases = [
        {"id": f"c{n}", "output": f"a {n}",
         "metadata": metadata or {"topic": "refunds", "user": {"plan": "free"}}}
        for n in range(count)
    ]  # fmt: skip
    write_lines(folder / "cases.jsonl", cases)
    criteria = {"ok": {"text": "Right?", "kind": "boolean"}}
    data = {"cases": "cases.jsonl", "judge": "fake/judge",
            "metrics": {"m": {"criteria": criteria, "gate": gate}}, **keys}  # fmt: skip
    return build_suite(data, base=folder, judge=judge, overrides=flags)


def unasked(request):
    raise AssertionError("the judge was asked")


@each(
    "gate, keys, message",
    [
        ({"mean": 0.5, "where": {"topik": "refunds"}}, {}, "where: no case has 'topik'.*'topic'"),
        ({"mean": 0.5, "where": {"user.plam": "free"}}, {}, "where: no case has 'user.plam'"),
        ([{"mean": 0.5}, {"mean": 0.4, "cluster": "topik"}], {}, "cluster: no case has 'topik'"),
        ({"mean": 0.5}, {"cluster": "usr"}, "cluster: no case has 'usr'"),
        ({"mean": 0.5, "where": {"topik": "x"}}, {"flags": {"shard": "1/2"}}, "no case has"),
        ({"mean": 0.5, "where": {"topik": "x"}}, {"flags": {"limit": 1}}, "no case has"),
    ],
)
def test_a_field_that_no_case_has(gate, keys, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        run_suite_sync(suite(tmp_path, gate, FakeJudge(unasked), **keys))


def test_cases_of_another_file_are_checked(tmp_path):
    other = tmp_path / "other.jsonl"
    write_lines(other, [{"id": "x", "output": "a", "metadata": {"subject": "refunds"}}])
    gate, flags = {"mean": 0.5, "where": {"topic": "refunds"}}, {"cases": str(other)}

    with pytest.raises(ConfigError, match="no case has 'topic'"):
        run_suite_sync(suite(tmp_path, gate, FakeJudge(unasked), flags=flags))


@each(
    "gate, count, metadata",
    [
        ({"mean": 0.5, "where": {"topic": "refunds"}, "cluster": "topic"}, 12, None),
        ({"mean": 0.5, "where": {"user.plan": ["free", "paid"]}}, 12, None),
        ({"mean": 0.5, "cluster": "topik"}, 3, None),  # too few for an interval anyway
        ({"mean": 0.5, "where": {"a.b": 1}}, 3, {"a.b": 1}),
    ],
)
def test_known_fields_run(gate, count, metadata, tmp_path):
    judge = FakeJudge(lambda _: {"ok": {"reason": "r", "value": True}})

    report = run_suite_sync(suite(tmp_path, gate, judge, count=count, metadata=metadata))

    assert report.exit_code == 0
