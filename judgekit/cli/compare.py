"""`judgekit compare`: hold runs against a base."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    base: Annotated[Path, typer.Argument(help="Run folder to compare with.", show_default=False)],
    new: Annotated[
        list[Path], typer.Argument(help="Run folders held against it.", show_default=False)
    ],
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", help="Field of the metadata whose cases are alike: user, doc."),
    ] = None,
    detect: Annotated[
        float | None,
        typer.Option("--detect", help="Say how many cases a difference of this size would take."),
    ] = None,
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="Intervals by percentile bootstrap (seed 42).")
    ] = False,
    across_rubrics: Annotated[
        bool, typer.Option("--across-rubrics", help="Compare where the rubric differs, too.")
    ] = False,
    allow_same: Annotated[
        bool, typer.Option("--allow-same", help="Compare runs with the same answers and replies.")
    ] = False,
    fail_on: Annotated[
        str | None,
        typer.Option("--fail-on", help="Exit code 1 on: regressions, or also on warnings."),
    ] = None,
    cases: Annotated[int, typer.Option("--cases", help="Cases to show of each metric.", min=0)] = 5,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the page of the comparison to this file, too."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it as Markdown.")] = False,
) -> None:
    """Hold runs against a base, case by case.

    What got worse, by how much, and is it chance.

    Never calls a model.

    Exit codes: 0 compared, 1 what --fail-on names was found, 2 cannot be compared.
    """
    from judgekit.cli.comparing import compare_and_print

    code = compare_and_print(
        base,
        new,
        cluster=cluster,
        detect=detect,
        bootstrap=bootstrap,
        across_rubrics=across_rubrics,
        allow_same=allow_same,
        fail_on=fail_on,
        cases=cases,
        out=out,
        form="json" if json else "markdown" if markdown else "text",
    )
    raise typer.Exit(code)
