"""Beginning a project or a rubric in a terminal: what is asked, what is written, what is next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from judgekit.authoring.scaffold.interview import project_interview, rubric_interview
from judgekit.authoring.scaffold.newrubric import (
    after_rubric,
    draft_from,
    new_name_fault,
    write_rubric,
)
from judgekit.authoring.scaffold.pipeline import check_host, misplaced
from judgekit.authoring.scaffold.project import Plan, default_name, next_steps, write_project
from judgekit.cli.asking import hold, is_terminal
from judgekit.core.canonical import printable


def begin_project(
    folder: Path,
    *,
    name: str | None,
    judge: str | None,
    api_base: str | None,
    ci: str | None,
    force: bool,
    ask: bool,
) -> None:
    """Write a project, having asked for what no flag says."""
    if ci is not None:
        check_host(ci)
    plan = Plan(name or default_name(folder), judge=judge, api_base=api_base, ci=ci)
    if ask and judge is None and api_base is None and is_terminal():
        plan = hold(lambda: project_interview(plan.name))._replace(ci=ci)
    paths = write_project(folder, plan, force=force)
    typer.echo(f"{printable(plan.name)}: {len(paths)} files in {printable(str(folder))}")
    if ci is not None and (said := misplaced(folder, ci)):
        typer.echo(printable(said), err=True)
    _print_steps(next_steps(folder, plan))


def begin_rubric(
    name: str | None,
    *,
    description: str | None,
    criteria: Sequence[str],
    kind: str,
    requires: str,
    quotes: bool,
    folder: Path,
    force: bool,
    ask: bool,
) -> None:
    """Write a rubric, having asked for it unless flags say it."""
    if ask and not criteria and is_terminal():

        def fault(given: str) -> str | None:
            return new_name_fault(given, folder=folder, force=force)

        draft = hold(lambda: rubric_interview(name or "", name_fault=fault))
    else:
        draft = draft_from(name, description=description, criteria=criteria, kind=kind,
                           requires=requires, quotes=quotes)  # fmt: skip
    paths = write_rubric(draft, folder=folder, force=force)
    for path in paths:
        typer.echo(printable(str(path)))
    _print_steps(after_rubric(draft, folder=folder))


def _print_steps(steps: Sequence[tuple[str, str]]) -> None:
    for command, what in steps:
        typer.echo(f"  {command}  # {what}")
