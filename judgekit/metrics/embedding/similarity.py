"""Similarity: the cosine of the output and another text of the case."""

from __future__ import annotations

import math
from typing import Literal, cast

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.embedders import Chosen, embeds_at_once, identity_of, short_name, vectors
from judgekit.metrics._options import TextField, needed_text, needed_texts
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.vectors import cosine

Target = Literal["reference", "input", "context", "baseline"]
Reduce = Literal["max", "mean"]


class Similarity(ComputedMetric):
    """Cosine similarity of the output to a field of the case. Range 0..1, higher is better.

    The cosine is clamped to 0..1, so opposite texts count as unrelated, and rounded to four
    decimals. If the field contains several texts, the value is the maximum or the mean cosine. The
    embedder decides what "similar" means; `meta.embedder` names it, and the default one is lexical.
    Texts without features for the embedder (zero vectors) do not count. If the output or all texts
    are without features, the metric is not applicable. It needs `output` and the field that `to`
    names.
    """

    name: str = "similarity"
    to: Target = "reference"
    """The field that the output is compared with."""
    reduce: Reduce = "max"
    """Similarity to several texts: the maximum (`max`) or the mean (`mean`)."""
    embedder: Chosen = "lexical"
    """Name of an embedder, a mapping such as `{onnx: FOLDER}`, or an embedder object."""

    needs = ("output", "the field that `to` names")

    @property
    def synchronous(self) -> bool:
        """Whether the embedder is synchronous."""
        return embeds_at_once(self.embedder)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the field is missing.
        """
        output = needed_text(case, "output")
        if self.to in ("reference", "context"):
            others = needed_texts(case, self.to)
        else:
            others = (needed_text(case, cast("TextField", self.to)),)
        identity = identity_of(self.embedder)
        first, *rest = await vectors(self.embedder, [output, *others])
        cosines = [cosine(first, vector) for vector in rest]
        known = [value for value in cosines if value is not None]
        method = f"cosine of {short_name(identity)}"
        if not known:
            return not_applicable(
                f"The output or the {self.to} has no words that the embedder knows.",
                method=method,
                meta={"embedder": identity},
            )
        value = max(known) if self.reduce == "max" else math.fsum(known) / len(known)
        several = "" if len(cosines) == 1 else f", the {self.reduce} over {len(known)} texts"
        return Score(
            value=round(value, 4),
            method=method,
            reason=f"The cosine of the output to the {self.to} is {value:.2f}{several}.",
            ground_truth=list(others) if self.to == "reference" else None,
            details={"cosines": [None if c is None else round(c, 4) for c in cosines]},
            meta={"embedder": identity},
        )
