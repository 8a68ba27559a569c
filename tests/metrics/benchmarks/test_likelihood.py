"""Multiple choice and perplexity by a model's log-probabilities."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError, InvalidReply
from judgekit.core.replies.logprobs import logprobs_text
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.benchmarks.log_likelihoods import LogLikelihoods, softmax
from judgekit.metrics.benchmarks.perplexity import Perplexity
from judgekit.metrics.registry import create_metric
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.suite import build_suite

CAPITAL = Case(
    id="c", input="The capital is", choices=("Paris", "Rome", "Rio de Janeiro"), reference="Paris"
)


class Known:
    """A likelihood that is given: text -> log-probabilities of its tokens."""

    model = "known"

    def __init__(self, figures):
        self.figures = figures
        self.asked = []

    async def logprobs(self, *, prompt, continuation):
        self.asked.append((prompt, continuation))
        found = self.figures[continuation] if isinstance(self.figures, dict) else self.figures
        return found


def run(metric, case):
    return asyncio.run(metric.score(case))


def choice(figures, case=CAPITAL, **options):
    known = Known({f" {text}": found for text, found in figures.items()})
    return run(LogLikelihoods(judge=known, **options), case)


# -- multiple choice ------------------------------------------------------------------


def test_the_most_likely_choice_is_picked_and_lengths_may_be_divided_out():
    figures = {"Paris": [-1.0], "Rome": [-2.0], "Rio de Janeiro": [-0.5, -0.5, -0.5]}

    raw = choice(figures)
    per_token = choice(figures, normalise="tokens")
    per_byte = choice(figures, normalise="bytes")

    assert (raw.value, per_token.value, per_byte.value) == (1.0, 0.0, 0.0)
    assert raw.details["picked_by"] == {"none": 0, "tokens": 2, "bytes": 2}
    # By hand: exp(-1), exp(-2) and exp(-1.5), over their sum.
    assert raw.confidence == pytest.approx(0.506480, abs=1e-6)
    assert per_token.confidence == pytest.approx(
        math.exp(-0.5) / (math.exp(-0.5) + math.exp(-1) + math.exp(-2))
    )
    third = raw.details["choices"][2]
    assert (third["logprob"], third["per_token"], third["tokens"]) == (-1.5, -0.5, 3)
    assert third["per_byte"] == pytest.approx(-1.5 / 14)
    assert raw.ground_truth == "Paris"
    assert raw.reason == "The model finds 'Paris' most likely, which is correct."
    assert "not the correct 'Paris'" in per_token.reason


def test_bytes_are_those_of_the_text_in_utf_8():
    case = CAPITAL.model_copy(update={"choices": ("é", "ab"), "reference": ("é",)})

    score = choice({"é": [-2.0], "ab": [-3.0]}, case)

    assert [told["per_byte"] for told in score.details["choices"]] == [-1.0, -1.5]


def test_equal_best_choices_are_no_pick():
    score = choice({"Paris": [-1.0], "Rome": [-1.0], "Rio de Janeiro": [-2.0]})

    assert (score.status, score.value, score.confidence) == ("abstained", None, None)


def test_the_correct_choice_may_be_given_by_number():
    case = CAPITAL.model_copy(update={"reference": (), "expected": {"correct_index": 1}})

    assert choice({"Paris": [-1], "Rome": [-0.1], "Rio de Janeiro": [-2]}, case).value == 1.0


@pytest.mark.parametrize(
    "reference",
    ["B", "b", "(B)", "(b)", "[B]", "B.", "B)", "B:", "1", "(1)", "Rome", "Rome "],
)
def test_the_reference_may_be_a_letter_or_an_index(reference):
    figures = {"Paris": [-1], "Rome": [-0.1], "Rio de Janeiro": [-2]}
    case = CAPITAL.model_copy(update={"reference": (reference,)})

    score = choice(figures, case)

    assert (score.value, score.ground_truth, score.details["correct"]) == (1.0, "Rome", 1)


@pytest.mark.parametrize("reference", ["D", "(Z)", "3", "BB", "B C", "-1", "1.5", ""])
def test_a_letter_without_a_choice_is_said(reference):
    case = CAPITAL.model_copy(update={"reference": (reference,)})

    with pytest.raises(CaseError, match="none of the choices is the reference"):
        choice({}, case)


def test_a_letter_that_is_a_choice_means_the_choice():
    case = Case(id="c", input="Which vitamin?", choices=("D", "B", "A"), reference="A")
    score = choice({"D": [-1], "B": [-2], "A": [-0.1]}, case)

    assert (score.value, score.details["correct"]) == (1.0, 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"input": None},
        {"input": "  "},
        {"choices": ()},
        {"choices": ("Paris",)},
        {"choices": ("Paris", " ")},
        {"choices": ("Paris", "Paris ")},
        {"reference": ()},
        {"reference": ("London",)},
        {"reference": ("Paris", "Rome")},
        {"expected": {"correct_index": 3}},
        {"expected": {"correct_index": -1}},
        {"expected": {"correct_index": True}},
        {"expected": {"correct_index": "1"}},
    ],
)
def test_a_case_that_is_no_question_is_said_to_be_none(changes):
    with pytest.raises(CaseError):
        choice({}, CAPITAL.model_copy(update=changes))


def test_what_is_asked_is_the_template_with_the_choice_behind():
    known = Known([-1.0])
    case = CAPITAL.model_copy(
        update={"context": ("A {input} B.",), "choices": ("x", "y"), "reference": ("x",)}
    )
    metric = LogLikelihoods(judge=known, template="{context}\nQuestion: {input} {other}\nAnswer:")

    run(metric, case)

    prompt = "A {input} B.\nQuestion: The capital is {other}\nAnswer:"
    assert known.asked == [(prompt, " x"), (prompt, " y")]


@pytest.mark.parametrize(
    "options",
    [
        {"normalise": "letters"},
        {"template": "no hole"},
        {"template": 3},
        {"joint": None},
        {"name": " "},
        {"judge": None},
        {"judge": FakeJudge},
    ],
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ConfigError):
        LogLikelihoods(**{"judge": FakeJudge(), **options})


FIGURES = st.lists(st.floats(-50, 0), min_size=1, max_size=6)


@given(
    st.lists(FIGURES, min_size=2, max_size=6),
    st.sampled_from(["none", "tokens", "bytes"]),
    st.data(),
)
def test_range_determinism_and_monotony(figures, normalise, data):
    choices = tuple(f"choice {number}" for number in range(len(figures)))
    correct = data.draw(st.integers(0, len(choices) - 1))
    case = Case(id="c", input="?", choices=choices, expected={"correct_index": correct})
    given = dict(zip(choices, figures, strict=True))

    score = choice(given, case, normalise=normalise)
    better = {**given, choices[correct]: [figure / 2 for figure in given[choices[correct]]]}
    improved = choice(better, case, normalise=normalise)

    assert score == choice(given, case, normalise=normalise)
    assert score.value in (None, 0.0, 1.0)
    if score.value is not None:
        assert 1 / len(choices) - 1e-9 <= score.confidence <= 1
    assert (improved.value or 0.0) >= (score.value or 0.0)
    shares = [told["share"] for told in score.details["choices"]]
    assert math.fsum(shares) == pytest.approx(1)


def test_softmax_does_not_overflow():
    assert softmax([-1e5, -1e5 - 1])[0] == pytest.approx(0.731, abs=1e-3)


# -- perplexity -----------------------------------------------------------------------


def perplexity(figures, case=None, **options):
    return run(Perplexity(judge=Known(figures), **options), case or Case(id="c", output="a b c"))


def test_perplexity_by_hand():
    score = perplexity([math.log(0.5), math.log(0.125)])

    assert score.confidence == 1.0
    assert score.value == pytest.approx(4.0)  # exp of the mean of log 2 and log 8
    assert score.details["tokens"] == 2
    assert score.details["bits_per_byte"] == pytest.approx(4 / 5)


def test_a_text_that_was_foreseen_has_perplexity_one():
    assert perplexity([0.0, 0.0]).value == 1.0


def test_a_single_token_has_none():
    assert perplexity([]).status == "not_applicable"


def test_placeholders_are_no_figures():
    with pytest.raises(InvalidReply):
        perplexity([-9999.0, -9999.0])


@pytest.mark.parametrize("figures", [[math.nan], [0.1], [-math.inf]])
def test_a_likelihood_of_your_own_is_checked(figures):
    with pytest.raises(InvalidReply):
        perplexity(figures)


def test_a_prompt_before_it_is_not_counted():
    known = Known([-1.0])
    case = Case(id="c", input="Say it.", output="It.")

    run(Perplexity(judge=known, given="input"), case)

    assert known.asked == [("Say it.\n\n", "It.")]


def test_the_corpus_weighs_tokens_alike_and_the_mean_cases():
    known = Known({"one": [-1.0], "two": [-2.0, -2.0, -2.0]})
    cases = [Case(id="a", output="one"), Case(id="b", output="two")]

    report = evaluate_sync(
        cases, [Perplexity(judge=known)], gates={"perplexity": {"corpus_perplexity": 9}}
    )

    summary = report.metrics["perplexity"]
    assert summary.mean == pytest.approx((math.exp(1) + math.exp(2)) / 2)
    assert summary.figures["corpus_perplexity"] == pytest.approx(math.exp(7 / 4))
    assert report.exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        {"field": "context"},
        {"of": "context"},
        {"given": "history"},
        {"field": "input", "given": "input"},
        {"joint": 1},
    ],
)
def test_wrong_options_of_perplexity_are_refused(options):
    with pytest.raises(ConfigError):
        Perplexity(judge=FakeJudge(), **options)


@pytest.mark.parametrize("options", [{"field": "input"}, {"of": "input"}])
def test_perplexity_measures_the_field_that_is_named(options):
    known = Known({"one": [-1.0], "two": [-2.0]})

    score = run(Perplexity(judge=known, **options), Case(id="c", input="one", output="two"))

    assert score.value == pytest.approx(math.exp(1))


def test_a_suite_names_the_field_of_perplexity(tmp_path):
    data = {"judge": "fake/judge", "metrics": {"perplexity": {"field": "input"}}}

    assert build_suite(data, base=tmp_path).metrics[0].options["field"] == "input"

    data["metrics"]["perplexity"] = {"of": "input"}
    with pytest.raises(ConfigError, match=r"perplexity.of: lists the metrics .* `field: input`"):
        build_suite(data, base=tmp_path)


@given(st.lists(st.floats(-100, 0), min_size=1, max_size=20), st.floats(0.1, 0.9))
def test_perplexity_is_in_range_and_falls_as_tokens_are_foreseen(figures, factor):
    score = perplexity(figures)

    assert score.value >= 1
    assert perplexity([figure * factor for figure in figures]).value <= score.value


@settings(max_examples=30, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), min_size=1))
def test_any_text_gives_a_score_or_says_why_not(text):
    case = Case(id="c", output=text)
    try:
        score = run(Perplexity(judge=FakeJudge()), case)
    except CaseError:
        assert not text.strip()
        return
    assert score.value is None or 1 <= score.value < math.inf


def test_a_long_text_takes_no_time():
    text = "word " * 50_000

    assert run(Perplexity(judge=FakeJudge()), Case(id="c", output=text)).details["tokens"] > 49_000


# -- asked, and in suites ---------------------------------------------------------------


def test_a_judge_is_asked_for_log_probabilities():
    def script(request):
        assert request.form.want == "logprobs"
        prompt, text = (message.content for message in request.messages)
        figure = -0.5 if "Paris" in text else -3.0
        return logprobs_text([None, figure], [0, len(prompt)], length=len(prompt + text))

    judge = FakeJudge(script)
    score = run(create_metric("log_likelihoods", judge=judge), CAPITAL)

    assert score.value == 1.0
    assert score.method == "log-probabilities of fake/judge"
    assert len(judge.asked) == 3


def suite(metrics, **more):
    data = {"judges": {"base": "fake/base", "judge": "fake/judge"}, "metrics": metrics, **more}
    from pathlib import Path

    return build_suite(data, base=Path())


def test_a_suite_names_the_model_by_its_role():
    made = suite({"perplexity": {"likelihood": "base"}, "log_likelihoods": {"normalise": "bytes"}})

    models = {metric.name: metric.made_with["model"] for metric in made.metrics}
    assert models == {"perplexity": "fake/base", "log_likelihoods": "fake/judge"}
    assert made.at_once
    made.close()


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        (
            {"perplexity": {"likelihood": "bsae"}},
            "no judge has the role 'bsae'",
        ),
        ({"perplexity": {"judge": "base"}}, "write likelihood: base"),
        ({"quality": {"likelihood": "base"}}, "write judge: base"),
        ({"length": {"maximum": 3, "likelihood": "base"}}, "is computed"),
    ],
)
def test_a_role_under_the_wrong_key_is_said(metrics, told):
    with pytest.raises(ConfigError, match=told):
        suite(metrics)
