"""`judgekit evaluate`: score a benchmark with one evaluator, without a suite file."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from judgekit.cli.options import given, named_values, overrides
from judgekit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgekit.core.score import Row

EVALUATORS = {
    "alignment": "contrastive_alignment",
    "coding": "code",
    "f1": "token_f1",
    "nlp": "quality",
    "oracle": "quality",
}
"""Names of evaluators in other tools -> metrics. None of them is the name of another metric or
rubric: a name means the same here and in a suite."""


def evaluate(
    benchmark: str | None = None,
    evaluator: str | None = None,
    num_samples: int | None = None,
    judge_model: str | None = None,
    rubric: str | None = None,
    reference: str | None = None,
    option: list[str] | None = None,
    positive_examples: Path | None = None,
    negative_examples: Path | None = None,
    batch_size: int = 8,
    format: str | None = None,
    api_base: str | None = None,
    param: list[str] | None = None,
    cassette: Path | None = None,
    record: str | None = None,
    no_judge: bool = False,
    out: Path | None = None,
    print_suite: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Score a benchmark with one evaluator, without a suite file.

    The benchmark contains the answers to score; `judgekit answer` adds those of a model.
    --print-suite prints the suite that this command runs.

    Exit codes: 0 passed, 2 the setup is wrong, 3 incomplete.
    """
    from judgekit.cli.output import notes_of, print_error, print_run, run_with_progress
    from judgekit.cli.score import check_judge
    from judgekit.core.yaml_file import to_yaml
    from judgekit.datasets.case_builder import Shape
    from judgekit.suite.suite import build_suite

    if benchmark is None:
        raise ConfigError("no cases are given: add --cases FILE")
    if benchmark in get_args(Shape) and not Path(benchmark).exists():
        message = f"--cases {benchmark}: judgekit downloads no benchmark"
        advice = "save its rows as JSON Lines with the answers to score, and add --format"
        raise ConfigError(f"{message}; {advice} {benchmark}")
    options = given(positive_examples=positive_examples, negative_examples=negative_examples)
    options |= given(**named_values("--option", option))
    metrics = _metrics(evaluator, rubric, options, format=format)
    if judge_model is None and not no_judge and record != "none":
        check_judge(metrics)
    fields = given(reference=reference) or None
    address, params = api_base or None, named_values("--param", param) or None
    data = given(
        name=next(iter(metrics)),
        cases=given(path=benchmark, format=format, limit=num_samples, fields=fields),
        judge=given(model=judge_model, api_base=address, params=params) if judge_model else None,
        cassette=cassette,
        metrics=metrics,
        limits={"concurrency": batch_size},
    )
    # Naming a judge allows calls, as in `judgekit run`.
    chosen = overrides({"judge": judge_model, "record": record, "no_judge": no_judge})
    suite = build_suite(data, base=Path(), overrides=chosen)
    if print_suite:
        typer.echo(to_yaml(data), nl=False)
        raise typer.Exit
    report = run_with_progress(suite, out=out, quiet=quiet or json)
    notes = notes_of(suite)
    if not json:
        print_run(report, quiet=quiet, notes=notes)
        raise typer.Exit(report.exit_code)
    for scored in report.results:
        for row in scored.rows:
            print(json_.dumps(eval_result(row), ensure_ascii=False))
    for note in () if quiet else notes:
        print_error(note)
    raise typer.Exit(report.exit_code)


def eval_result(row: Row) -> dict[str, Any]:
    """Return a row with the names that evaluators of other tools use.

    These are `score` (on the scale of the report's text; may be `None`), `ground_truth`,
    `method_used`, `confidence` (0..1, `None` if the metric has none), `details` and `meta`. In
    addition, there are `case`, `evaluator`, `status`, `scale`, `value` (the score without the
    scale), `reason` and `parts` (as in the rows of a run), and `error` for a failure.
    """
    from judgekit.core.score import Failure

    result = row.result
    begin = {"case": row.case, "evaluator": row.metric}
    if isinstance(result, Failure):
        error = {"kind": result.kind, "message": result.message}
        return {**begin, "status": "failed", "score": None, "error": error}
    plain = json_.loads(row.to_json())["result"]
    return {
        **begin,
        "status": result.status,
        # 12 digits, so that a factor of 10 or 100 adds no binary remainder.
        "score": None if result.value is None else round(result.value * result.scale, 12),
        "scale": result.scale,
        "value": result.value,
        "reason": result.reason,
        "parts": plain.get("parts", []),
        "ground_truth": plain.get("ground_truth"),
        "method_used": result.method or result.source,
        "confidence": result.confidence,
        "details": plain.get("details", {}),
        "meta": plain.get("meta", {}),
    }


def _metrics(
    evaluator: str | None, rubric: str | None, options: dict[str, Any], *, format: str | None
) -> dict[str, dict[str, Any]]:
    """Return the `metrics` of the suite.

    Raises:
        ConfigError: the evaluator is unknown or missing.
    """
    from judgekit.core.suggest import suggest
    from judgekit.metrics.benchmarks.task import PRESETS
    from judgekit.metrics.registry import metric_names

    if rubric is not None:
        if evaluator not in (None, "oracle"):
            raise ConfigError(f"--rubric belongs to the metric oracle, not to {evaluator}")
        return {Path(rubric).stem: {"rubric": rubric, **options}}
    if evaluator is None:
        advice = "add --metric NAME (judgekit metrics lists them) or --rubric FILE"
        raise ConfigError(f"no metric is given: {advice}")
    known = sorted({*EVALUATORS, *metric_names()})
    name = EVALUATORS.get(evaluator, evaluator)
    if name not in known:
        hint = suggest(evaluator, known, otherwise="; judgekit metrics lists them")
        raise ConfigError(f"--metric: there is no {evaluator!r}{hint}")
    if name == "task" and "benchmark" not in options:
        if format not in PRESETS:
            kinds = ", ".join(PRESETS)
            raise ConfigError(f"the metric task needs --format with its benchmark: {kinds}")
        options = {**options, "benchmark": format}
    return {evaluator: {"metric": name, **options} if name != evaluator else options}
