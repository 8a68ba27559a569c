"""`judgekit agree`: compare a judge with people."""

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
    failures: Annotated[
        str,
        typer.Option("--failures", help="Replies without a verdict: wrong (disagree), or drop."),
    ] = "wrong",
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", help="Field of the metadata whose cases are alike: user, doc."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print them as Markdown.")] = False,
) -> None:
    """Compare the judge of a run with people, criterion by criterion. Never calls a model.

    Writes agree.json into the run folder; reports and pages of the run then show how far the judge
    agrees with people.

    Exit codes: 0 compared, 2 something is wrong with the run or the labels.
    """
    from judgekit.analysis.agreement.agree import agree as compare_with_people
    from judgekit.analysis.agreement.words import calibration_markdown, calibration_text
    from judgekit.cli.screen import columns

    found = compare_with_people(folder, labels, failures=failures, cluster=cluster)  # type: ignore[arg-type]
    if json:
        typer.echo(found.model_dump_json(indent=1))
    elif markdown:
        typer.echo(calibration_markdown(found), nl=False)
    else:
        typer.echo(calibration_text(found, width=columns()), nl=False)
