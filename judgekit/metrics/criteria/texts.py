"""The criteria in scores of `points`, by their texts; for reports, which load no rubrics."""

from __future__ import annotations

import math
from collections.abc import Mapping

from judgekit.core.canonical import digest
from judgekit.core.score import Score

METRIC_TYPE = "Points"
"""The type of the metric in a manifest."""


def criterion_digest(text: str) -> str:
    """Return the digest of the text of a criterion: 16 hex digits; white space is ignored."""
    return digest(" ".join(text.split()))[:16]


def own_texts(score: Score) -> list[str] | None:
    """Return the texts of the criteria that a case has itself, one for each part; else `None`."""
    texts = score.ground_truth
    if "possible" not in score.details or not isinstance(texts, list):
        return None
    return list(map(str, texts)) if len(texts) == len(score.parts) else None


def person_value(score: Score, labels: Mapping[str, float]) -> float | None:
    """Return the value of a case by people; `None` if a criterion that counts has no label.

    Args:
        score: the score of the judge; it has the texts and weights of the criteria.
        labels: name of a criterion -> 1 for yes, 0 for no, or its share.
    """
    texts = own_texts(score)
    if texts is None or score.value is None:
        return None
    total = []
    for text, part in zip(texts, score.parts, strict=True):
        names = (criterion_digest(text), text, str(part.details.get("id", "")), part.id)
        label = next((labels[name] for name in names if name in labels), None)
        if label is None:
            if part.weight:
                return None
            continue
        # A negated criterion is met with the share 0.
        negated = part.answer == ("met" if part.value == 0.0 else "not met")
        total.append(part.weight * (1.0 - label if negated else label))
    return math.fsum(total)
