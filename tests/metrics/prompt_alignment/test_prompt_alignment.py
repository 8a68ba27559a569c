from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.cassette.cassette import Cassette
from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.score import Failure, round_half_up
from judgekit.judges.fake import FakeJudge
from judgekit.judges.manual import ManualJudge
from judgekit.metrics.prompt_alignment.prompt_alignment import (
    BANDS,
    WEIGHTS,
    Analysis,
    PromptAlignment,
    alignment_band,
    fold_prompt_alignment,
)
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate_sync
from tests.each import each

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data"
VECTORS = json.loads((DATA / "mastra_prompt_alignment.json").read_text("utf-8"))["cases"]
DECLINED = {
    "pa-065": "a scale of 0 is refused; the original reads it as 1",
    "pa-val-16": "a message of white space alone counts as missing; the original judges it",
}


NUMBERS = "prompt_alignment@1"
"""Version 1 asks for any number, as the original does, and lists requirements with the verdict."""


def _of(metric):
    return [v for v in VECTORS if v["metric"] == metric and v["id"] not in DECLINED]


def _vector(name):
    return next(v for v in VECTORS if v["id"] == name)


def _analysis(vector):
    given = vector["inputs"]["analysis"]
    return Analysis(
        intent=given["intentAlignment"]["score"],
        requirements=given["requirementsFulfillment"]["overallScore"],
        completeness=given["completeness"]["score"],
        appropriateness=given["responseAppropriateness"]["score"],
    )


# -- the recorded figures ---------------------------------------------------------


@each("vector", _of("prompt_alignment"), ids=lambda v: v["id"])
def test_the_fold_gives_the_documented_figure(vector):
    mode, scale = vector["parameters"]["evaluationMode"], vector["parameters"]["scale"]

    value = fold_prompt_alignment(_analysis(vector), mode=mode or "both")

    assert value * (scale or 1) == pytest.approx(vector["unrounded_documented"], abs=1e-9)


@each(
    "vector",
    [v for v in _of("prompt_alignment") if v["parameters"]["evaluationMode"] in ("user", "system")],
    ids=lambda v: v["id"],
)
def test_the_shown_figure_is_the_one_the_original_prints(vector):
    value = fold_prompt_alignment(_analysis(vector), mode=vector["parameters"]["evaluationMode"])

    shown = round_half_up(value * (vector["parameters"]["scale"] or 1))

    assert shown == vector["expected"]["score"]


@pytest.mark.parametrize(
    "vector",
    [v for v in _of("prompt_alignment") if "expected_documented_formula" in v],
    ids=lambda v: v["id"],
)
def test_both_weighs_the_halves_as_documented_not_as_coded(vector):
    value = fold_prompt_alignment(_analysis(vector), mode="both")

    shown = round_half_up(value * (vector["parameters"]["scale"] or 1))

    assert shown == vector["expected_documented_formula"]


@pytest.mark.parametrize("vector", _of("round_two_decimals"), ids=lambda v: v["id"])
def test_rounding_is_that_of_the_original(vector):
    assert round_half_up(vector["inputs"]["value"]) == vector["expected"]["value"]


def test_a_scale_of_zero_is_declined():
    assert _vector("pa-065")["parameters"]["scale"] == 0

    with pytest.raises(
        ConfigError, match="scale must be a number above 0, such as 5 or 100, not 0"
    ):
        PromptAlignment(judge=FakeJudge(), mode="user", scale=0)


# -- what a case must have --------------------------------------------------------

NEEDS = {
    "user_prompt": "needs the case to have 'input'",
    "system_prompt": "needs the case to have 'system'",
    "user_or_system_prompt": "needs the case to have 'input' or 'system'",
    "response": "the case has no 'output'",
}


def _validation_case(vector):
    given = vector["inputs"]
    return Case(
        id=vector["id"],
        input=given["user_prompt"],
        system=given["system_prompt"],
        output=given["response"] or None,  # the original refuses empty texts
    )


@pytest.mark.parametrize(
    "vector",
    [v for v in _of("prompt_alignment_input_validation") if v["expected"]["accepted"]],
    ids=lambda v: v["id"],
)
def test_an_accepted_case_shows_the_judge_what_the_mode_looks_at(vector):
    judge = FakeJudge()
    metric = PromptAlignment(
        rubric=NUMBERS, judge=judge, mode=vector["parameters"]["evaluationMode"]
    )

    asyncio.run(metric.score(_validation_case(vector)))

    (request,) = judge.asked
    shown = request.messages[-1].content
    assert ("The user's message:" in shown) == vector["expected"]["prompt_has_user_section"]
    assert ("The system prompt that" in shown) == vector["expected"]["prompt_has_system_section"]


