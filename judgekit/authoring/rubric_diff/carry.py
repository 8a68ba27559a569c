"""What carries over from one version of a rubric to another: criteria, by name or by `renamed`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgekit.core.value import Value
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.rubric import Rubric


class Carried(Value):
    """The criteria of an old version, by what becomes of them in a new one."""

    kept: tuple[str, ...] = ()
    """Those with the same name and scale; the text may differ."""
    renamed: Mapping[str, str] = {}
    """Old name -> new name."""
    reworded: tuple[str, ...] = ()
    """New names of those that ask with another text."""
    rescaled: Mapping[str, str] = {}
    """New name -> the old and the new scale of those that are answered differently."""
    reweighted: tuple[str, ...] = ()
    """New names of those with another share of the value."""
    gone: tuple[str, ...] = ()
    """Old names without a criterion in the new version."""
    added: tuple[str, ...] = ()

    @property
    def moves_values(self) -> bool:
        """Whether a threshold has another meaning, because the value is computed differently."""
        return bool(self.rescaled or self.reweighted or self.gone or self.added)

    def lines(self) -> Iterator[str]:
        """Yield what carries over, and what does not."""
        if self.kept:
            yield f"criteria that carry over: {', '.join(self.kept)}"
        for old, new in self.renamed.items():
            yield f"criterion {old} is now {new}"
        for id, scales in self.rescaled.items():
            yield f"criterion {id} has another scale: {scales}"
        for what, ids in (
            ("with another text", self.reworded),
            ("with another weight", self.reweighted),
        ):
            if ids:
                yield f"criteria {what}: {', '.join(ids)}"
        if self.gone:
            yield f"criteria that are gone: {', '.join(self.gone)}"
        if self.added:
            yield f"new criteria: {', '.join(self.added)}"


def carried(old: Rubric, new: Rubric) -> Carried:
    """Return what carries over from a version of a rubric to another, in either direction."""
    before = {criterion.id: criterion for criterion in old.criteria}
    after = {criterion.id: criterion for criterion in new.criteria}
    renames = {**new.renamed, **{now: was for was, now in old.renamed.items()}}
    known = {was: renames.get(was, was) for was in before}
    known = {was: now for was, now in known.items() if now in after}
    pairs = {now: (before[was], after[now]) for was, now in known.items()}
    rescaled = {
        now: f"{_scale(one)} -> {_scale(other)}"
        for now, (one, other) in pairs.items()
        if _scale(one) != _scale(other)
    }
    return Carried(
        kept=tuple(now for was, now in known.items() if was == now and now not in rescaled),
        renamed={was: now for was, now in known.items() if was != now},
        reworded=tuple(n for n, (a, b) in pairs.items() if a.question.text != b.question.text),
        rescaled=rescaled,
        reweighted=tuple(n for n, (a, b) in pairs.items() if abs(a.weight - b.weight) > 1e-9),
        gone=tuple(was for was in before if was not in known),
        added=tuple(now for now in after if now not in pairs),
    )


def _scale(criterion: Criterion) -> str:
    """Return the possible answers with their values, as text."""
    question = criterion.question
    against = ", reversed" if criterion.reverse else ""
    if criterion.levels:
        words = ", ".join(f"{level.label} {_number(level.value)}" for level in criterion.levels)
        return f"{words}{against}"
    if question.kind == "score":
        return f"{question.minimum:g} to {question.maximum:g}{against}"
    return f"{question.kind}{against}"


def _number(value: Any) -> str:
    return "not applicable" if value is None else f"{value:g}"
