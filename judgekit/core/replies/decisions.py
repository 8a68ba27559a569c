"""Replies with probabilities: those of decision endpoints, and recorded verdicts.

A decision endpoint's reply is the raw JSON body of its response, live and replayed. Answers of
OpenAI's `/decisions` are a list with names, those of System One an object by name.

A recorded verdict is the canonical JSON of a line's content: `{"answers": {...}, "probabilities":
{...}, "source": ...}`, `{"raw": TEXT}` or `{"failed": ...}`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast, get_args

from judgekit.core.decisions import CANNOT_TELL, Decision, count_of, decisions_of
from judgekit.core.distribution import Distribution, Label, Source
from judgekit.core.errors import CaseError, InvalidReply, JudgeRefused
from judgekit.core.json_extraction import strict_object
from judgekit.core.replies.text import shortened
from judgekit.core.request import Form, Question

SUM = 0.01
"""Largest deviation of the sum of a question's probabilities from 1, to allow for rounding."""
_TYPES = {"predicate": "noul", "choice": "choice", "score": "score"}
"""Type of a question -> its name in System One."""
EVEN = "yes and no are equally probable"


def read_decisions(text: str, form: Form) -> dict[str, dict[str, Any]]:
    """Return a mapping of question to the fields of its answer, in the order of the form.

    The value is the most probable answer; `None` if two are equally probable.

    Raises:
        JudgeRefused: the endpoint declined a question.
        InvalidReply: names the first field that is wrong.
    """
    decisions = decisions_of(form)
    listed = form.api == "decisions"
    given = _by_name(strict_object(text).get("answers"), decisions, listed=listed)
    declined = [n for n, a in given.items() if a.get("type") == "refusal" or a.get("refusal")]
    if declined:
        raise JudgeRefused(f"the judge declined: {', '.join(declined)}")
    read = iter([_distribution(one, given[one.name], listed=listed) for one in decisions])
    answers: dict[str, dict[str, Any]] = {}
    for question in form.questions:
        own = list(islice(read, count_of(question)))
        if question.kind == "checklist":
            items = tuple(_item(i, d) for i, d in zip(question.items, own, strict=True))
            answers[question.id] = {"items": items}
            continue
        even = question.kind == "boolean" and own[0].mode is None and not own[0].probability(None)
        answers[question.id] = {
            "value": own[0].mode,
            "reason": EVEN if even else "",
            "probability": own[0].yes,
            "distribution": own[0],
        }
    return answers


def _item(item: str, distribution: Distribution) -> dict[str, Any]:
    yes = distribution.probability(True)
    reason = EVEN if distribution.mode is None else ""
    return {"item": item, "met": yes > 0.5, "reason": reason, "probability": yes}


def _by_name(
    answers: Any, decisions: Sequence[Decision], *, listed: bool
) -> dict[str, Mapping[str, Any]]:
    """Return the fields of each answer by the name of its question."""
    given: dict[str, Mapping[str, Any]] = {}
    known = {decision.name for decision in decisions}
    for place, name, answer in _parts(answers, "answers", key="name" if listed else None):
        check_kind(answer, dict, place)
        if not isinstance(name, str) or name not in known:
            raise InvalidReply(f"{place}: no question has the name {shown_value(name)}")
        if name in given:
            raise InvalidReply(f"{place}: {name} is answered twice")
        given[name] = answer
    if missing := [decision.name for decision in decisions if decision.name not in given]:
        raise InvalidReply(f"answers.{missing[0]} is missing")
    return given


def _parts(given: Any, where: str, *, key: str | None) -> Iterator[tuple[str, Any, Any]]:
    """Yield location, name and content of each entry of an object or a list of named entries."""
    check_kind(given, dict if key is None else list, where)
    if key is None:
        for name, part in given.items():
            yield f"{where}.{shortened(name)}", name, part
        return
    for number, part in enumerate(given):
        place = f"{where}[{number}]"
        check_kind(part, dict, place)
        yield place, part.get(key), part


def _distribution(decision: Decision, answer: Mapping[str, Any], *, listed: bool) -> Distribution:
    where = f"answers.{decision.name}"
    kind = decision.kind if listed else _TYPES[decision.kind]
    # System One may omit the type.
    if answer.get("type", None if listed else kind) != kind:
        raise InvalidReply(f"{where}.type: {shown_value(answer.get('type'))} instead of {kind}")
    if decision.kind == "predicate":
        name = "probability" if listed else "noul"
        yes = probability_of(answer.get(name), f"{where}.{name}")
        weights: dict[Label, float] = {True: yes, False: 1.0 - yes}
    else:
        weights = _weights(decision, answer, where, listed=listed)
    distribution = distribution_of(weights, f"{where}.probabilities", source="decisions")
    if "confidence" in answer:
        probability_of(answer["confidence"], f"{where}.confidence")
    return distribution


