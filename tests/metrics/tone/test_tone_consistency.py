"""Tone consistency: the recorded figures in compat, a better reading by default."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.metrics.tone.consistency import (
    ToneConsistency,
    afinn_comparative,
    afinn_tokens,
    band,
    tone_difference,
    tone_stability,
    vader,
    vader_sentences,
)
from judgekit.metrics.word_data import function_words, is_english
from tests.each import each

DATA = Path(__file__).parents[2] / "data"
VECTORS = json.loads((DATA / "mastra_tone.json").read_text("utf-8"))
EMOJI = {
    "tone-pair-024": "needs the emoji ranking, whose licence (CC BY-SA) does not fit",
    "tone-pair-023": "needs the emoji ranking for its details; the score is equal",
    "tone-stab-029": "needs the emoji ranking for its details; the score is equal",
    "afinn-053": "needs the emoji ranking",
    "afinn-054": "needs the emoji ranking",
}
"""Declined, and why."""


def score(metric, **fields):
    return asyncio.run(metric.score(Case(id="c", **fields)))


# -- recorded figures ---------------------------------------------------------------


def of(metric):
    return [row for row in VECTORS if row["metric"] == metric]


@each("row", of("sentiment_comparative"), ids=lambda row: row["id"])
def test_the_word_by_word_sentiment_is_the_original_s(row):
    expected = row["expected"]
    found = afinn_comparative(row["inputs"]["text"])

    assert afinn_tokens(row["inputs"]["text"]) == expected["tokens"]
    equal = found == pytest.approx(expected["comparative"], abs=1e-9)
    assert equal is (row["id"] not in EMOJI)


@each("row", of("tone_consistency"), ids=lambda row: row["id"])
def test_compat_has_the_original_s_numbers(row):
    inputs, expected = row["inputs"], row["expected"]
    metric = ToneConsistency(compat="mastra", form=row["mode"])
    texts = {"input": inputs["input"], "output": inputs["output"]}
    if row["mode"] == "stability":
        texts = {"output": inputs["input"]}

    if not texts.get("input", "x").strip():
        with pytest.raises(CaseError):
            score(metric, **texts)
        return
    found = score(metric, **texts)

    names = ("responseSentiment", "referenceSentiment", "difference", "avgSentiment",
             "sentimentVariance")  # fmt: skip
    ours = {"score": found.value, **{name: found.details.get(name) for name in names}}
    equal = all(ours[name] == pytest.approx(value, abs=1e-9) for name, value in expected.items())
    assert equal is (row["id"] not in EMOJI)


def test_nothing_else_is_declined():
    assert set(EMOJI) <= {row["id"] for row in VECTORS}
    assert len(VECTORS) == 87


# -- the default reading ------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "sign"),
    [
        ("The service isn’t good.", -1),
        ("The service isn't good.", -1),
        ("It was never a good idea.", -1),
        ("Not bad at all.", 1),
        ("The table is brown.", 0),
        ("Great service!", 1),
    ],
)
def test_negation_and_typographic_apostrophes_are_known(sentence, sign):
    assert (vader(sentence) > 0) - (vader(sentence) < 0) == sign


def test_the_last_sentence_counts_though_nothing_ends_it():
    text = "The food was great. The room was horrible"

    assert len(vader_sentences(text)) == 2
    assert score(ToneConsistency(form="stability"), output=text).value < 0.7


def test_dr_ends_no_sentence():
    assert len(vader_sentences("Dr. Smith was kind at 5 p.m. and on St. James Square.")) == 1


def test_the_same_tone_scores_more_than_another():
    happy = "I love this amazing product!"
    near = score(ToneConsistency(), input=happy, output="It is wonderful and fantastic, really.")
    far = score(ToneConsistency(), input=happy, output="This is a terrible, awful product.")

    assert near.value > 0.85
    assert far.value == 0.0
    assert far.details["difference"] > 1


def test_a_reference_goes_before_the_input():
    found = score(
        ToneConsistency(),
        input="This is terrible!",
        reference="That is great news!",
        output="Great news indeed, that is it!",
    )

    assert found.details["compared_with"] == "reference"
    assert found.value > 0.8
    assert found.ground_truth == "That is great news!"


def test_the_names_of_the_details_are_the_original_s():
    found = score(ToneConsistency(), input="I am so happy!", output="That is awful.")

    # Of the input, as the original has it; the names are the wrong way round there.
    assert found.details["responseSentiment"] > 0 > found.details["referenceSentiment"]


@each(
    ("text", "english"),
    [
        ("The sky is blue and the grass is green.", True),
        ("I don’t think that it’s right.", True),
        ("Der Himmel ist blau und das Gras ist grün.", False),
        ("Le ciel est bleu et les arbres sont verts.", False),
        ("El cielo es azul y los árboles son verdes.", False),
        ("Il cielo è blu e non piove da giorni.", False),
        ("O céu é azul e não chove há dias.", False),
        ("De lucht is blauw en het gras is niet geel.", False),
        ("空は青い。", False),
        ("Небо голубое.", False),
        ("No problem, dude, that is fine.", True),
        ("Great service!", None),
        ("12 + 30", None),
        ("", None),
    ],
)
def test_the_language_is_told_by_small_words_and_letters(text, english):
    assert is_english(text) is english


def test_no_language_shares_a_small_word_with_english():
    others = {"no", "do", "as", "so", "me", "he", "us", "on", "in", "at", "by", "or", "if", "an"}
    for code, words in function_words().items():
        assert code == "en" or not words & (function_words()["en"] | others)


@pytest.mark.parametrize(
    "output", ["Das ist wirklich schön und gut.", "素晴らしい！", "123", "Kjole"]
)
@pytest.mark.parametrize("form", ["comparison", "stability"])
def test_what_the_lexicon_does_not_know_is_not_applicable(form, output):
    found = score(ToneConsistency(form=form), input="This is great!", output=output)

    assert (found.status, found.value) == ("not_applicable", None)
    assert found.reason


# -- numbers ------------------------------------------------------------------------


def test_the_widths_may_be_set():
    case = {"input": "I love it, it is great!", "output": "It is an awful thing."}
    strict, lax = (
        score(ToneConsistency(max_difference=width), **case).value for width in (1.0, 4.0)
    )

    assert strict < lax
    assert tone_difference(1.0, 0.5, most=2.0) == 0.75


def test_a_scale_changes_what_is_shown_only():
    case = {"input": "I am happy with it.", "output": "I am happy with it."}
    found = score(ToneConsistency(scale=10), **case)

    assert (found.value, found.shown) == (1.0, 10.0)


@pytest.mark.parametrize(
    ("value", "words"),
    [(1.0, "the same"), (0.99, "strong"), (0.7, "strong"), (0.69, "moderate"), (0.4, "moderate"),
     (0.1, "weak"), (0.0, "a different")],
)  # fmt: skip
def test_the_bands_are_closed_from_below(value, words):
    assert band(value).startswith(words)


sentiments = st.lists(st.floats(-1, 1), min_size=1, max_size=20)


@given(sentiments)
def test_stability_is_a_share_and_1_where_nothing_varies(values):
    value, mean, variance = tone_stability(values)

    assert 0.0 <= value <= 1.0
    assert variance >= 0.0
    assert tone_stability([values[0]] * 5)[0] == pytest.approx(1.0)
    assert min(values) - 1e-9 <= mean <= max(values) + 1e-9


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1))
def test_a_greater_difference_never_scores_better(one, other, step):
    nearer = other + (one - other) * step

    assert tone_difference(one, nearer) >= tone_difference(one, other) - 1e-12


@given(st.text(max_size=80), st.sampled_from(["comparison", "stability"]),
       st.sampled_from([None, "mastra"]))  # fmt: skip
def test_any_text_gives_a_share_or_none(text, form, compat):
    metric = ToneConsistency(form=form, compat=compat)
    fields = {"input": "This is good.", "output": f"I like it {text}"}

    found = score(metric, **fields)

    assert found == score(metric, **fields)
    assert found.value is None or 0.0 <= found.value <= 1.0


@pytest.mark.parametrize("text", ["it is good but " * 6_000, "It is good. It is bad! " * 4_000])
@pytest.mark.parametrize("compat", [None, "mastra"])
def test_ninety_kilobytes_are_read(text, compat):
    found = score(ToneConsistency(form="stability", compat=compat), output=text)

    assert found.value is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "pair"}, "form must be one of comparison, stability"),
        ({"compat": "vader"}, "compat must be one of mastra"),
        ({"max_difference": 0}, "max_difference must be a number above 0"),
        ({"scale": float("nan")}, "scale must be a number above 0"),
    ],
)
def test_wrong_options_are_one_line(options, message):
    with pytest.raises(ConfigError, match=message):
        ToneConsistency(**options)


def test_nothing_to_compare_with_is_said():
    with pytest.raises(CaseError, match="needs a reference or an input"):
        score(ToneConsistency(), output="It is fine.")
