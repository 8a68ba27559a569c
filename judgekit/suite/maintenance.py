"""Maintenance of a suite's cassette: explain misses, remove unused records."""

from __future__ import annotations

import asyncio
from pathlib import Path

from judgekit.cassette.explain import Explainer
from judgekit.cassette.tape import remove_records
from judgekit.core.errors import ConfigError
from judgekit.runner.evaluation import evaluate
from judgekit.suite.overrides import Overrides
from judgekit.suite.suite import Suite, load_suite


def _replay(path: Path, *, case: str | None = None, overrides: Overrides | None = None) -> Suite:
    """Replay a suite and return it; its cassette knows the misses and the used records."""
    overrides = overrides or Overrides()
    suite = load_suite(path, overrides.model_copy(update={"record": "none"}))
    if suite.cassette is None or suite.cassette.tape is None:
        raise ConfigError(
            "the suite has no cassette; name one: cassette: FILE.jsonl",
            where=suite.where("cassette"),
        )
    cases = (c for c in suite.cases() if case is None or c.id == case)
    report = asyncio.run(evaluate(cases, suite.metrics))
    if case is not None and report.figures.cases == 0:
        raise ConfigError(f"no case {case!r}", where=suite.where("cases"))
    return suite


def explain_misses(
    path: Path,
    *,
    case: str | None = None,
    most: int = 5,
    overrides: Overrides | None = None,
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
    suite = _replay(path, case=case, overrides=overrides)
    cassette = suite.cassette
    assert cassette is not None  # noqa: S101 - _replay checks it
    assert cassette.tape is not None  # noqa: S101
    try:
        if not cassette.ledger.missed:
            return "no misses: every request is recorded\n", 0
        explainer = Explainer(cassette.tape.records())
        texts = []
        for request in cassette.misses[:most]:
            about = request.about
            # An embedding request is about a text that may be in several cases.
            subject = f"case {about.case}, {about.metric}" if about.case else request.form.want
            texts.append(f"{subject}, key {request.key[:12]}")
            texts.append(explainer.explain(request).text())
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
    suite = _replay(path)
    cassette = suite.cassette
    assert cassette is not None  # noqa: S101 - _replay checks it
    assert cassette.path is not None  # noqa: S101
    try:
        unused = set(cassette.unused_keys())
        if not unused:
            return f"{cassette.path}: every record is used"
        if cassette.ledger.missed:
            raise ConfigError(
                f"{cassette.ledger.missed} requests of the suite are not recorded; record them "
                "first (`judgekit cassette explain` shows what differs)",
                where=str(cassette.path),
            )
        count = f"{len(unused)} {'records' if len(unused) > 1 else 'record'}"
        if not remove:
            return f"{cassette.path}: {count} not used; remove with --yes"
        suite.close()  # Windows cannot replace an open file
        remove_records(cassette.path, unused)
        return f"{cassette.path}: {count} removed"
    finally:
        suite.close()
