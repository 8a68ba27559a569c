"""The probabilities of a decision endpoint: the raw JSON body of its response, live and replayed.

Answers of OpenAI's `/decisions` are a list with names, those of System One an object by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgekit.core.decisions import Decision, decisions_of
from judgekit.core.distribution import Distribution, Label
from judgekit.core.errors import InvalidReply, JudgeRefused
from judgekit.core.json_extraction import strict_object
from judgekit.core.replies.text import shortened
from judgekit.core.request import Form

SUM = 0.01
"""How far the probabilities of a question may be from a sum of 1, for rounding."""
_TYPES = {"predicate": "noul", "choice": "choice", "score": "score"}
"""Type of a question -> its name in System One."""
EVEN = "yes and no are equally probable"


def read_decisions(text: str, form: Form) -> dict[str, dict[str, Any]]:
    """Return question -> the fields of its answer, in the order of the form.

    The value is the most probable answer; `None` where two are equally probable.

    Raises:
        JudgeRefused: the endpoint declined a question.
        InvalidReply: names the first field that is wrong.
    """
    data = strict_object(text)
    decisions = decisions_of(form)
    given = _by_name(data.get("answers"), decisions, listed=form.api == "decisions")
    declined = [name for name, (_, answer) in given.items() if _declined(answer)]
    if declined:
        raise JudgeRefused(f"the judge declined: {', '.join(declined)}")
    distributions: dict[str, list[Distribution]] = {}
    for decision in decisions:
        where, answer = given[decision.name]
        one = _distribution(decision, answer, where, listed=form.api == "decisions")
        distributions.setdefault(decision.criterion, []).append(one)
    answers: dict[str, dict[str, Any]] = {}
    for question in form.questions:
        own = distributions[question.id]
        if question.kind == "checklist":
            items = tuple(_item(i, d) for i, d in zip(question.items, own, strict=True))
            answers[question.id] = {"items": items}
            continue
        even = question.kind == "boolean" and own[0].mode is None and not own[0].probability(None)
        answers[question.id] = {
            "value": own[0].mode,
            "reason": EVEN if even else "",
            "probability": own[0].yes if question.kind == "boolean" else None,
            "distribution": own[0],
        }
    return answers


def _item(item: str, distribution: Distribution) -> dict[str, Any]:
    yes = distribution.probability(True)
    reason = EVEN if distribution.mode is None else ""
    return {"item": item, "met": yes > 0.5, "reason": reason, "probability": yes}


def _declined(answer: Mapping[str, Any]) -> bool:
    return answer.get("type") == "refusal" or bool(answer.get("refusal"))


def _by_name(
    answers: Any, decisions: Sequence[Decision], *, listed: bool
) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return the place and the fields of each answer by the name of its question."""
    if not isinstance(answers, list if listed else dict):
        raise InvalidReply(
            f"answers: {shown_value(answers)} is not {'a list' if listed else 'an object'}"
        )
    given: dict[str, tuple[str, Mapping[str, Any]]] = {}
    known = {decision.name for decision in decisions}
    for number, entry in enumerate(answers):
        where = f"answers[{number}]" if listed else f"answers.{shortened(entry)}"
        answer = entry if listed else answers[entry]
        if not isinstance(answer, dict):
            raise InvalidReply(f"{where}: {shown_value(answer)} is not an object")
        name = answer.get("name") if listed else entry
        if not isinstance(name, str) or name not in known:
            raise InvalidReply(f"{where}: no question has the name {shown_value(name)}")
        if name in given:
            raise InvalidReply(f"{where}: {name} is answered twice")
        given[name] = (f"answers.{name}", answer)
    if missing := [decision.name for decision in decisions if decision.name not in given]:
        raise InvalidReply(f"answers.{missing[0]} is missing")
    return given


