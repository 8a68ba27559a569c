"""Run the tests of rubrics and print the outcome, for `judgekit rubric test`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from judgekit.authoring.rubric_test import run
from judgekit.authoring.rubric_test.agreement import Replies, total_replies
from judgekit.authoring.rubric_test.check import TestOutcome
from judgekit.cassette.mode import RecordMode
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError
from judgekit.core.example_model import EXAMPLE_MODEL
from judgekit.core.json_document import json_document
from judgekit.rubric.testfile import WHOLE
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.overrides import Overrides

_WORDS = {
    "passed": ("pass", "passed"),
    "failed": ("FAIL", "failed"),
    "missed": ("MISS", "not recorded"),
    "unjudged": ("DOWN", "not judged"),
}
"""Verdict -> the mark of its line, and its word in the summary."""


def tests_outcome(
    sources: Sequence[str],
    chosen: Overrides,
    *,
    answers: str | None,
    cassettes: Path | None,
    prune: bool,
    as_json: bool,
) -> tuple[str, int]:
    """Return the outcome of the tests of rubrics as text, and the exit code.

    Raises:
        ConfigError: a rubric or flag is wrong, or there is nothing to test.
    """
    judge, record = _judge(chosen, answers=answers), chosen.record
    if record is None:  # naming a judge on the command line allows calls
        record = "none" if judge is None else "new_episodes"
    trial = chosen.record is None
    settings = run.RubricTestSettings(judge, RecordMode.parse(record), cassettes, prune, trial)
    rubrics = run.find_tested(sources)
    if cassettes is not None and len({r.path.stem for r in rubrics}) < len(rubrics):
        message = "two rubrics have the same file name; rename one"
        raise ConfigError(f"--cassettes {cassettes}: {message}")
    tested = [run.run_tests(rubric, settings) for rubric in rubrics]
    code = max(one.exit_code for one in tested)
    return (_as_json(tested) if as_json else tested_text(tested)), code


def _judge(chosen: Overrides, *, answers: str | None) -> JudgeFile | None:
    settings = {"answers": answers, "api_base": chosen.api_base, "params": chosen.params}
    if chosen.judge is None:
        for flag, value in zip(("answers", "api-base", "param"), settings.values(), strict=True):
            if value:
                raise ConfigError(f"--{flag} needs a judge; add --judge MODEL")
        return None
    if chosen.judge == "none":
        raise ConfigError("--judge none: a replay calls no judge anyway; leave it out")
    return JudgeFile.model_validate({"model": chosen.judge, **settings})


def _as_json(tested: Sequence[run.RubricTestRun]) -> str:
    data: dict[str, Any] = {verdict: sum(t.count(verdict) for t in tested) for verdict in _WORDS}
    data["rubrics"] = []
    for one in tested:
        hint = record_hint(one) if one.count("missed") else None
        data["rubrics"].append({**one.model_dump(mode="json"), "record_with": hint})
    return json_document("rubric_tests", data) + "\n"


def tested_text(tested: Sequence[run.RubricTestRun]) -> str:
    """Return the outcome of the tests of several rubrics."""
    lines = [line for one in tested for line in (*_rubric(one), "")]
    return printable("\n".join([*lines, _sum(tested)])) + "\n"


def _rubric(tested: run.RubricTestRun) -> Iterator[str]:
    yield f"{tested.rubric} ({tested.file})"
    if tested.recorded:
        by = "authored by a person; no model judged" if tested.by_hand else "replies of this model"
        yield f"  judge: {tested.judge} ({by})"
        yield f"  cassette: {tested.cassette}"
    width = max(len(outcome.name) for outcome in tested.outcomes)
    for outcome in tested.outcomes:
        value = "" if outcome.value is None else f"{outcome.value:.2f}"
        yield f"  {_WORDS[outcome.verdict][0]}  {outcome.name:<{width}}  {value}".rstrip()
        if outcome.verdict != "passed" and (tested.recorded or outcome.verdict != "missed"):
            yield from (f"        {line}" for line in (outcome.where, *outcome_lines(outcome)))
    yield from (f"  {line}" for line in agreement_lines(tested))
    yield from (f"  {note}" for note in notes(tested))


def agreement_lines(tested: run.RubricTestRun) -> Iterator[str]:
    """Yield the replies of a judge, and its agreement with the authored verdicts."""
    if tested.author is None:
        return
    yield replies_text(tested.replies)
    for reply in tested.replies.invalid:
        yield f"  {reply.case}: {reply.kind.replace('_', ' ')}: {reply.message}"
    if tested.agreement:
        yield f"beside the verdicts of {tested.author}:"
    width = max((len(one.criterion) for one in tested.agreement), default=0)
    for one in tested.agreement:
        away = "" if one.difference is None else f", mean difference {one.difference:.2f}"
        yield f"  {one.criterion:<{width}}  same answer in {one.same} of {one.cases}{away}"


def replies_text(replies: Replies) -> str:
    """Return how many replies were valid, and the kinds of the others."""
    share = f" ({replies.valid / replies.asked:.0%})" if replies.asked else ""
    kinds = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in replies.reasons.items())
    return f"valid replies: {replies.valid} of {replies.asked}{share}{kinds and f'; {kinds}'}"


def outcome_lines(outcome: TestOutcome) -> Iterator[str]:
    """Yield the reasons why a test did not pass: the expectations and the answers."""
    if outcome.message:
        yield outcome.message
    for short in outcome.shortfalls:
        actual = "the value is" if short.criterion == WHOLE else "the judge answered"
        yield f"{short.criterion}: expected {short.expected}; {actual} {short.said}"
        if short.reason:
            yield f"reason: {' '.join(short.reason.split())}"


def notes(tested: run.RubricTestRun) -> Iterator[str]:
    """Yield advice about missing and unused records."""
    if tested.count("missed"):
        yield record_hint(tested)
    if tested.asked:
        where = f"recorded on {tested.cassette}"
        if tested.trial:
            where = f"kept in the private store; --record new_episodes records them on {where[12:]}"
        yield f"{tested.asked} replies of {tested.judge} {where}"
    if tested.removed:
        yield f"removed from {tested.cassette}: {_records(tested.removed)} that no test uses"
    if tested.unused:
        unused = f"{_records(len(tested.unused))} of {tested.cassette}"
        keys = ", ".join(key[:12] for key in tested.unused[:3])
        more = ", ..." if len(tested.unused) > 3 else ""
        yield f"no test uses {unused} ({keys}{more}); --prune removes them"


def _records(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"


def record_hint(tested: run.RubricTestRun) -> str:
    """Return the command that records the missing replies."""
    file, cassette = Path(tested.file), Path(tested.cassette)
    packaged = run.is_packaged(file)
    words = ["judgekit", "rubric", "test", tested.rubric if packaged else tested.file]
    if cassette != run.tape_of(file):
        words += ["--cassettes", str(cassette.parent)]
    words += ["--record", "new_episodes"]
    if tested.judge == run.UNKNOWN:  # otherwise the cassette identifies the judge
        words += ["--judge", EXAMPLE_MODEL]
    why = "not recorded" if tested.recorded else f"{tested.cassette} does not exist"
    if packaged and not tested.recorded:
        why = "the package has no recorded replies for the tests of this rubric"
    if not tested.by_hand:
        return f"{why}; to record: {shlex.join(words)}"
    by_model, by_hand = ([*words, "--judge", judge] for judge in (EXAMPLE_MODEL, tested.judge))
    calling, answering = shlex.join(by_model), shlex.join(by_hand)
    return f"{why}; to call a model: {calling}; to answer in this terminal: {answering}"


def _sum(tested: Sequence[run.RubricTestRun]) -> str:
    counts = {word: sum(t.count(verdict) for t in tested) for verdict, (_, word) in _WORDS.items()}
    tests = ", ".join(f"{n} {word}" for word, n in counts.items() if n or word == "passed")
    compared = [t for t in tested if t.author is not None]
    if not compared:
        return tests
    parts = [one for t in compared for one in t.agreement]
    same, cases = sum(one.same for one in parts), sum(one.cases for one in parts)
    replies = replies_text(total_replies(t.replies for t in compared))
    return f"{tests}; {replies}; same answer as the authored verdict in {same} of {cases}"
