"""`judgekit init`: a project to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.core.example_model import EXAMPLE_MODEL


def init(
    folder: Annotated[
        Path, typer.Argument(help="Where to write it; made when missing.", show_default="here")
    ] = Path(),
    name: Annotated[
        str | None, typer.Option("--name", help="What reports call it; the folder's name if not.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            help=f"Your judge: {EXAMPLE_MODEL}, manual/NAME for a person, none for nobody.",
        ),
    ] = None,
    api_base: Annotated[
        str | None, typer.Option("--api-base", help="Address of a server of your own.")
    ] = None,
    ci: Annotated[
        str | None,
        typer.Option("--ci", help="Check pull requests, too, offline: github or gitlab."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
) -> None:
    """Write a project that runs at once, offline.

    Suite, rubric, cases, recorded verdicts.

    In a terminal it asks what the flags leave open. A file that is there is never replaced.
    """
    from judgekit.cli.beginning import begin_project

    begin_project(
        folder, name=name, judge=judge, api_base=api_base, ci=ci, force=force, ask=not yes
    )
