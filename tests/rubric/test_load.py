from __future__ import annotations

import asyncio

import pytest

from judgekit.core.case import Case, Message
from judgekit.core.errors import CaseError, ConfigError, RubricError
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.load import load_rubric

SHOWN = "{% if criteria and case %}{% endif %}"
"""Counts as showing both, for templates that are about something else."""
CASE = Case(id="c", input="Why?", output="Because.", system="Be brief.")
ONE = "name: mine\ncriteria:\n  a: {text: A.}"


def messages(rubric, case=CASE, mode=None):
    _, rendered = rubric.render(case, mode=rubric.check_mode(mode))
    return rendered


def score(rubric, answers, case=CASE, **options):
    metric = RubricMetric(rubric, judge=FakeJudge(lambda _: answers), **options)
    return asyncio.run(metric.score(case))


# -- extends ----------------------------------------------------------------------


def test_criteria_merge_by_id_and_keep_their_place(rubric_file):
    rubric_file(
        "name: parent\nweights: points\ncriteria:\n  a: {text: A., weight: 1}\n"
        "  b: {text: B., weight: 1}\n  c: {text: C., weight: 1}",
        name="parent",
    )
    child = rubric_file(
        "name: child\nextends: parent\ncriteria:\n  b: {text: Better., weight: 5}\n"
        "  a: null\n  d: {text: D., weight: 1}",
        "",
        name="child",
    )

    rubric = load_rubric(child)

    assert [(c.id, c.question.text, c.weight) for c in rubric.criteria] == [
        ("b", "Better.", 5.0),
        ("c", "C.", 1.0),
        ("d", "D.", 1.0),
    ]
    assert "a: A." not in messages(rubric)[0].content
    assert "b: Better." in messages(rubric)[0].content


def test_what_a_child_does_not_say_comes_from_its_parents(rubric_file):
    rubric_file(
        "name: old\ndescription: From the oldest.\nrequires: [input]\ncombine: min\n"
        "details:\n  note: A note.\ncriteria:\n  g.a: {text: A.}\n  h.b: {text: B.}\n"
        "groups:\n  g: {requires: [system]}\nmodes:\n  m: {g: 0.5, h: 0.5}",
        name="old",
    )
    rubric_file("name: middle\nextends: old\ndescription: From the middle.", "", name="middle")
    young = rubric_file("name: young\nversion: 7\nextends: middle", "", name="young")

    rubric = load_rubric(young)

    assert (rubric.name, rubric.version, rubric.description) == ("young", 7, "From the middle.")
    assert (rubric.requires, rubric.combine) == (("input",), "min")
    assert rubric.modes == {"m": {"g": 0.5, "h": 0.5}}
    assert rubric.groups["g"].requires == ("system",)
    assert [detail.name for detail in rubric.details] == ["note"]


def test_a_block_can_add_to_that_of_its_parent(rubric_file):
    rubric_file(
        "name: parent\nabstract: true",
        "{% role user %}{% block rules %}Be just.{% endblock %} {{ case.output }}{% endrole %}",
        name="parent",
    )
    child = rubric_file(
        "name: child\nextends: parent\ncriteria:\n  a: {text: A.}",
        "{% block rules %}{{ super() }} Be kind. (a){% endblock %}",
        name="child",
    )

    (message,) = messages(load_rubric(child))

    assert message.content == "Be just. Be kind. (a) Because."


def test_a_rubric_may_carry_the_name_of_nothing_it_extends(rubric_file):
    path = rubric_file("name: safety\nextends: safety", "", name="safety")

    with pytest.raises(RubricError, match="rename this rubric"):
        load_rubric(path)