def _distribution(
    decision: Decision, answer: Mapping[str, Any], where: str, *, listed: bool
) -> Distribution:
    kind = decision.kind if listed else _TYPES[decision.kind]
    # System One may leave the type out.
    if answer.get("type", None if listed else kind) != kind:
        raise InvalidReply(f"{where}.type: {shown_value(answer.get('type'))} instead of {kind}")
    if decision.kind == "predicate":
        name = "probability" if listed else "noul"
        yes = probability_of(answer.get(name), f"{where}.{name}")
        weights: dict[Label, float] = {True: yes, False: 1.0 - yes}
    else:
        weights = _weights(decision, answer, where, listed=listed)
    if "confidence" in answer:
        probability_of(answer["confidence"], f"{where}.confidence")
    distribution = Distribution.of(weights, source="decisions", mass=1.0)
    assert distribution is not None  # noqa: S101 - the sum is about 1
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
    pairs = _listed_pairs if listed else _named_pairs
    by_option: dict[str, float] = {}
    for option, value, place in pairs(decision, answer, where):
        if not isinstance(option, str) or option not in options:
            raise InvalidReply(f"{place}: {shown_value(option)} is not one of its options")
        if option in by_option:
            raise InvalidReply(f"{place}: {option} is given twice")
        by_option[option] = probability_of(value, place)
    if missing := [option for option in options if option not in by_option]:
        raise InvalidReply(f"{where}.probabilities: {missing[0]} is missing")
    total = math.fsum(by_option.values())
    if not 1.0 - SUM <= total <= 1.0 + SUM:
        raise InvalidReply(f"{where}.probabilities: their sum is {total:.3g}, not 1")
    return {label: by_option[option] for option, label in options.items()}


def _listed_pairs(
    decision: Decision, answer: Mapping[str, Any], where: str
) -> Iterator[tuple[Any, Any, str]]:
    entries = answer.get("probabilities")
    if not isinstance(entries, list):
        raise InvalidReply(f"{where}.probabilities: {shown_value(entries)} is not a list")
    for number, entry in enumerate(entries):
        place = f"{where}.probabilities[{number}]"
        if not isinstance(entry, dict):
            raise InvalidReply(f"{place}: {shown_value(entry)} is not an object")
        yield (
            entry.get("label" if decision.kind == "score" else "value"),
            entry.get("probability"),
            place,
        )


def _named_pairs(
    decision: Decision, answer: Mapping[str, Any], where: str
) -> Iterator[tuple[Any, Any, str]]:
    entries = answer.get("probabilities")
    if not isinstance(entries, dict):
        raise InvalidReply(f"{where}.probabilities: {shown_value(entries)} is not an object")
    names: Mapping[str, Any] = {}
    if decision.kind == "score":
        # The legend maps the numbers of the levels back to the texts that were sent.
        legend = answer.get("legend")
        if not isinstance(legend, dict):
            raise InvalidReply(f"{where}.legend: {shown_value(legend)} is not an object")
        levels = {level_text(decision, option): option for option in decision.options}
        for key, text in legend.items():
            if not isinstance(text, str) or text not in levels:
                raise InvalidReply(
                    f"{where}.legend.{shortened(key)}: {shown_value(text)} is no level"
                )
        names = {key: levels[text] for key, text in legend.items()}
    for key, value in entries.items():
        option = names.get(key) if decision.kind == "score" else key
        place = f"{where}.probabilities.{shortened(key)}"
        if option is None:
            raise InvalidReply(f"{place}: the legend has no such level")
        yield option, value, place


def level_text(decision: Decision, option: str) -> str:
    """Return a level as System One reads it: its label, and its description if it has one."""
    text = decision.descriptions.get(option)
    return f"{option}: {text}" if text else option


def probability_of(value: Any, where: str) -> float:
    """Return a probability of a reply.

    Raises:
        InvalidReply: it is none.
    """
    number = number_of(value, where)
    if not 0.0 <= number <= 1.0:
        raise InvalidReply(f"{where}: {shown_value(value)} is not a probability (0 to 1)")
    return number


def number_of(value: Any, where: str) -> float:
    """Return a number of a reply.

    Raises:
        InvalidReply: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidReply(f"{where}: {shown_value(value)} is not a number")
    try:
        return float(value)
    except OverflowError as exc:
        raise InvalidReply(f"{where}: the number is too large") from exc


def shown_value(value: Any) -> str:
    """Return a value of a reply for a message."""
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return shortened(str(value) if not isinstance(value, str) else repr(value))
