"""`judgekit run`: run a suite."""

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import (
    ApiBase,
    Export,
    Format,
    Github,
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


def run(
    suite: SuitePath = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder to keep the whole run in: results, page, tape. runs/NAME by default; NAME "
            "is that of the suite. A run that was stopped there goes on, a finished one is "
            "replaced.",
        ),
    ] = None,
    no_out: Annotated[
        bool, typer.Option("--no-out", help="Write no run folder, print only.")
    ] = False,
    judge: Judges = None,
    api_base: ApiBase = None,
    record: Record = None,
    param: Param = None,
    set: Set = None,
    only: Only = None,
    limit: Limit = None,
    cases: Annotated[
        str | None, typer.Option("--cases", help="Score these cases instead; - is standard input.")
    ] = None,
    format: Format = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="<field=value>",
            help="Run only cases whose metadata has this value, such as topic=refunds, "
            "user.plan!=free or id=c7; may be repeated: all must hold.",
        ),
    ] = None,
    filter_failing: Annotated[
        Path | None,
        typer.Option(
            "--filter-failing",
            help="Run only cases that have no score, or one below its threshold, in this run "
            "folder.",
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard",
            metavar="<n/m>",
            help="Run only the n-th of m parts of the cases; `judgekit merge` makes one run of "
            "all parts and checks the gates.",
        ),
    ] = None,
    no_judge: NoJudge = False,
    retry_failed: Annotated[
        Path | None,
        typer.Option("--retry-failed", help="Run folder whose good results are taken over."),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="Run folder that not_worse holds this run against."),
    ] = None,
    export: Export = None,
    github: Github = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Score cases as a suite file says.

    Without a file, the suite.yaml or suite.yml of this folder. Replays what is recorded. Nothing
    is asked of a judge unless --record or --judge says so.

    Exit codes: 0 passed, 1 a gate missed, 2 something is set up wrongly, 3 incomplete.
    """
    from judgekit.cli.exporting import output_of
    from judgekit.cli.options import overrides, settings
    from judgekit.cli.running import run_and_print
    from judgekit.core.errors import ConfigError
    from judgekit.suite.run import default_out, failed_keys, failing_ids
    from judgekit.suite.source import find_suite

    outputs = output_of(export, github=github)

    if out is not None and no_out:
        raise ConfigError("give --out or --no-out, not both")
    suite = suite or find_suite(verb="run")
    if out is None and not no_out:
        out = default_out(suite, shard=shard)

    ids = failing_ids(filter_failing) if filter_failing else None
    if ids is not None and not ids:
        typer.echo(f"nothing to do: no case of {filter_failing} failed or fell below a threshold")
        raise typer.Exit
    chosen = overrides(
        judge=judge, api_base=api_base, record=record, param=param, no_judge=no_judge
    ).model_copy(
        update={
            "only": only or [],
            "settings": settings(set),
            "limit": limit,
            "where": where or [],
            "ids": ids,
            "shard": shard,
            "cases": cases,
            "format": format,
            "baseline": str(baseline) if baseline is not None else None,
            "again": failed_keys(retry_failed) if retry_failed else frozenset(),
        }
    )
    code = run_and_print(
        suite,
        chosen,
        out=out,
        retry_failed=retry_failed,
        outputs=outputs,
        as_json=json,
        quiet=quiet,
        verbose=verbose,
    )
    raise typer.Exit(code)