def test_the_digest_follows_every_file_a_rubric_is_built_from(rubric_file, tmp_path):
    part = tmp_path / "_part.jinja"
    part.write_text("part", encoding="utf-8")
    parent = rubric_file(
        "name: p\nabstract: true", "{% include '_part.jinja' %}{{ case.output }}", "p"
    )
    child = rubric_file("name: c\nextends: p\ncriteria:\n  a: {text: A.}", "", "c")
    digests = [load_rubric(child).digest]

    for path in (part, parent, child):
        path.write_text(path.read_text("utf-8").replace("p", "P", 0) + "\n", encoding="utf-8")
        digests.append(load_rubric(child).digest)

    assert len(set(digests)) == 4
    assert load_rubric(child).digest == digests[-1]


def test_line_ends_and_a_byte_order_mark_change_nothing(tmp_path):
    text = f"---\n{ONE}\n---\n{{{{ case.output }}}}\nmore of a\n"
    plain, foreign = tmp_path / "plain.jinja", tmp_path / "foreign.jinja"
    plain.write_bytes(text.encode())
    foreign.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())

    assert messages(load_rubric(plain)) == messages(load_rubric(foreign))


# -- includes and macros ----------------------------------------------------------


def test_includes_are_found_beside_the_rubric_and_among_the_built_in(rubric, tmp_path):
    (tmp_path / "_own.jinja").write_text("own: {{ case.input }}\n", encoding="utf-8")

    loaded = rubric(
        ONE,
        "{% from '_criteria.jinja' import outline %}{% include '_own.jinja' %}"
        "{{ outline(criteria) | trim }}",
    )

    assert messages(loaded)[0].content.startswith("own: Why?## a\nA.\nAnswer with a number")


def test_a_macro_of_the_rubric_itself_can_be_called(rubric):
    body = "{% macro twice(text) %}{{ text }}{{ text }}{% endmacro %}{{ twice(case.output) }}"

    assert messages(rubric(ONE, body + SHOWN))[0].content == "Because.Because."


def test_a_body_without_roles_is_one_user_message(rubric):
    (message,) = messages(rubric(ONE, f"\n {{{{ case.output }}}} \n{SHOWN}"))

    assert (message.role, message.content) == ("user", "Because.")


def test_text_beside_roles_is_refused_when_rendered(rubric):
    loaded = rubric(ONE, SHOWN + "{% role user %}x{% endrole %} stray words")

    with pytest.raises(RubricError, match=r"text outside \{% role %\}: 'stray words'"):
        messages(loaded)


# -- modes, groups, requires ------------------------------------------------------

GROUPED = """
name: mine
requires: [output]
groups:
  user: {requires: [input]}
  system: {requires: [system]}
modes:
  strict: {system: 1.0}
  both: {user: 0.75, system: 0.25}
default_mode: both
criteria:
  user.a: {text: A., weight: 0.5}
  user.b: {text: B., weight: 0.5}
  system.c: {text: C.}
"""


@pytest.mark.parametrize(
    ("mode", "asked"),
    [
        (None, ["user.a", "user.b", "system.c"]),
        ("both", ["user.a", "user.b", "system.c"]),
        ("strict", ["system.c"]),
    ],
)
def test_only_criteria_with_weight_in_the_mode_are_asked(rubric, mode, asked):
    loaded = rubric(GROUPED)

    variant, (system, _) = loaded.render(CASE, mode=loaded.check_mode(mode))

    assert [question.id for question in variant.form.questions] == asked
    assert [line.split(":")[0] for line in system.content.splitlines()] == asked


@pytest.mark.parametrize(
    ("gone", "groups"), [("system", {"user": 0.75}), ("input", {"system": 0.25})]
)
def test_a_group_whose_field_is_missing_is_not_asked(rubric, gone, groups):
    loaded = rubric(GROUPED)

    variant, _ = loaded.render(CASE.model_copy(update={gone: "  "}), mode="both")

    assert variant.groups == groups


@pytest.mark.parametrize(
    ("case", "mode", "message"),
    [
        (Case(id="c", input="q"), "both", "the case has no 'output'"),
        (Case(id="c", output="a"), "both", "needs the case to have 'input' or 'system'"),
        (Case(id="c", output="a", input="q"), "strict", "in mode 'strict' needs .* 'system'"),
    ],
)
def test_a_case_without_what_is_needed_is_told_so(rubric, case, mode, message):
    with pytest.raises(CaseError, match=message):
        rubric(GROUPED).render(case, mode=mode)


