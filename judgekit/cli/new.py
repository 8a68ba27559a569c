"""`judgekit rubric new`: a rubric of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.completion import answer_kinds


def new(
    name: Annotated[
        str | None, typer.Argument(help="Its name: letters, digits, _ and -.", show_default=False)
    ] = None,
    description: Annotated[
        str | None, typer.Option("--description", help="What it judges, in one sentence.")
    ] = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            "-c",
            help="A question about the answer: TEXT or NAME=TEXT; may be repeated.",
        ),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="How they are answered: levels, boolean, number or checklist.",
            autocompletion=answer_kinds,
        ),
    ] = "levels",
    requires: Annotated[
        str, typer.Option("--requires", help="What a case must have besides the answer.")
    ] = "input",
    quotes: Annotated[
        bool, typer.Option("--quotes", help="The judge must quote its evidence.")
    ] = False,
    folder: Annotated[Path, typer.Option("--folder", help="Where rubrics are kept.")] = Path(
        "rubrics"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace a rubric that is there.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
) -> None:
    """Write a rubric of your own: a commented file to go on from.

    In a terminal it asks, unless there is a --criterion.
    """
    from judgekit.cli.beginning import begin_rubric

    begin_rubric(
        name,
        description=description,
        criteria=criterion or [],
        kind=kind,
        requires=requires,
        quotes=quotes,
        folder=folder,
        force=force,
        ask=not yes,
    )
