"""`judgekit init`: write a new project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgekit.authoring.scaffold.columns import CasesTable
    from judgekit.authoring.scaffold.project import ProjectPlan


def init(
    folder: Path = Path(),
    cases: Path | None = None,
    map: list[str] | None = None,
    sheet: str | None = None,
    rubric: list[str] | None = None,
    name: str | None = None,
    judge: str | None = None,
    api_base: str | None = None,
    criteria: Literal["rubric", "case"] | None = None,
    ci: str | None = None,
    force: bool = False,
    yes: bool = False,
) -> None:
    """Write a suite for your cases, or an example that runs offline.

    With --cases FILE, look at the columns of your file and write a suite that reads it: CSV with
    any delimiter, Excel, JSON or Parquet. Without, write an example: a suite, cases, their
    criteria and recorded replies. In a terminal, ask for what no flag gives. Replace existing
    files only with --force.
    """
    from judgekit.authoring.scaffold.project import ProjectPlan, default_name

    if cases is None and folder.is_file():
        message = "a file, not a folder to write to; if it has your cases"
        raise ConfigError(f"{message}: judgekit init --cases {folder}", where=str(folder))

    if cases is not None:
        from judgekit.authoring.scaffold.columns import look_at

        plan = ProjectPlan(name or default_name(folder), judge=judge, api_base=api_base)
        _init_cases(
            folder,
            look_at(cases, sheet=sheet),
            map or [],
            tuple(rubric or ()),
            plan,
            force=force,
            yes=yes,
        )
        return
    for flag, given in (("--map", map), ("--rubric", rubric), ("--sheet", sheet)):
        if given:
            raise ConfigError(f"{flag} belongs to --cases FILE, your own cases; add it")
    from judgekit.authoring.scaffold.interview import project_interview
    from judgekit.authoring.scaffold.project import (
        check_host,
        misplaced,
        next_steps,
        write_project,
    )
    from judgekit.cli.prompts import ask, is_terminal, print_steps

    if ci is not None:
        check_host(ci)
    plan = ProjectPlan(name or default_name(folder), judge=judge, api_base=api_base, ci=ci)
    if not yes and judge is None and api_base is None and is_terminal():
        plan = ask(lambda: project_interview(plan.name, criteria=criteria))._replace(ci=ci)
    else:
        plan = plan._replace(criteria=criteria or plan.criteria)
    paths = write_project(folder, plan, force=force)
    typer.echo(f"{printable(plan.name)}: {len(paths)} files in {printable(str(folder))}")
    if ci is not None and (warning := misplaced(folder, ci)):
        typer.echo(printable(warning), err=True)
    print_steps(next_steps(folder, plan))


def _init_cases(
    folder: Path,
    table: CasesTable,
    flags: list[str],
    rubrics: tuple[str, ...],
    plan: ProjectPlan,
    *,
    force: bool,
    yes: bool,
) -> None:
    """Write a suite for a file of cases."""
    from judgekit.authoring.scaffold import own_suite as work
    from judgekit.authoring.scaffold.columns import columns_text, guess_fields, mapped
    from judgekit.authoring.scaffold.project import check_judge
    from judgekit.cli.prompts import ask, is_terminal, print_steps
    from judgekit.cli.screen import columns
    from judgekit.core.display.parts import counted

    check_judge(plan)
    guessed = mapped(flags, table, guess_fields(table.columns))
    own = work.OwnSuite(table, guessed, plan, rubrics)
    if not yes and is_terminal() and not flags:
        typer.echo(printable(columns_text(table, guessed, width=columns())), nl=False)
        own = ask(lambda: work.own_interview(table, guessed, plan))._replace(rubrics=rubrics)
    work.check_mapping(table, own.mapping)
    count, more = work.count_cases(own)
    paths = work.write_own_suite(folder, own, force=force)
    typer.echo(printable(columns_text(table, own.mapping, width=columns())), nl=False)
    number = f"at least {count:,} cases" if more else counted(count, "case")
    typer.echo(printable(f"{paths[0]}: {number} of {table.path}"))
    print_steps(work.next_own_steps(folder, own))
