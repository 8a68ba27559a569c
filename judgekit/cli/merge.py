"""`judgekit merge`: combine the runs of all shards."""

from functools import partial
from pathlib import Path

import typer

from judgekit.cli.options import overrides


def merge(
    command: typer.Context,
    suite: Path,
    folders: list[Path],
    out: Path,
    baseline: Path | None = None,
    max_failures: int | None = None,
    export: list[str] | None = None,
    github: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Combine the runs of all shards into one run.

    A shard is a run with --shard N/M. The result equals one run over all cases, byte for byte.
    Check the gates on it. Never call a judge.

    Exit codes: 0 passed, 1 a gate failed, 2 the shards do not fit together, 3 incomplete.
    """
    from judgekit.cli.output import KEPT, outputs_of, print_run
    from judgekit.cli.screen import StatusLine, on_interrupt
    from judgekit.core.synchronous import Flag
    from judgekit.runner.progress import Progress
    from judgekit.suite.merge import find_places, merge_shards, shard_folders

    outputs, folders = outputs_of(export, github=github), shard_folders(folders)
    stop, line = Flag(), StatusLine(shown=not (quiet or json))
    own = overrides(command.params, suite=True)

    def show(progress: Progress) -> None:
        if line.due():
            line.show(f"{progress.cases:,} cases")

    with line, on_interrupt(stop.set, kept=KEPT):
        report = merge_shards(
            suite, folders, out=out, overrides=own, progress=show, stop=stop, page=True
        )
    find = partial(find_places, suite, folders)
    print_run(report, outputs=outputs, find=find, as_json=json, quiet=quiet)
    raise typer.Exit(report.exit_code)
