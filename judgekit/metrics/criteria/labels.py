"""Labels of people for the criteria of a case.

A label names a criterion by its text, the digest of its text (`criterion_digest`), its `id`, or
the id of its part, such as `criterion 3`. Cases have different criteria, so only the text says what
a label is about; if a case has one text twice, the label is about both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from judgekit.core.case import Case
from judgekit.core.errors import CaseError
from judgekit.core.request import Question
from judgekit.core.score import Part, Result, Score
from judgekit.datasets.labels import LabelAnswer, read_answer
from judgekit.metrics.criteria.item import CriterionItem, leaves_of, read_items
from judgekit.metrics.criteria.texts import own_texts

_MODEL = Question(id="", kind="boolean", text="")
T = TypeVar("T")


class JudgedCriterion(NamedTuple):
    """A criterion of a case with the judge's answer; a group of criteria with labels."""

    leaf: CriterionItem
    score: Result
    """A score with one part, `topic`, or the failure of the case."""
    topic: str
    """`criteria` for yes/no, else `criteria by share`: criteria of all cases count together."""

    def read(self, value: object) -> float | bool | None:
        """Return a person's answer in the form of the judge's; `None` if undecided.

        Raises:
            ValueError: it is no answer to the criterion.
        """
        share = person_share(self.leaf, value)
        if share is None or self.leaf.kind != "boolean":
            return share
        return (share == 1.0) != self.leaf.negate


def person_share(leaf: CriterionItem, value: object) -> float | None:
    """Return the share of a criterion by a person's answer; `None` if undecided.

    Raises:
        ValueError: it is no answer to the criterion.
    """
    criterion = leaf.criterion("", _MODEL)
    answer: LabelAnswer = read_answer(value, criterion.question)
    return None if answer is None else criterion.outcome(answer, ())[1]


def labels_by_leaf(case: Case, labels: Mapping[str, T]) -> Iterator[tuple[CriterionItem, T]]:
    """Yield each criterion of a case with its label, if it has one.

    Args:
        case: the case.
        labels: name of a criterion -> its label.

    Raises:
        CaseError: the criteria of the case are wrong.
    """
    for leaf in leaves_of(read_items(case)):
        for name in (leaf.digest, leaf.text, leaf.id, leaf.part):
            if name is not None and name in labels:
                yield leaf, labels[name]
                break


def person_value(case: Case, score: Score, labels: Mapping[str, object]) -> float | None:
    """Return the value of a case by a person.

    `None` if a criterion that counts has no label, or an undecided one.

    Args:
        case: the case.
        score: the score of the judge; it has the weights of the criteria.
        labels: name of a criterion -> the person's answer.

    Raises:
        ValueError: a label is no answer to its criterion.
    """
    if own_texts(score) is None or score.value is None:
        return None
    try:
        own = list(labels_by_leaf(case, labels))
    except CaseError:
        return None
    shares = {leaf.part: person_share(leaf, value) for leaf, value in own}
    counting = [part for part in score.parts if part.weight]
    known = [(part.weight, shares.get(part.id)) for part in counting]
    if any(share is None for _, share in known):
        return None
    return math.fsum(weight * share for weight, share in known if share is not None)


def judged_criterion(leaf: CriterionItem, result: Result) -> JudgedCriterion:
    """Return the result of one criterion as a result with a single part."""
    topic = "criteria" if leaf.kind == "boolean" else "criteria by share"
    if not isinstance(result, Score) or result.fallback is not None:
        return JudgedCriterion(leaf, result, topic)
    yes_no = leaf.kind == "boolean"
    part = next((part for part in result.parts if part.id == leaf.part), None)
    own: tuple[Part, ...] = ()
    if part is not None:
        answer = part.answer == "met" if yes_no else part.value
        reason = next((str(item["reason"]) for item in part.items if isinstance(item, dict)), "")
        update = {"id": topic, "answer": answer, "reason": reason, "items": ()}
        own = (part.model_copy(update=update if yes_no else {**update, "distribution": None}),)
    opinions = tuple(
        opinion.model_copy(
            update={
                "answers": {topic: _opinion_answer(opinion.answers, opinion.values, leaf)},
                "values": {topic: opinion.values.get(leaf.part)},
            }
        )
        for opinion in result.opinions
        if leaf.part in opinion.values or opinion.failure is not None
    )
    update = {"parts": own, "opinions": opinions, "judgments": ()}
    return JudgedCriterion(leaf, result.model_copy(update=update), topic)


def _opinion_answer(
    answers: Mapping[str, object], values: Mapping[str, float | None], leaf: CriterionItem
) -> object:
    return answers.get(leaf.part) if leaf.kind == "boolean" else values.get(leaf.part)
