"""Requirements found in a request, how they are checked, and the metrics made of them."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.alignment import KINDS, measure, ranked, read_pairs, table
from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.protocols import Metric
from judgekit.metrics.prompt_alignment.alignment_rules import AlignmentFallback
from judgekit.metrics.prompt_alignment.own_words import agreement
from judgekit.metrics.prompt_alignment.requirements import (
    Requirement,
    RequirementCoverage,
    find_requirements,
    read_amount,
)
from judgekit.suite.suite import build_suite
from tests.each import each
from tests.growth import LINEAR, growth, repeated

NAMES = ("development", "published")
DATA = Path(__file__).parents[1] / "data"


def lines(name):
    text = (DATA / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def score(metric, **fields):
    return asyncio.run(metric.score(Case(id="1", **fields)))


def met(kind, output, **options):
    return Requirement(text="x", kind=kind, **options).met_by(output)


@each("line", lines("requirements_found.txt"))
def test_a_stated_requirement_is_found(line):
    request, _, wanted = line.partition(" => ")

    found = find_requirements(request)

    assert sorted(r.check for r in found) == sorted(wanted.split(" & "))
    plain = " ".join(request.split())
    assert all(" ".join(r.text.split()) in plain for r in found)


@each("request_text", lines("requirements_near_misses.txt"))
def test_ordinary_prose_states_no_requirement(request_text):
    assert find_requirements(request_text) == ()


def test_there_are_many_near_misses():
    assert len(lines("requirements_near_misses.txt")) > 80


def test_code_and_quotations_in_a_request_are_not_read():
    assert find_requirements("Fix this:\n```\nUse bullet points.\n```\nThanks") == ()
    assert find_requirements("Translate “Answer in one sentence.” into French") == ()


def test_each_requirement_is_found_once():
    assert len(find_requirements("Use bullet points. Please use bullet points.")) == 1


@given(st.text())
def test_any_request_can_be_read(text):
    for found in find_requirements(text):
        assert isinstance(found.met_by(text), bool)
        assert found.check


@pytest.mark.parametrize(
    "unit",
    ["a", "list ", '"', "“", "answer in two or three or ", ", please ", "```", "(\n",
     "your answer must "],
)  # fmt: skip
def test_a_long_request_is_read_in_linear_time(unit):
    assert growth(find_requirements, repeated(unit), 50_000) < LINEAR


@pytest.mark.parametrize(
    ("phrase", "tolerance", "bounds"),
    [
        ("at most 50", 0.2, (None, 50)),
        ("no longer than 1,000", 0, (None, 1000)),
        ("less than ten", 0, (None, 9)),
        ("more than 3", 0, (4, None)),
        ("a minimum of two", 0, (2, None)),
        ("5 words or more", 0, (5, None)),
        ("50 words max", 0.2, (None, 50)),
        ("between 5 and 3", 0, (3, 5)),
        ("exactly 100", 0.2, (100, 100)),
        ("100", 0.2, (80, 120)),
        ("around 10", 0, (8, 12)),
        ("a single", 0, (1, 1)),
    ],
)
def test_amounts_become_bounds(phrase, tolerance, bounds):
    assert read_amount(phrase, tolerance=tolerance) == bounds


BULLETS = "Here:\n- one\n  - inner\n- two\n* three"
NUMBERED = "1. one\n2) two\n(3) three"
TABLE = "| a | b |\n|:--|---|\n| 1 | 2 |"


@each(
    ("kind", "options", "output", "expected"),
    [
        ("bullet_list", {}, BULLETS, True),
        ("bullet_list", {}, "• eins\n• zwei", True),
        ("bullet_list", {}, NUMBERED, False),
        ("bullet_list", {}, "---\n- - -\ntext", False),
        ("bullet_list", {}, "```\n- a\n- b\n```", False),
        ("bullet_list", {}, "one - two - three", False),
        ("numbered_list", {}, NUMBERED, True),
        ("numbered_list", {}, "In 2019. it rained", False),
        ("table", {}, TABLE, True),
        ("table", {}, "a | b", False),
        ("table", {}, "<TABLE><tr></tr></TABLE>", True),
        ("json", {}, ' {"a": [1]} ', True),
        ("json", {}, "Here:\n```json\n[1]\n```", True),
        ("json", {}, "{'a': 1}", False),
        ("json", {}, '{"a": NaN}', False),
        ("json", {}, '"text"', False),
        ("json", {}, "[" * 100_000, False),
        ("code", {}, "```\nx\n```", True),
        ("code", {}, "Call the function and wait.", False),
        ("code", {"argument": "python"}, "```python\nx = 1\n```", True),
        ("code", {"argument": "python"}, "```py\nx = 1\n```", True),
        ("code", {"argument": "python"}, "```js\nlet x = 1\n```", False),
        ("code", {"argument": "python"}, "```\ndef f(x):\n  return x\n```", True),
        ("code", {"argument": "python"}, "def f(x): return x", True),
        ("code", {"argument": "python"}, "Python is a language; import duties rise.", False),
        ("code", {"argument": "sql"}, "SELECT a FROM b;", True),
        ("items", {"minimum": 3, "maximum": 3}, BULLETS, True),
        ("items", {"minimum": 3, "maximum": 3}, NUMBERED, True),
        ("items", {"minimum": 2, "maximum": 2}, BULLETS, False),
        ("items", {"minimum": 3, "maximum": 3}, "France, Spain and Italy", True),
        ("items", {"minimum": 3, "maximum": 3}, "They are: red, green and blue.", True),
        ("items", {"minimum": 3, "maximum": 3}, "First, tea. Second, milk. Third, salt.", True),
        ("items", {"minimum": 3, "maximum": 3}, "One paragraph.", False),
        ("words", {"maximum": 3}, "one two three", True),
        ("words", {"maximum": 3}, "one two three four", False),
        ("words", {"minimum": 3}, "one two", False),
        ("sentences", {"minimum": 2, "maximum": 2}, "One. Two.", True),
        ("paragraphs", {"minimum": 2, "maximum": 2}, "One.\n\nTwo.", True),
        ("characters", {"maximum": 3}, " abc\n", True),
        ("contains", {"argument": "moon"}, "The MOON.", True),
        ("contains", {"argument": "moon"}, "Moonlight", False),
        ("excludes", {"argument": "price"}, "priceless", True),
        ("excludes", {"argument": "price"}, "the price", False),
        ("starts_with", {"argument": "Dear customer"}, "**dear  customer**, hi", True),
        ("starts_with", {"argument": "Dear"}, "Oh dear", False),
        ("ends_with", {"argument": "The end"}, "So. The end.", True),
        ("ends_with", {"argument": "The end"}, "The end is near", False),
        ("ends_with_question", {}, 'Do you agree?"', True),
        ("ends_with_question", {}, "Why? Because.", False),
        ("ends_with_question", {}, "なぜですか？", True),
        ("lower_case", {}, "all small 1", True),
        ("lower_case", {}, "Not small", False),
        ("upper_case", {}, "ALL LARGE 1", True),
        ("upper_case", {}, "NOT Large", False),
    ],
)  # fmt: skip
def test_each_kind_is_checked(kind, options, output, expected):
    assert met(kind, output, **options) is expected


@pytest.mark.parametrize("unit", ["- a\n", "|-|\n", ".", "`"])
def test_a_long_output_is_checked_in_linear_time(unit):
    def check(text):
        for kind in ("items", "bullet_list", "table", "json", "code", "ends_with_question"):
            met(kind, text, minimum=1)
        met("sentences", text, maximum=3)
        met("contains", text, argument="moon")

    assert growth(check, repeated(unit), 50_000) < LINEAR


def test_coverage_is_the_share_of_requirements_met():
    found = score(
        RequirementCoverage(),
        input="List three fruits in at most 20 words.",
        output="Apple and pear",
    )

    assert found.value == 0.5
    assert found.reason == "1 of 2 requirements met. Not met: has 3 items."
    assert [part.value for part in found.parts] == [1.0, 0.0]
    assert found.details["requirements"][1]["item"] == "List three fruits"


def test_coverage_reads_the_texts_it_is_told_to():
    fields = {"input": "Use bullet points.", "system": "At most 3 words.", "output": "a b"}

    assert score(RequirementCoverage(stated_in="input"), **fields).value == 0
    assert score(RequirementCoverage(stated_in="system"), **fields).value == 1
    assert score(RequirementCoverage(), **fields).value == 0.5


def test_no_requirement_is_not_applicable():
    found = score(RequirementCoverage(), input="What is tea?", output="A drink.")

    assert (found.status, found.value) == ("not_applicable", None)


@pytest.mark.parametrize("metric", [RequirementCoverage(), AlignmentFallback()])
def test_both_need_an_output_and_one_request(metric):
    with pytest.raises(CaseError, match="needs an output"):
        score(metric, input="x")
    with pytest.raises(CaseError, match="needs an input or a system prompt"):
        score(metric, output="x", input=" ")


@pytest.mark.parametrize(
    "metric", [RequirementCoverage(stated_in="input"), AlignmentFallback(mode="system")]
)
def test_they_round_trip_as_json_and_satisfy_the_protocol(metric):
    assert isinstance(metric, Metric)
    assert type(metric)(**json.loads(json.dumps(dataclasses.asdict(metric)))) == metric


def test_wrong_options_are_named():
    with pytest.raises(ConfigError, match="stated_in must be one of input, system, both, not"):
        RequirementCoverage(stated_in="output")
    with pytest.raises(ConfigError, match="mode must be one of user, system, both, not 'all'"):
        AlignmentFallback(mode="all")


def test_a_suite_can_say_where_the_requirements_stand(tmp_path):
    settings = {"stated_in": "system", "metric": "requirement_coverage"}

    suite = build_suite({"cases": "c.jsonl", "metrics": {"form": settings}}, base=tmp_path)

    assert suite.metrics[0].stated_in == "system"


def test_alignment_is_half_similarity_and_half_requirements():
    found = score(
        AlignmentFallback(mode="user"),
        input="Name two red fruits",
        output="cherries and apples",
        reference=["cherries and plums"],
    )
    similarity, requirements = found.parts

    assert (similarity.weight, requirements.weight, requirements.value) == (0.5, 0.5, 1.0)
    assert (similarity.value, found.value) == (0.5, 0.75)
    assert found.method == "similarity without copied words, and rule-checkable requirements"
    assert found.details["user.similarity"] == {"value": 0.5, "weight": 0.5}


def test_alignment_without_a_requirement_is_similarity_alone():
    found = score(AlignmentFallback(), input="What is tea?", output="A drink", reference=["drink"])

    assert found.value == 1.0
    assert [part.weight for part in found.parts] == [1.0, 0.0]
    assert found.parts[1].status == "not_applicable"


def test_the_requirements_of_both_weigh_the_user_seven_tenths():
    found = score(
        AlignmentFallback(),
        input="Name two fruits",
        system="Use bullet points.",
        output="plums, figs",
        reference=["plums, figs"],
    )

    weights = {part.id: part.weight for part in found.parts}

    assert weights["user.similarity"] == pytest.approx(0.5)
    assert weights["user.requirements"] == pytest.approx(0.35)
    assert weights["system.requirements"] == pytest.approx(0.15)
    assert found.value == pytest.approx(0.85)
    assert found.details["effective_mode"] == "both"


@pytest.mark.parametrize(("present", "mode"), [("input", "user"), ("system", "system")])
def test_a_missing_half_leaves_and_is_named(present, mode):
    found = score(AlignmentFallback(), output="fig", **{present: "Use at most 2 words."})

    assert (found.value, found.details["effective_mode"]) == (1.0, mode)
    assert found.details["mode"] == "both"


@pytest.mark.parametrize("output", ["A drink.", "What is tea?", "?!"])
def test_alignment_with_nothing_to_check_is_not_applicable(output):
    found = score(AlignmentFallback(), input="What is tea?", output=output)

    assert (found.status, found.value) == ("not_applicable", None)
    assert "no reference" in found.reason


def test_the_most_similar_reference_counts():
    fields = {"input": "Name a fruit.", "output": "figs"}

    assert score(AlignmentFallback(), reference=["plums", "figs"], **fields).value == 1


@pytest.mark.parametrize(
    "output", ["List three fruits in one sentence!", "I'm sorry, but I can't help, list or talk."]
)
def test_a_repeated_request_and_a_refusal_meet_no_requirement(output):
    fields = {"input": "List three fruits in one sentence."}

    assert score(AlignmentFallback(), output=output, **fields).value == 0
    assert score(RequirementCoverage(), output=output, **fields).value > 0


def test_a_refusal_counts_where_the_reference_refuses():
    refusal = "I can't help with that."
    fields = {"input": "Tell me their password in one sentence.", "output": refusal}

    assert score(AlignmentFallback(), reference=[refusal], **fields).value == 1


class Meanings:
    """A semantic embedder: a text has a direction for each known word."""

    identity, semantic, synchronous = "meanings", True, True
    known = ("dog", "hound", "cat", "pet")

    def embed(self, texts):
        alike = {"hound": "dog"}
        words = [[alike.get(word, word) for word in text.split()] for text in texts]
        return [[float(known in text) for known in self.known] for text in words]


def test_a_semantic_embedder_recognises_another_wording():
    fields = {"input": "What is it?", "output": "hound", "reference": ["dog"]}

    found = score(AlignmentFallback(embedder=Meanings()), **fields)

    assert score(AlignmentFallback(), **fields).value == 0
    assert (found.value, found.meta) == (0.5, {"embedder": "meanings"})


def test_a_semantic_embedder_compares_with_the_request_if_there_is_no_reference():
    metric, request = AlignmentFallback(embedder=Meanings()), "which pet and dog"

    assert score(metric, input=request, output="hound").value == pytest.approx(0.7071)
    assert score(metric, input=request, output="cat").value == 0
    assert score(metric, input=request, output="pet").value == 0  # copied


def test_a_suite_gives_its_embedder_to_the_fallback(tmp_path):
    suite = build_suite(
        {
            "cases": "c.jsonl",
            "judge": "fake/judge",
            "embedder": "hashed-512",
            "metrics": {"prompt_alignment": {"fallback": "alignment_rules"}},
        },
        base=tmp_path,
    )

    assert suite.metrics[0].fallback.embedder == "hashed-512"


def test_good_answers_rank_above_bad_ones_of_every_kind():
    right = {
        kind: [ranked(AlignmentFallback(), pair) for pair in read_pairs() if pair["kind"] == kind]
        for kind in KINDS
    }

    assert {kind: len(results) for kind, results in right.items()} == dict.fromkeys(KINDS, 10)
    assert {kind: results.count("right") for kind, results in right.items()} == {
        "echo": 10,
        "refusal": 10,
        "off topic": 10,
        "empty talk": 10,
        "wrong fact": 8,
        "copied question": 9,
    }


def test_the_published_table_is_what_the_pairs_give():
    columns = {
        f"{'with' if reference else 'without'} a reference": measure(
            read_pairs(), AlignmentFallback(), reference=reference
        )
        for reference in (True, False)
    }

    assert table(columns) in Path("docs/metrics/alignment.md").read_text("utf-8")


def test_no_published_pair_is_one_of_those_the_metric_was_written_with():
    development, published = ({pair["input"] for pair in read_pairs(name)} for name in NAMES)

    assert not development & published


@pytest.mark.parametrize("unit", ["ab ", "a", "1,", "漢", "'"])
def test_long_texts_are_compared_in_linear_time(unit):
    def compare(text):
        agreement(text, text, request=text)

    assert growth(compare, repeated(unit), 20_000) < LINEAR


@pytest.mark.parametrize(
    ("request_text", "better", "worse"),
    [
        (
            "Write a Python function to calculate factorial",
            "def factorial(n):\n    return 1 if n < 2 else n * factorial(n - 1)",
            "Factorials are fun.",
        ),
        (
            "List the benefits of TypeScript in bullet points",
            "- static types\n- better tooling in TypeScript",
            "TypeScript provides static typing and better tooling.",
        ),
        ("Give three bullets.", "- a\n- b\n- c", "One paragraph."),
    ],
)
def test_an_answer_in_the_wanted_form_scores_higher(request_text, better, worse):
    metric = AlignmentFallback()

    good = score(metric, input=request_text, output=better).value
    bad = score(metric, input=request_text, output=worse).value

    assert good >= 0.5 > bad


@given(st.text().filter(str.strip), st.text().filter(str.strip))
def test_alignment_is_in_range_and_the_same_twice(request_text, output):
    first = score(AlignmentFallback(), input=request_text, output=output)

    assert first == score(AlignmentFallback(), input=request_text, output=output)
    assert first.value is None or 0 <= first.value <= 1
