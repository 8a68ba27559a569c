"""What a rubric leaves open: declared, set, seen by the judge, part of the key."""

from __future__ import annotations

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, RubricError
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.display import rubric_text
from judgekit.rubric.load import load_rubric
from judgekit.rubric.parameter import MAX_SETTING, parameter
from tests.each import each

CASE = Case(id="c", input="Why?", output="Because.")
FRONT = """\
name: tone
extends: base
description: Whether it suits {{ parameters.audience }}.
parameters:
  audience: {choices: [adults, children], default: adults}
  words: {kind: integer, minimum: 1, default: 50}
criteria:
  fit: {text: "Fit for {{ parameters.audience }}, in {{parameters.words}} words?"}
"""
BODY = "{% block task %}{{ super() }}{{ parameters.words * 2 }} at most.{% endblock %}"


def shown(rubric, case=CASE, **options):
    metric = RubricMetric(rubric, judge=FakeJudge(), **options)
    _, (request,) = metric.requests(case)
    return "\n".join(message.content for message in request.messages), request


def test_defaults_are_seen_by_the_judge_in_template_description_and_criteria(rubric):
    text, request = shown(rubric(FRONT, BODY))

    assert "Whether it suits adults." in text
    assert "100 at most." in text
    assert "Fit for adults, in 50 words?" in text
    assert request.form.questions[0].text == "Fit for adults, in 50 words?"


def test_what_is_set_is_seen_and_makes_another_key(rubric):
    loaded = rubric(FRONT, BODY)

    text, request = shown(loaded, parameters={"audience": "children", "words": 5})
    _, before = shown(loaded)

    assert "Whether it suits children." in text
    assert "10 at most." in text
    assert "Fit for children, in 5 words?" in text
    assert request.key != before.key
    assert before.key == shown(loaded, parameters={"audience": "adults", "words": 50.0})[1].key


def test_rubrics_with_other_settings_share_no_rendered_text(rubric):
    loaded = rubric(FRONT, BODY)
    first = RubricMetric(loaded, judge=FakeJudge())
    second = RubricMetric(loaded, judge=FakeJudge(), parameters={"words": 7})

    texts = [m.requests(CASE)[1][0].messages[0].content for m in (first, second, first)]

    assert "100 at most." in texts[0]
    assert "14 at most." in texts[1]
    assert texts[2] == texts[0]


def test_settings_are_among_the_options_and_a_rubric_without_any_has_none(rubric):
    tone = RubricMetric(rubric(FRONT, BODY), judge=FakeJudge(), parameters={"words": 7})

    assert tone.options["parameters"] == {"audience": "adults", "words": 7}
    assert "parameters" not in RubricMetric("preference", judge=FakeJudge()).options


def test_a_parameter_without_a_default_must_be_set(rubric):
    front = FRONT.replace("default: adults", "description: who")
    loaded = rubric(front, BODY)

    assert "{{ parameters.audience }}" in loaded.description
    with pytest.raises(ConfigError, match="'tone' needs its parameter 'audience' to be set"):
        RubricMetric(loaded, judge=FakeJudge())
    assert "suits children" in shown(loaded, parameters={"audience": "children"})[0]


def test_a_bound_rubric_keeps_what_is_set(rubric):
    bound = rubric(FRONT, BODY).with_parameters({"audience": "children"})

    text, _ = shown(bound, parameters={"words": 3})

    assert "Fit for children, in 3 words?" in text


def test_an_heir_says_only_what_differs(rubric_file):
    rubric_file(FRONT, BODY, name="tone")
    heir = rubric_file(
        "name: kids\nextends: tone\nparameters:\n  audience: children\n", "", name="kids"
    )

    loaded = load_rubric(heir)

    assert loaded.parameters == {"audience": "children", "words": 50}
    with pytest.raises(ConfigError, match="must be one of adults, children, not 'teens'"):
        loaded.with_parameters({"audience": "teens"})


def test_the_fault_of_an_heir_names_its_file(rubric_file):
    rubric_file(FRONT, BODY, name="tone")
    heir = rubric_file(
        "name: kids\nextends: tone\nparameters:\n  audience: teens\n", "", name="kids"
    )

    with pytest.raises(RubricError) as caught:
        load_rubric(heir)

    assert caught.value.where == f"{heir}:5"


def test_an_included_partial_may_use_a_parameter(rubric_file, tmp_path):
    (tmp_path / "_limit.jinja").write_text("at most {{ parameters.words }}", encoding="utf-8")
    path = rubric_file(
        "name: mine\nextends: base\nparameters: {words: 9}\ncriteria: {a: {text: A.}}",
        "{% block task %}{% include '_limit.jinja' %}{% endblock %}",
    )

    assert "at most 9" in shown(load_rubric(path))[0]


