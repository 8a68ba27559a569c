"""The criteria in scores of `points`, by their texts; for reports, which load no rubrics."""

from __future__ import annotations

from judgekit.core.canonical import digest
from judgekit.core.score import Part, Score

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


def parts_by_text(score: Score) -> dict[str, Part]:
    """Return the criteria of a score by their ids, or by their texts if the case has them itself.

    The reason of a criterion of a case is then the reason of its part. A text that a case has twice
    is `text (2)` the second time, so its place does not matter.
    """
    texts = own_texts(score)
    if texts is None:
        return {part.id: part for part in score.parts}
    parts: dict[str, Part] = {}
    for text, part in zip(texts, score.parts, strict=True):
        times = 1
        while (name := text if times == 1 else f"{text} ({times})") in parts:
            times += 1
        items = [item for item in part.items if isinstance(item, dict)]
        reason = str(items[0].get("reason") or "") if items else part.reason
        parts[name] = part.model_copy(update={"id": name, "reason": reason, "items": ()})
    return parts
