"""Two runs side by side: every case of one with the same case of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import ConfigError
from judgekit.core.score import Failure, Result
from judgekit.report.folder import Scored

MAX_REASON = 500
"""Characters of a reason that are kept."""
_QUESTION_FIELDS = ("input", "history", "reference", "baseline", "choices", "expected")
"""What makes a case the case it is. The answer may differ, and what whoever answers was given."""
GIVEN = {"system": "system prompt", "context": "context"}
"""Fields of a case that are part of what is tried: another prompt, another search."""


class Said(NamedTuple):
    """The result of a criterion."""

    value: float | None
    reason: str


class Seen(NamedTuple):
    """What a run holds of one case and metric."""

    state: str
    """scored, fallback, abstained, not applicable, or failed and how."""
    value: float | None
    """`None` unless scored by the metric's own."""
    reason: str
    parts: Mapping[str, Said]
    keys: tuple[str, ...]
    """Requests it rests on."""
    rubric: str | None
    digest: str | None
    model: str | None


class CaseEntry(NamedTuple):
    """One case of a run, as far as a comparison needs it."""

    case: str
    question: str
    """Digest of what makes it the case it is."""
    given: Mapping[str, str]
    """Field of `GIVEN` -> digest of what it holds."""
    answer: str
    """Digest of the answer."""
    metadata: Mapping[str, object]
    rows: Mapping[str, Seen]


class Pair(NamedTuple):
    """The same case in two runs."""

    base: CaseEntry
    new: CaseEntry

    @property
    def same_question(self) -> bool:
        """Whether both runs put the same before whoever answered."""
        return self.base.question == self.new.question

    @property
    def same_answer(self) -> bool:
        """Whether both runs scored the same answer."""
        return self.base.answer == self.new.answer


class Pairing:
    """Pairs two runs while reading both once.

    Both are read in turns, and a case waits until the other run has it: where the order is the
    same, nothing waits; where it is not, memory grows with how far apart the cases are.
    """

    def __init__(self, base: Iterable[Scored], new: Iterable[Scored] = ()) -> None:
        self._base, self._new = iter(base), iter(new)
        self._waiting: tuple[dict[str, CaseEntry], dict[str, CaseEntry]] = ({}, {})

    def __iter__(self) -> Iterator[Pair]:
        for scored in self._new:
            yield from self.take(scored)
        yield from self.rest()

    def take(self, new: Scored) -> Iterator[Pair]:
        """Take one case of the new run, and the next of the base; yield what is complete."""
        before = next(self._base, None)
        if before is not None:
            yield from self._meet(0, entry_of(before))
        yield from self._meet(1, entry_of(new))

    def rest(self) -> Iterator[Pair]:
        """Take what is left of the base, once the new run is at its end."""
        for before in self._base:
            yield from self._meet(0, entry_of(before))

    def _meet(self, side: int, entry: CaseEntry) -> Iterator[Pair]:
        other = self._waiting[1 - side].pop(entry.case, None)
        if other is not None:
            yield Pair(other, entry) if side else Pair(entry, other)
        elif entry.case in self._waiting[side]:
            raise ConfigError(f"case {entry.case!r} appears twice in one run")
        else:
            self._waiting[side][entry.case] = entry

    @property
    def only_base(self) -> list[str]:
        """Cases that only the base has, known once all pairs were taken."""
        return list(self._waiting[0])

    @property
    def only_new(self) -> list[str]:
        """Cases that only the new run has."""
        return list(self._waiting[1])


def entry_of(scored: Scored) -> CaseEntry:
    """Return what a comparison needs of a case and its rows."""
    case = scored.case
    fields = case.model_dump(
        mode="json", include={*_QUESTION_FIELDS, *GIVEN}, exclude_defaults=True
    )
    return CaseEntry(
        case=case.id,
        given={field: _digest_of(fields.pop(field, None)) for field in GIVEN},
        question=_digest_of(fields),
        answer=digest((case.output or "").encode("utf-8", "surrogatepass")),
        metadata=case.metadata,
        rows={row.metric: _metric_result(row.result) for row in scored.rows},
    )


def _digest_of(value: object) -> str:
    return digest(canonical_json(value).encode("utf-8", "surrogatepass"))


def _metric_result(result: Result) -> Seen:
    keys = tuple(judgment.request_key for judgment in result.judgments)
    if isinstance(result, Failure):
        return Seen(
            f"failed ({result.kind})", None, _cut(result.message), {}, keys, None, None, None
        )
    own = result.fallback is None
    state = "fallback" if not own else result.status.replace("_", " ")
    meta = {name: _text(result.meta.get(name)) for name in ("rubric", "digest", "model")}
    return Seen(
        state=state,
        value=result.value if own else None,
        reason=_cut(result.reason),
        parts={
            part.id: Said(part.value, _cut(part.reason)) for part in (result.parts if own else ())
        },
        keys=keys,
        **meta,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _cut(text: str) -> str:
    return text if len(text) <= MAX_REASON else text[: MAX_REASON - 1] + "…"