def test_what_a_setting_says_is_not_read_again(rubric):
    front = FRONT.replace("choices: [adults, children], default: adults", "default: x")

    text, _ = shown(
        rubric(front, BODY), parameters={"audience": "{{ parameters.words }}\n{{ 7 * 7 }}"}
    )

    assert "Fit for {{ parameters.words }} {{ 7 * 7 }}, in 50 words?" in text
    assert "49" not in text


def test_a_list_and_a_yes_or_no_are_used_as_such(rubric):
    loaded = rubric(
        "name: mine\nextends: base\nparameters: {topics: [a, b], strict: true, share: 0.5}\n"
        "criteria: {a: {text: 'On {{ parameters.topics }}; {{ parameters.strict }}, "
        "{{ parameters.share }}?'}}",
        "{% block task %}{% if parameters.strict %}{{ parameters.topics | join('/') }}"
        "{% endif %}{% endblock %}",
    )

    text, _ = shown(loaded)

    assert "\na/b\n" in text
    assert "On a, b; true, 0.5?" in text
    assert "a/b" not in shown(loaded, parameters={"strict": False})[0]


def test_the_parameters_are_shown(rubric):
    text = rubric_text(rubric(FRONT, BODY))

    assert 'parameter audience = "adults" (choice; adults, children)\n' in text
    assert "parameter words = 50 (integer; at least 1)\n" in text


@each(
    ("said", "value", "message"),
    [
        ({"kind": "text"}, 3, "'p' must be text, not 3; put it in quotes"),
        ({"kind": "text"}, "a\x1bb", "'p' must not contain control characters, not 'a\\x1bb'"),
        ({"kind": "text"}, "a\udc80", "'p' must not contain control characters, not 'a\\udc80'"),
        ({"kind": "text"}, "x" * (MAX_SETTING + 1), "'p' must have at most 20,000 characters"),
        ({"kind": "number"}, True, "'p' must be a number, not True"),
        ({"kind": "number"}, float("nan"), "'p' must be a number between -1e15 and 1e15"),
        ({"kind": "number", "minimum": 0.5}, 0.4, "'p' must be at least 0.5, not 0.4"),
        ({"kind": "integer"}, 1.5, "'p' must be a whole number, not 1.5"),
        pytest.param(
            {"kind": "integer"}, 10**400, "'p' must be a number between -1e15 and 1e15", id="huge"
        ),
        ({"kind": "boolean"}, 1, "'p' must be true or false, not 1"),
        ({"kind": "list"}, "a", "'p' must be a list of texts, not 'a'"),
        ({"kind": "list"}, ["a", None], "'p' must be text, not None"),
        ({"kind": "list", "choices": ["a", "b"]}, ["a", "c"], "'p' must be one of a, b, not 'c'"),
        (
            {"choices": ["short", "long"]},
            "shrt",
            "'p' must be one of short, long, not 'shrt'; did you mean 'short'?",
        ),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(said, value, message):
    with pytest.raises(ConfigError) as caught:
        parameter("p", said).check(value)

    assert str(caught.value).startswith(f"parameter {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "text", "value"),
    [
        ({"kind": "text"}, "5", "5"),
        ({"kind": "text"}, "", ""),
        ({"kind": "number"}, "0.5", 0.5),
        ({"kind": "number"}, "2.0", 2),
        ({"kind": "integer"}, "7", 7),
        ({"kind": "boolean"}, "true", True),
        ({"kind": "list"}, "a, b", ("a", "b")),
        ({"kind": "list"}, '["a, b"]', ("a, b",)),
        ({"kind": "list"}, "", ()),
        ({"choices": ["1", "2"]}, "2", "2"),
    ],
)
def test_a_flag_is_read_as_its_parameter_takes_it(said, text, value):
    read = parameter("p", said).read(text)

    assert read == value
    assert type(read) is type(value)


def test_a_rubric_in_use_says_what_a_fresh_one_says(rubric_file):
    path = rubric_file(FRONT, BODY, name="tone")
    used = load_rubric(path)
    metrics = [
        RubricMetric(used, judge=FakeJudge(), parameters={"words": words}) for words in (3, 4)
    ]

    for number in range(4):
        case = Case(id=f"c{number}", input=f"Why {number}?", output=f"So {number}.")
        for metric, words in zip(metrics, (3, 4), strict=True):
            _, fresh = shown(load_rubric(path), case, parameters={"words": words})
            assert metric.requests(case)[1][0].key == fresh.key
