"""`judgekit rubric new`: write a new rubric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.completion import answer_kinds
from judgekit.cli.options import Force, Yes
from judgekit.core.canonical import printable


def new(
    name: Annotated[
        str | None,
        typer.Argument(help="Name of the rubric: letters, digits, _ and -.", show_default=False),
    ] = None,
    description: Annotated[
        str | None, typer.Option("--description", help="What the rubric judges, in one sentence.")
    ] = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            "-c",
            metavar="<text>",
            help="Question about the answer, TEXT or NAME=TEXT; may be repeated.",
        ),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="Kind of the criteria: levels, boolean, number or checklist.",
            autocompletion=answer_kinds,
        ),
    ] = "levels",
    requires: Annotated[
        str, typer.Option("--requires", help="Field that a case needs besides the output.")
    ] = "input",
    quotes: Annotated[
        bool, typer.Option("--quotes", help="Require the judge to quote its evidence.")
    ] = False,
    folder: Annotated[Path, typer.Option("--folder", help="Folder of the rubrics.")] = Path(
        "rubrics"
    ),
    force: Force = False,
    yes: Yes = False,
) -> None:
    """Write a new rubric: a commented file to edit.

    In a terminal, ask for what it judges, unless a --criterion is given.
    """
    from judgekit.authoring.scaffold import draft as drafts
    from judgekit.authoring.scaffold.interview import rubric_interview
    from judgekit.cli.prompts import ask, is_terminal, print_steps

    if not yes and not criterion and is_terminal():
        draft = ask(
            lambda: rubric_interview(
                name or "",
                name_fault=lambda name: drafts.new_name_fault(name, folder=folder, force=force),
            )
        )
    else:
        draft = drafts.draft_from(
            name,
            description=description,
            criteria=criterion or [],
            kind=kind,
            requires=requires,
            quotes=quotes,
        )
    for path in drafts.write_rubric(draft, folder=folder, force=force):
        typer.echo(printable(str(path)))
    print_steps(drafts.after_rubric(draft, folder=folder))
