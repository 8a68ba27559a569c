"""A verdict that exists elsewhere, as its reply keeps it: canonical JSON of a line's content.

`{"answers": {...}, "probabilities": {...}, "source": ...}`, `{"raw": TEXT}` or `{"failed": ...}`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast, get_args

from judgekit.core.decisions import CANNOT_TELL
from judgekit.core.distribution import Distribution, Label, Source
from judgekit.core.errors import CaseError, InvalidReply, JudgeRefused
from judgekit.core.json_extraction import strict_object
from judgekit.core.replies.decisions import (
    check_kind,
    distribution_of,
    probability_of,
    shown_value,
)
from judgekit.core.replies.text import shortened
from judgekit.core.request import Form, Question

FAILURES = ("refused", "truncated", "empty", "only_thought", "invalid_reply", "unavailable",
            "invalid_case")  # fmt: skip
"""Kinds of failures; any other text is the message of an unavailable verdict."""
NO_REASON = "recorded without a reason"


class RecordedVerdict(NamedTuple):
    """The content of a recorded verdict."""

    raw: str | None
    """The reply of a judge, to be read as that of a chat."""
    answers: dict[str, Any]
    """Question -> the fields of its answer, and the details; to be validated by `form`."""
    form: Form
    """The form, without the quotes and details that the verdict does not have."""
    distributions: Mapping[str, Distribution]


def read_recorded(text: str, form: Form) -> RecordedVerdict:
    """Return the content of a recorded verdict.

    Raises:
        JudgeRefused: the judge declined.
        CaseError: the judge did not take this case.
        InvalidReply: the verdict failed in another way, or does not fit the form.
    """
    data = strict_object(text)
    if (failed := data.get("failed")) is not None:
        raise _failure(str(failed))
    if "raw" in data:
        return RecordedVerdict(str(data["raw"]), {}, form, {})
    given, probabilities = data.get("answers", {}), data.get("probabilities", {})
    if not isinstance(given, dict) or not isinstance(probabilities, dict):
        raise InvalidReply("answers and probabilities are objects by criterion")
    source = data.get("source", "samples")
    if source not in get_args(Source):
        sources = ", ".join(get_args(Source))
        raise InvalidReply(f"source: {shown_value(source)} is not one of {sources}")
    distributions = {
        question.id: _distribution(question, probabilities[question.id], cast(Source, source))
        for question in form.questions
        if question.id in probabilities
    }
    answers: dict[str, Any] = {}
    questions = []
    for question in form.questions:
        answer, asked = _answer(question, given.get(question.id), distributions.get(question.id))
        answers[question.id] = answer
        questions.append(asked)
    details = tuple(detail for detail in form.details if detail.name in given)
    answers |= {detail.name: given[detail.name] for detail in details}
    own = _shared(form, Form(questions=tuple(questions), details=details))
    return RecordedVerdict(None, answers, own, distributions)


def _failure(failed: str) -> Exception:
    if failed not in FAILURES:
        return InvalidReply(shortened(failed), kind="unavailable")
    message = f"recorded as {failed.replace('_', ' ')}"
    if failed == "refused":
        return JudgeRefused(message)
    return CaseError(message) if failed == "invalid_case" else InvalidReply(message, kind=failed)


def _shared(form: Form, own: Form) -> Form:
    """Return an equal form that an earlier verdict had: its schema is built once."""
    known: list[Form] = form.__dict__.setdefault("_recorded_forms", [])
    for one in known:
        if one == own:
            return one
    if len(known) < 64:  # verdicts with many different fields build their schemas again
        known.append(own)
    return own


def _answer(
    question: Question, given: Any, distribution: Distribution | None
) -> tuple[dict[str, Any], Question]:
    """Return the fields of an answer, and the question with only what the answer has."""
    if given is None and distribution is None and not question.nullable:
        raise InvalidReply(f"{question.id} is missing")
    if question.kind == "checklist":
        answer = dict(given) if isinstance(given, dict) and "items" in given else {"items": given}
        answer["items"] = _items(question, answer["items"])
    else:
        answer = dict(given) if isinstance(given, dict) else {"value": given}
        if answer.get("value") is None and distribution is not None:
            answer["value"] = distribution.mode
        answer.setdefault("value", None)
        answer["reason"] = answer.get("reason") or NO_REASON
    details = tuple(detail for detail in question.details if detail.name in answer)
    # Two answers of a distribution may be tied, so that there is no value.
    nullable = question.nullable or (distribution is not None and distribution.mode is None)
    update = {"quotes": "quotes" in answer, "details": details, "nullable": nullable}
    return answer, question.model_copy(update=update)


def _items(question: Question, given: Any) -> Any:
    """Return items as a judge lists them; a file may map them to true or false."""
    if isinstance(given, dict):
        given = [{"item": item, "met": met} for item, met in given.items()]
    check_kind(given, list, f"{question.id}.items")
    return [{"reason": "", **item} if isinstance(item, dict) else item for item in given]


def _distribution(question: Question, given: Any, source: Source) -> Distribution:
    where = f"probabilities.{question.id}"
    if question.kind == "checklist":
        raise InvalidReply(f"{where}: a checklist has none")
    if question.kind == "boolean" and not isinstance(given, dict):
        yes = probability_of(given, where)
        given = {"yes": yes, "no": 1.0 - yes}
    if not isinstance(given, dict):
        raise InvalidReply(f"{where}: {shown_value(given)} is not an object by answer")
    weights: dict[Label, float] = {}
    for word, probability in given.items():
        label = _label(question, word, f"{where}.{shortened(word)}")
        if label in weights:
            raise InvalidReply(f"{where}: {shown_value(word)} is given twice")
        weights[label] = probability_of(probability, f"{where}.{shortened(word)}")
    return distribution_of(_ranked(question, weights), where, source=source)


def _ranked(question: Question, weights: Mapping[Label, float]) -> dict[Label, float]:
    """Return answers in the order of the rubric; numbers ascend, and "cannot tell" is last."""
    order: list[Label] = [*question.labels] or [True, False]
    if question.kind == "score" and not question.labels:
        order = sorted(weights, key=lambda number: float(number or 0))
    return {label: weights[label] for label in (*order, None) if label in weights}


def _label(question: Question, word: str, where: str) -> Label:
    if word in question.labels:
        return word
    if question.nullable and word == CANNOT_TELL:
        return None
    if question.kind == "boolean" and word in _BOOLEANS:
        return _BOOLEANS[word]
    if question.kind == "score" and not question.labels:
        try:
            number = float(word)
        except ValueError as exc:
            raise InvalidReply(f"{where}: {shown_value(word)} is not a number") from exc
        if question.minimum <= number <= question.maximum:
            return number
        raise InvalidReply(f"{where}: {question.minimum:g} to {question.maximum:g} is possible")
    words = question.labels or (("yes", "no") if question.kind == "boolean" else ())
    raise InvalidReply(f"{where}: {shown_value(word)} is not one of {', '.join(words)}")


_BOOLEANS: Mapping[str, bool] = {"yes": True, "true": True, "no": False, "false": False}
