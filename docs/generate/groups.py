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


GROUPS = (
    Group(
        "Read cases",
        "A case is one thing to score: an answer and its input.",
        ("Case", "Message", "ToolCall", "load_cases"),
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
frames = [
    (judgekit.to_pandas, judgekit.from_pandas),
    (judgekit.to_polars, judgekit.from_polars),
    (judgekit.to_hf, judgekit.from_hf),
]
for there, back in frames:
    print([case.id for case in back(there(read))])
""",
        "['hours']\n['hours']\n['hours']",
    ),
    Group(
        "Score",
        "Score cases with metrics, without a suite file.",
        ("score_sync", "evaluate_sync", "evaluate", "create", "metric_names"),
        """
import asyncio

length = judgekit.create("length", maximum=3)
score = judgekit.score_sync(case, length)
print(score.shown, score.reason)

report = judgekit.evaluate_sync([case], [length], gates={"length": {"mean": 0.9}})
again = asyncio.run(judgekit.evaluate([case], [length], thresholds={"length": 0.5}))
print(report.exit_code, again.metrics["length"].pass_rate, "rouge" in judgekit.metric_names())
""",
        "0.67 4 words; wanted at most 3.\n1 1.0 True",
    ),
    Group(
        "Read results",
        "A result is a `Score` or a `Failure`; its `type` says which. A report has all results.",
        ("Report", "Row", "Score", "Failure", "Judgment"),
        """
silent = judgekit.Case(id="silent", input="Anybody there?")
report = judgekit.evaluate_sync([case, silent], [length], out="runs/first")
for scored, rows in report.results:
    for row in rows:
        assert isinstance(row, judgekit.Row)
        match row.result:
            case judgekit.Score() as score:
                judged = [one for one in score.judgments if isinstance(one, judgekit.Judgment)]
                print(scored.id, score.shown, judged)
            case judgekit.Failure() as failure:
                print(scored.id, failure.kind)
print(judgekit.Report.read("runs/first").exit_code)
""",
        "hours 0.67 []\nsilent invalid_case\n3",
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
            "Reply",
        ),
        """
judge = judgekit.LiteLLMJudge("openai/gpt-6-luna")  # sends no request yet
quick = judgekit.DecisionJudge("openai/gpt-6-luna", api="decisions")  # yes, no, and levels alone
careful = judgekit.LimitedJudge(judge, concurrency=4, max_cost=2.0)
person = judgekit.ManualJudge("alex")
Path("theirs.jsonl").write_text('{"case": "hours", "rubric": "quality", "failed": "refused"}\\n')
theirs = judgekit.RecordedJudge("theirs.jsonl")
print(judge.model, careful.model, person.model, theirs.model)


class Stern:
    \"\"\"Answer every question with the lowest label.\"\"\"

    model = "my/stern"

    async def ask(self, request: judgekit.Request) -> judgekit.Reply:
        answers = {q.id: {"reason": "No.", "value": q.labels[-1]} for q in request.form.questions}
        return judgekit.Reply(tries=({"text": json.dumps(answers), "finish": "stop"},))


judge: judgekit.Judge = Stern()
stern = judgekit.RubricMetric("quality", judge=judge)
made_up = judgekit.RubricMetric("quality", judge=judgekit.FakeJudge())
example = judgekit.Case(id="hours", input="When do you open?", output="At nine.")
print(judgekit.score_sync(example, stern).value, judgekit.score_sync(example, made_up).type)
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
        metric = judgekit.RubricMetric("quality", judge=recorded)
        judgekit.score_sync(example, metric)
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
metric = judgekit.RubricMetric(rubric, judge=judgekit.FakeJudge())
print(rubric.name, judgekit.score_sync(example, metric).value in (0.0, 1.0))
print([finding.rule for finding in judgekit.lint_rubrics(["kind.jinja"]).findings])
judged = judgekit.evaluate_sync([example], [metric])
print([one.findings for one in judgekit.rubric_stats(judged).criteria])

aligned = judgekit.PromptAlignment(judge=judgekit.FakeJudge(), mode="user")
print(judgekit.score_sync(example, aligned).details["effective_mode"])

pair = judgekit.Case(id="p", input="When?", output="At nine.", baseline="In the morning.")
better = judgekit.PairwiseMetric("preference", judge=judgekit.FakeJudge())
print([opinion.order for opinion in judgekit.score_sync(pair, better).opinions])

jury = judgekit.Jury(judgekit.FakeJudge(), samples=2, order="balanced", readout="expected")
(part,) = judgekit.score_sync(pair, judgekit.RubricMetric(rubric, judge=jury)).parts
print(isinstance(part.distribution, judgekit.Distribution), part.distribution.source)
""",
        "kind True\n['missing-tests']\n"
        "[{'few': 'has 1 of the 20 cases that a conclusion needs'}]\nuser\n"
        "['written', 'swapped']\nTrue samples",
    ),
    Group(
        "Define and combine metrics",
        "See [extending](extending.md).",
        ("metric", "Combined", "WithFallback", "HostedEmbedder"),
        """
@judgekit.metric("says_please")
def says_please(case):
    return "please" in case.output.lower()


both = judgekit.Combined(name="both", of=(says_please, length), combine="min")
safe = judgekit.WithFallback(metric, says_please)  # the second one if no judge answers
print(judgekit.score_sync(example, both).value, safe.name)

vectors = judgekit.HostedEmbedder(judgekit.FakeJudge(model="fake/vectors"))
near = judgekit.create("similarity", embedder=vectors)
pair = judgekit.Case(id="a", output="At nine.", reference="At nine.")
print(judgekit.score_sync(pair, near).value)
""",
        "0.0 kind\n1.0",
    ),
    Group(
        "Measure brand voice",
        "See [brand voice](metrics/brand-voice.md).",
        ("Persona", "load_persona", "Authenticity", "BrandVoice"),
        """
Path("acme.yaml").write_text("name: Acme\\nexemplars: ['Happy to help! Next is a photo.']\\n")
persona = judgekit.load_persona("acme.yaml")
assert isinstance(persona, judgekit.Persona)
reply = judgekit.Case(id="a", input="Broken.", output="Happy to help! Next is a label.")
for metric in (judgekit.Authenticity(persona=persona), judgekit.BrandVoice(persona=persona)):
    print(metric.name, judgekit.score_sync(reply, metric).value > 0.5)
""",
        "authenticity True\nbrand_voice True",
    ),
    Group(
        "Run a suite",
        "The same as `judgekit run`.",
        ("load_suite", "Suite", "run_suite_sync", "run_suite", "merge_shards"),
        """
from judgekit.suite.overrides import Overrides

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
    half = judgekit.load_suite("suite.yaml", Overrides(shard=shard))
    judgekit.run_suite_sync(half, out=f"runs/half-{shard[0]}")
merged = judgekit.merge_shards("suite.yaml", ["runs/half-1", "runs/half-2"], out="runs/merged")
print(merged.figures.dataset == report.figures.dataset)
""",
        "1.0 0\nTrue",
    ),
    Group(
        "Compare runs, and a judge with human labels",
        "See [compare](compare.md), [correct](correct.md) and [rank models](ranking.md). These functions call no model.",
        ("compare", "Comparison", "agree", "correct", "CorrectedRun", "rank", "ModelRanking"),
        """
shorter = judgekit.Case(id="hours", input="And on Sundays?", output="From ten.")
judgekit.evaluate_sync([shorter], [length], out="runs/third")
found = judgekit.compare("runs/second", "runs/third")
assert isinstance(found, judgekit.Comparison)
print(found.pairs, found.regressions)

label = {"case": "hours", "metric": "length", "labeller": "ann", "value": 1}
Path("labels.jsonl").write_text(json.dumps(label) + "\\n")
print(len(judgekit.agree("runs/third", "labels.jsonl").criteria))
corrected = judgekit.correct("runs/third", "labels.jsonl")
assert isinstance(corrected, judgekit.CorrectedRun)
print(corrected.means[0].corrected.too_few)

votes = [{"prompt": n, "a": "x", "b": "y", "winner": "xyx"[n % 3]} for n in range(12)]
ranking = judgekit.rank(votes)
assert isinstance(ranking, judgekit.ModelRanking)
print([one.model for one in ranking.models], round(ranking.models[0].strength, 3))
""",
        "1 ()\n1\n1 of the 50 labels that a corrected mean needs\n['x', 'y'] 0.347",
    ),
    Group(
        "Let the system under test answer",
        "See [answers](answers.md).",
        ("answer_sync", "answer", "Answers"),
        """
answers = judgekit.answer_sync([silent], judgekit.FakeJudge(model="fake/assistant"))
assert isinstance(answers, judgekit.Answers)
print(dict(answers.states), answers.exit_code)
assert asyncio.run(judgekit.answer([silent], judgekit.FakeJudge())).cases[0].output
""",
        "{'answered': 1} 0",
    ),
    Group(
        "Compute scores from your own verdicts",
        "The formula of prompt alignment alone. `judgekit.metrics.shares` has the formulas of other metrics.",
        ("Analysis", "fold_prompt_alignment"),
        """
analysis = judgekit.Analysis(intent=0.9, requirements=0.8, completeness=0.7, appropriateness=0.6)
print(round(judgekit.fold_prompt_alignment(analysis, mode="user"), 3))
""",
        "0.8",
    ),
    Group(
        "Handle errors",
        "A wrong setup raises an error before the first call. A row that is not a case raises one when it is read. Any other problem with a case gives a `Failure` in that row.",
        ("JudgekitError", "ConfigError", "CaseError"),
        """
try:
    judgekit.create("lenght", maximum=3)
except judgekit.ConfigError as error:
    print(isinstance(error, judgekit.JudgekitError), error)


@judgekit.metric("dated")
def dated(case):
    if "date" not in case.metadata:
        raise judgekit.CaseError("metadata has no date")
    return True


print(judgekit.score_sync(example, dated).message)
""",
        "True no metric named 'lenght'; did you mean 'length'?\nmetadata has no date",
    ),
)

SHOWN = {
    "Answers": ("exit_code",),
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
    "Persona": ("made_with",),
    "PromptAlignment": (),
    "Row": ("to_json",),
    "Rubric": ("render", "variant", "with_parameters", "check_mode"),
    "RecordedJudge": ("model", "ask"),
    "RubricMetric": ("requests", "score"),
    "Suite": ("cases", "manifest", "where", "close"),
    "WithFallback": (),
}
"""Members to show; for other classes, every public member."""