@pytest.mark.parametrize(
    "vector",
    [v for v in _of("prompt_alignment_input_validation") if not v["expected"]["accepted"]],
    ids=lambda v: v["id"],
)
def test_a_refused_case_fails_before_any_call_and_names_the_field(vector):
    judge = FakeJudge()
    metric = PromptAlignment(
        rubric=NUMBERS, judge=judge, mode=vector["parameters"]["evaluationMode"]
    )
    case = _validation_case(vector)

    with pytest.raises(CaseError, match=NEEDS[vector["expected"]["missing"]]):
        asyncio.run(metric.score(case))
    report = evaluate_sync([case], [metric])

    result = next(report.results).rows[0].result
    assert isinstance(result, Failure)
    assert result.kind == "invalid_case"
    assert judge.asked == []


def test_white_space_alone_counts_as_missing():
    vector = _vector("pa-val-16")
    assert vector["expected"]["accepted"]
    judge = FakeJudge()

    with pytest.raises(CaseError, match=NEEDS["user_prompt"]):
        asyncio.run(
            PromptAlignment(rubric=NUMBERS, judge=judge, mode="user").score(
                _validation_case(vector)
            )
        )

    assert judge.asked == []


# -- the judge path and the pure fold ---------------------------------------------

share = st.floats(min_value=0, max_value=1)
verdict = st.tuples(share, st.lists(st.booleans(), min_size=1, max_size=6), share, share)


def _answers(audience, given):
    intent, met, completeness, fit = given
    return {
        f"{audience}.intent": {
            "reason": "r", "primary_intent": "p", "is_addressed": True, "value": intent,
        },
        f"{audience}.requirements": {
            "items": [{"item": f"i{n}", "reason": "r", "met": m} for n, m in enumerate(met)]
        },
        f"{audience}.completeness": {"reason": "r", "missing_elements": [], "value": completeness},
        f"{audience}.appropriateness": {
            "reason": "r", "format_alignment": True, "tone_alignment": True, "value": fit,
        },
    }  # fmt: skip


def _judge(**audiences):
    answers = {"overall_assessment": "Well."}
    for audience, verdict_of in audiences.items():
        answers.update(_answers(audience, verdict_of))

    def script(request):
        asked = {question.id for question in request.form.questions} | {"overall_assessment"}
        return {name: answer for name, answer in answers.items() if name in asked}

    return FakeJudge(script)


def _numbers(given):
    intent, met, completeness, fit = given
    return Analysis(intent, sum(met) / len(met), completeness, fit)


CASE = Case(id="c", input="q", system="s", output="a")


@settings(max_examples=60, deadline=None)
@given(user=verdict, system=verdict, mode=st.sampled_from(["user", "system", "both"]))
def test_the_judge_path_and_the_pure_fold_agree(user, system, mode):
    metric = PromptAlignment(rubric=NUMBERS, judge=_judge(user=user, system=system), mode=mode)

    score = asyncio.run(metric.score(CASE))

    first = system if mode == "system" else user
    folded = fold_prompt_alignment(_numbers(first), _numbers(system), mode=mode)
    assert score.value == min(1.0, folded)
    assert 0 <= score.value <= 1


@pytest.mark.parametrize(
    ("mode", "scale", "given", "shown"),
    [
        ("user", 5, (0.0, [True, False, False], 0.6, 0.35), 1.28),
        ("both", 10, (0.1, [True, False], 0.85, 0.95), 4.63),
        ("both", 10, (0.65, [True, True, False], 0.2, 0.75), 5.83),
    ],
)
def test_both_paths_show_the_same_figure_where_the_last_digit_decides(mode, scale, given, shown):
    metric = PromptAlignment(
        rubric=NUMBERS, judge=_judge(user=given, system=given), mode=mode, scale=scale
    )

    score = asyncio.run(metric.score(CASE))

    folded = fold_prompt_alignment(_numbers(given), mode=mode)
    assert score.shown == round_half_up(folded * scale) == shown


@each("bad", [math.nan, math.inf, -math.inf, None, True, "0.5"])
@each("at", range(4))
def test_an_analysis_that_is_not_of_numbers_is_refused(at, bad):
    numbers = [0.5] * 4
    numbers[at] = bad

    with pytest.raises(ConfigError, match=f"{Analysis._fields[at]} must be a"):
        fold_prompt_alignment(Analysis(*numbers))
    with pytest.raises(ConfigError, match="must be a"):
        fold_prompt_alignment(Analysis(0.5, 0.5, 0.5, 0.5), Analysis(*numbers))


