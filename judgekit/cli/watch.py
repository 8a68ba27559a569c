"""`judgekit watch`: run a suite, and again what a saved file changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import (
    ApiBase,
    Format,
    Judges,
    Limit,
    NoJudge,
    Only,
    Param,
    Quiet,
    Record,
    Set,
    SuitePath,
    Verbose,
)


def watch(
    suite: SuitePath = None,
    judge: Judges = None,
    api_base: ApiBase = None,
    record: Record = None,
    param: Param = None,
    set: Set = None,
    only: Only = None,
    limit: Limit = None,
    cases: Annotated[str | None, typer.Option("--cases", help="Score these cases instead.")] = None,
    format: Format = None,
    no_judge: NoJudge = False,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="Run folder that not_worse holds each run against."),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Run a suite whenever a file of it is saved.

    Scores anew what the saved file changes and prints what moved. Looks at the suite, its cases,
    rubrics and whatever they are made of, personas and cassette. Nothing is asked of a judge
    unless --record or --judge says so. Ctrl-C ends it.

    Exit codes: 0 ended by Ctrl-C, 2 there is no such suite.
    """
    from judgekit.cli.options import overrides, settings
    from judgekit.cli.watching import watch_and_print
    from judgekit.suite.source import find_suite

    suite = suite or find_suite(verb="watch")
    chosen = overrides(
        judge=judge, api_base=api_base, record=record, param=param, no_judge=no_judge
    ).model_copy(
        update={
            "only": only or [],
            "settings": settings(set),
            "limit": limit,
            "cases": cases,
            "format": format,
            "baseline": str(baseline) if baseline is not None else None,
        }
    )
    raise typer.Exit(watch_and_print(suite, chosen, quiet=quiet, verbose=verbose))
