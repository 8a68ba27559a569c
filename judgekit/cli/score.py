"""`judgekit score` and `judgekit evaluate`: score a case or a benchmark, without a suite file."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from judgekit.cli.options import given, named_values, overrides, settings
from judgekit.core.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from judgekit.core.case import Case
    from judgekit.core.score import Row

_EXAMPLE = 'write {"input": "...", "output": "..."}'


def score(
    command: typer.Context,
    suite: str | None = None,
    input: str | None = None,
    output: str | None = None,
    system: str | None = None,
    baseline: str | None = None,
    reference: list[str] | None = None,
    context: list[str] | None = None,
    case: str | None = None,
    metric: list[str] | None = None,
    rubric: list[str] | None = None,
    mode: str | None = None,
    scale: float | None = None,
    option: list[str] | None = None,
    positive_examples: Path | None = None,
    negative_examples: Path | None = None,
    judge: list[str] | None = None,
    api_base: str | None = None,
    cassette: Path | None = None,
    record: str | None = None,
    param: list[str] | None = None,
    set: list[str] | None = None,
    no_judge: bool = False,
    json: bool = False,
) -> None:
    """Score one case and explain the score.

    Exit codes: 0 scored, 2 the setup is wrong, 3 no score.
    """
    from judgekit.cli.output import print_notes, run_with_progress
    from judgekit.cli.screen import colourful, columns
    from judgekit.core.score import Failure
    from judgekit.report.text import row_text
    from judgekit.suite.suite import build_suite

    if suite is not None:
        raise ConfigError(
            f"score takes one case, given by flags; to run a suite: judgekit run {suite}"
            if suite.endswith((".yaml", ".yml"))
            else f"score takes flags only; write --output {suite!r}, --metric {suite!r}, ..."
        )
    options = given(mode=mode, scale=scale)
    options |= given(positive_examples=positive_examples, negative_examples=negative_examples)
    options |= given(**named_values("--option", option))
    metrics = _metrics(metric or [], rubric or [], options)
    if judge is None and not no_judge:
        check_judge(metrics)
    chosen = overrides(command.params, settings=settings(set, list(metrics)))
    data = given(metrics=metrics, cassette=cassette)
    built = build_suite(data, base=Path(), overrides=chosen)
    texts = {"input": input, "output": output, "system": system, "baseline": baseline}
    subject = _case(texts, {"reference": reference, "context": context}, case)
    built.cases = lambda: iter([subject])  # type: ignore[method-assign]
    rows = next(iter(run_with_progress(built, quiet=True).results)).rows
    if json:
        values = [json_.loads(row.to_json()) for row in rows]
        print(json_.dumps(values if len(values) > 1 else values[0], ensure_ascii=False, indent=1))
    else:
        print("\n".join(row_text(r, width=columns(), colour=colourful()) for r in rows), end="")
    print_notes(built)
    raise typer.Exit(3 if any(isinstance(row.result, Failure) for row in rows) else 0)


def _metrics(
    names: Iterable[str], rubrics: Iterable[str], options: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the `metrics` of a suite."""
    metrics = {name: dict(options) for name in names}
    for rubric in rubrics:
        name = Path(rubric).stem
        if name in metrics:
            raise ConfigError(
                f"--rubric {rubric}: another metric is named {name!r}; give one of the two"
            )
        metrics[name] = {"rubric": str(Path(rubric)), **options}
    if not metrics:
        raise ConfigError(
            "no metric is given: add --metric NAME or --rubric FILE (judgekit metrics lists them)"
        )
    return metrics


def check_judge(metrics: Mapping[str, Mapping[str, Any]], *, flag: str = "--judge") -> None:
    """Reject judged metrics without a judge.

    Args:
        metrics: the `metrics` of a suite.
        flag: the flag that names a judge.

    Raises:
        ConfigError: with the missing flags.
    """
    from judgekit.metrics.catalogue import STAND_INS
    from judgekit.metrics.registry import find

    # A list, not a generator, to report an unknown name before a missing judge.
    kinds = [(entry.get("metric", name), entry.get("rubric")) for name, entry in metrics.items()]
    judged = [kind for kind, rubric in kinds if rubric or find(kind).judged]
    if judged:
        stand_in = all(name in STAND_INS for name in judged)
        hint = ", or --no-judge for the computed fallback" if stand_in else ""
        raise ConfigError(f"no judge is given: add {flag} MODEL{hint}")


