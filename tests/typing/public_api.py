"""Uses of every public name, for mypy: `make types` checks this file, nothing runs it.

`assert_type` fixes what callers get. Wrong uses carry `type: ignore` with the error that mypy must
report; strict mode reports an ignore that is not needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

from pydantic import JsonValue

import judgekit
from judgekit import (
    AnsweredCases,
    Case,
    CaseError,
    Cassette,
    Combined,
    Comparison,
    ConfigError,
    Criterion,
    DecisionJudge,
    Distribution,
    Failure,
    FakeJudge,
    Form,
    Gate,
    HostedEmbedder,
    JudgekitError,
    Judgment,
    Jury,
    LimitedJudge,
    Limits,
    LiteLLMJudge,
    ManualJudge,
    Message,
    Metric,
    MetricSummary,
    ModelRanking,
    Overrides,
    PairwiseMetric,
    Progress,
    PromptAlignment,
    RecordedJudge,
    RecordMode,
    Reply,
    Report,
    Request,
    Row,
    Rubric,
    RubricMetric,
    Rules,
    Score,
    Suite,
    ToolCall,
    WithFallback,
)
from judgekit.datasets import from_hf, from_pandas, from_polars, to_hf, to_pandas, to_polars
from judgekit.metrics.brand_voice import Authenticity, BrandVoice, Persona, load_persona
from judgekit.metrics.prompt_alignment import Analysis, fold_prompt_alignment
from judgekit.protocols import Judge
from judgekit.types import Job, JudgeLike, MetricLike, Part, Question, Result, Source, Try

MODEL = "openai/NAME"


def cases() -> None:
    call = ToolCall(name="weather", arguments={"city": "Rome"})
    message = Message(role="assistant", content="Sunny.", tool_calls=(call,))
    case = Case(id="a", input="Rome?", output="Sunny.", history=(message,), metadata={"n": 1})
    assert_type(case.id, str)
    assert_type(case.output, str | None)
    assert_type(case.history, tuple[Message, ...])
    assert_type(message.tool_calls, tuple[ToolCall, ...])
    # Lists, dicts and single texts are given, and read as tuples.
    notes = {"topic": "weather"}
    given = Case(
        id="b",
        history=[Message(role="user", content="Hi"), {"role": "assistant", "tool_calls": [call]}],
        context=["A passage."],
        reference="z",
        choices=["y", "z"],
        expected=notes,
        labels={"quality": 0.8},
        metadata=notes,
    )
    Case(id="c", output="x", criteria=[Criterion("Names the dose", points=5), {"criterion": "b"}])
    Message(role="assistant", tool_calls=[call])
    assert_type(given.history, tuple[Message, ...])
    assert_type(given.context, tuple[str, ...])
    assert_type(given.reference, tuple[str, ...])
    assert_type(given.expected, dict[str, JsonValue])
    assert_type(judgekit.load_cases("cases.jsonl", fields={"input": "prompt"}), Iterator[Case])
    assert_type(judgekit.load_cases([{"id": "a"}], limit=1), Iterator[Case])
    assert_type(from_hf("org/name", split="test", revision="r"), Iterator[Case])
    frame: Any = None
    assert_type(from_pandas(frame), Iterator[Case])
    assert_type(from_polars(frame), Iterator[Case])
    to_pandas([case])
    to_polars([case])
    to_hf([case])

    Case(input="no id")  # type: ignore[call-arg]
    Case(id="a", inputs="no such field")  # type: ignore[call-arg]
    Case(id="a", context=[1])  # type: ignore[list-item]
    Message()  # type: ignore[call-arg]
    judgekit.load_cases("cases.jsonl", format="xml")  # type: ignore[arg-type]
    judgekit.load_cases("cases.jsonl", "rows")  # type: ignore[call-arg]


class Loud:
    """Any class with these members can be evaluated."""

    name = "loud"
    range = (0.0, 1.0)
    higher_is_better = False

    async def score(self, case: Case) -> Score:
        return Score(value=float((case.output or "").isupper()))


class Quiet(Metric):
    """A subclass needs a name and a score."""

    name = "quiet"

    async def score(self, case: Case) -> Score:
        return Score(value=float((case.output or "").islower()))


@judgekit.metric("polite", needs=("output",))
def polite(case: Case) -> bool:
    return "please" in (case.output or "")


class Stern:
    """A judge is any class with these members."""

    model = "my/stern"

    async def ask(self, request: Request) -> Reply:
        assert_type(request.key, str)
        assert_type(request.model, str)
        assert_type(request.form, Form)
        assert_type(request.form.questions, tuple[Question, ...])
        return Reply(tries=(Try(text="{}", finish="stop"),))


async def answers(request: Request) -> str:
    """An async function is a judge, too."""
    return request.key


def judges() -> None:
    limited = LimitedJudge(LiteLLMJudge(MODEL, params={"seed": 7}), concurrency=4, max_cost=2.0)
    every: list[Judge] = [Stern(), limited, ManualJudge("alex", "verdicts.jsonl"), FakeJudge()]
    with Cassette.open("tape.jsonl", every[0], record=RecordMode.NEW_EPISODES) as recorded:
        assert_type(recorded, Cassette)
        every.append(recorded)
    assert_type(RecordMode("none"), RecordMode)
    HostedEmbedder(FakeJudge())

    LiteLLMJudge()  # type: ignore[call-arg]
    LiteLLMJudge(MODEL, "http://localhost")  # type: ignore[call-arg]
    LiteLLMJudge(MODEL, mode="xml")  # type: ignore[arg-type]
    RubricMetric("rubrics/tone.jinja", judge=MODEL)
    RubricMetric("rubrics/tone.jinja", judge=answers)
    wrong: Judge = Loud()  # type: ignore[assignment]
    every.append(wrong)


def metrics(judge: Judge) -> None:
    rubric = judgekit.load_rubric("rubrics/tone.jinja")
    assert_type(rubric, Rubric)
    tone = RubricMetric(rubric, judge=judge, samples=3)
    aligned = PromptAlignment(judge=judge, mode="user")
    jury = Jury({"a": judge, "b": "fake/b"}, samples=2, order="balanced", vote="mean")
    assert_type(RubricMetric(rubric, judge=jury).jury, Jury)
    several = Jury([DecisionJudge("openai/NAME", api="decisions"), RecordedJudge("verdicts.jsonl")])
    assert_type(several.members[0].name, str)
    assert_type(Part(id="a").distribution, Distribution | None)
    better = PairwiseMetric("preference", judge=judge, rule="mean", tie="abstain")
    persona = load_persona("acme.yaml")
    assert_type(persona, Persona)
    voice = BrandVoice(persona=persona, judge=judge)
    authentic = Authenticity(persona=persona, scope="session")
    both = Combined(name="both", of=(tone, aligned), combine="min")
    safe = WithFallback(both, Quiet())
    every: list[Metric] = [Quiet(), polite, tone, aligned, better, voice, authentic, both, safe]
    every.append(judgekit.create_metric("length", maximum=3))
    assert_type(judgekit.create_metric("length"), Metric)
    assert_type(judgekit.metric_names(), list[str])
    judgekit.lint_rubrics(["rubrics"], minimum=5)
    analysis = Analysis(intent=1, requirements=1, completeness=1, appropriateness=1)
    assert_type(fold_prompt_alignment(analysis, mode="user"), float)

    RubricMetric(criteria={"a": "Kind?", "b": {"text": "Brief?", "kind": "boolean"}}, judge=judge)
    RubricMetric(criteria=["a"], judge=judge)  # type: ignore[arg-type]
    RubricMetric(rubric)  # type: ignore[call-arg]
    PromptAlignment(judge=judge, mode="all")  # type: ignore[arg-type]
    PairwiseMetric(judge=judge, rule="both")  # type: ignore[arg-type]
    Combined(name="both", of=(tone,), combine="median")  # type: ignore[arg-type]


def results(report: Report, case: Case) -> None:
    for scored, rows in report.results:
        assert_type(scored, Case)
        for row in rows:
            assert_type(row, Row)
            result = row.result
            if result.type == "score":
                assert_type(result, Score)
                assert_type(result.value, float | None)
                assert_type(result.judgments, tuple[Judgment, ...])
            else:
                assert_type(result, Failure)
                assert_type(result.message, str)
    assert_type(judgekit.score_sync(case, Loud()), Score | Failure)
    assert_type(report.exit_code, int)
    assert_type(report.metrics["loud"], MetricSummary)
    assert_type(report.figures.gates[0].gate, Gate)
    assert_type(Report.read("runs/a"), Report)

    report.results.append(case)  # type: ignore[attr-defined]
    Score(valeu=1.0)  # type: ignore[call-arg]


def names() -> None:
    """Former names have the types of the new ones; unknown names are errors."""
    assert_type(judgekit.create("length"), Metric)
    assert_type(judgekit.correct("runs/a", "labels.jsonl"), judgekit.CorrectedRun)
    assert_type(judgekit.answer_sync([{"input": "q"}], MODEL), judgekit.Answers)
    answer = judgekit.answer([{"input": "q"}], MODEL)
    answer.close()
    assert_type(judgekit.Answers([], Counter(), {}, 0), AnsweredCases)
    assert_type(judgekit.load_persona("acme.yaml"), Persona)
    assert_type(judgekit.metrics.brand_voice.load_persona("acme.yaml"), Persona)
    assert_type(judgekit.datasets.load_cases("cases.jsonl"), Iterator[Case])
    former: list[Metric] = [judgekit.BrandVoice(persona="a"), judgekit.Authenticity(persona="a")]
    assert_type(judgekit.fold_prompt_alignment(judgekit.Analysis(1, 1, 1, 1)), float)
    judgekit.to_pandas(judgekit.from_pandas(None))
    judgekit.to_polars(judgekit.from_polars(None))
    judgekit.to_hf(judgekit.from_hf("folder"))
    former.append(judgekit.Persona)  # type: ignore[arg-type]
    judgekit.create(3)  # type: ignore[arg-type]
    judgekit.Rubrik  # type: ignore[attr-defined]  # noqa: B018
    judgekit.Any  # type: ignore[attr-defined]  # noqa: B018
    judgekit.datasets.from_csv  # type: ignore[attr-defined]  # noqa: B018
    judgekit.types.Anything  # type: ignore[attr-defined]  # noqa: B018


def own(source: Source, judge: JudgeLike, metric: MetricLike) -> Result:
    """A function of a user, with the types of the arguments that it passes on."""
    case = next(judgekit.load_cases(source))
    judgekit.score_sync(case, RubricMetric("quality", judge=judge))
    judgekit.score_sync({"output": "x"}, {"length": {"maximum": 3}})
    entries = {"quality": {"samples": 3}, "length": {"maximum": 120}}
    judgekit.evaluate_sync(source, entries, judge=judge, thresholds=0.7)
    judgekit.evaluate_sync(source, ["quality", metric], judge=["openai/a", judge], max_cost=1)
    gates = {"quality": {"mean": 0.6}}
    report = judgekit.evaluate_sync([case], ["quality"], judge="openai/a", gates=gates)
    assert_type(report, Report)
    judgekit.evaluate_sync([case], ["quality"], nonsense=1)  # type: ignore[call-arg]
    judgekit.evaluate_sync([case], ["quality"], thresholds="0.7")  # type: ignore[arg-type]
    judgekit.evaluate_sync([case], {"quality": 3})  # type: ignore[dict-item]
    return judgekit.score_sync(case, metric)


def show(progress: Progress) -> None:
    assert_type(progress.case, Case | None)


async def runs(case: Case, judge: Judge) -> None:
    assert_type(judgekit.evaluate_sync([case], [Loud(), Quiet(), polite]), Report)
    assert_type(await judgekit.evaluate([case], [Loud()], thresholds={"loud": 0.5}), Report)
    rules, limits = Rules(undecided="pass", max_cost=1.0), Limits(max_failures=1)
    await judgekit.evaluate([case], [Loud()], rules=rules, limits=limits, progress=show)
    suite = judgekit.load_suite("suite.yaml", Overrides(only=["loud"], limit=3))
    assert_type(suite, Suite)
    assert_type(judgekit.run_suite_sync(suite, out=Path("runs/a")), Report)
    assert_type(await judgekit.run_suite("suite.yaml", out="runs/a"), Report)
    assert_type(judgekit.merge_shards("suite.yaml", ["runs/1"], out="runs/all"), Report)
    pending = await judgekit.submit("suite.yaml", judge="openai/x", out=Path("runs/a"))
    assert_type(pending, judgekit.PendingRun)
    assert_type(pending.jobs, tuple[Job, ...])
    assert_type(await pending.wait(timeout=60), bool)
    assert_type(await pending.collect(live=True), Report)
    assert_type(pending.collect_sync(), Report)
    assert_type(judgekit.submit_sync([case], ["quality"], judge="openai/x"), judgekit.PendingRun)
    comparison = judgekit.compare("runs/a", "runs/b", cluster="user")
    assert_type(comparison, Comparison)
    ranking = judgekit.rank("runs/a", Path("runs/b"), metric="tone", draws=200)
    assert_type(ranking, ModelRanking)
    assert_type(ranking.models[0].strength, float | None)
    judgekit.rank([{"prompt": 1, "a": "x", "b": "y", "winner": "tie"}], judge="small")
    judgekit.rank("votes.csv", seed="1")  # type: ignore[arg-type]
    assert_type(comparison.pairs, int)
    assert_type(judgekit.agree("runs/a", "labels.jsonl", failures="drop").text(width=60), str)
    assert_type(judgekit.correct_means("runs/a", "labels.jsonl"), judgekit.CorrectedRun)
    statistics = judgekit.rubric_stats("runs/a", Path("labels.jsonl"))
    assert_type(statistics.criteria[0].discrimination.value, float | None)
    assert_type(statistics.markdown(), str)
    judgekit.rubric_stats(["runs/a"])  # type: ignore[arg-type]
    answers = judgekit.answer_cases_sync([case], judge)
    assert_type(answers, AnsweredCases)
    assert_type(await judgekit.answer_cases([case], judge, field="baseline"), AnsweredCases)
    assert_type(answers.cases, list[Case])

    Rules(undecided="maybe")  # type: ignore[arg-type]
    Limits(failures=1)  # type: ignore[call-arg]
    Overrides(onyl=["loud"])  # type: ignore[call-arg]
    await judgekit.evaluate([case], [Loud()], treshold={})  # type: ignore[call-arg]
    judgekit.evaluate_sync([case], [Loud()], nonsense=1)  # type: ignore[call-arg]
    judgekit.evaluate_sync([case], [Loud()], thresholds=["loud"])  # type: ignore[arg-type]
    judgekit.evaluate_sync([case])  # type: ignore[call-arg]
    judgekit.answer_cases_sync([case], judge, nonsense=1)  # type: ignore[call-arg]
    judgekit.answer_cases_sync([case], judge, field="id")  # type: ignore[arg-type]
    judgekit.run_suite_sync(suite, nonsense=1)  # type: ignore[call-arg]
    judgekit.run_suite_sync(suite, page="yes")  # type: ignore[arg-type]
    judgekit.merge_shards("suite.yaml", ["runs/1"])  # type: ignore[call-arg]
    await judgekit.submit("suite.yaml", record="all")  # type: ignore[call-arg]
    judgekit.compare("runs/a")  # type: ignore[call-arg]
    judgekit.agree("runs/a", "labels.jsonl", failures="skip")  # type: ignore[arg-type]


def errors() -> None:
    try:
        raise CaseError("metadata has no date")
    except JudgekitError as error:
        assert_type(error, JudgekitError)
    raise ConfigError("wrong", where="suite.yaml:3")
