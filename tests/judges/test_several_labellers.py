"""One file of answers may hold those of several people; each judge reads its own."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from judgekit.core.case import output_digest
from judgekit.core.errors import ConfigError, JudgeUnavailable
from judgekit.core.request import About, Form, Question, Request
from judgekit.judges.manual import ManualJudge


def test_lines_of_others_are_passed_over(tmp_path):
    path = tmp_path / "labels.jsonl"
    rows = [
        {"case": "c", "metric": "m", "labeller": who, "answers": {"a": {"value": value}}}
        for who, value in (("ann", 1), ("bob", 0))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    for who, value in (("ann", 1), ("bob", 0)):
        answers, _ = ManualJudge(who, path)._answers["c", "m"][None]
        assert answers == {"a": {"value": value}}


def test_answers_count_for_the_output_that_was_judged(tmp_path):
    path = tmp_path / "labels.jsonl"
    form = Form(questions=(Question(id="a", text="A?", kind="boolean"),))

    def ask(output, *digests):
        rows = [
            {"case": "c", "metric": "m", "answers": {"a": {"reason": "", "value": n == 0}}}
            | ({"output_digest": digest} if digest else {})
            for n, digest in enumerate(digests)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        about = About(case="c", metric="m", output=output)
        request = Request(messages=(), form=form, model="manual/ann", about=about)
        reply = asyncio.run(ManualJudge("ann", path).ask(request))
        return json.loads(reply.tries[-1].text)["a"]["value"]

    old, new = output_digest("old"), output_digest("new")
    assert ask("old", old, new) is True
    assert ask("new", old, new) is False
    assert ask("new", None) is True  # a file of an earlier version
    with pytest.raises(JudgeUnavailable, match="the answers for case 'c', metric 'm' are for anot"):
        ask("new", old)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answers": {"shrt": {}}}, "no criterion 'shrt'; did you mean 'short'?"),
        ({"answer": {}}, "unknown key 'answer'; did you mean 'answers'?"),
    ],
)
def test_a_misspelled_key_is_named_with_the_closest_one(row, message, tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"case": "c", "metric": "m", **row}) + "\n", encoding="utf-8")
    form = Form(questions=(Question(id="short", text="Short?", kind="boolean"),))
    about = About(case="c", metric="m", output="text")
    request = Request(messages=(), form=form, model="manual/ann", about=about)

    with pytest.raises(ConfigError, match=re.escape(message)):
        asyncio.run(ManualJudge("ann", path).ask(request))