def test_the_rubric_carries_the_documented_weights():
    rubric = load_rubric("prompt_alignment")

    weights = {c.id: c.weight for c in rubric.criteria}

    names = ("intent", "requirements", "completeness", "appropriateness")
    for audience, expected in WEIGHTS.items():
        assert tuple(weights[f"{audience}.{name}"] for name in names) == expected
    assert rubric.modes["both"] == {"user": 0.7, "system": 0.3}
    assert rubric.default_mode == "both"


def test_one_analysis_for_both_audiences_comes_to_the_mixed_weights():
    ones = [Analysis(*(1.0 if n == at else 0.0 for n in range(4))) for at in range(4)]

    shares = [fold_prompt_alignment(one) for one in ones]

    assert shares == pytest.approx([0.385, 0.315, 0.185, 0.115], abs=1e-12)


def test_an_unknown_mode_of_the_pure_fold_is_refused():
    with pytest.raises(ConfigError, match="no mode 'users'; known: user, system, both"):
        fold_prompt_alignment(Analysis(1, 1, 1, 1), mode="users")


# -- halves that are missing ------------------------------------------------------

GOOD = (1.0, [True], 1.0, 1.0)
HALF = (0.5, [True, False], 0.5, 0.5)


@pytest.mark.parametrize(
    ("case", "effective", "value"),
    [
        (Case(id="c", input="q", output="a"), "user", 1.0),
        (Case(id="c", system="s", output="a"), "system", 0.5),
        (Case(id="c", input="q", system=" \n", output="a"), "user", 1.0),
        (CASE, "both", 0.85),
    ],
)
def test_both_judges_what_there_is_and_says_so(case, effective, value):
    score = asyncio.run(
        PromptAlignment(rubric=NUMBERS, judge=_judge(user=GOOD, system=HALF)).score(case)
    )

    assert score.value == pytest.approx(value)
    assert score.details["mode"] == "both"
    assert score.details["effective_mode"] == effective
    assert sum(part.weight for part in score.parts) == pytest.approx(1)


def test_a_request_without_requirements_shares_their_weight_out():
    judge = _judge(user=(0.9, [], 0.7, 0.6))

    score = asyncio.run(PromptAlignment(rubric=NUMBERS, judge=judge, mode="user").score(CASE))

    assert score.value == pytest.approx((0.4 * 0.9 + 0.2 * 0.7 + 0.1 * 0.6) / 0.7)
    assert score.confidence == pytest.approx(0.7)
    assert score.parts[1].status == "not_applicable"
    assert score.details["user"]["requirementsFulfillment"]["overallScore"] is None


def test_the_requirements_are_counted_from_the_list():
    judge = _judge(user=(1.0, [True, True, False, False], 1.0, 1.0))

    score = asyncio.run(PromptAlignment(rubric=NUMBERS, judge=judge, mode="user").score(CASE))

    assert score.details["user"]["requirementsFulfillment"]["overallScore"] == 0.5
    assert score.value == pytest.approx(0.85)


# -- how it is said ---------------------------------------------------------------


def test_the_details_have_the_shape_users_of_the_original_know():
    score = asyncio.run(
        PromptAlignment(rubric=NUMBERS, judge=_judge(user=GOOD, system=HALF)).score(CASE)
    )

    for audience in ("user", "system"):
        analysis = score.details[audience]
        assert set(analysis["intentAlignment"]) == {
            "score", "primaryIntent", "isAddressed", "reasoning",
        }  # fmt: skip
        assert set(analysis["requirementsFulfillment"]) == {"requirements", "overallScore"}
        assert set(analysis["requirementsFulfillment"]["requirements"][0]) == {
            "requirement", "isFulfilled", "reasoning",
        }  # fmt: skip
        assert set(analysis["completeness"]) == {"score", "missingElements", "reasoning"}
        assert set(analysis["responseAppropriateness"]) == {
            "score", "formatAlignment", "toneAlignment", "reasoning",
        }  # fmt: skip
    assert score.details["overallAssessment"] == "Well."
    assert score.details["runId"] == score.judgments[0].request_key[:16]


def test_the_reason_speaks_in_the_shown_scale():
    judge = _judge(user=GOOD, system=HALF)

    score = asyncio.run(PromptAlignment(rubric=NUMBERS, judge=judge, scale=10).score(CASE))

    assert score.reason.startswith("8.5 out of 10, very good alignment. Well. ")
    assert score.shown == 8.5
    assert score.value == pytest.approx(0.85)


@pytest.mark.parametrize(("bound", "word"), BANDS)
def test_bands_are_closed_from_below(bound, word):
    assert alignment_band(bound) == word
    if bound:
        assert alignment_band(bound - 1e-9) != word


