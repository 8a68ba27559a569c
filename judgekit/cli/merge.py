"""`judgekit merge`: combine the runs of all shards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import Baseline, Export, Github, Json, Quiet


def merge(
    suite: Annotated[Path, typer.Argument(help="Suite file of the shards.", show_default=False)],
    folders: Annotated[
        list[Path],
        typer.Argument(help="Run folders of all shards, in any order.", show_default=False),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Run folder to write.", show_default=False),
    ],
    baseline: Baseline = None,
    export: Export = None,
    github: Github = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Combine the runs of all shards into one run.

    A shard is a run with --shard N/M. The result equals one run over all cases, byte for byte.
    Check the gates on it. Never call a judge.

    Exit codes: 0 passed, 1 a gate failed, 2 the shards do not fit together, 3 incomplete.
    """
    from judgekit.cli.execution import KEPT
    from judgekit.cli.interrupt import on_interrupt
    from judgekit.cli.output import outputs_of, print_report
    from judgekit.core.synchronous import Flag
    from judgekit.suite.merge import merge_shards
    from judgekit.suite.suite import load_suite

    outputs = outputs_of(export, github=github)
    stop = Flag()
    with on_interrupt(stop.set, kept=KEPT):
        report = merge_shards(
            suite,
            folders,
            out=out,
            baseline=str(baseline) if baseline is not None else None,
            stop=stop,
            page=True,
        )
    with outputs.plain(as_json=json):
        print_report(report, out=out, as_json=json)
    outputs.write(report, find=load_suite(suite).data.places, as_json=json)
    raise typer.Exit(report.exit_code)
