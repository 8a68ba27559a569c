"""Maintenance of a suite's cassette: explain misses, remove unused records."""

from __future__ import annotations

import asyncio
from pathlib import Path

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.explain import Explainer
from judgekit.cassette.tape import Tape, remove_records
from judgekit.core.errors import ConfigError
from judgekit.runner.evaluation import evaluate
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.suite import Suite, open_suite


def _replay(
    path: Path, *, case: str | None = None, overrides: Overrides | None = None
) -> tuple[Suite, Cassette, Tape]:
    """Replay a suite and return it; its cassette has the misses and the used records."""
    suite = open_suite(resolve(path, overrides).replaying())
    cassette = suite.cassette
    if cassette is None or cassette.tape is None:
        message = "the suite has no cassette; name one: cassette: FILE.jsonl"
        raise ConfigError(message, where=suite.where("cassette"))
    cases = (c for c in suite.cases() if case is None or c.id == case)
    report = asyncio.run(evaluate(cases, suite.metrics))
    if case is not None and report.figures.cases == 0:
        raise ConfigError(f"no case {case!r}", where=suite.where("cases"))
    return suite, cassette, cassette.tape


def explain_misses(
    path: Path, *, case: str | None = None, most: int = 5, overrides: Overrides | None = None
) -> tuple[str, int]:
    """Return an explanation of the misses of a replay, and their number.

    Args:
        path: the suite.
        case: the only case to replay.
        most: the largest number of misses to explain.
        overrides: flags of the run, such as another judge.

    Raises:
        ConfigError: the suite has no cassette.
    """
    suite, cassette, tape = _replay(path, case=case, overrides=overrides)
    try:
        if not cassette.ledger.missed:
            return "no misses: every request is recorded\n", 0
        explainer = Explainer(tape.records())
        texts = []
        for miss in cassette.misses[:most]:
            request, about = miss.request, miss.request.about
            # The text of an embedding request may occur in several cases.
            subject = f"case {about.case}, {about.metric}" if about.case else request.form.want
            texts += [f"{subject}, key {request.key[:12]}", explainer.explain(request).text()]
            texts.append(f"{miss.older}; {miss.decides}\n")
        left = cassette.ledger.missed - min(most, len(cassette.misses))
        if left > 0:
            texts.append(f"and {left} more (--most)\n")
        return "\n".join(texts), cassette.ledger.missed
    finally:
        suite.close()


def prune_unused(path: Path, *, remove: bool) -> str:
    """Return the number of unused records of a cassette, as text; remove them on request.

    Raises:
        ConfigError: the suite has no cassette, or its replay misses requests.
    """
    suite, cassette, tape = _replay(path)
    try:
        unused = set(cassette.unused_keys())
        if not unused:
            return f"{tape.path}: every record is used"
        if cassette.ledger.missed:
            missed = f"{cassette.ledger.missed} requests of the suite are not recorded"
            advice = "record them first (`judgekit cassette explain` shows what differs)"
            raise ConfigError(f"{missed}; {advice}", where=str(tape.path))
        count = f"{len(unused)} {'records' if len(unused) > 1 else 'record'}"
        if not remove:
            return f"{tape.path}: {count} not used; remove with --yes"
        suite.close()  # Windows cannot replace an open file
        remove_records(tape.path, unused)
        return f"{tape.path}: {count} removed"
    finally:
        suite.close()
