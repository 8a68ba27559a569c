"""The voice metrics by hand: worked examples, what does not apply, whole sessions."""

from __future__ import annotations

import asyncio
import json

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError, InvalidReply, JudgeUnavailable
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.brand_voice.alignmenter import band_of
from judgekit.metrics.brand_voice.authenticity import STYLE_BANDS, Authenticity
from judgekit.metrics.brand_voice.judge_metrics import AuthenticityJudge, BrandSafety
from judgekit.metrics.brand_voice.overall import BrandVoice, grade
from judgekit.metrics.brand_voice.phrases import Phrases, score_lexicon
from judgekit.metrics.brand_voice.safety import SafetyPatterns, keyword_score
from judgekit.metrics.brand_voice.stability import STABILITY_BANDS, Stability, spread_of
from judgekit.metrics.registry import create_metric
from judgekit.metrics.vectors import scaled
from judgekit.report.display import summary_text
from judgekit.runner.evaluation import evaluate_sync

PERSONA = {
    "name": "Acme",
    "exemplars": ["red green", "blue"],
    "traits": {"formality": "casual", "verbosity": "concise"},
    "lexicon": {"preferred": ["red", "green", "hot pink", "teal"], "avoid": ["grey", "beige"]},
}


class Axes:
    """Each colour is a direction of its own."""

    identity = "axes"
    colours = ("red", "green", "blue", "grey")

    def embed(self, texts):
        return [[float(text.count(colour)) for colour in self.colours] for text in texts]


def parts(score):
    return {part.id: part.value for part in score.parts}


# -- authenticity ------------------------------------------------------------------


def test_authenticity_by_hand(score):
    metric = Authenticity(persona=PERSONA, embedder=Axes())

    found = score(metric, "lol, red and hot  pink, never grey")

    # style: (1,0,0,1)/sqrt2 to (1,1,0,0)/sqrt2 = .5; traits: casual and concise, both heard;
    # lexicon: 2 of 4 preferred, one avoided.
    assert parts(found) == {"style": 0.5, "traits": 1.0, "lexicon": pytest.approx(0.4)}
    assert found.value == pytest.approx(0.6 * 0.5 + 0.25 * 1 + 0.15 * 0.4)
    assert found.confidence == 1.0
    assert found.meta["embedder"] == "axes"
    assert found.meta["persona"] == "Acme"
    (turn,) = found.details["turns"]
    assert turn["nearest_exemplar"] == 1
    assert turn["preferred_used"] == {"red": 1, "hot pink": 1}
    assert turn["avoided_used"] == {"grey": 1}
    assert turn["trait_signals"][0]["signals"]["casual"] == ["lol"]


def test_a_session_is_the_mean_of_its_turns(score):
    metric = Authenticity(persona=PERSONA, embedder=Axes())
    first, second = "red green lol", "blue blue, yeah"

    both = score(metric, first, second)

    assert both.value == pytest.approx(
        (score(metric, first).value + score(metric, second).value) / 2
    )
    assert score(
        Authenticity(persona=PERSONA, embedder=Axes(), scope="last"), first, second
    ).value == (score(metric, second).value)


def test_reduce_mean_takes_every_exemplar(score):
    found = score(Authenticity(persona=PERSONA, embedder=Axes(), reduce="mean"), "blue")

    assert parts(found)["style"] == 0.5


def test_a_part_that_does_not_apply_shares_its_weight(score):
    persona = {"exemplars": ["red"], "traits": {"formality": "formal"}}

    found = score(Authenticity(persona=persona, embedder=Axes()), "red green")

    assert parts(found) == {"style": pytest.approx(0.7071), "traits": None, "lexicon": None}
    assert [part.status for part in found.parts] == ["scored", "not_applicable", "not_applicable"]
    assert found.value == pytest.approx(0.7071)
    assert found.confidence == pytest.approx(0.6)


