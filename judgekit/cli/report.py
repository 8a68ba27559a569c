"""`judgekit report`: the page and the summary of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[
        Path, typer.Argument(help="A run folder, made by judgekit run --out.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write the page.")
    ] = None,
) -> None:
    """Write the page of a run: one file that opens anywhere, offline."""
    from judgekit.cli.running import print_summary
    from judgekit.report.report import Report

    found = Report.read(folder)
    page = found.to_html(out)
    print_summary(found)
    typer.echo(f"page: {page}")
