"""Combined: several metrics in one score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgekit.core.arguments import named_fields
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Metric
from judgekit.core.score import Fallback, Part, Score, Status, checked_score
from judgekit.core.synchronous import gather_all
from judgekit.core.value import Json, described
from judgekit.metrics._options import check_choice, check_name, check_weight
from judgekit.metrics.adapter import as_metric
from judgekit.metrics.weights import Scale, fold_parts, spelled_part
from judgekit.rubric.fold import WAYS, Combine


@named_fields
@dataclass(frozen=True, kw_only=True, slots=True)
class Combined(Metric):
    """Other metrics, combined in one of the ways of rubrics. Range 0..1, higher is better.

    Each value is first mapped to 0..1 by the range and direction of its metric, so that 1 is best.
    Metrics that abstain or are not applicable drop out, and the weights of the others are scaled to
    a sum of 1. If all drop out, the combined metric does too. If a metric raises an error, the
    combined metric raises it after all have finished: the first one, in the order of `of`.
    """

    name: str
    of: tuple[Metric, ...]
    combine: Combine = "mean"
    weights: Mapping[str, float] | Sequence[float] | None = None
    """For a weighted way: weights by name, or in the order of `of`."""

    def __post_init__(self) -> None:
        check_name("combined", self.name)
        check_choice(self.name, "combine", self.combine, Combine)
        of: Any = self.of  # a suite or a caller may give any value
        if isinstance(of, str) or not isinstance(of, Iterable):
            raise ConfigError(f"{self.name}: of must be a list of metrics, not {described(of)}")
        object.__setattr__(self, "of", tuple(map(as_metric, of)))
        names = [metric.name for metric in self.of]
        if not names:
            raise ConfigError(f"{self.name}: combine needs `of: [metric, ...]`")
        if len(set(names)) < len(names):
            raise ConfigError(f"{self.name}: of must name metrics, each once, not {names!r}")
        for metric in self.of:
            Scale.of(metric)
        if self.weights is None and WAYS[self.combine].weighted:
            example = f"weights: {{{names[0]}: 1}}"
            raise ConfigError(f"{self.name}: combine {self.combine} needs {example}")
        if self.weights is not None and not WAYS[self.combine].weighted:
            weighted = " or ".join(name for name, way in WAYS.items() if way.weighted)
            raise ConfigError(f"{self.name}: weights belong to combine {weighted} only")
        self._weights()

    def children(self) -> tuple[Metric, ...]:
        """Return the metrics it combines."""
        return self.of

    def _meta(self, scores: Sequence[Score]) -> dict[str, Json]:
        """Return the facts of each metric, and the model if all metrics have the same one."""
        meta: dict[str, Json] = {
            m.name: s.meta for m, s in zip(self.of, scores, strict=True) if s.meta
        }
        models = {s.meta["model"] for s in scores if "model" in s.meta}
        return meta | {"model": models.pop()} if len(models) == 1 else meta

    async def score(self, case: Case) -> Score:
        """Score one case by all metrics at the same time.

        Raises:
            JudgekitError: raised by one of the metrics.
        """
        scores = await gather_all(checked_score(metric, case) for metric in self.of)
        parts = [
            Part(
                id=metric.name,
                status=score.status,
                value=None if score.value is None else Scale.of(metric).goodness(score.value),
                reason=score.reason,
                details={"value": score.value, "source": score.source, **score.details},
            )
            for metric, score in zip(self.of, scores, strict=True)
        ]
        folded = fold_parts(parts, self._weights(), combine=self.combine)
        # If no metric with a weight has a value, one that abstained decides.
        abstained = any(score.status == "abstained" for score in scores)
        left: Status = "abstained" if abstained else "not_applicable"
        how = self.combine.replace("_", " ")
        title = how.capitalize() if WAYS[self.combine].exact else f"The {how}"
        return Score(
            status=left if folded.value is None else "scored",
            value=folded.value,
            parts=folded.parts,
            reason=f"{title} of: {', '.join(map(spelled_part, parts))}.",
            source="judge" if any(score.source == "judge" for score in scores) else "computed",
            method=f"{how} of {len(self.of)} metrics",
            judgments=tuple(judgment for score in scores for judgment in score.judgments),
            meta=self._meta(scores),
            fallback=_fallback(scores),
        )

    def _weights(self) -> dict[str, float]:
        """Return the weight of each metric; they need not add up to 1."""
        names = [metric.name for metric in self.of]
        given: Any = self.weights  # a suite may have any value
        if given is None:
            return dict.fromkeys(names, 1.0)
        if not isinstance(given, Mapping):
            if isinstance(given, str) or not isinstance(given, Sequence):
                raise ConfigError(f"{self.name}: weights must be numbers by metric, not {given!r}")
            if len(given) != len(names):
                few = f"weights must be {len(names)} numbers, not {len(given)}"
                raise ConfigError(f"{self.name}: {few}")
            given = dict(zip(names, given, strict=True))
        if set(given) != set(names):
            raise ConfigError(
                f"{self.name}: weights must name each of {', '.join(names)}, once,"
                f" not {', '.join(map(str, given))}"
            )
        weights = {name: check_weight(self.name, "each weight", given[name]) for name in names}
        if not math.fsum(weights.values()) > 0:
            raise ConfigError(f"{self.name}: weights must not all be 0")
        return weights


def _fallback(scores: Sequence[Score]) -> Fallback | None:
    """Return the fallbacks of the metrics as one: each replacement and cause once."""
    fallbacks = [score.fallback for score in scores if score.fallback]
    if not fallbacks:
        return None
    return Fallback(
        substitute=", ".join(dict.fromkeys(fallback.substitute for fallback in fallbacks)),
        cause="; ".join(dict.fromkeys(fallback.cause for fallback in fallbacks)),
    )
