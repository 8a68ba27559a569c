"""`judgekit agree`: hold a judge against people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def agree(
    folder: Annotated[
        Path, typer.Argument(help="A run folder, made by judgekit run --out.", show_default=False)
    ],
    labels: Annotated[
        Path, typer.Argument(help="What people said: JSON Lines.", show_default=False)
    ],
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print them as Markdown.")] = False,
) -> None:
    """Hold the judge of a run against people, criterion by criterion. Never calls a model.

    Leaves its outcome as agree.json beside the run; reports and pages of it then say how far the
    judge agrees with people.

    Exit codes: 0 compared, 2 something is wrong with the run or the labels.
    """
    from judgekit.agreement.agree import agree as held_against
    from judgekit.agreement.words import calibration_markdown, calibration_text
    from judgekit.cli.screen import columns

    found = held_against(folder, labels)
    if json:
        typer.echo(found.model_dump_json(indent=1))
    elif markdown:
        typer.echo(calibration_markdown(found), nl=False)
    else:
        typer.echo(calibration_text(found, width=columns()), nl=False)