# -- the worked examples of the documentation -------------------------------------
#
# They are among the rubric's own tests, with verdicts authored by hand as those of `manual/seed`;
# tests/authoring/rubric_test/test_builtin.py keeps their cassette.

TAPE = ROOT / "cassettes" / "rubrics" / "versions" / "prompt_alignment@1.jsonl"


@pytest.fixture(scope="module")
def seed():
    """Replay the judged tests of the rubric; (case, mode) -> score."""
    with Cassette.open(TAPE, ManualJudge("seed")) as cassette:
        return asyncio.run(_score_seed(cassette))


async def _score_seed(judge):
    scores = {}
    for test in load_rubric("prompt_alignment").tests:
        if test.name != "empty-answer":
            mode = test.mode or "both"
            metric = PromptAlignment(rubric=NUMBERS, judge=judge, mode=mode)
            scores[test.name.removesuffix(f"-{mode}"), mode] = await metric.score(test.case)
    return scores


@pytest.mark.parametrize(
    ("case", "low", "high", "band"),
    [
        ("factorial", 0.9, 1.0, "excellent"),
        ("typescript-benefits", 0.7, 0.8, "good"),
        ("example-class", 0.2, 0.4, "very poor"),
    ],
)
def test_the_documented_answers_fall_into_their_bands(seed, case, low, high, band):
    score = seed[case, "both"]

    assert low <= score.value < high
    assert score.details["band"] == band
    assert score.details["effective_mode"] == "user"


def test_the_documented_answers_come_in_the_documented_order(seed):
    values = [seed[c, "both"].value for c in ("factorial", "typescript-benefits", "example-class")]

    assert values == sorted(values, reverse=True)
    assert values == pytest.approx([0.95, 0.75, 0.35], abs=0.05)


def test_the_missing_bullets_cost_appropriateness_most(seed):
    parts = {part.id: part.value for part in seed["typescript-benefits", "both"].parts}

    assert parts["user.appropriateness"] == min(parts.values())
    assert parts["user.intent"] >= 0.9


def test_a_missing_python_example_does_not_count_in_user_mode(seed):
    user, system, both = (seed["recursion", mode].value for mode in ("user", "system", "both"))

    assert user >= 0.9
    assert system < 0.4
    assert system < both < user
    assert both == pytest.approx(0.7 * user + 0.3 * system)


def test_polite_concise_and_with_an_example_complies_in_system_mode(seed):
    score = seed["machine-learning", "system"]

    assert score.value >= 0.9
    requirements = score.details["system"]["requirementsFulfillment"]["requirements"]
    assert len(requirements) == 3
    assert all(item["isFulfilled"] for item in requirements)
    assert "user" not in score.details


def test_serving_user_and_system_scores_high_in_both(seed):
    score = seed["reverse-string", "both"]

    assert score.details["band"] == "excellent"
    assert score.details["effective_mode"] == "both"
    assert score.value == pytest.approx(
        0.7 * seed["reverse-string", "user"].value + 0.3 * seed["reverse-string", "system"].value
    )


def test_an_endpoint_without_rate_limiting_scores_lower(seed):
    whole, partial = seed["rest-endpoint", "both"], seed["rest-endpoint-unlimited", "both"]

    assert whole.value >= 0.9
    assert 0.5 <= partial.value < whole.value - 0.1
    unmet = [i for i in partial.parts[1].items if not i["met"]]
    assert [item["item"] for item in unmet] == ["rate limiting"]


def test_content_and_format_both_count_for_let_and_const(seed):
    bullets, prose, wrong = (
        seed[f"let-const-{kind}", "both"].value for kind in ("bullets", "prose", "wrong")
    )

    assert bullets >= 0.9
    assert wrong < prose < bullets
    assert prose >= 0.6


def test_an_authored_verdict_says_it_is_a_persons(seed):
    score = seed["factorial", "both"]

    assert score.source == "judge"
    assert score.meta["model"] == "manual/seed"


class Stricter(PromptAlignment):
    seen: list[str]

    def __init__(self, *, judge, limit):
        super().__init__(judge=judge)
        self.seen, self.limit = [], limit

    async def score(self, case):
        await asyncio.sleep(0)
        self.seen.append(case.id)
        return await super().score(case)


def test_a_class_that_a_user_derives_stays_as_it_is_written():
    judge = FakeJudge()
    judge.synchronous = True

    metric = Stricter(judge=judge, limit=3)

    assert PromptAlignment(rubric=NUMBERS, judge=judge).synchronous
    assert (metric.limit, metric.seen, metric.mode) == (3, [], "both")
    assert not metric.synchronous
