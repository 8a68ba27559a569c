"""`judgekit init`: write a new project."""

from pathlib import Path
from typing import Literal

import typer

from judgekit.core.canonical import printable


def init(
    folder: Path = Path(),
    name: str | None = None,
    judge: str | None = None,
    api_base: str | None = None,
    criteria: Literal["rubric", "case"] | None = None,
    ci: str | None = None,
    force: bool = False,
    yes: bool = False,
) -> None:
    """Write a project that runs offline.

    It has a suite, cases, their criteria and recorded replies. In a terminal, ask for what no flag
    gives. Replace existing files only with --force.
    """
    from judgekit.authoring.scaffold.interview import project_interview
    from judgekit.authoring.scaffold.project import (
        ProjectPlan,
        check_host,
        default_name,
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
