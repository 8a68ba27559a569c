"""`judgekit merge`: one run of the runs of all shards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import Export, Github


def merge(
    suite: Annotated[Path, typer.Argument(help="The suite file that the shards ran.")],
    folders: Annotated[list[Path], typer.Argument(help="Run folders of all shards, in any order.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the one run to.")],
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="Run folder that not_worse holds the run against."),
    ] = None,
    export: Export = None,
    github: Github = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress.")] = False,
) -> None:
    """Make one run of the runs of all shards.

    A shard is what `judgekit run --shard N/M` runs. What comes out is what one run over all cases
    writes, byte for byte; gates are checked here. Nobody is asked.

    Exit codes: 0 passed, 1 a gate missed, 2 the shards do not fit together, 3 incomplete.
    """
    from judgekit.cli.exporting import output_of
    from judgekit.cli.merging import merge_and_print

    outputs = output_of(export, github=github)
    code = merge_and_print(
        suite, folders, out=out, baseline=baseline, outputs=outputs, as_json=json, quiet=quiet
    )
    raise typer.Exit(code)
