"""The metrics of nearness: by hand, by the definitions' figures, and what always holds."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.embedders.lexical import LexicalEmbedder
from judgekit.metrics.embedding import facts
from judgekit.metrics.embedding import similarity as folds
from judgekit.metrics.embedding.facts import FactsCovered
from judgekit.metrics.embedding.similarity import LexicalAccuracy, SemanticAccuracy
from judgekit.metrics.embedding.trait import ContrastiveAlignment, ToneCompliance
from judgekit.metrics.fallback import WithFallback
from judgekit.metrics.registry import create_metric
from judgekit.metrics.text.exact_match import ExactMatch
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.suite import build_suite
from tests.growth import LINEAR, growth, repeated

VECTORS = json.loads(
    (Path(__file__).parents[2] / "data" / "quality_definitions.json").read_text("utf-8")
)
HERE = ("facts_covered", "facts_covered_semantic", "semantic_accuracy")


class Letters:
    """Counts of a, b and c, minus for capitals: vectors that can be worked out by eye."""

    identity = "letters-1"
    at_once = True

    def embed(self, texts):
        return [[float(t.count(c)) - t.count(c.upper()) for c in "abc"] for t in texts]


class Others(Letters):
    """The same, off the loop and a hair different: as a model in another batch."""

    at_once = False

    def embed(self, texts):
        return [[x * (1 + 3e-8), *rest] for x, *rest in super().embed(texts)]


def score(metric, **fields):
    return asyncio.run(metric.score(Case(id="1", **fields)))


# -- the definitions' figures ---------------------------------------------------------


def folded(row):
    inputs, tau = row["inputs"], row["parameters"].get("tau")
    match row["metric"]:
        case "facts_covered":
            return facts.facts_covered(inputs["response_facts"], inputs["ground_truth_facts"])
        case "facts_covered_semantic":
            return share_of_covered(inputs["cosine"], tau=tau)
        case _:
            return folds.semantic_accuracy(inputs["similarity"], tau=tau)


def share_of_covered(cosines, tau=folds.TAU):
    """Return equation (4) of equation (5); a row per true fact, a column per fact of an answer."""
    covered = [n for n, row in enumerate(cosines) if any(facts.is_covered(c, tau) for c in row)]
    return facts.facts_covered(covered, range(len(cosines)))


@pytest.mark.parametrize(
    "row", [row for row in VECTORS if row["metric"] in HERE], ids=lambda row: row["id"]
)
def test_the_folds_give_the_definitions_figures(row):
    assert folded(row) == pytest.approx(row["expected"]["value"], abs=row["tolerance"])


def test_at_tau_a_text_is_accurate_and_a_fact_is_not_covered():
    assert folds.semantic_accuracy([0.8, 0.79994, 0.79996], tau=0.8) == pytest.approx(2 / 3)
    assert share_of_covered([[0.8], [0.80004], [0.80006]], tau=0.8) == pytest.approx(1 / 3)


def test_nothing_of_nothing_is_no_number():
    assert folds.semantic_accuracy([]) is None
    assert facts.facts_covered(["a"], []) is None
    assert share_of_covered([]) is None


# -- semantic accuracy ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "reference", "tau", "expected"),
    [
        ("ab", "a", 0.7071, 1.0),  # the cosine is .70710..., .7071 to four decimals
        ("ab", "a", 0.7072, 0.0),
        ("a", ["b", "aa"], 0.9, 1.0),  # the nearest reference counts
        ("a", "A", 0.1, 0.0),  # an opposite is as far as anything
        ("a", "b", 0, 1.0),
    ],
)
def test_an_output_is_accurate_from_tau_on(output, reference, tau, expected):
    metric = SemanticAccuracy(tau=tau, embedder=Letters())

    assert score(metric, output=output, reference=reference).value == expected


def test_the_mean_over_a_run_is_the_semantic_accuracy():
    cases = [Case(id=str(n), output=o, reference="a") for n, o in enumerate(["a", "b", "aa", "c"])]

    report = evaluate_sync(cases, [SemanticAccuracy(embedder=Letters())])

    assert report.figures.metrics[0].mean == 0.5


NEGATED = {"output": "The shop is not open today.", "reference": "The shop is open today."}


@pytest.mark.parametrize("embedder", [None, "lexical", "hashed-512", LexicalEmbedder()])
@pytest.mark.parametrize("fields", [NEGATED, {"output": "a", "reference": "a"}])
def test_without_a_semantic_embedder_semantic_accuracy_does_not_apply(embedder, fields):
    found = score(SemanticAccuracy(embedder=embedder), **fields)

    assert (found.status, found.value) == ("not_applicable", None)
    assert "embedder: onnx:FOLDER" in found.reason
    assert "lexical_accuracy" in found.reason


def test_lexical_accuracy_says_in_its_name_that_it_compares_words():
    assert score(LexicalAccuracy(tau=0.5), **NEGATED).value == 1.0
    assert score(LexicalAccuracy(), output="a desk", reference="the sea").value == 0.0


def test_the_stand_in_of_accuracy_needs_a_semantic_embedder(tmp_path):
    data = {"judge": "none", "metrics": {"accuracy": {}}}
    plain = build_suite(data, base=tmp_path).metrics[0]
    found = asyncio.run(plain.score(Case(id="1", **NEGATED)))
    assert (found.status, found.fallback.substitute) == ("not_applicable", "semantic_accuracy")

    named = WithFallback(plain.metric, SemanticAccuracy(embedder=Letters()), no_judge=True)
    assert asyncio.run(named.score(Case(id="1", output="a", reference="a"))).value == 1.0


# -- facts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "fact", "exact", "similar"),
    [
        ("The Price is 1.50.", "the Price is 1.50", 0.0, 1.0),
        ("So the price is 1.50!", "the price is 1.50", 1.0, 1.0),
        ("It costs US money.", "us money", 0.0, 1.0),
        ("We serve a café.", "a cafe", 0.0, 1.0),
        ("We serve coffee.", "a coffee", 0.0, 1.0),
        ("We  serve: tea", "We serve tea", 1.0, 1.0),
        ("We served tea", "We serve tea", 0.0, 0.0),
    ],
)
def test_exact_facts_mind_case_accents_and_articles(output, fact, exact, similar):
    case = {"output": output, "expected": {"facts": [fact]}}

    assert score(FactsCovered(match="exact"), **case).value == exact
    assert score(FactsCovered(match="similar", tau=1.0), **case).value == similar


def test_facts_that_differ_in_case_are_two_exact_facts():
    case = {"output": "US rules.", "expected": {"facts": ["US", "us", "US "]}}

    assert score(FactsCovered(match="exact"), **case).value == 0.5
    assert score(FactsCovered(match="similar"), **case).value == 1.0


@pytest.mark.parametrize(
    "row",
    [r for r in VECTORS if r["metric"] == "facts_covered" and r["inputs"]["ground_truth_facts"]],
    ids=lambda row: row["id"],
)
def test_the_metric_gives_the_definitions_figures(row):
    response, truth = row["inputs"]["response_facts"], row["inputs"]["ground_truth_facts"]

    found = score(
        FactsCovered(match="exact"), output="; ".join(response) or "-", expected={"facts": truth}
    )

    assert found.value == pytest.approx(row["expected"]["value"], abs=row["tolerance"])


def test_accuracy_is_the_mean_of_exact_equality():
    metric = ExactMatch(normalise=False, ignore_case=False)
    cases = [Case(id=o, output=o, reference=r) for o, r in (("4", "4"), ("5", "6"), ("a", "A"))]

    assert evaluate_sync(cases, [metric]).metrics["exact_match"].mean == pytest.approx(1 / 3)


def test_a_fact_is_found_word_for_word_or_nearly_or_not():
    found = score(
        FactsCovered(embedder=Letters()),
        output="aab. Ccc ccc! The Price is 1.50.",
        expected={"facts": ["aab aab", "the price is 1.50", "b b b"]},
    )

    assert [(part.value, part.details["by"]) for part in found.parts] == [
        (1.0, "similar"),
        (1.0, "exact"),
        (0.0, None),
    ]
    assert found.value == pytest.approx(2 / 3)
    assert found.details["missing"] == ["b b b"]
    assert found.parts[0].details["nearest"] == "aab."
    assert found.ground_truth == ["aab aab", "the price is 1.50", "b b b"]


def test_facts_word_for_word_need_no_embedder():
    metric = FactsCovered(match="exact", embedder=Others())

    found = score(metric, output="It is a cat.", expected={"facts": ["a cat", "It is", "dog"]})

    assert metric.synchronous
    assert found.value == pytest.approx(2 / 3)
    assert found.meta == {}


def test_a_word_is_no_part_of_a_longer_one():
    metric = FactsCovered(match="exact")

    assert score(metric, output="The concatenation", expected={"facts": ["cat"]}).value == 0.0
    assert score(metric, output="It is 1.50.", expected={"facts": ["It is 1.5"]}).value == 0.0
    assert score(metric, output="It costs 15.", expected={"facts": ["It costs 1"]}).value == 0.0


def test_facts_come_from_the_case_or_else_from_the_reference():
    given = score(FactsCovered(), output="It floats.", expected={"facts": "it floats"})
    taken = score(FactsCovered(), output="It floats.", reference="It floats. It sinks. It floats!")

    assert (given.value, given.details["facts_from"]) == (1.0, "given")
    assert (taken.value, taken.details["facts_from"]) == (0.5, "reference")
    assert taken.reason == "The answer states 1 of 2 facts; missing: It sinks."


def test_no_facts_are_not_applicable_and_wrong_ones_cost_the_row():
    assert score(FactsCovered(), output="x", expected={"facts": []}).status == "not_applicable"
    for expected in ({"facts": [3]}, {"facts": {"a": 1}}, {"facts": [" "]}):
        with pytest.raises(CaseError, match=r"expected\.facts must be a list of texts"):
            score(FactsCovered(), output="x", expected=expected)
    with pytest.raises(CaseError, match="needs facts or a reference"):
        score(FactsCovered(), output="x")
    with pytest.raises(CaseError, match="501 facts are too many"):
        score(FactsCovered(), output="x", expected={"facts": [f"fact {n}" for n in range(501)]})


# -- tone -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reduce", "expected"),
    # To a and b at once: the centre is ab itself; the mean and the nearest are .7071.
    [("centre", 1.0), ("max", 0.7071), ("mean", 0.7071)],
)
def test_the_output_is_held_against_exemplars(reduce, expected):
    metric = ToneCompliance(exemplars=["aaa", "b"], reduce=reduce, embedder=Letters())

    found = score(metric, output="ab")

    assert found.value == expected
    assert found.details["nearest"] == "aaa"
    assert score(metric, output="C").value == 0.0


def test_exemplars_that_cancel_out_have_no_direction():
    metric = ToneCompliance(exemplars=["a", "A"], embedder=Letters())

    assert score(metric, output="a").value == 0.0
    nothing = ToneCompliance(exemplars=["x"], embedder=Letters())
    assert score(nothing, output="a").status == "not_applicable"


def test_exemplars_come_from_files_beside_the_suite(tmp_path):
    from judgekit.suite.suite import build_suite

    (tmp_path / "tone.txt").write_text("aaa\n\nb\n", encoding="utf-8")
    data = {"metrics": {"tone_compliance": {"exemplars": "tone.txt"}}}

    assert build_suite(data, base=tmp_path).metrics[0].exemplars == ("aaa", "b")
    with pytest.raises(ConfigError, match="no such file of examples"):
        build_suite({"metrics": {"tone_compliance": {"exemplars": "t.txt"}}}, base=tmp_path)
    with pytest.raises(ConfigError, match="exemplars has no texts"):
        ToneCompliance(exemplars=[])


# -- contrast ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "expected"), [("a", 0.75), ("b", 0.25), ("ab", 0.5), ("c", 0.5), ("A", 0.25)]
)
def test_the_output_is_nearer_to_one_side(output, expected):
    metric = ContrastiveAlignment(
        positive_examples=["aa"], negative_examples=["b"], embedder=Letters()
    )

    assert score(metric, output=output).value == expected


def test_both_sides_may_come_from_one_file_of_pairs(tmp_path):
    pairs = [{"positive": "aaa", "negative": "b"}, {"positive": "a", "negative": "bb"}]
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(pairs), encoding="utf-8")

    metric = ContrastiveAlignment(
        positive_examples=str(path), negative_examples=str(path), embedder=Letters()
    )

    found = score(metric, output="a")
    assert (found.value, found.details["alignment_1_100"]) == (0.75, 75.25)


def test_the_figure_of_100_is_rounded_once():
    metric = ContrastiveAlignment(
        positive_examples=["aa"], negative_examples=["b"], embedder=Letters()
    )

    found = score(metric, output="aaaab" + "b" * 4)

    # 0.46095656 * 99 + 1 is 46.6347; from the rounded value 0.461 it would be 46.64.
    assert (found.value, found.details["alignment_1_100"]) == (0.461, 46.63)


# -- what holds of all of them --------------------------------------------------------------

ALL = {
    "similarity": {},
    "facts_covered": {},
    "tone_compliance": {"exemplars": ["the sea", "warm regards"]},
    "contrastive_alignment": {"positive_examples": ["the sea"], "negative_examples": ["a desk"]},
}
TEXT = st.text(min_size=1, max_size=60).filter(lambda text: text.strip() and text.isprintable())


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=30, deadline=None)
@given(output=TEXT, reference=TEXT)
def test_values_are_in_range_and_the_same_twice_and_by_an_embedder_a_hair_off(
    name, output, reference
):
    fields = {"output": output, "reference": reference}
    first = score(create_metric(name, **ALL[name]), **fields)

    assert first.value is None or 0.0 <= first.value <= 1.0
    assert first == score(create_metric(name, **ALL[name]), **fields)
    exact = score(create_metric(name, **ALL[name], embedder=Letters()), **fields)
    other = score(create_metric(name, **ALL[name], embedder=Others()), **fields)
    assert exact.value == other.value
    assert exact.status == other.status


@pytest.mark.parametrize("name", ALL)
def test_the_embedder_is_in_every_result(name):
    for output in ("the sea", "?!"):
        found = score(create_metric(name, **ALL[name]), output=output, reference="the sea")
        assert found.meta == {"embedder": "lexical-1/4096"}


@pytest.mark.parametrize("name", ALL)
def test_no_output_costs_the_row(name):
    with pytest.raises(CaseError, match="needs an output"):
        score(create_metric(name, **ALL[name]), reference="x")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("unit", ["sea ", "海", "x", "a.\n"])
def test_a_long_output_takes_linear_time(name, unit):
    def check(text):
        found = score(create_metric(name, **ALL[name]), output=text, reference="the sea")
        assert found.status in ("scored", "not_applicable")

    assert growth(check, repeated(unit), 40_000) < LINEAR


@pytest.mark.parametrize("name", ALL)
def test_other_languages_are_compared_like_any_text(name):
    options = {key: ["東京は日本の首都です"] for key in ALL[name] if key != "negative_examples"}
    if "negative_examples" in ALL[name]:
        options["negative_examples"] = ["なにもない"]
    text = "東京は日本の首都です"

    same = score(create_metric(name, **options), output=text, reference=text)

    assert same.value == pytest.approx(0.75 if name == "contrastive_alignment" else 1.0, abs=0.05)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_tau_covers_no_more(cosines, one, other):
    low, high = sorted((one, other))

    assert folds.semantic_accuracy(cosines, tau=high) <= folds.semantic_accuracy(cosines, tau=low)
    rows = [[cosine] for cosine in cosines]
    assert share_of_covered(rows, tau=high) <= share_of_covered(rows, tau=low)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("semantic_accuracy", {"tau": 1.5}, "semantic_accuracy: tau must be"),
        ("semantic_accuracy", {"tau": "high"}, "semantic_accuracy: tau must be"),
        ("semantic_accuracy", {"embedder": "bert"}, "embedder: 'bert' is not known"),
        ("facts_covered", {"match": "fuzzy"}, "match must be one of exact, similar, not 'fuzzy'"),
        ("facts_covered", {"tau": True}, "facts_covered: tau must be"),
        ("tone_compliance", {}, "needs the option 'exemplars'"),
        ("tone_compliance", {"exemplars": [""]}, "exemplars must be texts, none blank; number 1"),
        ("tone_compliance", {"exemplars": ["x"], "reduce": "sum"}, "reduce must be one of"),
        ("contrastive_alignment", {"positive_examples": ["x"]}, "needs the option 'negative_ex"),
        (
            "contrastive_alignment",
            {"positive_examples": ["x"], "negative_examples": 3},
            "negative_examples must be a file or a list of texts, not 3",
        ),
    ],
)
def test_a_wrong_option_is_one_line(name, options, message):
    with pytest.raises(ConfigError) as caught:
        create_metric(name, **options)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
