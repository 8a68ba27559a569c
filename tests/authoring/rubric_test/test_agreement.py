"""How far a judge agrees with the authored verdicts of a rubric's tests."""

from __future__ import annotations

import json

import pytest

from judgekit.authoring.rubric_test.agreement import JudgedTwice, count_replies, criterion_agreement
from judgekit.core.score import Failure, Part, Score

TAPE = "cassettes/rubrics/kind.jsonl"


def score(**values):
    parts = tuple(
        Part(id=name, value=value, status="scored" if value is not None else "abstained")
        for name, value in values.items()
    )
    return Score(value=0.5, parts=parts)


FAILED = Failure(kind="truncated", message="the reply was cut off")


def test_the_same_answer_is_the_same_value_or_none_for_both():
    pairs = [
        JudgedTwice(score(kind=1.0, short=None), score(kind=0.5, short=None)),
        JudgedTwice(score(kind=0.5, short=1.0), score(kind=0.5, short=None)),
        JudgedTwice(FAILED, score(kind=1.0)),
        JudgedTwice(score(other=1.0), score(kind=1.0)),
    ]

    kind, short = criterion_agreement(pairs)

    assert (kind.criterion, kind.cases, kind.same, kind.difference) == ("kind", 2, 1, 0.25)
    assert (short.criterion, short.cases, short.same, short.difference) == ("short", 2, 1, None)


@pytest.mark.parametrize(
    ("kind", "counts"),
    [
        ("truncated", (2, 1)),
        ("invalid_reply", (2, 1)),
        ("refused", (2, 1)),
        ("cassette_miss", (1, 1)),
        ("unavailable", (1, 1)),
        ("invalid_case", (1, 1)),
    ],
)
def test_a_failure_is_an_invalid_reply_only_if_the_judge_replied(kind, counts):
    replies = count_replies({"a": score(kind=1.0), "b": Failure(kind=kind, message="why")})

    assert (replies.asked, replies.valid) == counts
    assert [one.case for one in replies.invalid] == ["b"] * (counts[0] - counts[1])


def test_another_judge_is_compared_with_the_person_on_the_cassette(recorded, judgekit):
    done = judgekit("rubric", "test", "--judge", "fake/it")
    data = json.loads(judgekit("rubric", "test", "--judge", "fake/it", "--json").out)

    assert "  valid replies: 2 of 2 (100%)\n  beside the verdicts of manual/me:\n" in done.out
    assert "    kind    same answer in " in done.out
    assert "; valid replies: 2 of 2 (100%); same answer as the authored verdict in " in done.out
    (rubric,) = data["rubrics"]
    assert rubric["author"] == "manual/me"
    assert [one["criterion"] for one in rubric["agreement"]] == ["kind", "short", "points"]
    assert all(one["cases"] == 2 for one in rubric["agreement"])


def test_a_person_is_not_compared_with_themselves(recorded, judgekit):
    for flags in ([], ["--judge", "manual/me"]):
        assert "valid replies" not in judgekit("rubric", "test", *flags).out
