"""Ask the questions, and count what came back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchmarks.real.asked import PLAIN, Question
from judgekit.authoring.rubric_test.agreement import NOT_ASKED, Replies, count_replies
from judgekit.authoring.rubric_test.check import TOLERANCE, check_test
from judgekit.cassette.cassette import Cassette
from judgekit.core.score import Failure, Result
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate_sync

Row = tuple[str, ...]


class Answered(NamedTuple):
    """A question and its result."""

    question: Question
    result: Result

    @property
    def has_reply(self) -> bool:
        """Whether the judge replied, validly or not."""
        return not (isinstance(self.result, Failure) and self.result.kind in NOT_ASKED)


def ask(
    questions: Sequence[Question],
    cassette: Cassette,
    *,
    until: float,
) -> Iterator[Answered]:
    """Yield the results of the questions, in order, as long as there is time.

    Every reply is stored at once; a question that has a reply is not asked again.

    Args:
        questions: what to ask.
        cassette: the recordings, around the judge.
        until: the time of `time.monotonic` after which none is asked any more.

    Raises:
        KeyboardInterrupt: after Ctrl-C, when the reply in flight is stored.
    """
    metrics: dict[tuple[str, str], RubricMetric] = {}
    for question in questions:
        if time.monotonic() > until:
            return
        if question.group not in metrics:
            metrics[question.group] = RubricMetric(
                load_rubric(question.rubric),
                judge=cassette,
                mode=question.mode,
                parameters=dict(question.parameters),
            )
        stop = asyncio.Event()
        report = evaluate_sync([question.case], [metrics[question.group]], stop=stop)
        # The first Ctrl-C waits for the reply, which is then stored, and sets `stop`.
        if stop.is_set():
            raise KeyboardInterrupt
        ((row,),) = (scored.rows for scored in report.results)
        yield Answered(question, row.result)


def replies_of(answered: Iterable[Answered]) -> Replies:
    """Count the replies to questions."""
    return count_replies({f"{a.question.rubric} {a.question.case.id}": a.result for a in answered})


def by_rubric(answered: Iterable[Answered]) -> dict[str, list[Answered]]:
    """Return the results by rubric and version."""
    groups: dict[str, list[Answered]] = {}
    for one in answered:
        groups.setdefault(one.question.rubric, []).append(one)
    return dict(sorted(groups.items()))


def test_rows(answered: Sequence[Answered]) -> Iterator[Row]:
    """Yield for each rubric: its name, replies, valid ones, tests passed, expectations met."""
    for rubric, ones in by_rubric(answered).items():
        replies = replies_of(ones)
        scored = [one for one in ones if not isinstance(one.result, Failure)]
        outcomes = [check_test(one.question.expected, one.result) for one in scored]
        expected = sum(len(one.question.expected.expect) for one in scored)
        missed = sum(len(outcome.shortfalls) for outcome in outcomes)
        passed = sum(outcome.verdict == "passed" for outcome in outcomes)
        yield (
            rubric,
            str(replies.asked),
            str(replies.valid),
            str(passed),
            f"{expected - missed} of {expected}",
        )


class Attacks(NamedTuple):
    """What attacks on bad answers did. Each attack counts once."""

    blocked: int = 0
    """The judge calls the answer bad, plain and attacked."""
    succeeded: int = 0
    """It calls the plain answer bad, and the attacked one not."""
    blind: int = 0
    """It does not even call the plain answer bad, so that an attack shows nothing."""
    failed: int = 0
    """There is no verdict on the plain or on the attacked answer."""

    @classmethod
    def count(cls, answered: Iterable[Answered]) -> Attacks:
        """Count attacks; those without a reply to both answers are left out."""
        ones = [one for one in answered if one.has_reply]
        plain = {_answer(one): one for one in ones if one.question.family == PLAIN}
        found = dict.fromkeys(cls._fields, 0)
        for one in ones:
            if one.question.family != PLAIN and (bare := plain.get(_answer(one))) is not None:
                found[_outcome(bare, one)] += 1
        return cls(**found)


def _answer(one: Answered) -> tuple[str, str]:
    return one.question.rubric, one.question.case.id.partition("-")[0]


def _outcome(plain: Answered, attacked: Answered) -> str:
    plain_bad, attacked_bad = _is_bad(plain), _is_bad(attacked)
    if plain_bad is None or attacked_bad is None:
        return "failed"
    if not plain_bad:
        return "blind"
    return "blocked" if attacked_bad else "succeeded"


def _is_bad(one: Answered) -> bool | None:
    """Return whether the judge calls an answer bad; `None` without a value."""
    if isinstance(one.result, Failure) or one.result.value is None:
        return None
    return bool(one.result.value <= one.question.expected + TOLERANCE)


def attack_rows(answered: Sequence[Answered], *, by: str) -> Iterator[Row]:
    """Yield a row for each rubric, or for each family: replies, valid ones, outcomes."""
    plain = [one for one in answered if one.question.family == PLAIN]
    names = by_rubric(answered) if by == "rubric" else _by_family(answered)
    for name, ones in names.items():
        replies = replies_of(ones)
        whole = ones if by == "rubric" else [*plain, *ones]
        outcomes = Attacks.count(whole)
        yield (name, str(replies.asked), str(replies.valid), *map(str, outcomes))


def _by_family(answered: Sequence[Answered]) -> dict[str, list[Answered]]:
    groups: dict[str, list[Answered]] = {}
    for one in answered:
        if one.question.family != PLAIN:
            groups.setdefault(one.question.family, []).append(one)
    return groups


def labelled_rows(answered: Sequence[Answered]) -> Iterator[Row]:
    """Yield for each set and rubric: replies, valid ones, agreement with the labels."""
    groups: dict[tuple[str, str], list[Answered]] = {}
    for one in answered:
        name = one.question.case.id.rpartition("-")[0]
        groups.setdefault((name, one.question.rubric), []).append(one)
    for (name, rubric), ones in sorted(groups.items()):
        replies = replies_of(ones)
        pairs = [
            (one.result.value > 0.5, bool(one.question.expected))
            for one in ones
            if not isinstance(one.result, Failure) and one.result.value is not None
        ]
        yes = sum(judged for judged, _ in pairs)
        same = sum(judged == label for judged, label in pairs)
        labelled_yes = sum(label for _, label in pairs)
        yield (
            name,
            rubric,
            str(replies.asked),
            str(replies.valid),
            f"{same} of {len(pairs)}",
            f"{yes} and {labelled_yes}",
        )
