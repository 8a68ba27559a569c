"""Difference and coherence: figures worked out by hand, and what holds for every text."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.metrics.embedding.trait import Sides
from judgekit.metrics.personalization.difference import Difference, difference, jaccard
from judgekit.metrics.personalization.personalization import overall_personalization, passes_gate
from judgekit.metrics.safety_and_quality.coherence_rules import CoherenceRules, find_signals
from tests.each import each
from tests.growth import LINEAR, growth, repeated

TEXT = st.text(max_size=200)
SHARE = st.floats(0, 1)


def score(metric, **fields):
    return asyncio.run(metric.score(Case(id="c", **fields)))


# -- difference --------------------------------------------------------------------


def test_the_value_is_a_hundredth_of_the_original_s_figure():
    found = score(Difference(), output="hello there", baseline="hello world")

    assert found.value == pytest.approx(0.67)
    assert found.details["difference_1_100"] == pytest.approx(67.0)


@pytest.mark.parametrize(
    ("reference", "truth"),
    [((), None), (("hello",), "hello"), (("hello", " ", "hi"), ["hello", "hi"])],
    ids=["none", "one", "several"],
)
def test_the_baseline_is_not_the_truth(reference, truth):
    found = score(Difference(), output="hello there", baseline="hello world", reference=reference)

    assert found.ground_truth == truth


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("日本語の文", "日本語の本", 4 / 5),
        ("Привет, мир", "привет мир", 2 / 3),
        ("हिन्दी भाषा", "हिन्दी लिपि", 1 / 3),
        ("don’t go", "don't GO", 1.0),
        ("❤️ yes", "❤ yes", 1.0),
    ],
)
def test_words_of_every_script_count(one, other, shared):
    assert jaccard(one, other) == pytest.approx(shared)


def test_the_original_sees_no_difference_between_japanese_texts():
    assert jaccard("日本語", "英語", compat="wisent") == 1.0
    assert jaccard("日本語", "英語") < 0.5


def test_by_embedding_says_which_embedder():
    found = score(Difference(by="embedding"), output="the cat sat", baseline="the cat sat")

    assert found.value == pytest.approx(0.01)
    assert found.meta["embedder"].startswith("lexical")


def test_no_known_word_is_not_applicable():
    found = score(Difference(by="embedding"), output="\u200b…", baseline="a cat")

    assert found.status in ("not_applicable", "scored")
    assert found.value is None or found.value > 0.9


@pytest.mark.parametrize("fields", [{"output": "x"}, {"output": None, "baseline": "x"}])
def test_a_missing_text_is_an_invalid_case(fields):
    with pytest.raises(CaseError, match="needs a"):
        score(Difference(), **fields)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "words"}, "by must be one of tokens, embedding"),
        ({"by": "embedding", "compat": "wisent"}, "compat wisent needs by: tokens"),
        ({"compat": "mastra"}, "compat must be one of wisent"),
        ({"embedder": 3}, "embedder must be a name or an embedder"),
    ],
)
def test_wrong_options_are_said(options, message):
    with pytest.raises(ConfigError, match=message):
        Difference(**options)


@given(TEXT, TEXT)
def test_difference_is_symmetric_within_its_range_and_least_for_equal_texts(one, other):
    assert 1 <= difference(one, other) <= 100
    assert difference(one, other) == difference(other, one)
    assert difference(one, one) == 1.0


@given(st.text(alphabet="ab cB'!,. 0", max_size=60), st.text(alphabet="ab cB'!,. 0", max_size=60))
def test_plain_text_is_compared_as_the_original_does(one, other):
    assert jaccard(one, other) == jaccard(one, other, compat="wisent")


# -- alignment and the whole -------------------------------------------------------

VECTOR = st.lists(st.floats(-1, 1), min_size=3, max_size=3)


@given(VECTOR, st.lists(VECTOR, min_size=1, max_size=3), st.lists(VECTOR, min_size=1, max_size=3))
def test_swapping_the_sides_mirrors_the_alignment(response, positives, negatives):
    found = Sides(positives, negatives).contrast(response)
    mirrored = Sides(negatives, positives).contrast(response)

    if found is None:
        assert mirrored is None
        return
    assert 0 <= found.alignment <= 1
    assert found.alignment + mirrored.alignment == pytest.approx(1.0)


@given(SHARE, SHARE, SHARE)
def test_the_whole_grows_with_each_part(difference, quality, alignment):
    found = overall_personalization(difference, quality, alignment)

    assert 0 <= found <= 1
    assert found <= overall_personalization(1.0, quality, alignment) + 1e-9
    assert found <= overall_personalization(difference, 1.0, alignment) + 1e-9
    assert found <= overall_personalization(difference, quality, 1.0) + 1e-9


def test_exactly_seventy_passes():
    # 30 of 99 tokens shared: (1 - 30/99) x 99 + 1 is 70.
    words = [f"w{n}" for n in range(99)]
    steered = " ".join(words[:30])

    assert difference(" ".join(words), steered) == pytest.approx(70.0, abs=1e-9)
    assert passes_gate(difference(" ".join(words), steered) / 100)
    assert not passes_gate(difference(" ".join(words), " ".join(words[:31])) / 100)
    assert passes_gate(0.7)
    assert not passes_gate(0.699)


# -- coherence ---------------------------------------------------------------------


def signals(text, question=None):
    return [signal.name for signal in find_signals(text, question=question)]


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("The the the the the cat sat.", "repetition"),
        ("We deliver on Monday. We deliver on Monday. We deliver on Monday.", "repetition"),
        ("Certainly certainly the valve is on the left.", "repetition"),
        ("お店に行きますお店に行きますお店に行きます", "repetition"),
        ("Mix the flr wth wtr nd slt thn bk ths brd.", "gibberish"),
        ("Heeeeeeeeello there, my good old friend.", "gibberish"),
        ("The price is \ufffd\ufffd12 for members.", "noise"),
        ("#$%&*@!#$%&*@!#$%&* ok", "noise"),
        ("First, open the hood and look for the", "truncated"),
        ("Use this:\n```python\nprint(1)", "truncated"),
        ("...", "too_short"),
    ],
)
def test_a_signal_fires_and_says_what_it_saw(text, signal):
    found = {each.name: each for each in find_signals(text)}

    assert signal in found
    assert found[signal].evidence
    assert 0 < found[signal].weight <= 1


@each(
    "text",
    [
        "No, no, no. That is not it.",
        "Ha ha ha, good one.",
        "Hmm, shh! The TV is on at 9 pm.",
        "Bora Bora is lovely, and so is Walla Walla.",
        "I had had enough; she said that that was fine.",
        "- Call the bank\n- Call the insurer\n- Call the police",
        "```\nx = 1\nx = 1\nx = 1\nx = 1\n```",
        "Wissenschaftskommunikation und Rechtsschutzversicherung sind lange Wörter.",
        "iPhone and YouTube are brands.",
        "See https://example.org/xkcd/qwrtz/bcdfg for more.",
        "The answer is 42",
        "👍",
        "Yes.",
        "Canberra",
    ],
)
def test_a_near_miss_does_not_fire(text):
    assert signals(text) == []


@pytest.mark.parametrize(
    ("question", "answer", "short"),
    [
        ("Is the shop open on Sundays?", "No.", False),
        ("What is 6 times 7?", "42", False),
        ("Explain why the sky is blue.", "Light.", True),
        ("Explain in one word why we lost.", "Rain.", False),
        ("Write a short story about a fox.", "A fox ran.", True),
        ("How do I reset my router?", "Hold the button for ten seconds.", False),
        ("How do I reset my router?", "Unplug it.", True),
        (None, "Light.", False),
    ],
)
def test_too_short_is_a_matter_of_the_question(question, answer, short):
    assert ("too_short" in signals(answer, question)) is short


def test_the_value_is_one_minus_the_weights():
    found = score(CoherenceRules(), output="Well done!!!!!!!! First, open the hood and find the")

    assert [signal["name"] for signal in found.details["signals"]] == ["noise", "truncated"]
    assert found.value == pytest.approx(1 - 0.3 - 0.5)
    assert "Fired: noise" in found.reason


@given(st.text(min_size=1, max_size=300), st.text(max_size=60))
def test_any_text_is_scored_the_same_each_time(text, question):
    if not text.strip():
        return
    first = score(CoherenceRules(), output=text, input=question)

    assert first == score(CoherenceRules(), output=text, input=question)
    assert 0 <= first.value <= 1
    assert (first.value == 1) is (not first.details["signals"])


@given(
    st.lists(
        st.sampled_from(["the", "dog", "ran", "over", "a", "green", "hill", "at", "noon"]),
        min_size=12,
    )
)
def test_saying_it_all_again_is_never_better(words):
    text = " ".join(words) + "."

    once = score(CoherenceRules(), output=text).value
    assert score(CoherenceRules(), output=" ".join([text] * 4)).value <= once


@pytest.mark.parametrize("unit", ["a", "word ", "日本", "'", "```\n", "ab", "!?", "\u0301", "x,\n"])
def test_a_long_output_takes_linear_time(unit):
    def check(text):
        score(CoherenceRules(), output=text, input=text)
        score(Difference(), output=text, baseline=f"{text} b")

    assert growth(check, repeated(unit), 50_000) < LINEAR
