"""`judgekit agree`: compare a judge with human labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import Cluster, Json, Markdown, RunFolder


def agree(
    folder: RunFolder,
    labels: Annotated[
        Path, typer.Argument(help="Human labels, a JSON Lines file.", show_default=False)
    ],
    failures: Annotated[
        str,
        typer.Option(
            "--failures",
            help="Replies without a verdict: wrong (a disagreement) or drop.",
        ),
    ] = "wrong",
    cluster: Cluster = None,
    json: Json = False,
    markdown: Markdown = False,
) -> None:
    """Measure how well a judge agrees with human labels.

    Compare criterion by criterion, and write agree.json into the run folder: reports and pages of
    the run then show the agreement. Never call a judge.

    Exit codes: 0 compared, 2 the run or the labels are wrong.
    """
    from judgekit.analysis.agreement.agree import agree as measure
    from judgekit.analysis.agreement.words import calibration_markdown, calibration_text
    from judgekit.cli.screen import columns

    calibration = measure(folder, labels, failures=failures, cluster=cluster)  # type: ignore[arg-type]
    if json:
        typer.echo(calibration.model_dump_json(indent=1))
    elif markdown:
        typer.echo(calibration_markdown(calibration), nl=False)
    else:
        typer.echo(calibration_text(calibration, width=columns()), nl=False)