def test_an_unknown_mode_names_the_near_one(rubric):
    with pytest.raises(ConfigError, match="has no mode 'stric'; did you mean 'strict'"):
        rubric(GROUPED).check_mode("stric")


@pytest.mark.parametrize(
    ("field", "value"),
    [("reference", ("r",)), ("history", (Message(role="user", content="h"),)), ("choices", ("x",))],
)
def test_lists_can_be_required_too(rubric, field, value):
    loaded = rubric(f"{ONE}\nrequires: [{field}]")

    with pytest.raises(CaseError, match=field):
        messages(loaded)
    assert messages(loaded, CASE.model_copy(update={field: value}))


# -- weights ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("front", "value"),
    [
        ("a: {text: A.}\n  b: {text: B.}", 0.5),
        ("a: {text: A., weight: 0.8}\n  b: {text: B., weight: 0.2}", 0.8),
        ("a: {text: A., weight: 1.0}\n  b: {text: B., weight: -0.25}", 1.0),
    ],
)
def test_weights_are_equal_unless_given(rubric, front, value):
    loaded = rubric(f"name: mine\ncriteria:\n  {front}")

    result = score(loaded, {"a": {"reason": "", "value": 1.0}, "b": {"reason": "", "value": 0.0}})

    assert result.value == pytest.approx(value)


def test_points_are_normalised(rubric):
    loaded = rubric(
        "name: mine\nweights: points\ncriteria:\n  a: {text: A., weight: 7, kind: boolean}\n"
        "  b: {text: B., weight: 3, kind: boolean}\n  p: {text: P., weight: -4, kind: boolean}"
    )

    def value(a, b, p):
        given = {"a": a, "b": b, "p": p}
        return score(loaded, {k: {"reason": "", "value": v} for k, v in given.items()}).value

    assert value(True, False, False) == pytest.approx(0.7)
    assert value(True, False, True) == pytest.approx(0.3)
    assert value(False, True, True) == 0.0


def test_a_value_below_zero_is_clamped_and_kept_in_the_details(rubric):
    loaded = rubric(
        "name: mine\ncriteria:\n  a: {text: A., weight: 1.0}\n  p: {text: P., weight: -1.0}"
    )

    result = score(loaded, {"a": {"reason": "", "value": 0.25}, "p": {"reason": "", "value": 1.0}})

    assert result.value == 0.0
    assert result.details["raw"] == pytest.approx(-0.75)


@pytest.mark.parametrize(
    ("combine", "value"), [("min", 0.2), ("max", 0.9), ("all", 0.0), ("mean", 0.55)]
)
def test_criteria_can_be_combined_otherwise(rubric, combine, value):
    loaded = rubric(
        f"name: mine\ncombine: {combine}\ncriteria:\n  a: {{text: A.}}\n  b: {{text: B.}}"
    )

    result = score(loaded, {"a": {"reason": "", "value": 0.2}, "b": {"reason": "", "value": 0.9}})

    assert result.value == pytest.approx(value)


# -- kinds ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "kind"),
    [
        ("{text: A.}", "score"),
        ("{text: A., minimum: 1, maximum: 5}", "score"),
        ("{text: A., levels: {good: 1, bad: 0}}", "score"),
        ("{text: A., options: {good: 1, bad: 0}}", "choice"),
        ("{text: A., items: [x, y]}", "checklist"),
        ("{text: A., kind: checklist}", "checklist"),
        ("{text: A., kind: boolean}", "boolean"),
    ],
)
def test_the_kind_follows_from_the_other_keys(rubric, criterion, kind):
    loaded = rubric(f"name: mine\ncriteria:\n  a: {criterion}")

    assert loaded.criteria[0].question.kind == kind