def _weights(
    decision: Decision, answer: Mapping[str, Any], where: str, *, listed: bool
) -> dict[Label, float]:
    options = decision.options
    chosen = answer.get(decision.kind)
    if decision.kind == "score":
        number_of(chosen, f"{where}.score")
    elif not isinstance(chosen, str) or chosen not in options:
        raise InvalidReply(f"{where}.choice: {shown_value(chosen)} is not one of its options")
    by_option: dict[str, float] = {}
    for place, option, value in _probabilities(decision, answer, where, listed=listed):
        if not isinstance(option, str) or option not in options:
            raise InvalidReply(f"{place}: {shown_value(option)} is not one of its options")
        if option in by_option:
            raise InvalidReply(f"{place}: {option} is given twice")
        by_option[option] = probability_of(value, place)
    if missing := [option for option in options if option not in by_option]:
        raise InvalidReply(f"{where}.probabilities: {missing[0]} is missing")
    return {label: by_option[option] for option, label in options.items()}


def _probabilities(
    decision: Decision, answer: Mapping[str, Any], where: str, *, listed: bool
) -> Iterator[tuple[str, Any, Any]]:
    """Yield location, option and probability of each entry."""
    key = ("label" if decision.kind == "score" else "value") if listed else None
    parts = _parts(answer.get("probabilities"), f"{where}.probabilities", key=key)
    if listed:
        yield from ((place, option, part.get("probability")) for place, option, part in parts)
    elif decision.kind == "choice":
        yield from parts
    else:
        legend = _legend(decision, answer.get("legend"), f"{where}.legend")
        for place, level, part in parts:
            if level not in legend:
                raise InvalidReply(f"{place}: the legend has no such level")
            yield place, legend[level], part


def _legend(decision: Decision, legend: Any, where: str) -> dict[str, str]:
    """Return System One's level number -> option, matched by the text that was sent."""
    check_kind(legend, dict, where)
    levels = {level_text(decision, option): option for option in decision.options}
    for key, text in legend.items():
        if not isinstance(text, str) or text not in levels:
            raise InvalidReply(f"{where}.{shortened(key)}: {shown_value(text)} is no level")
    return {key: levels[text] for key, text in legend.items()}


def level_text(decision: Decision, option: str) -> str:
    """Return the text of a level for System One: its label, and its description if it has one."""
    text = decision.descriptions.get(option)
    return f"{option}: {text}" if text else option


def probability_of(value: Any, where: str) -> float:
    """Validate a probability in a reply.

    Raises:
        InvalidReply: it is none.
    """
    number = number_of(value, where)
    if not 0.0 <= number <= 1.0:
        raise InvalidReply(f"{where}: {shown_value(value)} is not a probability (0 to 1)")
    return number


def number_of(value: Any, where: str) -> float:
    """Validate a number in a reply.

    Raises:
        InvalidReply: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidReply(f"{where}: {shown_value(value)} is not a number")
    try:
        return float(value)
    except OverflowError as exc:
        raise InvalidReply(f"{where}: the number is too large") from exc


def distribution_of(weights: Mapping[Label, float], where: str, *, source: Source) -> Distribution:
    """Return the distribution of the probabilities in a reply.

    Raises:
        InvalidReply: their sum is not 1. For log-probabilities the sum may be less, because part of
            the probability belongs to other texts.
    """
    total = math.fsum(weights.values())
    partial = source == "logprobs"
    if not (SUM if partial else 1.0 - SUM) <= total <= 1.0 + SUM:
        raise InvalidReply(f"{where}: their sum is {total:.3g}, not 1")
    distribution = Distribution.of(weights, source=source, mass=None if partial else 1.0)
    assert distribution is not None  # noqa: S101 - the sum is above 0
    return distribution


_KINDS: Mapping[type, str] = {dict: "an object", list: "a list"}


def check_kind(value: Any, kind: type, where: str) -> None:
    """Raise `InvalidReply` if a value of a reply is not of the required kind, object or list."""
    if not isinstance(value, kind):
        raise InvalidReply(f"{where}: {shown_value(value)} is not {_KINDS[kind]}")


def shown_value(value: Any) -> str:
    """Return the text of a value for a message."""
    if value is None:
        return "null"
    return _KINDS.get(type(value)) or shortened(
        repr(value) if isinstance(value, str) else str(value)
    )


FAILURES = ("refused", "truncated", "empty", "only_thought", "invalid_reply", "unavailable",
            "invalid_case")  # fmt: skip
"""Valid failure kinds; any other text is the message of an unavailable verdict."""
NO_REASON = "recorded without a reason"


class RecordedVerdict(NamedTuple):
    """The content of a recorded verdict."""

    raw: str | None
    """The text of a judge's reply, to be parsed like a chat reply."""
    answers: dict[str, Any]
    """Question -> the fields of its answer, plus the details; to be validated against `form`."""
    form: Form
    """The form, without the quotes and details that the verdict lacks."""
    distributions: Mapping[str, Distribution]


