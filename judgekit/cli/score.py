"""`judgekit score`: score one case."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from judgekit.cli.options import add_flags, given, named_values, overrides, settings
from judgekit.core.case_field import CASE_TEXTS, TEXTS
from judgekit.core.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from judgekit.core.case import Case
    from judgekit.core.score import Row

_EXAMPLE = 'write {"input": "...", "output": "..."}'


def score(
    command: typer.Context,
    suite: str | None = None,
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
    cache: str | None = None,
    tier: str | None = None,
    cassette: Path | None = None,
    record: str | None = None,
    param: list[str] | None = None,
    set: list[str] | None = None,
    no_judge: bool = False,
    json: bool = False,
    quiet: bool = False,
    **texts: Any,
) -> None:
    """Score one case and explain the score.

    Exit codes: 0 scored, 2 the setup is wrong, 3 no score, 4 pending in a batch job.
    """
    from judgekit.cli.output import print_json, print_notes, run_with_progress
    from judgekit.cli.screen import colourful, columns
    from judgekit.core.canonical import printable
    from judgekit.core.display.text import Paint
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
    subject = _case(texts, case)
    built.cases = lambda: iter([subject])  # type: ignore[method-assign]
    rows = next(iter(run_with_progress(built, quiet=True).results)).rows
    kinds = {row.result.kind for row in rows if isinstance(row.result, Failure)}
    code = (4 if "pending" in kinds else 3) if kinds else 0
    word = {0: "DONE", 3: "INCOMPLETE", 4: "PENDING"}[code]
    line = f"{word}: {printable(', '.join(map(_shown, rows)))}."
    if json:
        verdict = {"word": word, "line": line}
        print_json("score", {"rows": [json_.loads(r.to_json()) for r in rows], "verdict": verdict})
    elif not quiet:
        print("\n".join(row_text(r, width=columns(), colour=colourful()) for r in rows), end="")
    if not quiet:
        sys.stdout.flush()
        print_notes(built)
    if not json:
        paint = Paint(colour=colourful())
        print(paint(word, "bad" if code else "good") + line.removeprefix(word))
    raise typer.Exit(code)


def _shown(row: Row) -> str:
    """Return a row in two or three words: the value on the scale of its metric, or why not."""
    result = row.result
    if result.type == "failure":
        return f"{row.metric} has no score ({result.kind})"
    shown = result.status.replace("_", " ") if result.shown is None else f"{result.shown:g}"
    return f"{row.metric} {shown}"


# Each text of a case that is evidence has a flag; one that holds several may be repeated.
add_flags(score, {name: str if name in TEXTS else list[str] for name in CASE_TEXTS}, before="case")


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


def check_judge(metrics: Mapping[str, Mapping[str, Any]]) -> None:
    """Reject judged metrics, the `metrics` of a suite, without a judge.

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
        raise ConfigError(f"no judge is given: add --judge MODEL{hint}")


def _case(flags: Mapping[str, str | Sequence[str] | None], case: str | None) -> Case:
    from judgekit.datasets import load_cases

    texts = {
        name: [value] if isinstance(value, str) else list(value)
        for name, value in flags.items()
        if value is not None
    }
    every = [case, *(text for several in texts.values() for text in several)]
    if every.count("-") > 1:
        raise ConfigError("standard input can be read once: give one `-`, and the others as @FILE")
    row: dict[str, Any] = {}
    if case is not None:
        try:
            row = json_.loads(_text(case))
        except (ValueError, RecursionError) as exc:
            raise ConfigError(f"--case is not JSON: {exc}; {_EXAMPLE}") from exc
        if not isinstance(row, dict):
            raise ConfigError(f"--case is not a JSON object; {_EXAMPLE}")
    for name, several in texts.items():
        values = [_text(text) for text in several]
        if values:
            row[name] = values[0] if name in TEXTS else values
    row.setdefault("id", "case")
    try:
        return next(load_cases([row]))
    except DatasetError as exc:
        # The user typed flags, not a row.
        raise ConfigError(str(exc).removeprefix("row 1: "), where="--case" if case else "") from exc


def _text(text: str) -> str:
    """Return a text, the content of `@FILE`, or standard input for `-`."""
    from judgekit.core.input_file import MAX_PLAIN, home_path, nearby, read_text

    try:
        if text == "-":
            return sys.stdin.read()
        if text.startswith("@"):
            return read_text(home_path(text[1:]), most=MAX_PLAIN)
    except FileNotFoundError as exc:
        hint = nearby(home_path(text[1:])) or "; check the path"
        raise ConfigError(f"{text}: no such file{hint}") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{text}: cannot be read: {exc}; write a UTF-8 text file") from exc
    return text