KINDS = """
name: mine
criteria:
  level: {text: L., levels: {good: {value: 0.75, text: fine}, bad: 0}}
  option: {text: O., options: {yes it is: 1, not so: {value: 0}, n/a: null}}
  number: {text: N., minimum: 1, maximum: 5, reverse: true, nullable: true}
  truth: {text: T., kind: boolean, quotes: true}
  fixed: {text: F., items: [one, two]}
  found:
    text: >-
      Whatever
      is   found.
    kind: checklist
    details: {count: How many., sure: {kind: boolean}, list: {kind: list, text: Which.}}
"""
ANSWERS = {
    "level": {"reason": "r", "value": "good"},
    "option": {"reason": "r", "value": "n/a"},
    "number": {"reason": "r", "value": 2},
    "truth": {"reason": "r", "quotes": ["Because"], "value": True},
    "fixed": {
        "items": [
            {"item": "two", "reason": "r", "met": False},
            {"item": "one", "reason": "r", "met": True},
        ]
    },
    "found": {
        "items": [{"item": "a thing", "reason": "r", "met": True}],
        "count": "1", "sure": True, "list": ["a thing"],
    },
}  # fmt: skip


def test_every_kind_of_answer_becomes_its_worth(rubric):
    result = score(rubric(KINDS), ANSWERS)

    assert {p.id: (p.status, p.value) for p in result.parts} == {
        "level": ("scored", 0.75),
        "option": ("not_applicable", None),
        "number": ("scored", 0.75),
        "truth": ("scored", 1.0),
        "fixed": ("scored", 0.5),
        "found": ("scored", 1.0),
    }
    assert result.value == pytest.approx((0.75 + 0.75 + 1 + 0.5 + 1) / 5)
    assert result.confidence == pytest.approx(5 / 6)


def test_a_null_abstains_and_is_not_a_zero(rubric):
    result = score(rubric(KINDS), {**ANSWERS, "number": {"reason": "r", "value": None}})

    assert result.parts[2].status == "abstained"
    assert result.value == pytest.approx((0.75 + 1 + 0.5 + 1) / 4)


def test_quotes_and_details_reach_the_part(rubric):
    parts = {part.id: part for part in score(rubric(KINDS), ANSWERS).parts}

    assert (parts["truth"].quotes[0].text, parts["truth"].quotes[0].field) == ("Because", "output")
    assert parts["found"].details == {"count": "1", "sure": True, "list": ["a thing"]}
    assert rubric(KINDS).criteria[5].question.text == "Whatever is found."


def test_a_judge_is_told_the_words_and_the_form(rubric):
    body = "{% from '_criteria.jinja' import outline %}{{ outline(criteria) }}{{ case.output }}"

    (message,) = messages(rubric(KINDS, body))

    for words in (
        "- good: fine", "- bad", "- yes it is", "- n/a", "Answer with a number from 1 to 5.",
        "answer null and say why", "Answer true or false.", "Give `quotes`", "- one", "- two",
        "list them yourself", "`list`: Which.",
    ):  # fmt: skip
        assert words in message.content


# -- examples ---------------------------------------------------------------------


def test_examples_show_the_answers_to_what_is_asked(rubric):
    loaded = rubric(
        GROUPED
        + "examples:\n  - case: {input: E?, output: E!}\n"
        + "    answers: {user.a: {reason: r, value: 1}, system.c: {reason: s, value: 0}}",
        SHOWN + "{% for e in examples %}{{ e.case.output }} {{ e.answers | json }}{% endfor %}",
    )

    (both,) = messages(loaded)
    (strict,) = messages(loaded, mode="strict")

    assert both.content == (
        'E! {"system.c":{"reason":"s","value":0},"user.a":{"reason":"r","value":1}}'
    )
    assert strict.content == 'E! {"system.c":{"reason":"s","value":0}}'


