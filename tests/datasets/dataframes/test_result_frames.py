"""The results of a run as data frames: every number as it is, every reason it is not there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import judgekit
from judgekit.core.errors import ConfigError
from judgekit.core.judgment import Judgment, Quote
from judgekit.core.score import Failure, Fallback, Part, Score
from judgekit.datasets.dataframes.table import kind_of
from judgekit.runner.evaluation import evaluate_sync
from tests.later import Later

pandas = Later("pandas")

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.floats(0, 1) | st.just(None)


@st.composite
def scores(draw):
    parts = tuple(
        Part(
            id=f"p{number}",
            value=value,
            status="scored" if value is not None else "abstained",
            weight=draw(st.floats(-1, 1)),
            reason=draw(TEXT),
            answer=draw(st.none() | st.booleans() | st.integers() | TEXT),
        )
        for number, value in enumerate(draw(st.lists(VALUES, max_size=2)))
    )
    value = draw(VALUES)
    return Score(
        value=value,
        status="scored"
        if value is not None
        else draw(st.sampled_from(["abstained", "not_applicable"])),
        parts=parts,
        reason=draw(TEXT),
        source=draw(st.sampled_from(["judge", "computed"])),
        method=draw(TEXT),
        confidence=draw(st.none() | st.floats(0, 1)),
        fallback=draw(st.none() | st.builds(Fallback, substitute=TEXT, cause=TEXT)),
    )


RESULTS = scores() | st.builds(
    Failure, kind=st.sampled_from(["refused", "not_run", "cassette_miss"]), message=TEXT
)


class Told:
    """A metric that says what it was told to."""

    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, name, results):
        self.name, self._results = name, results

    async def score(self, case):
        return self._results[case.id]


def report_of(*columns, threshold=0.5, **options):
    metrics = [
        Told(f"m{n}", {f"c{i}": result for i, result in enumerate(column)})
        for n, column in enumerate(columns)
    ]
    cases = [
        judgekit.Case(id=f"c{i}", input=f"q{i}", metadata={"n": i, "even": i % 2 == 0})
        for i in range(len(columns[0]))
    ]
    report = evaluate_sync(cases, metrics, thresholds={"m0": threshold}, **options)
    return report


def failing(results):
    """A metric may return no failure, so put failures where they would be."""
    from judgekit.core.score import Row
    from judgekit.report.folder import Scored
    from judgekit.report.report import Report
    from judgekit.report.summary import Tally

    tally = Tally("m0", range=(0.0, 1.0), higher_is_better=True, threshold=0.5)
    kept = []
    for number, result in enumerate(results):
        tally.add(f"c{number}", result)
        row = Row(case=f"c{number}", metric="m0", result=result)
        kept.append(Scored(judgekit.Case(id=f"c{number}"), (row,)))
    base = report_of([Score(value=1.0)]).figures
    return Report(base.model_copy(update={"metrics": (tally.finish(),)}), results=kept)


def given_back(frame):
    """A data frame as plain rows, whatever library it is of."""
    if isinstance(frame, pandas.DataFrame):
        rows = frame.astype(object).to_dict("records")
        return [{k: None if v is pandas.NA else v for k, v in row.items()} for row in rows]
    return frame.to_dicts() if hasattr(frame, "to_dicts") else list(frame)


@pytest.mark.parametrize("library", ["pandas", "polars", "hf"])
@settings(max_examples=40)
@given(results=st.lists(RESULTS, max_size=5))
def test_every_result_is_a_row_with_its_own_numbers(library, results):
    report = failing(results)

    rows = given_back(getattr(report, f"to_{library}")())

    assert [row["case"] for row in rows] == [f"c{n}" for n in range(len(results))]
    for row, result in zip(rows, results, strict=True):
        assert row["threshold"] == 0.5
        if isinstance(result, Failure):
            assert (row["status"], row["failure"]) == ("failed", result.kind)
            assert (row["message"], row["value"], row["passed"]) == (result.message, None, None)
            continue
        assert (row["source"], row["confidence"]) == (result.source, result.confidence)
        assert (row["reason"], row["method"]) == (result.reason or None, result.method or None)
        if result.fallback is not None:
            assert (row["status"], row["value"], row["passed"]) == ("fallback", None, None)
            assert row["fallback_value"] == result.value
            assert (row["fallback"], row["message"]) == tuple(result.fallback.model_dump().values())
        else:
            assert (row["status"], row["value"]) == (result.status, result.value)
            assert row["passed"] == (None if result.value is None else result.value >= 0.5)


@pytest.mark.parametrize("library", ["pandas", "polars", "hf"])
@settings(max_examples=30)
@given(results=st.lists(RESULTS, max_size=4))
def test_every_criterion_is_a_row(library, results):
    rows = given_back(getattr(failing(results), f"to_{library}")(per="criterion"))

    named = [row for row in rows if row["criterion"] is not None]
    told = [
        (f"c{n}", part)
        for n, result in enumerate(results)
        if isinstance(result, Score) and result.fallback is None
        for part in result.parts
    ]
    assert len(named) == len(told)
    for row, (case, part) in zip(named, told, strict=True):
        assert (row["case"], row["criterion"], row["status"]) == (case, part.id, part.status)
        assert (row["value"], row["weight"]) == (part.value, part.weight)
        assert row["reason"] == (part.reason or None)
    # Nothing that has no score is left out.
    left = {f"c{n}" for n, r in enumerate(results) if isinstance(r, Failure) or r.fallback}
    assert left <= {row["case"] for row in rows}


def test_the_mean_of_the_column_is_the_mean_of_the_report():
    results = [
        Score(value=0.2),
        Score(value=0.9, fallback=Fallback(substitute="s", cause="c")),
        Score(status="abstained"),
        Score(value=0.8),
        Failure(kind="refused", message="no"),
    ]
    report = failing(results)

    frame = report.to_pandas()

    summary = report.metrics["m0"]
    assert frame["value"].mean() == summary.mean == 0.5
    assert frame["passed"].mean() == summary.pass_rate == 0.5
    assert frame["status"].value_counts().to_dict() == {
        "scored": 2, "fallback": 1, "abstained": 1, "failed": 1,
    }  # fmt: skip


def test_types_do_not_depend_on_what_there_is():
    full = failing([Score(value=1.0)]).to_pandas()
    empty = failing([]).to_pandas()

    assert empty.dtypes.to_dict() == full.dtypes.to_dict()
    assert dict(full.dtypes.astype(str))["value"] == "Float64"
    assert dict(full.dtypes.astype(str))["passed"] == "boolean"
    pandas.concat([empty, full])


def test_wide_has_a_row_for_each_case():
    parts = (Part(id="a", value=0.25, weight=0.5), Part(id="b", value=0.75, weight=0.5))
    report = report_of(
        [Score(value=0.5, parts=parts, reason="so so"), Score(status="abstained", parts=parts[:1])],
        [Score(value=1.0), Score(value=0.0)],
    )

    frame = report.to_pandas(wide=True)
    assert list(frame.columns) == [
        "case", "m0", "m0.status", "m0.passed", "m0.reason", "m1", "m1.status", "m1.reason",
    ]  # fmt: skip
    assert frame["m1"].tolist() == [1.0, 0.0]
    assert frame["m0.status"].tolist() == ["scored", "abstained"]
    assert frame["m0.passed"].tolist() == [True, pandas.NA]

    frame = report.to_pandas(wide=True, per="criterion")
    assert list(frame.columns) == [
        "case", "m0", "m0.status", "m0.passed", "m1", "m1.status", "m0.a", "m0.b",
    ]  # fmt: skip
    assert frame["m0.a"].tolist() == [0.25, 0.25]
    assert frame["m0.b"].tolist() == [0.75, pandas.NA]


def test_fields_of_the_case_stand_beside():
    report = report_of([Score(value=0.5), Score(value=1.0)])

    frame = report.to_pandas(include=["input", "metadata"])
    assert frame["input"].tolist() == ["q0", "q1"]
    assert frame["metadata.n"].dtype == "Int64"
    assert frame.groupby("metadata.even")["value"].mean().to_dict() == {True: 0.5, False: 1.0}
    assert "metadata.gone" in report.to_pandas(include="metadata.gone").columns
    assert report.to_polars(include=["history", "reference"])["reference"].to_list() == [[], []]
    rows = given_back(report.to_pandas(per="criterion", include=["input"]))
    assert rows == []


def test_figures_of_the_run_are_a_row_for_each_metric():
    report = report_of([Score(value=0.5), Score(value=1.0)] * 3, [Score(value=0.0)] * 6)

    frame = report.to_pandas(per="run").set_index("metric")

    assert frame.loc["m0", "mean"] == report.metrics["m0"].mean
    assert frame.loc["m0", "low"] == report.metrics["m0"].low
    assert frame["rows"].tolist() == [6, 6]


def test_results_of_a_folder_are_those_in_memory(tmp_path):
    quotes = (Quote(text="x", field="output"), Quote(text="y"))
    part = Part(id="a", value=0.5, answer={"n": 1}, quotes=quotes)
    judged = Score(
        value=0.5, source="judge", parts=(part,), meta={"rubric": "r"},
        judgments=(Judgment(request_key="ab" * 32, answers={}, model="fake/judge"),),
    )  # fmt: skip
    kept = report_of([judged])
    read = judgekit.Report.read(report_of([judged], out=tmp_path / "run").folder)

    assert given_back(read.to_pandas()) == given_back(kept.to_pandas())
    (row,) = given_back(read.to_pandas())
    assert (row["rubric"], row["model"], row["key"]) == ("r", "fake/judge", "ab" * 32)
    (row,) = given_back(read.to_polars(per="criterion"))
    assert (row["answer"], row["quotes"], row["unverified_quotes"]) == ('{"n":1}', ["x", "y"], 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"per": "case"}, "per: 'case' is not known"),
        ({"per": "run", "wide": True}, "takes neither wide nor include"),
        ({"include": ["inptu"]}, "include: 'inptu' is no field of a case; did you mean 'input'?"),
        ({"include": ["input.x"]}, "include: 'input.x' is no field of a case"),
    ],
)
def test_a_wrong_option_is_a_line(options, said):
    with pytest.raises(ConfigError) as caught:
        report_of([Score(value=1.0)]).to_pandas(**options)

    assert said in str(caught.value)


def test_columns_of_one_name_are_refused():
    case = judgekit.Case(id="a")
    made = [Told(name, {"a": Score(value=1.0)}) for name in ("m", "m.status")]
    report = evaluate_sync([case], made)

    assert len(report.to_pandas()) == 2
    with pytest.raises(ConfigError, match=r"two columns would be named 'm\.status'"):
        report.to_pandas(wide=True)
    with pytest.raises(ConfigError, match="two columns would be named 'case'"):
        evaluate_sync([case], [Told("case", {"a": Score(value=1.0)})]).to_pandas(wide=True)


def test_half_a_character_from_a_judge_reaches_a_table():
    report = failing([Failure(kind="refused", message="no \ud83d")])

    for library in ("pandas", "polars", "hf"):
        (row,) = given_back(getattr(report, f"to_{library}")())
        assert row["message"] == "no ?"


def test_a_comparison_is_a_table(tmp_path):
    base = [Score(value=0.9, reason="good", parts=(Part(id="a", value=0.9, reason="x"),))] * 8
    new = [
        Score(value=0.1 * n, reason="bad", parts=(Part(id="a", value=0.1 * n),)) for n in range(8)
    ]
    found = judgekit.compare(report_of(base), report_of(new))
    (metric,) = found.metrics

    (row,) = given_back(found.to_pandas())
    assert (row["metric"], row["verdict"], row["pairs"]) == ("m0", metric.verdict, 8)
    assert (row["change"], row["low"]) == (metric.difference.mean, metric.difference.low)
    assert (row["to_fail"], row["threshold"]) == (metric.flips.to_fail, 0.5)
    (row,) = given_back(found.to_polars(per="criterion"))
    assert (row["criterion"], row["change"]) == ("a", metric.criteria[0].mean)
    rows = given_back(found.to_pandas(per="case"))
    assert [row["case"] for row in rows] == [move.case for move in (*metric.worst, *metric.best)]
    assert rows[0]["change"] == pytest.approx(-0.9)
    assert (rows[0]["base_reason"], rows[0]["criterion"]) == ("good", "a")
    with pytest.raises(ConfigError, match="per: 'run' is not known"):
        found.to_pandas(per="run")


def test_agreement_is_a_table(tmp_path):
    report = report_of([Score(value=n / 10, source="judge") for n in range(8)])
    labels = tmp_path / "labels.jsonl"
    labels.write_text(
        "".join(f'{{"case": "c{n}", "metric": "m0", "value": {n / 10}}}\n' for n in range(8))
    )
    found = judgekit.agree(report, labels)

    rows = given_back(found.to_pandas())

    assert [row["metric"] for row in rows] == [one.metric for one in found.criteria]
    assert [row["kappa"] for row in rows] == [one.kappa.value for one in found.criteria]
    assert rows == given_back(found.to_polars())


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "text"), ([None], "text"), ([1, 2], "whole"), ([2**63], "text"), ([1, 2.5], "number"),
        ([2**60, 0.5], "text"), ([True], "yes_no"), ([True, 1], "text"), (["a", 1], "text"),
        ([["a"], []], "texts"), ([["a", 1]], "json"), ([{}, ["a"]], "json"), ([{}, "a"], "text"),
    ],
)  # fmt: skip
def test_a_column_of_the_users_own_is_of_one_kind(values, kind):
    assert kind_of(values) == kind