def test_nothing_that_applies_is_not_applicable_never_a_middle_value(score):
    persona = {"exemplars": ["red"], "traits": {"formality": "formal"}}

    found = score(Authenticity(persona=persona, embedder=Axes()), "Das Wetter ist schön.")

    assert (found.status, found.value) == ("not_applicable", None)
    assert "not in English" in found.reason or "no signal" in found.reason


def test_the_lexicon_example_of_the_source_is_one():
    liked = Phrases(["baseline", "signal", "analysis"])
    shunned = Phrases(["lol", "hype", "crushing it"])

    found = score_lexicon("Our baseline analysis shows strong signal", liked, shunned)

    # The source prints 2/3, but all three words are there.
    assert found.value == 1.0
    assert score_lexicon("We're totally crushing it, lol", liked, shunned).value == 0.0


def test_a_persona_that_only_avoids_starts_from_one(score):
    metric = Authenticity(persona={"lexicon": {"avoid": ["lol", "bro", "hype"]}})

    assert score(metric, "Fine.").value == 1.0
    assert score(metric, "lol bro").value == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"persona": {"name": "x"}}, "has nothing to compare with"),
        ({"persona": PERSONA, "weights": {"style": 1, "traits": 1, "lexicon": 0}}, "add up to 1"),
        ({"persona": PERSONA, "weights": {"style": 1.0}}, "weights: missing traits, lexicon"),
        ({"persona": PERSONA, "weights": {"stlye": 1.0}}, "no part 'stlye'; did you mean 'style'"),
        ({"persona": PERSONA, "reduce": "min"}, "reduce must be one of max, mean"),
        ({"persona": PERSONA, "compat": "mastra"}, "compat must be one of alignmenter"),
        ({"persona": PERSONA, "calibration": {}}, "belongs to compat"),
        ({"persona": PERSONA, "compat": "alignmenter", "calibration": {"wieghts": {}}}, "wieghts"),
        ({"persona": PERSONA, "embedder": "bert"}, "'bert' is not known"),
    ],
)
def test_a_wrong_option_is_said(options, message):
    with pytest.raises(ConfigError, match=message):
        Authenticity(**options)


def test_bands_are_closed_from_below():
    assert [band_of(v, STYLE_BANDS) for v in (0.9, 0.7, 0.5, 0.49)] == [
        "very close", "good", "moderate", "poor",
    ]  # fmt: skip
    assert [band_of(v, STABILITY_BANDS) for v in (0.9, 0.7, 0.5, 0.49)] == [
        "very consistent", "consistent", "somewhat varied", "inconsistent",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["authenticity", "safety_patterns", "stability"])
def test_a_session_without_a_reply_is_an_invalid_case(name):
    metric = create_metric(name, **({"persona": PERSONA} if name == "authenticity" else {}))

    with pytest.raises(CaseError, match="needs an output"):
        asyncio.run(metric.score(Case(id="c", input="Hello?")))


# -- safety ------------------------------------------------------------------------


def test_the_keyword_score_is_the_least_of_rate_and_severities():
    assert keyword_score(4, []) == (1.0, 0.0, 1.0)
    assert keyword_score(10, [(1, "high")]) == (0.5, 0.1, 0.5)
    assert keyword_score(2, [(1, "low")]) == (0.5, 0.5, 0.9)
    assert keyword_score(10, [(1, "high"), (2, "high"), (3, "medium")]).value == 0.0
    assert keyword_score(10, [(1, "critical")]).value == 0.0


def test_violations_are_told_by_turn_and_severity(score):
    found = score(SafetyPatterns(), "How can I help?", "Damn, that is crappy.", "Bye.", "Bye!")

    assert found.value == pytest.approx(0.75)
    assert found.method == "keywords"
    assert found.details["categories"] == {"offensive_language": 2}
    assert [(v["turn"], v["severity"], v["text"]) for v in found.details["violations"]] == [
        (2, "low", "damn"),
        (2, "low", "crappy"),
    ]
    assert "turn 2 low mild-profanity ('damn')" in found.reason


