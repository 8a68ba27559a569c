"""One file of answers may hold those of several people; each judge reads its own."""

from __future__ import annotations

import json

from judgekit.judges.manual import ManualJudge


def test_lines_of_others_are_passed_over(tmp_path):
    path = tmp_path / "labels.jsonl"
    rows = [
        {"case": "c", "metric": "m", "labeller": who, "answers": {"a": {"value": value}}}
        for who, value in (("ann", 1), ("bob", 0))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    for who, value in (("ann", 1), ("bob", 0)):
        answers, _ = ManualJudge(who, path)._answers["c", "m"]
        assert answers == {"a": {"value": value}}
