"""Maintenance of a suite's cassette: explain misses, remove unused records."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.explain import Explanation, explain_all
from judgekit.cassette.record import decode_reply
from judgekit.cassette.tape import Tape, remove_records
from judgekit.core.display.parts import counted
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
    report = asyncio.run(evaluate(cases, suite.metrics, keep=False))
    if case is not None and report.figures.cases == 0:
        raise ConfigError(f"no case {case!r}", where=suite.where("cases"))
    return suite, cassette, cassette.tape


class ExplainedMiss(NamedTuple):
    """A request that is not recorded, and the nearest record."""

    case: str | None
    metric: str | None
    want: str
    """What the request asks for: a verdict, an embedding, ..."""
    key: str
    explanation: Explanation
    older: str
    """What older versions have of it."""
    decides: str

    def text(self) -> str:
        """Return the explanation as lines."""
        # The text of an embedding request may occur in several cases.
        subject = f"case {self.case}, {self.metric}" if self.case else self.want
        head = f"{subject}, key {self.key[:12]}"
        return f"{head}\n{self.explanation.text()}\n{self.older}; {self.decides}\n"

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON values."""
        differences = [one._asdict() for one in self.explanation.differences]
        nearest = {"nearest": self.explanation.key, "differences": differences}
        return {**self._asdict(), "explanation": nearest}


class ExplainedMisses(NamedTuple):
    """The misses of a replay; only some of them are explained."""

    missed: int
    explained: tuple[ExplainedMiss, ...]

    def text(self) -> str:
        """Return the explanations as text."""
        if not self.missed:
            return "no misses: every request is recorded\n"
        left = self.missed - len(self.explained)
        texts = [one.text() for one in self.explained]
        return "\n".join([*texts, f"and {left} more (--most)\n"] if left > 0 else texts)

    def to_json(self) -> dict[str, Any]:
        """Return the explanations as JSON values."""
        return {"missed": self.missed, "explained": [one.to_json() for one in self.explained]}


def explain_misses(
    path: Path, *, case: str | None = None, most: int = 5, overrides: Overrides | None = None
) -> ExplainedMisses:
    """Explain the misses of a replay.

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
            return ExplainedMisses(0, ())
        explained = []
        misses = cassette.misses[:most]
        found = explain_all((miss.request for miss in misses), tape.records())
        for miss, nearest in zip(misses, found, strict=True):
            request, about = miss.request, miss.request.about
            of = (about.case, about.metric, request.form.want, request.key)
            explained.append(ExplainedMiss(*of, nearest, miss.older, miss.decides))
        return ExplainedMisses(cassette.ledger.missed, tuple(explained))
    finally:
        suite.close()


class Pruned(NamedTuple):
    """Records of a tape or a store that may be removed."""

    where: str
    records: int
    removed: bool
    unused: bool = False
    """Whether no request uses them; otherwise, they would not be recorded today."""

    def text(self) -> str:
        """Return the number as a line."""
        if not self.records:
            return f"{self.where}: every record is {'used' if self.unused else 'justified'}"
        count = counted(self.records, "record")
        if self.removed:
            return f"{self.where}: {count} removed"
        why = "not used" if self.unused else "would not be recorded today"
        return f"{self.where}: {count} {why}; remove with --yes"


def prune_unused(path: Path, *, remove: bool) -> list[Pruned]:
    """Count the unused records of a cassette; remove them on request.

    Raises:
        ConfigError: the suite has no cassette, or its replay misses requests.
    """
    suite, cassette, tape = _replay(path)
    try:
        unused = set(cassette.unused_keys())
        if not unused:
            return [Pruned(str(tape.path), 0, removed=False, unused=True)]
        if cassette.ledger.missed:
            missed = f"{cassette.ledger.missed} requests of the suite are not recorded"
            advice = "record them first (`judgekit cassette explain` shows what differs)"
            raise ConfigError(f"{missed}; {advice}", where=str(tape.path))
        if remove:
            suite.close()  # Windows cannot replace an open file
            remove_records(tape.path, unused)
        return [Pruned(str(tape.path), len(unused), removed=remove, unused=True)]
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


def prune_unjustified(path: Path, *, remove: bool) -> list[Pruned]:
    """Count the records that would not be recorded today; remove them on request.

    The tape and the private store of its project are searched; other records stay.

    Args:
        path: the suite, or the tape itself.
        remove: whether to remove them.

    Raises:
        ConfigError: the suite has no cassette.
        CassetteCorrupt: a record is damaged.
    """
    file = path if path.suffix == ".jsonl" else _tape_of(path)
    pruned = []
    if file.exists():
        reasons = unjustified_records(file)
        if reasons and remove:
            remove_records(file, reasons.keys())
        pruned.append(Pruned(str(file), len(reasons), removed=remove and bool(reasons)))
    from judgekit.cassette.store import Store, holds_store, store_folder

    folder = store_folder(path.parent)
    if holds_store(folder):
        with closing(Store(folder)) as store:
            keys = [key for key in list(store.keys()) if _is_unjustified(store, key)]
            if keys and remove:
                store.remove(keys)
        pruned.append(Pruned(str(folder), len(keys), removed=remove and bool(keys)))
    return pruned


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
