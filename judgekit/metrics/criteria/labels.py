"""Labels of people for the criteria of a case.

A label names a criterion by its text, the digest of its text (`criterion_digest`), its `id`, or
the id of its part, such as `criterion 3`. Cases have different criteria, so only the text says what
a label is about; if a case has one text twice, the label is about both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import CaseError
from judgekit.core.request import Question
from judgekit.core.score import Part, Result, Score
from judgekit.core.suggest import closest
from judgekit.datasets.labels import LabelAnswer, read_answer
from judgekit.metrics.criteria.item import CriterionItem, leaves_of, read_items
from judgekit.metrics.criteria.texts import UNLABELLED
from judgekit.metrics.criteria.tree import tree_value

_MODEL = Question(id="", kind="boolean", text="")
_COMPARED = 100
"""Maximum length of a text in a suggestion, in characters."""


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


def names_by_leaf(
    leaves: Sequence[CriterionItem], names: Iterable[str]
) -> Iterator[tuple[CriterionItem, list[str]]]:
    """Yield each criterion of a case with the names that labels have for it, the digest first.

    Args:
        leaves: the criteria of the case.
        names: the names in its labels; white space does not count.
    """
    spelled = {" ".join(name.split()): name for name in names}
    for leaf in leaves:
        own = (leaf.digest, leaf.text, leaf.id, leaf.part)
        yield leaf, list(dict.fromkeys(spelled[name] for name in own if name in spelled))


def label_names(leaves: Sequence[CriterionItem]) -> dict[str, CriterionItem]:
    """Return the name that labels have for each criterion of a case, in order.

    It is the digest of the text. Criteria with one text have one name, unless they are different
    questions, such as yes/no and a number; then it is the id of the part.
    """
    alike: dict[str, set[str]] = {}
    for leaf in leaves:
        alike.setdefault(leaf.digest, set()).add(leaf.question("", _MODEL).model_dump_json())
    named: dict[str, CriterionItem] = {}
    for leaf in leaves:
        named.setdefault(leaf.digest if len(alike[leaf.digest]) == 1 else leaf.part, leaf)
    return named


def label_questions(leaves: Sequence[CriterionItem]) -> dict[str, Question]:
    """Return every name of a criterion in labels -> its question, whose id is the usual name."""
    questions: dict[str, Question] = {}
    for name, leaf in label_names(leaves).items():
        question = leaf.question(name, _MODEL)
        for other in (leaf.part, leaf.id, leaf.text, leaf.digest):
            if other is not None:
                questions.setdefault(other, question)
    for leaf in leaves:  # further criteria with one text
        questions.setdefault(leaf.part, questions[leaf.digest])
    return questions


def suggest_criterion(name: str, leaves: Sequence[CriterionItem]) -> str:
    """Return the end of a message about a name that no criterion of a case has."""
    # Spellings are compared up to some length, so longer texts are cut to it.
    known = {leaf.text[:_COMPARED]: leaf.text for leaf in leaves}
    known |= {name: name for leaf in leaves for name in (leaf.id, leaf.part) if name is not None}
    close = closest(name, known)
    if not close:
        return "; a label names a criterion by its text, its id, or as 'criterion 1'"
    return f"; did you mean {shortened(known[close[0]])!r}?"


def shortened(name: str) -> str:
    """Return the name of a criterion for a message."""
    return name if len(name) <= _COMPARED else f"{name[: _COMPARED - 1]}…"


def misnamed(case: Case, names: Iterable[str]) -> str:
    """Return the first name that no criterion of a case has, with what was meant; else empty."""
    try:
        leaves = leaves_of(read_items(case))
    except CaseError:
        leaves = []
    given = list(names)
    known = {name for _, own in names_by_leaf(leaves, given) for name in own}
    wrong = next((name for name in given if name not in known), None)
    if wrong is None:
        return ""
    return f"case {case.id!r}: {shortened(wrong)!r}{suggest_criterion(wrong, leaves)}"


def person_value(case: Case, labels: Mapping[str, object]) -> float | str:
    """Return the value of a case by a person, or why there is none.

    It does not depend on the judge. A criterion that counts needs a label; only a nullable one may
    be undecided, and then counts neither as earned nor as possible.

    Args:
        case: the case.
        labels: name of a criterion -> the person's answer.

    Raises:
        ValueError: a label is no answer to its criterion.
    """
    try:
        items = read_items(case)
    except CaseError:
        return "the criteria of the case cannot be read"
    leaves = leaves_of(items)
    whole = tree_value(items, {leaf.number: 1.0 for leaf in leaves})
    shares: dict[str, float | None] = {}
    for leaf, names in names_by_leaf(leaves, labels):
        counts = whole.weights.get(leaf.number, 0.0) != 0
        if not names and counts:
            return UNLABELLED
        shares[leaf.number] = person_share(leaf, labels[names[0]]) if names else None
        undecided = bool(names) and labels[names[0]] is None
        if undecided and counts and not leaf.nullable:
            return "the person could not decide on a criterion"
    value = tree_value(items, shares).value
    return "no criterion with positive points is decided" if value is None else value


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