def test_only_the_assistant_is_held_to_it():
    case = Case(id="c", input="You are an idiot. kys", output="I'm sorry that this upsets you.")

    assert asyncio.run(SafetyPatterns().score(case)).value == 1.0


def test_lists_of_ones_own_stand_beside_those_that_ship(score, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(
        "category: tents\npatterns:\n- {id: leak, severity: high, words: [leaky tent]}\n"
    )

    metric = SafetyPatterns(categories=("offensive_language",), patterns=str(own))

    assert score(metric, "Our leaky tents? A leaky tent!").value == 0.0  # of one turn
    assert score(metric, "A leaky\ntent.", *["Fine."] * 9).value == 0.5
    assert metric.made_with["pattern_lists"] != SafetyPatterns().made_with["pattern_lists"]


def test_an_unknown_category_is_said():
    with pytest.raises(ConfigError, match="no pattern list of 'offensive_langage'; did you mean"):
        SafetyPatterns(categories=("offensive_langage",))


class Rated:
    """Answers every question with one number."""

    model = "fake/rated"

    def __init__(self, value):
        self.value = value

    async def ask(self, request):
        from judgekit.core.request import Reply, Try

        answer = {"reason": "Because.", "value": self.value, "quotes": []}
        text = json.dumps({"safety": answer, "worst_turn": "none"})
        return Reply(tries=(Try(text=text),), model=self.model)


@pytest.mark.parametrize(("answer", "value"), [(10, 0.5), (8, 0.5), (4, 0.4), (0, 0.0)])
def test_safety_is_the_least_of_patterns_and_judge_over_ten(score, answer, value):
    metric = BrandSafety(judge=Rated(answer), rubric="brand_safety@1")

    found = score(metric, "All good.", "Damn it.")

    assert found.value == pytest.approx(value)
    assert found.source == "judge"
    assert found.details["judge"] == answer / 10
    assert {part.id: part.weight for part in found.parts} == {
        "keywords": float(answer > 4), "judge": float(answer <= 4),
    }  # fmt: skip


def test_the_worst_level_of_the_judge_counts(score):
    def says(request):
        ids = [question.id for question in request.form.questions]
        words = dict.fromkeys(ids, "fine") | {"policy": "no_policy", "respect": "apology"}
        answers = {id: {"reason": id, "quotes": [], "value": words[id]} for id in ids}
        return {**answers, "worst_turn": "a mocking word"}

    found = score(BrandSafety(judge=FakeJudge(says)), "All good.")

    assert (found.value, found.reason) == (0.4, "respect 0.40: respect")
    assert found.details["worst_turn"] == "a mocking word"
    assert {part.id: part.value for part in found.parts}["judge.policy"] is None


def test_an_answer_out_of_bounds_is_no_answer(score):
    with pytest.raises(InvalidReply):
        score(BrandSafety(judge=Rated(11), rubric="brand_safety@1"), "All good.")


def test_the_judge_sees_the_user_s_turns_and_the_policy():
    persona = {**PERSONA, "safety_rules": {"disallowed_topics": ["the lottery"]}}
    metric = BrandSafety(judge=FakeJudge(), persona=persona, policy=("Never promise a date.",))
    history = [
        {"role": "user", "content": "I lost my ring."},
        {"role": "assistant", "content": "?"},
    ]

    case = Case(id="c", history=history, input="Well?", output="No.")
    _, (request,) = metric.judged.requests(case)

    shown = "\n".join(message.content for message in request.messages)
    assert "I lost my ring." in shown
    assert "Never promise a date." in shown
    assert "Keep off this topic: the lottery" in shown


def test_the_requests_of_brand_voice_are_those_of_its_safety():
    case = Case(id="c", input="Hi", output="Hello.")
    voice = BrandVoice(judge=FakeJudge(), persona=PERSONA)

    assert voice.requests(case)[1] == voice.safety.judged.requests(case)[1]
    with pytest.raises(ConfigError, match="has no judge"):
        BrandVoice(persona=PERSONA).requests(case)


def test_the_authenticity_judge_is_shown_the_persona():
    metric = AuthenticityJudge(judge=FakeJudge(), persona=PERSONA)

    _, (request,) = metric.requests(Case(id="c", input="Hi", output="Hello."))

    shown = "\n".join(message.content for message in request.messages)
    for text in ("It is called Acme", "red green", "formality: casual", "hot pink", "beige"):
        assert text in shown
    assert set(metric.figures) >= {"unverified_quotes", "bootstrap_low"}


# -- stability ---------------------------------------------------------------------


def test_the_documented_variant_is_blind_where_dispersion_is_not(score):
    apart = ("red", "green")

    documented = score(Stability(variant="documented", embedder=Axes()), *apart)
    dispersion = score(Stability(embedder=Axes()), *apart)

    assert (documented.value, dispersion.value) == (1.0, 0.0)


def test_stability_by_hand(score):
    replies = ("red", "red", "green")

    # Pairs: 0, 1 and 1 apart. To the mean (2,1)/sqrt5: 1 - 2/sqrt5 twice, 1 - 1/sqrt5 once.
    assert score(Stability(embedder=Axes()), *replies).value == pytest.approx(1 / 3, abs=1e-4)
    documented = score(Stability(variant="documented", embedder=Axes()), *replies)
    near, far = 1 - 2 / 5**0.5, 1 - 1 / 5**0.5
    mean = (2 * near + far) / 3
    deviation = ((2 * (near - mean) ** 2 + (far - mean) ** 2) / 3) ** 0.5
    assert documented.details["std_of_distances"] == pytest.approx(deviation)
    assert documented.value == pytest.approx(1 - deviation / 0.5, abs=1e-4)
    assert score(
        Stability(variant="documented", embedder=Axes(), maximum=deviation), *replies
    ).value == pytest.approx(0.0, abs=1e-4)


def test_the_order_of_the_replies_does_not_count(score):
    replies = ("red green", "blue red", "green", "grey blue blue")

    found = {score(Stability(embedder=Axes()), *order).value for order in (replies, replies[::-1])}

    assert len(found) == 1


def test_one_reply_is_not_applicable(score):
    assert score(Stability(), "red").status == "not_applicable"
    assert score(Stability(embedder=Axes()), "red", "none of them").status == "not_applicable"


def test_opposite_replies_have_a_mean_of_nothing():
    import numpy as np

    spread = spread_of([scaled(np.array(v)) for v in ([1.0, 0.0], [-1.0, 0.0])])

    assert spread == (2.0, 1.0, 0.0)


# -- overall -----------------------------------------------------------------------


def test_the_overall_score_by_hand(score):
    metric = BrandVoice(persona=PERSONA, embedder=Axes())

    found = score(metric, "red green, lol", "red green, damn")

    values = parts(found)
    assert values["safety"] == 0.5
    assert values["stability"] == 1.0
    assert found.value == pytest.approx(0.5 * values["authenticity"] + 0.3 * 0.5 + 0.2)
    assert found.details["grade"] == grade(found.value)
    assert found.reason.startswith(grade(found.value))


def test_stability_that_does_not_apply_shares_its_weight(score):
    found = score(BrandVoice(persona=PERSONA, embedder=Axes()), "red green, lol")

    assert {part.id: part.weight for part in found.parts} == {
        "authenticity": pytest.approx(0.625), "safety": pytest.approx(0.375), "stability": 0.0,
    }  # fmt: skip
    assert found.confidence == pytest.approx(0.8)


def test_weights_in_both_spellings(score):
    said = BrandVoice(
        persona=PERSONA,
        scoring={"authenticity_weight": 0.6, "safety_weight": 0.3, "stability_weight": 0.1},
    )

    assert said.weights == {"authenticity": 0.6, "safety": 0.3, "stability": 0.1}
    with pytest.raises(ConfigError, match="weights or scoring, not both"):
        BrandVoice(persona=PERSONA, scoring={}, weights={})
    with pytest.raises(ConfigError, match="did you mean 'safety_weight'"):
        BrandVoice(persona=PERSONA, scoring={"safty_weight": 1})
    with pytest.raises(ConfigError, match=r"add up to 1, not 1\.1"):
        BrandVoice(persona=PERSONA, scoring={"authenticity_weight": 0.6})


def test_with_a_judge_safety_is_judged(score):
    rated = {"judge": Rated(3), "rubric": "brand_safety@1"}
    found = score(BrandVoice(persona=PERSONA, **rated, embedder=Axes()), "red", "red")

    assert parts(found)["safety"] == pytest.approx(0.3)
    assert found.source == "judge"
    assert found.meta["model"] == "fake/rated"


def test_an_outage_of_the_judge_is_passed_on(score):
    class Away(Rated):
        async def ask(self, request):
            raise JudgeUnavailable("nobody there")

    with pytest.raises(JudgeUnavailable):
        score(BrandVoice(persona=PERSONA, judge=Away(0)), "red")


def test_a_run_shows_interval_range_and_spread_by_session():
    cases = [
        Case(id=f"s{n}", output=text) for n, text in enumerate(["red lol", "blue", "grey"] * 12)
    ]

    report = evaluate_sync(cases, [Authenticity(persona=PERSONA, embedder=Axes())])

    figures = report.metrics["authenticity"].figures
    mean = report.metrics["authenticity"].mean
    assert figures["bootstrap_low"] < mean < figures["bootstrap_high"]
    assert figures["variance_ddof_1"] == pytest.approx(figures["sd_ddof_1"] ** 2)
    text = " ".join(summary_text(report).split())
    margin = figures["bootstrap_margin"]
    interval = f"[{figures['bootstrap_low']:.2f}, {figures['bootstrap_high']:.2f}]"
    assert f"by session {mean:.2f} ± {margin:.2f}, {interval}" in text
    assert f"range {figures['lowest']:.2f} to {figures['highest']:.2f}" in text
    assert "sd (ddof 1)" in text


def test_few_sessions_are_too_few_for_a_bootstrap():
    cases = [Case(id=f"s{n}", output=text) for n, text in enumerate(["red", "blue"] * 6)]

    report = evaluate_sync(cases, [Authenticity(persona=PERSONA, embedder=Axes())])

    figures = report.metrics["authenticity"].figures
    assert (figures["bootstrap_low"], figures["bootstrap_high"]) == (None, None)
    assert figures["sd_ddof_1"] > 0
    assert "too few sessions for an interval" in " ".join(summary_text(report).split())


def test_grades_are_counted():
    cases = [Case(id="a", output="red green, lol"), Case(id="b", output="grey beige kys")]

    report = evaluate_sync(cases, [BrandVoice(persona=PERSONA, embedder=Axes())])

    figures = report.metrics["brand_voice"].figures
    assert sum(figures[f"grade_{letter}"] for letter in "ABCDF") == 2
    assert figures["grade_F"] == 1


def test_an_embedder_that_has_to_be_awaited_is():
    class Hosted:
        identity = "hosted/1"
        asked = 0

        async def aembed(self, texts):
            await asyncio.sleep(0)
            Hosted.asked += 1
            return [[float(len(text)), 1.0] for text in texts]

    metric = Stability(embedder=Hosted())
    case = Case(
        id="s", history=[{"role": "assistant", "content": "All set."}], output="All set now."
    )

    found = asyncio.run(metric.score(case))

    assert not metric.synchronous
    assert found.meta["embedder"] == "hosted/1"
    assert Hosted.asked == 1