def read_recorded(text: str, form: Form) -> RecordedVerdict:
    """Return the content of a recorded verdict.

    Raises:
        JudgeRefused: the judge declined.
        CaseError: the judge rejected this case.
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
        question.id: _given_distribution(question, probabilities[question.id], cast(Source, source))
        for question in form.questions
        if question.id in probabilities
    }
    read = [_answer(q, given.get(q.id), distributions.get(q.id)) for q in form.questions]
    details = tuple(detail for detail in form.details if detail.name in given)
    answers = {question.id: answer for answer, question in read}
    answers |= {detail.name: given[detail.name] for detail in details}
    own = _shared(form, Form(questions=tuple(question for _, question in read), details=details))
    return RecordedVerdict(None, answers, own, distributions)


def _failure(failed: str) -> Exception:
    if failed not in FAILURES:
        return InvalidReply(shortened(failed), kind="unavailable")
    message = f"recorded as {failed.replace('_', ' ')}"
    if failed == "refused":
        return JudgeRefused(message)
    return CaseError(message) if failed == "invalid_case" else InvalidReply(message, kind=failed)


def _shared(form: Form, own: Form) -> Form:
    """Return an equal form of an earlier verdict if there is one, so its schema is built once."""
    known: list[Form] = form.__dict__.setdefault("_recorded_forms", [])
    for one in known:
        if one == own:
            return one
    if len(known) < 64:  # beyond this, forms are not kept and their schemas are rebuilt
        known.append(own)
    return own


def _answer(
    question: Question, given: Any, distribution: Distribution | None
) -> tuple[dict[str, Any], Question]:
    """Return the fields of an answer, and the question reduced to the fields of the answer."""
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
    # Without a value if two answers of the distribution are tied.
    nullable = question.nullable or (distribution is not None and distribution.mode is None)
    update = {"quotes": "quotes" in answer, "details": details, "nullable": nullable}
    return answer, question.model_copy(update=update)


def _items(question: Question, given: Any) -> Any:
    """Return items in the form of a judge's list; a file may map items to true or false."""
    if isinstance(given, dict):
        given = [{"item": item, "met": met} for item, met in given.items()]
    check_kind(given, list, f"{question.id}.items")
    return [{"reason": "", **item} if isinstance(item, dict) else item for item in given]


def _given_distribution(question: Question, given: Any, source: Source) -> Distribution:
    where = f"probabilities.{question.id}"
    if question.kind == "checklist":
        raise InvalidReply(f"{where}: a checklist has none")
    if question.kind == "boolean" and not isinstance(given, dict):
        yes = probability_of(given, where)
        given = {"yes": yes, "no": 1.0 - yes}
    if not isinstance(given, dict):
        raise InvalidReply(f"{where}: {shown_value(given)} is not an object by answer")
    labels: dict[str, Label] = {label: label for label in question.labels}
    if question.kind == "boolean":
        labels = {"yes": True, "true": True, "no": False, "false": False}
    if question.nullable:
        labels.setdefault(CANNOT_TELL, None)
    weights: dict[Label, float] = {}
    for word, probability in given.items():
        place = f"{where}.{shortened(word)}"
        label = labels[word] if word in labels else _number(question, word, place)
        if label in weights:
            raise InvalidReply(f"{where}: {shown_value(word)} is given twice")
        weights[label] = probability_of(probability, place)
    order: Iterable[Label] = dict.fromkeys(labels.values())
    if question.kind == "score" and not question.labels:
        order = sorted(weights, key=lambda number: (number is None, float(number or 0)))
    ranked = {label: weights[label] for label in order if label in weights}
    return distribution_of(ranked, where, source=source)


def _number(question: Question, word: str, where: str) -> float:
    if question.kind != "score" or question.labels:
        words = ", ".join(question.labels or ("yes", "no"))
        raise InvalidReply(f"{where}: {shown_value(word)} is not one of {words}")
    try:
        number = float(word)
    except ValueError as exc:
        raise InvalidReply(f"{where}: {shown_value(word)} is not a number") from exc
    if not question.minimum <= number <= question.maximum:
        raise InvalidReply(f"{where}: {question.minimum:g} to {question.maximum:g} is possible")
    return number
