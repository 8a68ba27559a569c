"""Maintenance of a suite's cassette: explain misses, remove unused records."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.explain import Explainer
from judgekit.cassette.record import decode_reply
from judgekit.cassette.tape import Tape, remove_records
from judgekit.core.errors import ConfigError
from judgekit.judges.justified import unjustified
from judgekit.runner.evaluation import evaluate
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.suite import Suite, open_suite

if TYPE_CHECKING:
    from judgekit.cassette.store import Store


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


def unjustified_records(tape: Path) -> dict[str, str]:
    """Return why records of a tape would not be recorded today, by key; the others are left out.

    Raises:
        CassetteCorrupt: a record is damaged.
    """
    with closing(Tape(tape)) as opened:
        reasons = ((record.key, unjustified(record.reply)) for record in opened.records())
        return {key: reason for key, reason in reasons if reason is not None}


def prune_unjustified(path: Path, *, remove: bool) -> str:
    """Return the number of records that would not be recorded today; remove them on request.

    The tape and the private store of its project are searched; other records stay.

    Args:
        path: the suite, or the tape itself.
        remove: whether to remove them.

    Raises:
        ConfigError: the suite has no cassette.
        CassetteCorrupt: a record is damaged.
    """
    file = path if path.suffix == ".jsonl" else _tape_of(path)
    lines = []
    if file.exists():
        reasons = unjustified_records(file)
        if reasons and remove:
            remove_records(file, reasons.keys())
        lines.append(_pruned(file, len(reasons), removed=remove))
    from judgekit.cassette.store import Store, holds_store, store_folder

    folder = store_folder(path.parent)
    if holds_store(folder):
        with closing(Store(folder)) as store:
            keys = [key for key in list(store.keys()) if _is_unjustified(store, key)]
            if keys and remove:
                store.remove(keys)
        lines.append(_pruned(folder, len(keys), removed=remove))
    return "\n".join(lines) or f"{file}: nothing is recorded"


def _tape_of(path: Path) -> Path:
    suite = resolve(path).replaying()
    if suite.tape is None:
        message = "the suite has no cassette; name one: cassette: FILE.jsonl"
        raise ConfigError(message, where=str(path))
    return suite.tape


def _is_unjustified(store: Store, key: str) -> bool:
    """Return whether a text of a store is such a record; it also has output modes and misses."""
    text = store.get(key) if len(key) == 64 else None
    if text is None:
        return False
    return unjustified(decode_reply(text, key=key, where=f"{store.folder}: {key[:12]}")) is not None


def _pruned(where: Path, count: int, *, removed: bool) -> str:
    if not count:
        return f"{where}: every record is justified"
    records = f"{count} {'records' if count > 1 else 'record'}"
    done = "removed" if removed else "would not be recorded today; remove with --yes"
    return f"{where}: {records} {done}"
