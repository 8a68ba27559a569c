"""Scoring one case in a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgekit.cli.running import print_notes, run_with_progress
from judgekit.cli.screen import colourful, columns
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.core.input_file import MAX_PLAIN, read_text
from judgekit.core.score import Failure
from judgekit.core.wrong_file import nearby
from judgekit.datasets import load_cases
from judgekit.metrics.catalogue import STAND_INS
from judgekit.metrics.registry import find
from judgekit.report.text import row_text
from judgekit.suite.file import Overrides
from judgekit.suite.suite import Suite, build_suite


def score_and_print(
    *,
    texts: Mapping[str, str | None],
    lists: Mapping[str, Sequence[str] | None],
    case: str | None,
    metrics: Sequence[str],
    rubrics: Sequence[str],
    options: Mapping[str, Any],
    cassette: Path | None,
    overrides: Overrides,
    as_json: bool,
) -> int:
    """Score a case given by flags, print the results, return the exit code."""
    suite = _suite(metrics, rubrics, options, cassette, overrides)
    subject = _case(texts, lists, case)
    suite.cases = lambda: iter([subject])  # type: ignore[method-assign]
    report = run_with_progress(suite, quiet=True)
    rows = next(iter(report.results)).rows
    if as_json:
        data = [json.loads(row.to_json()) for row in rows]
        print(json.dumps(data if len(data) > 1 else data[0], ensure_ascii=False, indent=1))
    else:
        print("\n".join(row_text(r, width=columns(), colour=colourful()) for r in rows), end="")
    print_notes(suite)
    return 3 if any(isinstance(row.result, Failure) for row in rows) else 0


def _suite(
    metrics: Sequence[str],
    rubrics: Sequence[str],
    options: Mapping[str, Any],
    cassette: Path | None,
    overrides: Overrides,
) -> Suite:
    given = {name: value for name, value in options.items() if value is not None}
    wanted: dict[str, Any] = {}
    for name in metrics:
        wanted[name] = dict(given)
    for rubric in rubrics:
        name = Path(rubric).stem
        if name in wanted:
            raise ConfigError(f"--rubric {rubric}: another one is named {name!r}; score by one")
        wanted[name] = {"rubric": str(Path(rubric)), **given}
    if not wanted:
        raise ConfigError(
            "say what to score by: --metric NAME or --rubric FILE (judgekit metrics lists them)"
        )
    data: dict[str, Any] = {"metrics": wanted}
    if cassette is not None:
        data["cassette"] = str(cassette)
    if overrides.judge is None and not overrides.no_judge and _judged(wanted):
        judged = [name for name, entry in wanted.items() if _judged({name: entry})]
        stand_in = all(name in STAND_INS for name in judged)
        hint = ", or --no-judge for the computed stand-in" if stand_in else ""
        raise ConfigError(f"say who judges: --judge MODEL{hint}")
    return build_suite(data, base=Path(), overrides=overrides)


def _judged(wanted: Mapping[str, Any]) -> bool:
    # All are looked up, so that a wrong name is said before a missing judge.
    judged = [bool(entry.get("rubric")) or find(name).judged for name, entry in wanted.items()]
    return any(judged)


def _case(
    texts: Mapping[str, str | None], lists: Mapping[str, Sequence[str] | None], case: str | None
) -> Case:
    given = [case, *texts.values(), *(text for several in lists.values() for text in several or ())]
    if given.count("-") > 1:
        raise ConfigError("standard input is one text: give one `-`, and the others as @FILE")
    row: dict[str, Any] = {}
    if case is not None:
        try:
            row = json.loads(_text(case))
        except (ValueError, RecursionError) as exc:
            raise ConfigError(
                f'--case is not JSON: {exc}; write {{"input": "...", "output": "..."}}'
            ) from exc
        if not isinstance(row, dict):
            raise ConfigError("--case is not a JSON object")
    for name, text in texts.items():
        if text is not None:
            row[name] = _text(text)
    for name, several in lists.items():
        if several:
            row[name] = [_text(text) for text in several]
    row.setdefault("id", "case")
    try:
        return next(load_cases([row]))
    except DatasetError as exc:
        # There is one row, and whoever typed it never saw it as one.
        raise ConfigError(str(exc).removeprefix("row 1: "), where="--case" if case else "") from exc


def _text(text: str) -> str:
    """Return a text given as such, as `@FILE`, or as `-` for standard input."""
    try:
        if text == "-":
            return sys.stdin.read()
        if text.startswith("@"):
            return read_text(Path(text[1:]), most=MAX_PLAIN)
    except FileNotFoundError as exc:
        hint = nearby(Path(text[1:])) or "; check the path"
        raise ConfigError(f"{text}: no such file{hint}") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{text}: cannot be read: {exc}") from exc
    return text
