"""The criteria in scores of `points`, by their texts; for reports, which load no rubrics."""

from __future__ import annotations

from judgekit.core.canonical import digest
from judgekit.core.score import Score

UNLABELLED = "a criterion that counts has no label"
"""Why labels of a case give no value."""
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
