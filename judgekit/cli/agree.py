"""`judgekit agree`: compare a judge with human labels."""

from __future__ import annotations

from pathlib import Path

import typer


def agree(
    folder: Path,
    labels: Path,
    failures: str = "wrong",
    cluster: str | None = None,
    json: bool = False,
    markdown: bool = False,
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
