"""Bodies of decision endpoints: what they say, and what is wrong with them."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.decisions import MOST_QUESTIONS, decisions_of, left_out_of, refusal_of
from judgekit.core.errors import InvalidReply, JudgeRefused
from judgekit.core.judgment import parse_reply
from judgekit.core.request import Detail, Form, Question

POLITE = Question(id="polite", kind="boolean", text="Is it polite?")
RIGHT = Question(
    id="right",
    kind="score",
    text="Is it right?",
    labels=("not", "partly", "wholly"),
    descriptions=("", "some", ""),
)
TOPIC = Question(id="topic", kind="choice", text="Which topic?", labels=("a", "b"), nullable=True)
FACTS = Question(id="facts", kind="checklist", text="Which facts?", items=("one", "two"))
QUESTIONS = (POLITE, RIGHT, TOPIC, FACTS)
OPENAI = Form(questions=QUESTIONS, api="decisions")
SYSTEMONE = OPENAI.of_api("systemone")


def openai():
    return {
        "answers": [
            {"type": "predicate", "name": "polite", "probability": 0.98},
            {
                "type": "score",
                "name": "right",
                "score": 1.1,
                "confidence": 0.4,
                "probabilities": [
                    {"value": 2, "label": "wholly", "probability": 0.3},
                    {"value": 0, "label": "not", "probability": 0.2},
                    {"value": 1, "label": "partly", "probability": 0.5},
                ],
            },
            {
                "type": "choice",
                "name": "topic",
                "choice": "b",
                "confidence": 0.5,
                "probabilities": [
                    {"value": "a", "probability": 0.1},
                    {"value": "b", "probability": 0.6},
                    {"value": "cannot tell", "probability": 0.3},
                ],
            },
            {"type": "predicate", "name": "facts[1]", "probability": 0.7},
            {"type": "predicate", "name": "facts[2]", "probability": 0.5},
        ],
        "usage": {"input_tokens": 3},
    }


def systemone():
    return {
        "answers": {
            "polite": {"noul": 0.98},
            "right": {
                "type": "score",
                "score": 1.1,
                "confidence": 0.4,
                "legend": {"0": "not", "1": "partly: some", "2": "wholly"},
                "probabilities": {"2": 0.3, "0": 0.2, "1": 0.5},
            },
            "topic": {
                "choice": "b",
                "confidence": 0.5,
                "probabilities": {"a": 0.1, "b": 0.6, "cannot tell": 0.3},
            },
            "facts[1]": {"noul": 0.7},
            "facts[2]": {"noul": 0.5},
        }
    }


BOTH = pytest.mark.parametrize(
    ("form", "body"), [(OPENAI, openai()), (SYSTEMONE, systemone())], ids=["decisions", "systemone"]
)


def read(form, body):
    return parse_reply(body if isinstance(body, str) else json.dumps(body), form)


@BOTH
def test_both_formats_say_the_same(form, body):
    answers = read(form, body).answers

    assert list(answers) == ["polite", "right", "topic", "facts"]
    assert (answers["polite"].value, answers["polite"].probability) == (True, 0.98)
    right = answers["right"].distribution
    assert right.labels == ("not", "partly", "wholly")  # by label, not by place
    assert right.probabilities == pytest.approx((0.2, 0.5, 0.3))
    assert (answers["right"].value, right.source, right.mass) == ("partly", "decisions", 1.0)
    topic = answers["topic"].distribution
    assert topic.labels == ("a", "b", None)
    assert topic.probability(None) == pytest.approx(0.3)
    assert [(i["item"], i["met"], i["probability"]) for i in answers["facts"].items] == [
        ("one", True, 0.7),
        ("two", False, 0.5),
    ]
    assert "equally" in answers["facts"].items[1]["reason"]


def test_three_thirds_of_two_digits_are_a_sum_of_one():
    body = systemone()
    body["answers"]["right"]["probabilities"] = {"0": 0.33, "1": 0.33, "2": 0.33}

    right = read(SYSTEMONE, body).answers["right"].distribution

    assert right.probabilities == pytest.approx((1 / 3, 1 / 3, 1 / 3))


@pytest.mark.parametrize(("probability", "value"), [(0.51, True), (0.49, False), (0.5, None)])
def test_value_of_a_predicate_is_the_more_probable_answer(probability, value):
    body = openai()
    body["answers"][0]["probability"] = probability

    answer = read(OPENAI, body).answers["polite"]

    assert answer.value is value
    assert bool(answer.reason) is (value is None)


def test_nullable_predicate_is_a_choice():
    form = Form(questions=(POLITE.model_copy(update={"nullable": True}),), api="systemone")
    (decision,) = decisions_of(form)

    assert (decision.kind, list(decision.options)) == ("choice", ["yes", "no", "cannot tell"])
    given_ = {"choice": "yes", "probabilities": {"yes": 0.6, "no": 0.2, "cannot tell": 0.2}}
    answer = read(form, {"answers": {"polite": given_}}).answers["polite"]
    assert (answer.value, answer.probability) == (True, pytest.approx(0.75))
    assert answer.distribution.labels == (True, False, None)


def test_added_option_never_equals_a_label():
    labels = ("cannot tell", "fine")
    question = Question(id="q", kind="choice", text="t", labels=labels, nullable=True)

    (decision,) = decisions_of(Form(questions=(question,), api="decisions"))

    assert decision.options == {"cannot tell": "cannot tell", "fine": "fine", "cannot tell!": None}


def test_probabilities_are_rounded_at_most():
    body = systemone()
    body["answers"]["right"]["probabilities"] = {"0": 0.333, "1": 0.333, "2": 0.333}

    distribution = read(SYSTEMONE, body).answers["right"].distribution

    assert distribution.probabilities == pytest.approx((1 / 3,) * 3)


def edit(*path, to):
    def change(body):
        *steps, last = path
        for step in steps:
            body = body[step]
        body[last] = to

    return change


FAULTS = {
    "missing": (lambda b: b["answers"].pop(0), "answers.polite is missing"),
    "unknown": (edit("answers", 0, "name", to="kind"), "no question has the name 'kind'"),
    "twice": (lambda b: b["answers"].append(b["answers"][0]), "polite is answered twice"),
    "too_probable": (edit("answers", 0, "probability", to=1.2), "polite.probability: 1.2 is not a"),
    "negative": (edit("answers", 0, "probability", to=-0.1), "-0.1 is not a probability"),
    "text": (edit("answers", 0, "probability", to="0.9"), "polite.probability: '0.9' is not a num"),
    "true": (edit("answers", 0, "probability", to=True), "polite.probability: True is not a num"),
    "null": (edit("answers", 0, "probability", to=None), "polite.probability: null is not a num"),
    "huge": (edit("answers", 1, "score", to=10**400), "right.score: the number is too large"),
    "type": (edit("answers", 0, "type", to="score"), "polite.type: 'score' instead of predicate"),
    "level": (
        edit("answers", 1, "probabilities", 0, "label", to="fully"),
        "right.probabilities[0]: 'fully' is not one of its options",
    ),
    "level_twice": (
        edit("answers", 1, "probabilities", 0, "label", to="not"),
        "right.probabilities[1]: not is given twice",
    ),
    "level_missing": (
        lambda b: b["answers"][1]["probabilities"].pop(),
        "right.probabilities: partly is missing",
    ),
    "sum": (
        edit("answers", 1, "probabilities", 0, "probability", to=0.4),
        "right.probabilities: their sum is 1.1, not 1",
    ),
    "no_list": (edit("answers", 1, "probabilities", to={}), "probabilities: an object is not a li"),
    "choice": (edit("answers", 2, "choice", to="c"), "topic.choice: 'c' is not one of"),
    "confidence": (edit("answers", 2, "confidence", to=7), "topic.confidence: 7 is not a prob"),
    "no_object": (edit("answers", 0, to="yes"), "answers[0]: 'yes' is not an object"),
    "answers": (edit("answers", to={}), "answers: an object is not a list"),
    "no_answers": (lambda b: b.pop("answers"), "answers: null is not a list"),
}


@pytest.mark.parametrize(("change", "message"), FAULTS.values(), ids=FAULTS)
def test_fault_names_the_field(change, message):
    body = openai()
    change(body)

    with pytest.raises(InvalidReply) as caught:
        read(OPENAI, body)

    assert message in str(caught.value)


SYSTEMONE_FAULTS = {
    "legend": (
        edit("answers", "right", "legend", "0", to="never"),
        "right.legend.0: 'never' is no",
    ),
    "no_legend": (edit("answers", "right", "legend", to=None), "right.legend: null is not an obj"),
    "level": (
        edit("answers", "right", "probabilities", "7", to=0.0),
        "right.probabilities.7: the legend has no such level",
    ),
    "option": (
        edit("answers", "topic", "probabilities", "c", to=0.0),
        "topic.probabilities.c: 'c' is not one of its options",
    ),
    "noul": (edit("answers", "polite", "noul", to=1.2), "polite.noul: 1.2 is not a probability"),
    "type": (edit("answers", "polite", "type", to="predicate"), "instead of noul"),
    "listed": (edit("answers", to=[]), "answers: a list is not an object"),
}


@pytest.mark.parametrize(("change", "message"), SYSTEMONE_FAULTS.values(), ids=SYSTEMONE_FAULTS)
def test_fault_of_system_one_names_the_field(change, message):
    body = systemone()
    change(body)

    with pytest.raises(InvalidReply) as caught:
        read(SYSTEMONE, body)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"answers": NaN}', "NaN is not a JSON number"),
        ('{"answers": [], "answers": []}', "'answers' is given twice"),
        ('{"answers": [{"type": "predi', "not JSON"),
        ('Sure: {"answers": []}', "not JSON"),
        ('[{"answers": []}]', "array"),
        ('{"answers": ' + "[" * 100_000, "not JSON"),
    ],
)
def test_body_is_read_without_repairs(text, message):
    with pytest.raises(InvalidReply, match=message):
        read(OPENAI, text)


def test_refusal_of_any_question_is_a_refusal():
    body = openai()
    body["answers"][0] = {"type": "refusal", "name": "polite"}

    with pytest.raises(JudgeRefused, match="polite"):
        read(OPENAI, body)


def test_free_numbers_and_lists_cannot_be_asked():
    assert refusal_of(Question(id="q", kind="score", text="t")) is not None
    assert refusal_of(Question(id="q", kind="checklist", text="t")) is not None
    assert [refusal_of(question) for question in QUESTIONS] == [None] * 4
    asked = POLITE.model_copy(update={"quotes": True, "details": (Detail(name="why"),)})
    assert left_out_of(asked) == ("quotes", "detail why")
    assert MOST_QUESTIONS == 400


def paths(value, path=()):
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for step, part in pairs if isinstance(value, (dict, list)) else ():
        yield from paths(part, (*path, step)) if isinstance(part, (dict, list)) else [(*path, step)]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3)
    ),
    max_leaves=5,
)


@given(data=st.data())
def test_malformed_body_raises_nothing_else(data):
    form, body = data.draw(st.sampled_from([(OPENAI, openai()), (SYSTEMONE, systemone())]))
    body = copy.deepcopy(body)
    for path in data.draw(st.lists(st.sampled_from(list(paths(body))), min_size=1, max_size=2)):
        if not path:
            continue
        try:
            edit(*path, to=data.draw(ANYTHING))(body)
        except (KeyError, IndexError, TypeError):
            continue  # the first change removed this place
    text = json.dumps(body)
    if data.draw(st.booleans()):
        text = text[: data.draw(st.integers(0, len(text)))]

    try:
        answers = read(form, text).answers
    except (InvalidReply, JudgeRefused):
        return

    for answer in answers.values():
        if answer.distribution is not None:
            assert sum(answer.distribution.probabilities) == pytest.approx(1)
