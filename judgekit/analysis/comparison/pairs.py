"""Pair the cases of two runs by case id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.case_field import CASE_FIELDS, FIELD_BY_NAME, SETTINGS
from judgekit.core.distribution import Distribution
from judgekit.core.errors import ConfigError
from judgekit.core.score import Failure, Result, Score
from judgekit.metrics.criteria.texts import own_texts, parts_by_text
from judgekit.report.folder import Scored

MAX_REASON = 500
"""Maximum length of a stored reason, in characters."""
SETTING_FIELDS = {name: FIELD_BY_NAME[name].title.lower() for name in SETTINGS}
"""Fields that a run may vary, such as the prompt or the search, with their names in messages."""
_ASKING = ("user", "system")
"""The roles of messages that belong to the question."""
_COMPARED = frozenset(field.name for field in CASE_FIELDS if field.compared)
"""These fields and those that must be equal in both runs."""


class ComparedPart(NamedTuple):
    """The result of one criterion."""

    value: float | None
    reason: str
    distribution: Distribution | None = None
    """Distribution of the answers, of the judge or of several opinions."""


class ComparedResult(NamedTuple):
    """The result of one case and metric."""

    state: str
    """`scored`, `fallback`, `abstained`, `not applicable`, or `failed (KIND)`."""
    value: float | None
    """`None` unless the metric itself scored the case."""
    reason: str
    parts: Mapping[str, ComparedPart]
    keys: tuple[str, ...]
    """Keys of the requests."""
    rubric: str | None = None
    digest: str | None = None
    own_criteria: bool = False
    """Whether the case has the criteria itself; `parts` are then by their texts."""


class OwnCriteria(NamedTuple):
    """The criteria that a case has itself, in one run."""

    digest: str | None
    metrics: frozenset[str]
    """The metrics that scored the case by them."""

    def differ(self, other: OwnCriteria, metric: str) -> bool:
        """Return whether a metric scored the case by other criteria than in the other run."""
        used = metric in self.metrics or metric in other.metrics
        return used and self.digest != other.digest


class CaseEntry(NamedTuple):
    """The parts of a case that a comparison needs."""

    case: str
    criteria: OwnCriteria
    question: str
    """Digest of the fields that must be equal in both runs."""
    settings: Mapping[str, str]
    """Field of `SETTING_FIELDS` -> digest of its value."""
    answer: str
    """Digest of the answer."""
    metadata: Mapping[str, object]
    rows: Mapping[str, ComparedResult]


class Pair(NamedTuple):
    """The same case in two runs."""

    base: CaseEntry
    new: CaseEntry

    @property
    def same_question(self) -> bool:
        """Whether the case is equal in both runs, except for the fields that may vary."""
        return self.base.question == self.new.question

    @property
    def same_answer(self) -> bool:
        """Whether both runs scored the same answer."""
        return self.base.answer == self.new.answer


class Pairing:
    """Pairs the cases of two runs, reading each run once.

    The runs are read alternately, and a case is kept until the other run reaches it. Runs in the
    same order need no memory; otherwise memory grows with the distance between equal cases.
    """

    def __init__(self, base: Iterable[Scored], new: Iterable[Scored] = ()) -> None:
        self._base, self._new = iter(base), iter(new)
        self._waiting: tuple[dict[str, CaseEntry], dict[str, CaseEntry]] = ({}, {})

    def __iter__(self) -> Iterator[Pair]:
        for scored in self._new:
            yield from self.take(scored)
        yield from self.rest()

    def take(self, new: Scored) -> Iterator[Pair]:
        """Add a case of the new run and the next case of the base; yield complete pairs."""
        before = next(self._base, None)
        if before is not None:
            yield from self._meet(0, entry_of(before))
        yield from self._meet(1, entry_of(new))

    def rest(self) -> Iterator[Pair]:
        """Read the rest of the base after the end of the new run; yield complete pairs."""
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
    def alone(self) -> tuple[list[str], list[str]]:
        """Ids of cases that only base or new run has; complete after all pairs were read."""
        base, new = self._waiting
        return list(base), list(new)


def entry_of(scored: Scored) -> CaseEntry:
    """Return the parts of a case and its rows that a comparison needs."""
    case = scored.case
    fields = case.model_dump(mode="json", include=set(_COMPARED), exclude_defaults=True)
    # In a session, the earlier replies of the assistant are answers, too.
    turns = [*fields.pop("history", ()), *(step.model_dump(mode="json") for step in case.steps)]
    asked = [turn for turn in turns if turn["role"] in _ASKING]
    answered = [turn for turn in turns if turn["role"] not in _ASKING]
    expected = dict(fields.pop("expected", {}))
    # Criteria are no part of the question: other metrics compare the case all the same.
    criteria = expected.pop("criteria", None)
    if expected:
        fields["expected"] = expected
    rows = {row.metric: _metric_result(row.result) for row in scored.rows}
    return CaseEntry(
        case=case.id,
        criteria=OwnCriteria(
            None if criteria is None else _digest_of(criteria),
            frozenset(name for name, row in rows.items() if row.own_criteria),
        ),
        settings={field: _digest_of(fields.pop(field, None)) for field in SETTING_FIELDS},
        question=_digest_of([fields, asked]),
        answer=_digest_of([case.output or "", answered]),
        metadata=case.metadata,
        rows=rows,
    )


def _digest_of(value: object) -> str:
    return digest(canonical_json(value).encode("utf-8", "surrogatepass"))


def _metric_result(result: Result) -> ComparedResult:
    keys = tuple(judgment.request_key for judgment in result.judgments)
    if isinstance(result, Failure):
        return ComparedResult(f"failed ({result.kind})", None, _cut(result.message), {}, keys)
    scored = result.fallback is None
    return ComparedResult(
        state=result.status.replace("_", " ") if scored else "fallback",
        value=result.value if scored else None,
        reason=_cut(result.reason),
        parts=_parts(result) if scored else {},
        keys=keys,
        rubric=_text(result.meta.get("rubric")),
        digest=_text(result.meta.get("digest")),
        own_criteria=own_texts(result) is not None,
    )


def _parts(score: Score) -> dict[str, ComparedPart]:
    """Return the criteria by their ids, or by their texts if the case has them itself."""
    return {
        name: ComparedPart(part.value, _cut(part.reason), part.distribution)
        for name, part in parts_by_text(score).items()
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _cut(text: str) -> str:
    return text if len(text) <= MAX_REASON else text[: MAX_REASON - 1] + "…"
