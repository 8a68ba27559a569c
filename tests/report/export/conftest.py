from __future__ import annotations

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, InvalidReply
from judgekit.core.judgment import Quote
from judgekit.core.score import Fallback, Part, Score
from judgekit.runner.evaluation import evaluate_sync

HOSTILE = {
    "tags": "<script>alert(1)</script>",
    "cdata": "]]><![CDATA[ <failure/>",
    "entity": "&amp;lt; &#0; &xxe;",
    "quotes": '"\' onload=\'x" a="b',
    "doctype": '<!DOCTYPE x [<!ENTITY a "b">]>',
    "controls": "a\x00b\x07c\x1bd\x7fe\x85f",
    "no-characters": "a\ufffeb\uffffc",
    "bidi": "safe\u202egnp.exe",
    "invisible": "ad\u200bmin\ufeff",
    "command": "::error title=x::y",
    "command-on-a-line": "fine\n::set-output name=a::b\r\n  ::add-mask::x",
    "old-command": "##[error]x ##vso[task.setvariable]y",
    "percent": "100%25 %0A::warning::x",
    "formula": '=HYPERLINK("http://x","y")',
    "formula-after-space": " \t@SUM(1)",
    "wide-formula": "＝1+1",
    "minus": "-2+3+cmd|' /C calc'!A0",
    "mention": "@everyone #1 GH-2 owner/repo#3",
    "link": "[x](javascript:alert(1)) ![i](http://x/y.png) <http://z>",
    "table": "a | b |\n| --- |\n# Heading\n```\ncode",
    "slashes": "a/../..\\b/%2e%2e",
    "lines": "one\ntwo\rthree\u2028four",
    "emoji": "👩🏽‍🚀 ünïcödé 漢字",
}


class Tone:
    """Gives what a case's metadata says; its texts go through reason, criterion and quote."""

    name = "tone"
    range = (0.0, 1.0)
    higher_is_better = True

    async def score(self, case):
        how, text = case.metadata.get("how"), case.output
        if how == "error":
            raise CaseError(f"cannot: {text}")
        if how == "refused":
            raise InvalidReply(f"said {text}", kind="truncated")
        if how == "abstained":
            return Score(status="abstained", source="judge", reason=text)
        if how == "not_applicable":
            return Score(status="not_applicable", reason=text)
        if how == "fallback":
            return Score(value=0.9, fallback=Fallback(substitute="token_f1", cause=text))
        if how == "good":
            return Score(value=1.0, source="judge", reason=text)
        quotes = (Quote(text=text, field="output"), Quote(text="made up " + text))
        items = ({"item": text, "met": False, "reason": text},)
        parts = (
            Part(id="polite", value=0.25, weight=0.5, reason=text, quotes=quotes),
            Part(id="steps", value=0.0, weight=0.5, reason="", items=items),
            Part(id="fine", value=1.0, weight=0.0, reason="FINE"),
        )
        return Score(value=0.25, source="judge", reason=text, parts=parts)


class Length:
    name = "length"
    range = (0.0, float("inf"))
    higher_is_better = False

    async def score(self, case):
        return Score(value=float(len(case.output)))


HOWS = ("bad", "error", "refused", "abstained", "not_applicable", "fallback", "good")


def make_report(out=None, *, texts=None, hows=HOWS, gates=None):
    cases = [
        Case(id=f"{name}/{how}", output=text, metadata={"how": how, "text": text})
        for name, text in (texts or {"plain": "so so"}).items()
        for how in hows
    ]
    return evaluate_sync(
        cases,
        [Tone(), Length()],
        thresholds={"tone": 0.5},
        gates={"tone": {"mean": 0.9}} if gates is None else gates,
        manifest={"suite": {"name": "Support"}},
        out=out,
    )


@pytest.fixture(scope="session")
def hostile():
    """A run in which every text is hostile, and so is every id."""
    cases = [
        Case(id=f"{text}", output=text, metadata={"how": how, text: text})
        for text in HOSTILE.values()
        for how in ("bad",)
    ]
    cases += [
        Case(id=f"{how} {text}", output=text, metadata={"how": how})
        for text in HOSTILE.values()
        for how in HOWS[1:]
    ]
    return evaluate_sync(
        cases,
        [Tone(), Length()],
        thresholds={"tone": 0.5},
        gates={"tone": {"mean": 0.9}},
        manifest={
            "suite": {"name": HOSTILE["tags"] + HOSTILE["controls"]},
            "notice": HOSTILE["table"],
        },
    )
