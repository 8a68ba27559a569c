"""What the text metrics share, and exact match, token F1 and contains."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.protocols import Metric
from judgekit.metrics.text.contains import Contains
from judgekit.metrics.text.exact_match import ExactMatch
from judgekit.metrics.text.length import Length
from judgekit.metrics.text.regex import Regex
from judgekit.metrics.text.token_f1 import TokenF1
from judgekit.metrics.tokens import (
    answer_form,
    squad_tokens,
)
from tests.each import each
from tests.growth import LINEAR, growth, repeated

VECTORS = json.loads(
    (Path(__file__).parents[1] / "data" / "wisent_matches.json").read_text("utf-8")
)
NOT_MATCHED = {"em-010": "no reference at all is a failure for us, never a score of 0"}
METRICS = [ExactMatch(), TokenF1(), Contains(), Regex(pattern="a"), Length(maximum=10)]


def score(metric, output="x", **fields):
    return asyncio.run(metric.score(Case(id="1", output=output, **fields)))


def value(metric, output="x", **fields):
    return score(metric, output, **fields).value


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["metric"] == "exact_match"], ids=lambda v: v["id"]
)
def test_exact_match_gives_the_recorded_verdicts(vector):
    parameters = vector["parameters"]
    metric = ExactMatch(
        normalise=parameters.get("normalize", True),
        ignore_case=not parameters.get("case_sensitive", False),
    )
    inputs = vector["inputs"]

    if vector["id"] in NOT_MATCHED:
        with pytest.raises(CaseError):
            score(metric, inputs["response"], reference=inputs["expected"])
        return

    found = score(metric, inputs["response"], reference=inputs["expected"])
    assert found.value == vector["expected"]["confidence"]
    assert found.confidence == 1.0


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["metric"] == "token_f1"], ids=lambda v: v["id"]
)
def test_token_f1_gives_the_recorded_figures(vector):
    inputs = vector["inputs"]

    found = value(TokenF1(), inputs["response"], reference=inputs["expected"])

    assert found == pytest.approx(vector["expected"]["f1"], abs=vector["tolerance"])


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["metric"] == "token_f1_choices"], ids=lambda v: v["id"]
)
def test_token_f1_ranks_choices_as_recorded(vector):
    inputs = vector["inputs"]

    first, second = (value(TokenF1(), c, reference=inputs["expected"]) for c in inputs["choices"])

    assert max(first, second) == pytest.approx(vector["expected"]["confidence"])
    assert (first > second) == (vector["expected"]["ground_truth"] == "TRUTHFUL")


@pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.name)
def test_satisfies_the_protocol_and_round_trips_as_json(metric):
    options = dataclasses.asdict(metric)

    assert isinstance(metric, Metric)
    assert (metric.range, metric.higher_is_better) == ((0.0, 1.0), True)
    assert type(metric)(**json.loads(json.dumps(options))) == metric


@each("metric", METRICS, ids=lambda m: m.name)
def test_a_case_without_an_output_is_invalid(metric):
    with pytest.raises(CaseError, match=r"^needs an output \(field 'output'\)$"):
        score(metric, None, reference="a")


@each("output", ["", " \n\t", "\u3000"])
@each("metric", METRICS, ids=lambda m: m.name)
def test_a_blank_output_is_an_answer(metric, output):
    assert 0 <= score(metric, output, reference="a").value <= 1


@pytest.mark.parametrize("metric", [ExactMatch(), TokenF1(), Contains()], ids=lambda m: m.name)
@pytest.mark.parametrize("reference", [None, "", " ", [" ", ""]])
def test_a_blank_reference_is_missing(metric, reference):
    with pytest.raises(CaseError, match=r"^needs a reference \(field 'reference'\)$"):
        score(metric, "a", reference=reference)


@given(
    output=st.text(min_size=1).filter(str.strip), reference=st.text(min_size=1).filter(str.strip)
)
def test_any_text_scores_in_range_and_twice_the_same(output, reference):
    for metric in METRICS:
        first = score(metric, output, reference=reference)

        assert 0 <= first.value <= 1
        assert first == score(metric, output, reference=reference)
        assert first.reason


@given(st.text(min_size=1).filter(str.strip))
def test_a_text_matches_itself(text):
    assert value(ExactMatch(), text, reference=text) == 1
    assert value(TokenF1(), text, reference=text) == 1
    assert value(Contains(whole_word=False), text, reference=text) == 1


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        ".",
        "a",
        "a\u0300\u0316",
        "字",
    ],
)
def test_a_long_output_takes_linear_time(unit):
    def check(text):
        for metric in METRICS:
            score(metric, text, reference=text)
        for what in ("sentences", "lines", "paragraphs"):
            score(Length(unit=what, maximum=1), text)

    assert growth(check, repeated(unit), 40_000) < LINEAR


@each(
    ("output", "reference", "expected"),
    [
        ("The Paris.", "paris", 0),
        ("well-known", "well known", 1),
        ("New York, NY", "new york ny", 1),
        ("a_b", "a b", 0),
        ("5 €", "5", 1),
        ("Paris, France", "Paris", 0),
        ("  New\n York ", "new york", 1),
        ("1,000", "1000", 0),
        ("1.5", "15", 0),
        ("-5", "5", 0),
        ("−5", "-5", 1),
        ("42.", "42", 1),
        ("1/2", "12", 0),
        ("A", "The", 0),
        ("A", "a", 1),
        ("!", "?", 0),
        ("don’t", "don't", 1),
        ("Straße", "STRASSE", 1),
        ("ＡＢＣ", "abc", 1),
        ("東京。", "東京", 1),
        ("が", "か", 0),
        ("कि", "कु", 0),
        ("й", "и", 0),
        ("naïve", "naive", 1),
        ("Москва", "москва", 1),
    ],
)
def test_exact_match_normalises(output, reference, expected):
    assert value(ExactMatch(), output, reference=reference) == expected


def test_exact_match_takes_any_reference_and_names_it():
    found = score(ExactMatch(), "sea", reference=["ocean", "Sea"])

    assert (found.value, found.ground_truth) == (1.0, "Sea")


def test_exact_match_leaves_out_articles_where_asked():
    assert value(ExactMatch(), "the sea", reference="sea") == 0
    assert value(ExactMatch(ignore_articles=True), "The sea!", reference="a sea") == 1
    assert value(ExactMatch(ignore_articles=True), "A", reference="The") == 0


def test_a_certain_mismatch_has_full_confidence():
    metric = ExactMatch()
    found = score(metric, "Lyon", reference="Paris")

    assert (found.value, found.confidence) == (0.0, 1.0)
    assert "Confidence 1.00, which is always 1: a comparison is certain" in found.explain(metric)


def test_exact_match_options_narrow_what_is_ignored():
    assert value(ExactMatch(ignore_accents=False), "Crème", reference="creme") == 0
    assert value(ExactMatch(ignore_case=False), "Paris.", reference="paris") == 0
    assert value(ExactMatch(normalise=False), "Paris.", reference="Paris") == 0
    assert value(ExactMatch(normalise=False), " paris ", reference="Paris") == 1


def test_answer_form_leaves_something_of_every_text():
    assert answer_form("The") == "the"
    assert answer_form(" ?! ") == "?!"


@pytest.mark.parametrize(
    ("output", "reference", "expected"),
    [
        ("a b b", "b b c", 0.8),  # multiset; the article goes: 2 shared of 2 and 3
        ("The cat!", "a CAT", 1.0),
        ("东京是首都", "首都是东京", 1.0),
        ("Hallo Welt", "Tschüss", 0.0),
        ("the", "a", 0.0),
    ],
)
def test_token_f1_follows_squad(output, reference, expected):
    assert value(TokenF1(), output, reference=reference) == pytest.approx(expected)


def test_token_f1_takes_the_best_reference_and_tells_precision_and_recall():
    found = score(TokenF1(), "red green", reference=["blue", "red"])

    assert found.ground_truth == "red"
    assert (found.details["precision"], found.details["recall"]) == (0.5, 1.0)


@given(st.lists(st.sampled_from(["red", "sea", "moon"]), min_size=1, max_size=8), st.randoms())
def test_token_f1_does_not_depend_on_order(words, random):
    shuffled = list(words)
    random.shuffle(shuffled)

    assert value(TokenF1(), " ".join(words), reference=" ".join(shuffled)) == 1


def test_squad_tokens_are_those_of_the_official_script():
    assert squad_tokens("An apple-pie, the BEST (in $1,000s)!") == (
        "applepie",
        "best",
        "in",
        "1000s",
    )


@pytest.mark.parametrize(
    ("options", "output", "expected"),
    [
        ({"all_of": ("cat", "dog")}, "A cat.", 0.5),
        ({"all_of": ("cat",), "none_of": ("dog",)}, "cat and dog", 0.5),
        ({"any_of": ("cat", "dog")}, "my dog", 1.0),
        ({"any_of": ("cat", "dog")}, "my fish", 0.0),
        ({"none_of": ("hate",)}, "Whatever", 1.0),
        ({"none_of": ("hate",), "whole_word": False}, "Whatever", 0.0),
        ({"all_of": ("Cat",), "ignore_case": False}, "cat", 0.0),
        ({"all_of": ("thank   you",)}, "Thank\nyou!", 1.0),
        ({"all_of": ("don't",)}, "I don’t", 1.0),
        ({"all_of": ("日本",)}, "私は日本人です", 1.0),
        ({"all_of": ("C++",)}, "I like C++.", 1.0),
        ({"all_of": ("по",)}, "поезд", 0.0),
        ({"all_of": "cat"}, "cat", 1.0),
    ],
)
def test_contains_is_the_share_of_conditions_met(options, output, expected):
    assert value(Contains(**options), output) == expected


def test_contains_without_options_looks_for_a_reference():
    assert value(Contains(), "It is Paris.", reference=["London", "Paris"]) == 1
    assert value(Contains(), "It is Rome.", reference="Paris") == 0


def test_a_long_reference_inside_a_longer_word_takes_linear_time():
    def look(size):
        assert value(Contains(), f"b{'a' * 2 * size}b", reference="a" * size) == 0

    assert growth(look, int, 100_000) < LINEAR


def test_contains_says_what_is_missing_and_what_is_unwanted():
    found = score(Contains(all_of=("cat",), none_of=("dog",)), "a dog")

    assert found.reason == '0 of 2 conditions met; missing: "cat"; unwanted: "dog".'
    assert (found.details["missing"], found.details["unwanted"]) == (["cat"], ["dog"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ExactMatch(normalise="yes"),
            "exact_match: normalise must be true or false, not 'yes'",
        ),
        (
            lambda: ExactMatch(name=" "),
            "exact_match: name must be a text that is not blank, not ' '",
        ),
        (
            lambda: Contains(all_of=("a", "")),
            "contains: all_of must be a list of texts, none blank",
        ),
        (lambda: Contains(any_of=3), "contains: any_of must be a list of texts"),
        (lambda: Regex(pattern="("), "regex: pattern '(' is wrong: missing ), unterminated"),
        (lambda: Regex(pattern=""), "regex: pattern must be a text of 1 to 10,000 characters"),
        (lambda: Regex(pattern="a", flags=("x",)), "regex: flags are ignore_case, multiline"),
        (
            lambda: Regex(pattern="a", match="all"),
            "regex: match must be one of search, fullmatch, not",
        ),
        (
            lambda: Regex(pattern="a", timeout=0),
            "regex: timeout must be a whole number of at least 1",
        ),
        (lambda: Length(), "length: needs a minimum or a maximum, such as maximum: 120"),
        (
            lambda: Length(maximum=True),
            "length: maximum must be a whole number of at least 1, not True",
        ),
        (lambda: Length(minimum=3, maximum=2), "length: minimum must not be above maximum, not 3"),
        (lambda: Length(unit="pages", maximum=1), "length: unit must be one of words, characters,"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_allowed(make, message):
    with pytest.raises(ConfigError) as caught:
        make()

    assert str(caught.value).startswith(message)