def test_an_example_may_carry_the_details_of_the_form(rubric):
    loaded = rubric(
        f"{ONE}\ndetails:\n  summary: In a sentence.\nexamples:\n  - case: {{output: E!}}\n"
        "    answers: {a: {reason: r, value: 1}, summary: Fine.}",
        SHOWN + "{% for e in examples %}{{ e.answers | json }}{% endfor %}",
    )

    assert '"summary":"Fine."' in messages(loaded)[0].content


def test_tests_of_a_rubric_are_read_and_never_shown(rubric):
    loaded = rubric(
        f"{ONE}\ntests:\n  - name: short\n    case: {{output: hidden words}}\n"
        "    expect: {value: {max: 0.6}}"
    )

    assert loaded.tests[0].case.id == "short"
    assert loaded.tests[0].expect["value"].max == 0.6
    assert not any("hidden" in message.content for message in messages(loaded))


def test_what_a_test_expects_is_read_in_its_short_and_its_long_form(rubric):
    loaded = rubric(
        "name: mine\ncriteria:\n  flag: {text: A., kind: boolean, nullable: true}\n"
        "  word: {text: B., levels: {good: 1, bad: 0}, quotes: true}\n"
        "tests:\n"
        "  - case: {output: x}\n"
        "    expect: {flag: true, word: {answer: bad, quotes: {contain: x, from: output}}}\n"
        "  - name: other\n"
        "    case: {output: y}\n"
        "    mode: default\n"
        "    expect: {flag: {status: abstained}, word: {quotes: [y]}, value: {min: 0.25}}\n"
        "orderings:\n  - {better: other, worse: test-1, criterion: word, by: 0.5}\n"
    )

    first, second = loaded.tests
    assert first.expect["flag"].answer is True
    word = first.expect["word"]
    assert (word.answer, word.quotes.contain, word.quotes.source) == ("bad", ["x"], "output")
    assert second.expect["flag"].status == "abstained"
    assert second.expect["word"].quotes.contain == ["y"]
    assert (second.expect["value"].min, second.expect["value"].max) == (0.25, None)
    assert (first.name, first.mode, second.mode) == ("test-1", None, "default")
    assert [ordering.name for ordering in loaded.orderings] == ["other-over-test-1-by-word"]


# -- description ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("front", "task"),
    [
        ("extends: base", "Judge the answer by the criteria below."),
        ("extends: base\ndescription: Is it kind?", "Is it kind?"),
        ("extends: base\ndescription: ''", ""),
        ("extends: frame", "Judge the answer by the criteria below."),
        ("extends: parent", "Is it true?"),
    ],
)
def test_the_description_of_an_abstract_file_is_not_inherited(rubric_file, front, task):
    rubric_file("name: frame\nabstract: true\nextends: base\ndescription: Our frame.", "", "frame")
    rubric_file(
        "name: parent\nextends: base\ndescription: Is it true?\ncriteria:\n  b: {text: B.}",
        "",
        "parent",
    )
    rubric = load_rubric(rubric_file(f"{ONE}\n{front}", ""))

    assert rubric.description == task
    asked = messages(rubric)[0].content
    assert f"# Task\n{task}" in asked
    assert "frame" not in asked


def test_a_rubric_without_a_description_has_none(rubric_file):
    assert load_rubric(rubric_file(ONE, f"{{{{ rubric.description }}}}{SHOWN}")).description == ""


# -- weights ----------------------------------------------------------------------


@pytest.mark.parametrize("word", ["relative", "points"])
def test_relative_weights_are_rescaled(rubric_file, word):
    front = (
        f"name: mine\nweights: {word}\ncriteria:\n"
        "  a: {kind: boolean, text: A., weight: 3}\n  b: {kind: boolean, text: B., weight: 1}"
    )
    rubric = load_rubric(rubric_file(front, SHOWN))

    answers = {"a": {"reason": "r", "value": True}, "b": {"reason": "r", "value": False}}
    assert score(rubric, answers).value == 0.75
