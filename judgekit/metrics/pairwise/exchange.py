"""The exchange of two answers: each label of a pairwise rubric has a mirror image."""

from __future__ import annotations

from collections.abc import Mapping

from judgekit.core.distribution import Label
from judgekit.core.errors import ConfigError
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.value import trusted
from judgekit.metrics.pairwise.side import EQUAL, side_of
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.rubric import Rubric

BOTH = ("output", "baseline")
"""The fields of a case that a pairwise rubric shows: the first answer, and the second."""


class AnswerExchange:
    """Returns verdicts on two answers as if they had been shown in the other order.

    Args:
        rubric: a rubric about two answers: 1 if the first is better, .5 for a tie, 0 if the
            second is better.
        first: what a reason says is shown first in the other order.

    Raises:
        ConfigError: the rubric does not compare two answers, or has a label without mirror image.
    """

    def __init__(self, rubric: Rubric, *, first: str) -> None:
        missing = [field for field in BOTH if field not in rubric.requires]
        if missing:
            raise ConfigError(
                f"rubric {rubric.name!r} does not compare two answers: it requires no "
                f"{missing[0]!r}; a pairwise rubric has `requires: [output, baseline]`"
            )
        if rubric.combine != "weighted_mean":
            raise ConfigError(
                f"rubric {rubric.name!r} combines its criteria by {rubric.combine!r}, which treats "
                "the two answers differently; remove `combine`"
            )
        self._mirrors = {c.id: _mirror_of(c, rubric) for c in rubric.criteria}
        self._note = f"({first} shown first) "

    def __call__(self, judgment: Judgment) -> Judgment:
        """Return a judgment with every answer exchanged."""
        answers = {
            id: self._exchanged(answer, self._mirrors[id])
            for id, answer in judgment.answers.items()
        }
        return trusted(Judgment, {**judgment.__dict__, "answers": answers})

    def _exchanged(self, answer: Answer, mirror: Mapping[Label, Label]) -> Answer:
        distribution = answer.distribution
        if distribution is not None:
            labels = tuple(mirror.get(label, label) for label in distribution.labels)
            distribution = distribution.model_copy(update={"labels": labels})
        update = {
            "value": mirror.get(answer.value, answer.value),
            "reason": self._note + answer.reason,
            "distribution": distribution,
        }
        return trusted(Answer, {**answer.__dict__, **update})


def _mirror_of(criterion: Criterion, rubric: Rubric) -> dict[Label, Label]:
    """Return label -> the label with 1 - its value.

    Raises:
        ConfigError: there is none, or more than one.
    """
    about = f"rubric {rubric.name!r}, criterion {criterion.id!r}"
    if not criterion.levels:
        raise ConfigError(
            f"{about} does not ask for a word; a pairwise rubric has options such as "
            "`A: {value: 1}`, `tie: {value: 0.5}`, `B: {value: 0}`"
        )
    if criterion.weight < 0:
        raise ConfigError(f"{about} is a penalty, which treats the two answers differently")
    values = {level.label: level.value for level in criterion.levels if level.value is not None}
    mirror: dict[Label, Label] = {}
    for label, value in values.items():
        if side_of(value) == 0:
            continue  # its own image
        images = [other for other, worth in values.items() if abs(worth - (1 - value)) < EQUAL]
        twins = [other for other, worth in values.items() if abs(worth - value) < EQUAL]
        if not images:
            raise ConfigError(
                f"{about}: {label!r} has the value {value:g}, and no label has {1 - value:g}; "
                "labels must be symmetric when the answers are exchanged"
            )
        if len(images) > 1 or len(twins) > 1:
            several = twins if len(twins) > 1 else images
            raise ConfigError(
                f"{about}: {' and '.join(map(repr, several[:2]))} have the same value, so it is "
                "not clear which label stands for which when the answers are exchanged"
            )
        mirror[label] = images[0]
    if not mirror:
        raise ConfigError(f"{about}: no label prefers an answer; give two the values 1 and 0")
    return mirror
