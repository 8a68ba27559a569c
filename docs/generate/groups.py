"""The public names of `judgekit`, grouped by task, with an example of each group."""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
    """Public names for one task."""

    title: str
    text: str
    names: tuple[str, ...]
    example: str
    """Run by the tests, in one folder with the examples before it."""
    printed: str = ""
    module: str = "judgekit"
    """The module of the names."""


GROUPS = (
    Group(
        "Read cases",
        "A case is one thing to score: an answer and its input.",
        ("Case", "Criterion", "Message", "ToolCall", "load_cases"),
        """
import json
from pathlib import Path

import judgekit

case = judgekit.Case(
    id="hours",
    input="And on Sundays?",
    output="From ten to four.",
    history=[judgekit.Message(role="user", content="When do you open?")],
    expected={"tool_calls": [judgekit.ToolCall(name="opening_hours").model_dump()]},
    criteria=[judgekit.Criterion("Names both times", 2)],
)
rows = [{"id": "hours", "prompt": "And on Sundays?", "response": "From ten to four."}]
Path("rows.jsonl").write_text("".join(json.dumps(row) + "\\n" for row in rows))
read = list(judgekit.load_cases("rows.jsonl", fields={"input": "prompt", "output": "response"}))
print(case.input == read[0].input, read[0].output)
""",
        "True From ten to four.",
    ),
    Group(
        "Convert data frames",
        "Install the library of the data frame: the extras `pandas`, `polars`, `datasets`.",
        ("from_pandas", "to_pandas", "from_polars", "to_polars", "from_hf", "to_hf"),
        """
from judgekit.datasets import from_hf, from_pandas, from_polars, to_hf, to_pandas, to_polars

print([case.id for case in from_pandas(to_pandas(read))])
print([case.id for case in from_polars(to_polars(read))])
print([case.id for case in from_hf(to_hf(read))])
""",
        "['hours']\n['hours']\n['hours']",
        module="judgekit.datasets",
    ),
    Group(
        "Score",
        "Score cases with metrics, without a suite file. Metrics, rubrics and judges are given by name,"
        " as in a suite, or as objects.",
        (
            "score_sync",
            "score",
            "evaluate_sync",
            "evaluate",
            "create_metric",
            "metric_names",
            "Gate",
            "Rules",
            "Limits",
            "Progress",
        ),
        """
import asyncio

named = judgekit.evaluate_sync(
    [case],
    {"quality": {"samples": 3}, "length": {"maximum": 3}},
    judge="fake/judge",  # in earnest, a model: openai/NAME
    thresholds=0.7,
    gates={"quality": {"mean": 0.6}},
)
one = asyncio.run(judgekit.score({"output": "Yes."}, {"length": {"maximum": 3}}))
print(list(named.metrics), one.type)

length = judgekit.create_metric("length", maximum=3)
score = judgekit.score_sync(case, length)
assert isinstance(score, judgekit.Score)  # it may be a Failure
print(score.shown, score.reason)

report = judgekit.evaluate_sync([case], [length], gates={"length": {"mean": 0.9}})
again = asyncio.run(judgekit.evaluate([case], [length], thresholds={"length": 0.5}))
print(report.exit_code, again.metrics["length"].pass_rate, "rouge" in judgekit.metric_names())
gate = report.figures.gates[0].gate
assert isinstance(gate, judgekit.Gate)
print(gate.statistic, gate.bound)


def show(progress: judgekit.Progress) -> None:
    print(progress.cases, "done,", progress.failed, "failed")


rules = judgekit.Rules(undecided="fail")  # an interval that contains the bound fails its gate
limits = judgekit.Limits(max_failures=1)  # a run with one failed row is complete
judgekit.evaluate_sync([case], [length], rules=rules, limits=limits, progress=show)
""",
        "['quality', 'length'] score\n0.67 4 words; wanted at most 3.\n1 1.0 True\nmean 0.9\n1 done, 0 failed",
    ),
    Group(
        "Read results",
        "A result is a `Score` or a `Failure`; its `type` says which. A report has all results.",
        ("Report", "MetricSummary", "Row", "Score", "Failure", "Judgment"),
        """
silent = judgekit.Case(id="silent", input="Anybody there?")
report = judgekit.evaluate_sync([case, silent], [length], out="runs/first")
summary = report.metrics["length"]
assert isinstance(summary, judgekit.MetricSummary)
print(summary.judged + summary.computed, summary.failed, summary.maximum)
for scored, results in report.results:
    for row in results:
        assert isinstance(row, judgekit.Row)
        match row.result:
            case judgekit.Score() as score:
                judged = [one for one in score.judgments if isinstance(one, judgekit.Judgment)]
                print(scored.id, score.shown, judged)
            case judgekit.Failure() as failure:
                print(scored.id, failure.kind)
print(judgekit.Report.read("runs/first").exit_code)
""",
        "1 1 0.6666666666666667\nhours 0.67 []\nsilent invalid_case\n3",
    ),
    Group(
        "Call a judge",
        "A judge is anything with `model` and `async ask(request) -> Reply`; a parameter `judge` "
        "also takes a model string or an async function of a request.",
        (
            "Judge",
            "LiteLLMJudge",
            "DecisionJudge",
            "ManualJudge",
            "RecordedJudge",
            "FakeJudge",
            "LimitedJudge",
            "Request",
            "Form",
            "Reply",
        ),
        """
from judgekit.types import Try

hosted = judgekit.LiteLLMJudge("openai/gpt-6-luna")  # sends no request yet
quick = judgekit.DecisionJudge("openai/gpt-6-luna", api="decisions")  # yes, no, and levels alone
careful = judgekit.LimitedJudge(hosted, concurrency=4, max_cost=2.0)
person = judgekit.ManualJudge("alex")
Path("theirs.jsonl").write_text('{"case": "hours", "rubric": "quality", "failed": "refused"}\\n')
theirs = judgekit.RecordedJudge("theirs.jsonl")
print(hosted.model, careful.model, person.model, theirs.model)


class Stern:
    \"\"\"Answer every question with the lowest label.\"\"\"

    model = "my/stern"

    async def ask(self, request: judgekit.Request) -> judgekit.Reply:
        form: judgekit.Form = request.form
        answers = {q.id: {"reason": "No.", "value": q.labels[-1]} for q in form.questions}
        return judgekit.Reply(tries=(Try(text=json.dumps(answers), finish="stop"),))


judge: judgekit.Judge = Stern()
stern = judgekit.RubricMetric("helpfulness", judge=judge)
made_up = judgekit.RubricMetric("quality", judge=judgekit.FakeJudge())
example = judgekit.Case(id="hours", input="When do you open?", output="At nine.")
strict = judgekit.score_sync(example, stern)
assert isinstance(strict, judgekit.Score)
print(strict.value, judgekit.score_sync(example, made_up).type)
""",
        "openai/gpt-6-luna openai/gpt-6-luna manual/alex recorded/theirs\n0.0 score",
    ),
    Group(
        "Record and replay",
        "A cassette wraps a judge: see [cassettes](cassettes.md).",
        ("Cassette", "RecordMode"),
        """
for mode in (judgekit.RecordMode.NEW_EPISODES, "none"):
    with judgekit.Cassette.open("tape.jsonl", judgekit.FakeJudge(), record=mode) as recorded:
        judgekit.score_sync(example, judgekit.RubricMetric("quality", judge=recorded))
        print(recorded.added, recorded.unused)
""",
        "1 0\n0 0",
    ),
    Group(
        "Judge by a rubric",
        "A rubric is a file: see [rubrics](rubrics.md).",
        (
            "RubricMetric",
            "PairwiseMetric",
            "Jury",
            "Distribution",
            "PromptAlignment",
            "Rubric",
            "load_rubric",
            "lint_rubrics",
            "rubric_stats",
        ),
        """
Path("kind.jinja").write_text(
    "---\\nname: kind\\nextends: base\\ndescription: Is the answer kind?\\n"
    "criteria:\\n  kind: {kind: boolean, text: Would a tired customer feel taken seriously?}\\n---\\n"
)
rubric = judgekit.load_rubric("kind.jinja")
assert isinstance(rubric, judgekit.Rubric)
kind = judgekit.RubricMetric(rubric, judge=judgekit.FakeJudge())
judgekit.RubricMetric(criteria={"polite": "Is the answer polite?"}, judge="fake/judge")
print(rubric.name, judgekit.score_sync(example, kind).type)
print([finding.rule for finding in judgekit.lint_rubrics(["kind.jinja"]).findings])
statistics = judgekit.rubric_stats(judgekit.evaluate_sync([example], [kind]))
print([one.findings for one in statistics.criteria])

aligned = judgekit.PromptAlignment(judge=judgekit.FakeJudge(), mode="user")
score = judgekit.score_sync(example, aligned)
assert isinstance(score, judgekit.Score)
print(score.details["effective_mode"])

pair = judgekit.Case(id="p", input="When?", output="At nine.", baseline="In the morning.")
better = judgekit.PairwiseMetric("preference", judge=judgekit.FakeJudge())
score = judgekit.score_sync(pair, better)
assert isinstance(score, judgekit.Score)
print([opinion.order for opinion in score.opinions])

jury = judgekit.Jury(judgekit.FakeJudge(), samples=2, order="balanced", readout="expected")
score = judgekit.score_sync(pair, judgekit.RubricMetric(rubric, judge=jury))
assert isinstance(score, judgekit.Score)
(part,) = score.parts
assert isinstance(part.distribution, judgekit.Distribution)
print(part.distribution.source)
""",
        "kind score\n['missing-tests']\n"
        "[{'few': 'has 1 of the 20 cases that a conclusion needs'}]\nuser\n"
        "['written', 'swapped']\nsamples",
    ),
    Group(
        "Define and combine metrics",
        "See [extending](extending.md).",
        ("Metric", "metric", "Combined", "WithFallback", "HostedEmbedder"),
        """
@judgekit.metric("says_please")
def says_please(case: judgekit.Case) -> bool:
    return "please" in (case.output or "").lower()


class Short(judgekit.Metric):
    \"\"\"1 if the answer has at most 20 characters, else 0.\"\"\"

    name = "short"

    async def score(self, case: judgekit.Case) -> judgekit.Score:
        return judgekit.Score(value=float(len(case.output or "") <= 20))


both = judgekit.Combined(name="both", of=(says_please, Short()), combine="mean")
safe = judgekit.WithFallback(kind, says_please)  # the second one if no judge answers
score = judgekit.score_sync(example, both)
assert isinstance(score, judgekit.Score)
print(score.value, safe.name)

vectors = judgekit.HostedEmbedder(judgekit.FakeJudge(model="fake/vectors"))
near = judgekit.create_metric("similarity", embedder=vectors)
pair = judgekit.Case(id="a", output="At nine.", reference="At nine.")
score = judgekit.score_sync(pair, near)
assert isinstance(score, judgekit.Score)
print(score.value)
""",
        "0.5 kind\n1.0",
    ),
    Group(
        "Measure brand voice",
        "See [brand voice](metrics/brand-voice.md).",
        ("Persona", "load_persona", "Authenticity", "BrandVoice"),
        """
from judgekit.metrics.brand_voice import Authenticity, BrandVoice, Persona, load_persona

Path("acme.yaml").write_text("name: Acme\\nexemplars: ['Happy to help! Next is a photo.']\\n")
persona = load_persona("acme.yaml")
assert isinstance(persona, Persona)
reply = judgekit.Case(id="a", input="Broken.", output="Happy to help! Next is a label.")
for voice in (Authenticity(persona=persona), BrandVoice(persona=persona)):
    score = judgekit.score_sync(reply, voice)
    assert isinstance(score, judgekit.Score)
    print(voice.name, score.shown)
""",
        "authenticity 0.78\nbrand_voice 0.86",
        module="judgekit.metrics.brand_voice",
    ),
    Group(
        "Run a suite",
        "The same as `judgekit run`.",
        ("load_suite", "Suite", "Overrides", "run_suite_sync", "run_suite", "merge_shards"),
        """
Path("suite.yaml").write_text(
    "cases: {path: rows.jsonl, fields: {input: prompt, output: response}}\\n"
    "metrics: {length: {maximum: 3, threshold: 0.5}}\\n"
)
suite = judgekit.load_suite("suite.yaml")
assert isinstance(suite, judgekit.Suite)
report = judgekit.run_suite_sync(suite, out=Path("runs/second"))
again = asyncio.run(judgekit.run_suite(judgekit.load_suite("suite.yaml")))
print(report.metrics["length"].pass_rate, again.exit_code)
for shard in ("1/2", "2/2"):
    half = judgekit.load_suite("suite.yaml", judgekit.Overrides(shard=shard))
    judgekit.run_suite_sync(half, out=f"runs/half-{shard[0]}")
merged = judgekit.merge_shards("suite.yaml", ["runs/half-1", "runs/half-2"], out="runs/merged")
print(merged.figures.dataset == report.figures.dataset)
""",
        "1.0 0\nTrue",
    ),
    Group(
        "Batch jobs",
        "The same as `judgekit run --batch`; see [batch jobs](batch.md). The metrics of this example ask no judge, so nothing is sent.",
        ("submit", "submit_sync", "PendingRun"),
        """
pending = judgekit.submit_sync("suite.yaml", out="runs/later")
assert isinstance(pending, judgekit.PendingRun)
print(pending.jobs, pending.wait_sync(timeout=0), pending.collect_sync().exit_code)
other = asyncio.run(judgekit.submit([case], {"length": {"maximum": 4}}))
print(other.report.metrics["length"].mean)
""",
        "() True 0\n1.0",
    ),
    Group(
        "Compare runs, and a judge with human labels",
        "See [compare](compare.md), [correct](correct.md) and [rank models](ranking.md). These functions call no model.",
        ("compare", "Comparison", "agree", "correct_means", "CorrectedRun", "rank", "ModelRanking"),
        """
shorter = judgekit.Case(id="hours", input="And on Sundays?", output="From ten.")
judgekit.evaluate_sync([shorter], [length], out="runs/third")
found = judgekit.compare("runs/second", "runs/third")
assert isinstance(found, judgekit.Comparison)
print(found.pairs, found.regressions)

label = {"case": "hours", "metric": "length", "labeller": "ann", "value": 1}
Path("labels.jsonl").write_text(json.dumps(label) + "\\n")
print(len(judgekit.agree("runs/third", "labels.jsonl").criteria))
corrected = judgekit.correct_means("runs/third", "labels.jsonl")
assert isinstance(corrected, judgekit.CorrectedRun)
print(corrected.means[0].corrected.too_few)

votes = [{"prompt": n, "a": "x", "b": "y", "winner": "xyx"[n % 3]} for n in range(12)]
ranking = judgekit.rank(votes)
assert isinstance(ranking, judgekit.ModelRanking)
print([f"{one.model} {one.strength:.3f}" for one in ranking.models])
""",
        "1 ()\n1\n1 of the 50 labels that a corrected mean needs\n['x 0.347', 'y -0.347']",
    ),
    Group(
        "Let the system under test answer",
        "See [answers](answers.md).",
        ("answer_cases_sync", "answer_cases", "AnsweredCases"),
        """
answers = judgekit.answer_cases_sync([silent], judgekit.FakeJudge(model="fake/assistant"))
assert isinstance(answers, judgekit.AnsweredCases)
print(dict(answers.states), answers.exit_code)
assert asyncio.run(judgekit.answer_cases([silent], judgekit.FakeJudge())).cases[0].output
""",
        "{'answered': 1} 0",
    ),
    Group(
        "Compute scores from your own verdicts",
        "The formula of prompt alignment alone. `judgekit.metrics.shares` has the formulas of other metrics.",
        ("Analysis", "fold_prompt_alignment"),
        """
from judgekit.metrics.prompt_alignment import Analysis, fold_prompt_alignment

analysis = Analysis(intent=0.9, requirements=0.8, completeness=0.7, appropriateness=0.6)
print(round(fold_prompt_alignment(analysis, mode="user"), 3))
""",
        "0.8",
        module="judgekit.metrics.prompt_alignment",
    ),
    Group(
        "Handle errors",
        "A wrong setup raises an error before the first call. A row that is not a case raises one when it is read. Any other problem with a case gives a `Failure` in that row.",
        ("JudgekitError", "ConfigError", "CaseError"),
        """
try:
    judgekit.create_metric("lenght", maximum=3)
except judgekit.ConfigError as error:
    print(isinstance(error, judgekit.JudgekitError), error)


@judgekit.metric("dated")
def dated(case: judgekit.Case) -> bool:
    if "date" not in case.metadata:
        raise judgekit.CaseError("metadata has no date")
    return True


result = judgekit.score_sync(example, dated)
assert isinstance(result, judgekit.Failure)
print(result.message)
""",
        "True no metric named 'lenght'; did you mean 'length'?\nmetadata has no date",
    ),
)

SHOWN = {
    "AnsweredCases": ("exit_code",),
    "Authenticity": (),
    "BrandVoice": (),
    "Cassette": ("open", "added", "unused", "unused_keys", "notes", "flush", "close"),
    "Combined": (),
    "DecisionJudge": ("model", "ask"),
    "FakeJudge": ("model", "ask"),
    "HostedEmbedder": ("identity", "embed", "aembed"),
    "LimitedJudge": ("open", "ask"),
    "Jury": ("model", "with_settings"),
    "LiteLLMJudge": ("model", "ask"),
    "ManualJudge": ("model", "ask", "close"),
    "PairwiseMetric": (),
    "Overrides": (),
    "Pace": (),
    "PatternSet": (),
    "Persona": ("made_with",),
    "PromptAlignment": (),
    "Row": ("to_json",),
    "RunLabels": ("read",),
    "Rubric": ("render", "variant", "with_parameters", "check_mode"),
    "RecordedJudge": ("model", "ask"),
    "RubricMetric": ("requests", "score"),
    "Store": (),
    "Suite": ("cases", "manifest", "where", "close"),
    "Variant": (),
    "WithFallback": (),
}
"""Members to show; for other classes, every public member."""
