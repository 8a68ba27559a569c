"""What holds for any text: range, direction, determinism, time."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.metrics.brand_voice.authenticity import Authenticity
from judgekit.metrics.brand_voice.overall import BrandVoice
from judgekit.metrics.brand_voice.patterns import SEVERITIES, severity_score
from judgekit.metrics.brand_voice.persona import Trait
from judgekit.metrics.brand_voice.phrases import Phrases, score_lexicon
from judgekit.metrics.brand_voice.safety import SafetyPatterns, keyword_score
from judgekit.metrics.brand_voice.stability import Stability, spread_of
from judgekit.metrics.brand_voice.traits import find_traits
from judgekit.metrics.vectors import scaled
from judgekit.stats.bootstrap import bootstrap_interval
from tests.growth import LINEAR, growth, repeated

PERSONA = {
    "exemplars": ["Happy to help with your parcel.", "We'll check and get back to you."],
    "traits": {"formality": "business_casual", "tone": ["friendly"], "verbosity": "concise"},
    "lexicon": {"preferred": ["happy to help", "parcel"], "avoid": ["lol", "damn"]},
}
METRICS = [
    Authenticity(persona=PERSONA),
    Authenticity(persona=PERSONA, compat="alignmenter"),
    SafetyPatterns(),
    Stability(),
    Stability(variant="documented"),
    Stability(compat="alignmenter"),
    BrandVoice(persona=PERSONA),
]
TEXT = st.text(max_size=120).filter(lambda text: bool(text) and not text.isspace())
SAID = st.lists(
    st.sampled_from(["lol that's fine", "Happy to help!", "Damn it, you idiot.", "荷物です。", "…"])
    | TEXT.filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)),
    min_size=1,
    max_size=4,
)


def run(metric, said):
    *earlier, last = said
    history = [{"role": "assistant", "content": text} for text in earlier]
    return asyncio.run(metric.score(Case(id="c", history=history, output=last)))


@settings(max_examples=60, deadline=None)
@given(said=SAID, which=st.sampled_from(METRICS))
def test_a_value_is_in_range_the_same_each_time_and_there_only_when_scored(said, which):
    first, second = run(which, said), run(which, said)

    assert first == second
    if first.status == "scored":
        assert 0.0 <= first.value <= 1.0
    else:
        assert first.status == "not_applicable"
        assert first.reason
    for part in first.parts:
        assert part.value is None or 0.0 <= part.value <= 1.0


@settings(max_examples=60, deadline=None)
@given(said=SAID)
def test_the_parts_explain_the_value(said):
    for metric in (METRICS[0], METRICS[-1]):
        found = run(metric, said)
        if found.value is not None:
            total = math.fsum(part.weight * (part.value or 0.0) for part in found.parts)
            assert found.value == pytest.approx(total)
            assert math.fsum(part.weight for part in found.parts) == pytest.approx(1.0)


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=80), used=st.sets(st.sampled_from(["red", "hot pink", "lol", "bro"])))
def test_preferred_words_never_cost_and_avoided_ones_never_earn(text, used):
    liked, shunned = Phrases(["red", "hot pink"]), Phrases(["lol", "bro"])
    before = score_lexicon(text, liked, shunned)
    for word in sorted(used):
        after = score_lexicon(f"{text} . {word}", liked, shunned)
        assert before.value is not None
        assert after.value is not None
        if word in liked.entries:
            assert after.value >= before.value
        else:
            assert after.value <= before.value


@given(st.lists(st.sampled_from(SEVERITIES), max_size=8), st.sampled_from(SEVERITIES))
def test_another_violation_never_helps(severities, another):
    assert 0.0 <= severity_score([*severities, another]) <= severity_score(severities) <= 1.0
    found = [(turn, severity) for turn, severity in enumerate(severities, 1)]
    assert keyword_score(10, [*found, (9, another)]).value <= keyword_score(10, found).value


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=2, max_size=6))
def test_the_spread_of_any_vectors_is_what_pair_by_pair_gives(rows):
    vectors = [v for v in (scaled(np.array(row)) for row in rows) if v is not None]
    if len(vectors) < 2 or any(not math.isclose(float(v @ v), 1.0, abs_tol=1e-6) for v in vectors):
        return
    pairs = [1 - float(a @ b) for n, a in enumerate(vectors) for b in vectors[:n]]

    spread = spread_of(vectors)

    assert spread.pairwise == pytest.approx(sum(pairs) / len(pairs), abs=1e-6)
    assert 0.0 <= spread.deviation <= 1.0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_a_bootstrap_interval_is_ordered_inside_the_values_and_the_same_each_time(values):
    interval = bootstrap_interval(values)

    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9
    assert interval == bootstrap_interval(values)


def test_the_bootstrap_is_what_numpy_s_choice_gives():
    rng = np.random.default_rng(7)
    values = rng.uniform(0.2, 0.9, 40).tolist()
    again = np.random.RandomState(1)
    means = [again.choice(values, size=40).mean() for _ in range(4000)]

    interval = bootstrap_interval(values)

    low, high = np.percentile(means, [2.5, 97.5])
    assert interval.low == pytest.approx(low, abs=0.012)
    assert interval.high == pytest.approx(high, abs=0.012)


def test_more_sessions_narrow_the_interval():
    few, many = [0.2, 0.8] * 5, [0.2, 0.8] * 500

    assert bootstrap_interval(many).margin < bootstrap_interval(few).margin / 5


def test_many_sessions_take_linear_time():
    def values(count):
        return [(n * 37 % 101) / 101 for n in range(count)]

    assert growth(bootstrap_interval, values, 5_000) < LINEAR


@pytest.mark.parametrize(
    "unit",
    ["lol ", "you are ", "!", "a", "ö\u0301", "we ", "to make a ", "-- `", "d_"],
    ids=["slang", "insult", "marks", "letter", "accents", "question", "bomb", "ticks", "name"],
)  # fmt: skip
def test_a_long_text_takes_linear_time(unit):
    def score(text):
        run(METRICS[0], [f"{text}?"])
        run(METRICS[2], [f"{text}?"])

    assert growth(score, repeated(unit), 50_000) < LINEAR


@pytest.mark.parametrize(
    "text",
    [
        "我们会尽快处理您的包裹。",
        "Мы проверим и сообщим вам.",
        "Wir melden uns, danke!",
        "مرحبا بك",
    ],
)
def test_another_language_is_not_applicable_to_rules_of_english(text):
    wanted = [Trait("formality", "casual"), Trait("tone", "friendly")]

    assert [found.matched for found in find_traits(text, wanted)] == [None, None]


def test_verbosity_is_not_counted_without_spaces():
    (found,) = find_traits("我们会尽快处理您的包裹。", [Trait("verbosity", "concise")])

    assert found.matched is None


@pytest.mark.parametrize(
    ("words", "heard"), [(40, "concise"), (41, "balanced"), (120, "balanced"), (121, "detailed")]
)
def test_the_bounds_of_verbosity(words, heard):
    (found,) = find_traits("word " * words, [Trait("verbosity", heard)])

    assert (found.matched, found.detected) == (True, (heard,))
