"""The outcome of rubric tests as people read it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from judgekit.authoring.rubric_test.check import Shortfall, TestOutcome
from judgekit.authoring.rubric_test.place import is_packaged, tape_of
from judgekit.authoring.rubric_test.run import UNKNOWN, RubricTestRun
from judgekit.core.canonical import printable
from judgekit.core.example_model import EXAMPLE_MODEL
from judgekit.rubric.expectation import WHOLE

_WORDS = {"passed": "pass", "failed": "FAIL", "missed": "MISS", "unjudged": "DOWN"}


def tested_text(tested: Sequence[RubricTestRun]) -> str:
    """Return what came of the tests of several rubrics."""
    lines = [line for one in tested for line in (*_rubric(one), "")]
    return printable("\n".join([*lines, _sum(tested)])) + "\n"


def _rubric(tested: RubricTestRun) -> Iterator[str]:
    yield f"{tested.rubric} ({tested.file})"
    if tested.recorded:
        by = "authored, no model judged" if tested.by_hand else "replies of that model"
        yield f"  judge: {tested.judge} ({by})"
        yield f"  cassette: {tested.cassette}"
    width = max(len(outcome.name) for outcome in tested.outcomes)
    for outcome in tested.outcomes:
        value = "" if outcome.value is None else f"{outcome.value:.2f}"
        yield f"  {_WORDS[outcome.verdict]}  {outcome.name:<{width}}  {value}".rstrip()
        if outcome.verdict != "passed" and (tested.recorded or outcome.verdict != "missed"):
            yield from (f"        {line}" for line in (outcome.where, *outcome_lines(outcome)))
    yield from (f"  {note}" for note in notes(tested))


def outcome_lines(outcome: TestOutcome) -> list[str]:
    """Return why a test did not pass: what was expected, what was said."""
    lines = [outcome.message] if outcome.message else []
    for shortfall in outcome.shortfalls:
        lines += _shortfall(shortfall)
    return lines


def _shortfall(shortfall: Shortfall) -> Iterator[str]:
    says = "it came to" if shortfall.criterion == WHOLE else "the judge said"
    yield f"{shortfall.criterion}: expected {shortfall.expected}; {says} {shortfall.said}"
    if shortfall.reason:
        yield f"reason: {' '.join(shortfall.reason.split())}"


def notes(tested: RubricTestRun) -> list[str]:
    """Return what to do about what is missing or left over."""
    said = []
    if tested.count("missed"):
        said.append(record_hint(tested))
    if tested.asked:
        said.append(f"{tested.asked} asked of {tested.judge}, recorded on {tested.cassette}")
    if tested.removed:
        said.append(f"unused and removed from {tested.cassette}: {_records(tested.removed)}")
    if tested.unused:
        said.append(
            f"used by no test: {_records(len(tested.unused))} of {tested.cassette} "
            f"({', '.join(key[:12] for key in tested.unused[:3])}"
            f"{', ...' if len(tested.unused) > 3 else ''}); --prune removes them"
        )
    return said


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"


def record_hint(tested: RubricTestRun) -> str:
    """Return the command that records what is not recorded."""
    file, cassette = Path(tested.file), Path(tested.cassette)
    packaged = is_packaged(file)
    words = ["judgekit", "rubric", "test", tested.rubric if packaged else tested.file]
    if cassette != tape_of(file):
        words += ["--cassettes", str(cassette.parent)]
    words += ["--record", "new_episodes"]
    if tested.judge == UNKNOWN:  # any other is known from the cassette
        words += ["--judge", EXAMPLE_MODEL]
    why = "not recorded"
    if packaged and not tested.recorded:
        why = "the package holds the rubric without the recorded replies to its tests"
    elif not tested.recorded:
        why = f"{tested.cassette} does not exist"
    if not tested.by_hand:
        return f"{why}; to record: {shlex.join(words)}"
    by_model, by_hand = ([*words, "--judge", judge] for judge in (EXAMPLE_MODEL, tested.judge))
    return (
        f"{why}; to ask a model: {shlex.join(by_model)}; "
        f"to answer in this terminal: {shlex.join(by_hand)}"
    )


def _sum(tested: Sequence[RubricTestRun]) -> str:
    named = {
        "passed": "passed",
        "failed": "failed",
        "missed": "not recorded",
        "unjudged": "not judged",
    }
    counts = {word: sum(t.count(verdict) for t in tested) for verdict, word in named.items()}
    return ", ".join(f"{n} {word}" for word, n in counts.items() if n or word == "passed")
