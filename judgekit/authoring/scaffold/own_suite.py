"""Write a suite for a file of cases that a user already has: `judgekit init --cases FILE`."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from judgekit.authoring.scaffold.columns import CasesTable, fields_of
from judgekit.authoring.scaffold.interview import InterviewPrompt, judge_interview, prompt
from judgekit.authoring.scaffold.project import (
    SCHEMAS,
    ProjectPlan,
    agents_text,
    ignore_runs,
    scalar,
    write_agents,
    write_all,
)
from judgekit.authoring.schemas import small_schema_text
from judgekit.core.errors import ConfigError
from judgekit.core.example_model import EXAMPLE_MODEL
from judgekit.datasets import load_cases
from judgekit.rubric.library import builtin_folder, rubric_names
from judgekit.rubric.load import load_rubric

CHECKED = 10_000
"""Number of cases to read with the mapping before the suite is written."""
RUBRICS = "rubrics"
_ASKED = ("output", "input", "reference", "id", "context", "messages")
_COMPUTED = "length"


class OwnSuite(NamedTuple):
    """A suite for given cases."""

    table: CasesTable
    mapping: Mapping[str, str]
    """Column -> field."""
    plan: ProjectPlan
    rubrics: tuple[str, ...] = ()
    """Names or files of the rubrics; by default, those of the folder `rubrics`."""


def columns_interview(
    table: CasesTable, guessed: Mapping[str, str]
) -> Generator[InterviewPrompt, str, dict[str, str]]:
    """Ask which column is which field; a column is asked for once."""
    mapping: dict[str, str] = {}
    for field in _ASKED:
        left = [column for column in table.columns if column.name not in mapping]
        guess = next((name for name, one in guessed.items() if one == field), "-")
        if not left:
            break
        if field == "messages" and ("output" in mapping.values() or guess == "-"):
            continue
        choices = tuple((c.name, c.example[:60] or "(empty)") for c in left)
        none = ("-", "no column")
        default = guess if guess in [c.name for c in left] else "-"
        name = yield prompt(f"column_{field}", default=default, choices=(*choices, none))
        if name != "-":
            mapping[name] = field
    return mapping


def own_interview(
    table: CasesTable, guessed: Mapping[str, str], plan: ProjectPlan
) -> Generator[InterviewPrompt, str, OwnSuite]:
    """Ask which column is what, and for the judge if the plan has none."""
    mapping = yield from columns_interview(table, guessed)
    if plan.judge is None:
        chosen = yield from judge_interview(plan.name)
        plan = plan._replace(judge=chosen.judge, api_base=chosen.api_base)
    return OwnSuite(table, mapping, plan)


def check_mapping(table: CasesTable, mapping: Mapping[str, str]) -> None:
    """Check that the answer to score is known.

    Raises:
        ConfigError: no column is the output; with the columns and an example of a flag.
    """
    if {"output", "messages"}.intersection(mapping.values()):
        return
    first = next((name for name in table.names if name not in mapping), "COLUMN")
    flag = quote(f"{first}=output")
    no_header = any(name.isdecimal() or name.strip()[-1:] in _SENTENCE for name in table.names)
    advice = "; if line 1 is no header, add one" if no_header else ""
    flag += advice
    columns = ", ".join(repr(" ".join(name.split())) for name in table.names[:20])
    raise ConfigError(
        f"which column has the answer to score? the columns are {columns}; write --map {flag}",
        where=str(table.path),
    )


_SENTENCE = (".", "?", "!")
"""What ends a sentence, and hardly a name of a column."""


def count_cases(own: OwnSuite) -> tuple[int, bool]:
    """Read the cases with the mapping; return their number, and whether there are more.

    Raises:
        DatasetError: a row cannot be read.
    """
    fields = fields_of(own.mapping, own.table)
    cases = load_cases(own.table.path, fields=fields, **own.table.settings)  # type: ignore[arg-type]
    count = sum(1 for _ in islice(cases, CHECKED))
    return count, count == CHECKED


def write_own_suite(folder: Path, own: OwnSuite, *, force: bool = False) -> list[Path]:
    """Write the suite, the schemas for editors and `.gitignore`; return the files.

    Raises:
        ConfigError: a file exists, a rubric is wrong or needs a field that the cases lack.
    """
    metrics = _metrics(folder, own)
    lines = [f"# yaml-language-server: $schema={SCHEMAS}/suite.json"]
    lines += [f"name: {scalar(own.plan.name)}", *_cases_lines(_cases(folder, own))]
    judge = own.plan.judge
    if judge is not None and judge != "none":
        address = f", api_base: {scalar(own.plan.api_base)}" if own.plan.api_base else ""
        lines.append(f"judge: {{model: {scalar(judge)}{address}}}")
    elif judge == "none":
        lines.append("judge: none")
    else:
        lines.append(f"judge: {EXAMPLE_MODEL}  # your judge; docs/judges.md lists the kinds")
    if judge != "none":
        lines.append("cassette: cassettes/suite.jsonl  # the replies; commit it to run offline")
    lines += ["metrics:", *metrics]
    files = {"suite.yaml": "\n".join(lines) + "\n"}
    agents_text(folder, judged=judge != "none")
    paths = write_all(folder, files, force=force)
    for kind in ("suite", "rubric", "cases"):
        if not os.path.lexists(folder / SCHEMAS / f"{kind}.json"):
            paths += write_all(folder / SCHEMAS, {f"{kind}.json": small_schema_text(kind)})
    write_agents(folder, judged=judge != "none")
    ignore_runs(folder)
    return paths


def _cases(folder: Path, own: OwnSuite) -> dict[str, Any]:
    path = own.table.path
    shown = os.path.relpath(path, folder) if not path.is_absolute() else str(path)
    entry: dict[str, Any] = {"path": Path(shown).as_posix(), **own.table.settings}
    fields = fields_of(own.mapping, own.table)
    return {**entry, "fields": fields} if fields else entry


def _cases_lines(entry: Mapping[str, Any]) -> list[str]:
    if len(entry) == 1:
        return [f"cases: {scalar(entry['path'])}"]
    lines = ["cases:"]
    lines += [f"  {key}: {scalar(value)}" for key, value in entry.items() if key != "fields"]
    if fields := entry.get("fields"):
        lines.append("  fields:  # field of a case: column; all other columns are metadata")
        lines += [f"    {field}: {scalar(column)}" for field, column in fields.items()]
    return lines


def _metrics(folder: Path, own: OwnSuite) -> list[str]:
    """Return the lines of the metrics: the rubrics, or what scores without any."""
    if own.plan.judge == "none":
        return [f"  {_COMPUTED}: {{maximum: 200}}  # words; judgekit metrics lists all metrics"]
    fields = set(own.mapping.values()) | set(own.table.names)
    names = own.rubrics or own_rubrics(folder) or ("quality",)
    lines = []
    for name in names:
        local = folder / RUBRICS / f"{name}.jinja"
        rubric = load_rubric(local if local.exists() else name)
        # Of a chat, the messages give the input.
        if missing := [
            field for field in rubric.requires if field not in fields and "messages" not in fields
        ]:
            flag = quote(f"COLUMN={missing[0]}")
            raise ConfigError(
                f"the rubric {rubric.name} needs {missing[0]}, and no column is that; "
                f"write --map {flag}, or name another rubric with --rubric"
            )
        threshold = "{threshold: 0.7}  # the score a case needs to pass"
        if "/" in name or name.endswith(".jinja"):
            beside = name if Path(name).is_absolute() else Path(os.path.relpath(name, folder))
            threshold = f"{{rubric: {scalar(Path(beside).as_posix())}, threshold: 0.7}}"
        lines.append(f"  {scalar(rubric.name)}: {threshold}")
    return lines


def own_rubrics(folder: Path) -> tuple[str, ...]:
    """Return the rubrics of a project; else those in `rubrics` of the working folder, as files.

    `judgekit rubric new` writes there, whatever the folder of the project is.
    """
    if names := rubric_names(folder / RUBRICS):
        return tuple(sorted(names))
    here = Path(RUBRICS)
    if not here.is_dir() or here.resolve() == builtin_folder().resolve():
        return ()
    return tuple((here / f"{name}.jinja").as_posix() for name in sorted(rubric_names(here)))


def next_own_steps(folder: Path, own: OwnSuite) -> list[tuple[str, str]]:
    """Return the next commands and their purposes."""
    cd = "" if folder.resolve() == Path().resolve() else f"cd {quote(str(folder))} && "
    if own.plan.judge == "none":
        return [(f"{cd}judgekit run", "scores the cases, without a judge")]
    steps = [(f"{cd}judgekit run --record new_episodes", "calls your judge and keeps its replies")]
    if not own.rubrics and not own_rubrics(folder):
        steps.append((f"{cd}judgekit rubric new", "writes a rubric of your own"))
    return steps
