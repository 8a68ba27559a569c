"""Looking after the cassette of a suite: explaining misses, removing what is not used."""

from __future__ import annotations

import asyncio
from pathlib import Path

from judgekit.cassette.explain import Explainer
from judgekit.cassette.record import Record
from judgekit.cassette.tape import merge_into
from judgekit.core.errors import ConfigError
from judgekit.runner.evaluation import evaluate
from judgekit.suite.file import Overrides
from judgekit.suite.suite import Suite, load_suite


def _replay(path: Path, *, case: str | None = None, overrides: Overrides | None = None) -> Suite:
    """Replay a suite, asking nobody, and return it with what its cassette saw."""
    wanted = overrides or Overrides()
    suite = load_suite(path, wanted.model_copy(update={"record": "none"}))
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
    """Return why a suite's replay misses, and how many misses there are.

    Args:
        path: the suite.
        case: only this case.
        most: misses to explain at most.
        overrides: what the flags of the run said, such as another judge.

    Raises:
        ConfigError: the suite has no cassette.
    """
    suite = _replay(path, case=case, overrides=overrides)
    cassette = suite.cassette
    assert cassette is not None  # noqa: S101 - _replay saw to it
    assert cassette.tape is not None  # noqa: S101
    try:
        if not cassette.ledger.missed:
            return "nothing misses: every request is recorded\n", 0
        explainer = Explainer(cassette.tape.records())
        texts = []
        for request in cassette.misses[:most]:
            about = request.about
            # A vector is of a text, whichever cases it stands in.
            what = f"case {about.case}, {about.metric}" if about.case else request.form.want
            texts.append(f"{what}, key {request.key[:12]}")
            texts.append(explainer.explain(request).text())
        left = cassette.ledger.missed - min(most, len(cassette.misses))
        if left > 0:
            texts.append(f"and {left} more (--most)\n")
        return "\n".join(texts), cassette.ledger.missed
    finally:
        suite.close()


def prune_unused(path: Path, *, remove: bool) -> str:
    """Return what a suite does not use of its cassette, removed or not.

    Raises:
        ConfigError: the suite has no cassette, or misses what it would use of it.
    """
    suite = _replay(path)
    cassette = suite.cassette
    assert cassette is not None  # noqa: S101 - _replay saw to it
    assert cassette.path is not None  # noqa: S101
    try:
        unused = set(cassette.unused_keys())
        if not unused:
            return f"{cassette.path}: every record is used"
        if cassette.ledger.missed:
            raise ConfigError(
                f"{cassette.ledger.missed} requests of the suite are not recorded; record them "
                "first (`judgekit cassette explain` says what differs)",
                where=str(cassette.path),
            )
        said = f"{len(unused)} record{'s are' if len(unused) > 1 else ' is'}"
        if not remove:
            them = "them" if len(unused) > 1 else "it"
            return f"{cassette.path}: {said} not used; --yes removes {them}"
        suite.close()  # Windows renames nothing over a file that is open
        merge_into(cassette.path, (), _nothing, keep=lambda key: key not in unused)
        return f"{cassette.path}: {said} removed"
    finally:
        suite.close()


def _nothing(key: str) -> Record:
    raise AssertionError(key)
