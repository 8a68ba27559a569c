"""`judgekit report`: the page and the summary of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import Export, Github


def report(
    folder: Annotated[
        Path, typer.Argument(help="A run folder, made by judgekit run --out.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write the page.")
    ] = None,
    export: Export = None,
    github: Github = False,
) -> None:
    """Write the page of a run: one file that opens anywhere, offline.

    With --export or --github, write those instead, and the page only where --out says so.
    """
    from judgekit.cli.exporting import output_of, report_and_print

    report_and_print(folder, page=out, outputs=output_of(export, github=github))