def _case(
    texts: Mapping[str, str | None], lists: Mapping[str, Sequence[str] | None], case: str | None
) -> Case:
    from judgekit.datasets import load_cases

    flags = [case, *texts.values(), *(text for several in lists.values() for text in several or ())]
    if flags.count("-") > 1:
        raise ConfigError("standard input can be read once: give one `-`, and the others as @FILE")
    row: dict[str, Any] = {}
    if case is not None:
        try:
            row = json_.loads(_text(case))
        except (ValueError, RecursionError) as exc:
            raise ConfigError(f"--case is not JSON: {exc}; {_EXAMPLE}") from exc
        if not isinstance(row, dict):
            raise ConfigError(f"--case is not a JSON object; {_EXAMPLE}")
    row |= {name: _text(text) for name, text in texts.items() if text is not None}
    row |= {name: [_text(text) for text in several] for name, several in lists.items() if several}
    row.setdefault("id", "case")
    try:
        return next(load_cases([row]))
    except DatasetError as exc:
        # The user typed flags, not a row.
        raise ConfigError(str(exc).removeprefix("row 1: "), where="--case" if case else "") from exc


def _text(text: str) -> str:
    """Return a text, the content of `@FILE`, or standard input for `-`."""
    from judgekit.core.input_file import MAX_PLAIN, nearby, read_text

    try:
        if text == "-":
            return sys.stdin.read()
        if text.startswith("@"):
            return read_text(Path(text[1:]), most=MAX_PLAIN)
    except FileNotFoundError as exc:
        hint = nearby(Path(text[1:])) or "; check the path"
        raise ConfigError(f"{text}: no such file{hint}") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{text}: cannot be read: {exc}; write a UTF-8 text file") from exc
    return text


EVALUATORS = {
    "alignment": "contrastive_alignment",
    "coding": "code",
    "f1": "token_f1",
    "nlp": "quality",
    "oracle": "quality",
    "safety": "toxicity",
}
"""Names of evaluators in other tools -> metrics; every other metric has one name."""


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
    from judgekit.cli.output import print_notes, print_report, run_with_progress
    from judgekit.core.yaml_file import to_yaml
    from judgekit.datasets.case_builder import Shape
    from judgekit.suite.suite import build_suite

    if benchmark is None:
        raise ConfigError("no benchmark is given: add --benchmark FILE, a file of cases")
    if benchmark in get_args(Shape) and not Path(benchmark).exists():
        message = f"--benchmark {benchmark}: judgekit downloads no benchmark"
        advice = "save its rows as JSON Lines with the answers to score, and add --format"
        raise ConfigError(f"{message}; {advice} {benchmark}")
    options = given(positive_examples=positive_examples, negative_examples=negative_examples)
    options |= given(**named_values("--option", option))
    metrics = _evaluator_metrics(evaluator, rubric, options, format=format)
    if judge_model is None and not no_judge and record != "none":
        check_judge(metrics, flag="--judge-model")
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
    if json:
        for scored in report.results:
            for row in scored.rows:
                print(json_.dumps(eval_result(row), ensure_ascii=False))
    else:
        print_report(report, out=out, as_json=False)
    if not quiet:
        print_notes(suite)
    raise typer.Exit(report.exit_code)


def eval_result(row: Row) -> dict[str, Any]:
    """Return a row with the names that evaluators of other tools use.

    These are `score` (may be `None`), `ground_truth`, `method_used`, `confidence` (0..1, `None` if
    the metric has none), `details` and `meta`. In addition, there are `case`, `evaluator` and
    `status`, and `error` for a failure.
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
        "score": result.value,
        "ground_truth": plain.get("ground_truth"),
        "method_used": result.method or result.source,
        "confidence": result.confidence,
        "details": plain.get("details", {}),
        "meta": plain.get("meta", {}),
    }


def _evaluator_metrics(
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
            raise ConfigError(f"--rubric belongs to the evaluator oracle, not to {evaluator}")
        return {Path(rubric).stem: {"rubric": rubric, **options}}
    if evaluator is None:
        advice = "add --evaluator NAME (judgekit metrics lists them) or --rubric FILE"
        raise ConfigError(f"no evaluator is given: {advice}")
    known = sorted({*EVALUATORS, *metric_names()})
    name = EVALUATORS.get(evaluator, evaluator)
    if name not in known:
        hint = suggest(evaluator, known, otherwise="; judgekit metrics lists them")
        raise ConfigError(f"--evaluator: there is no {evaluator!r}{hint}")
    if name == "task" and "benchmark" not in options:
        if format not in PRESETS:
            kinds = ", ".join(PRESETS)
            raise ConfigError(f"the evaluator task needs --format with its benchmark: {kinds}")
        options = {**options, "benchmark": format}
    return {evaluator: {"metric": name, **options} if name != evaluator else options}
