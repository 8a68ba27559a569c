"""`judgekit run`: run a suite."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from judgekit.cli.options import overrides, settings
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.suite.suite import Suite


def run(
    command: typer.Context,
    suite: Path | None = None,
    out: Path | None = None,
    no_out: bool = False,
    judge: list[str] | None = None,
    api_base: str | None = None,
    cache: str | None = None,
    tier: str | None = None,
    record: str | None = None,
    param: list[str] | None = None,
    set: list[str] | None = None,
    only: list[str] | None = None,
    limit: int | None = None,
    cases: str | None = None,
    format: str | None = None,
    where: list[str] | None = None,
    filter_failing: Path | None = None,
    shard: str | None = None,
    ray: str | None = None,
    workers: int | None = None,
    plan: bool = False,
    batch: bool = False,
    batch_file: Path | None = None,
    resend: bool = False,
    no_judge: bool = False,
    retry_failed: Path | None = None,
    baseline: Path | None = None,
    max_failures: int | None = None,
    against: Path | None = None,
    export: list[str] | None = None,
    github: bool = False,
    json: bool = False,
    quiet: bool = False,
    verbose: bool = False,
) -> None:
    """Score cases with the metrics of a suite file.

    Without a file, use suite.yaml or suite.yml in this folder. Replay recorded replies; call a
    judge only with --record or --judge.

    Exit codes: 0 passed, 1 a gate failed, 2 the setup is wrong, 3 incomplete, 4 replies of batch
    jobs are pending.
    """
    from judgekit.cli.batch_rounds import in_rounds
    from judgekit.cli.batch_text import batch_choice
    from judgekit.cli.output import (
        outputs_of,
        print_run,
        run_distributed,
        run_with_progress,
    )
    from judgekit.suite.resolved import resolve
    from judgekit.suite.run import default_out, failed_keys, failing_ids, ignore_default
    from judgekit.suite.source import find_suite
    from judgekit.suite.suite import open_suite

    outputs = outputs_of(export, github=github)
    check_volume(quiet=quiet, verbose=verbose)
    _check_folder(out, no_out=no_out, ray=ray, workers=workers)
    if suite is None or suite.is_dir():
        suite = find_suite(suite or Path(), verb="run")
    default = default_out(suite, shard=shard) if out is None and not no_out else None
    out = out or default
    ids = failing_ids(filter_failing) if filter_failing else None
    if ids is not None and not ids:
        _print_nothing(filter_failing, as_json=json)
        raise typer.Exit
    metric_settings, again = settings(set), failed_keys(retry_failed) if retry_failed else None
    chosen = overrides(command.params, suite=True, settings=metric_settings, ids=ids, again=again)
    batches = batch_choice(batch=batch, file=batch_file, resend=resend, ray=ray, record=record)
    if batches is not None and (batches.sending or batches.resend) and record is None:
        chosen = chosen.model_copy(update={"record": "new_episodes"})
    if plan:
        from judgekit.cli.plan import print_plan

        print_plan(suite, chosen, as_json=json, batches=batches)
        raise typer.Exit
    resolved = resolve(suite, chosen)
    if default is not None:
        ignore_default(default)
    if ray is not None and out is not None:
        report = run_distributed(
            suite,
            chosen,
            out=out,
            address=ray,
            workers=workers,
            retry_failed=retry_failed,
            quiet=quiet or json,
        )
        find = resolved.cases().places
        print_run(report, outputs=outputs, find=find, as_json=json, quiet=quiet)
        raise typer.Exit(report.exit_code)
    # Without a run folder, another judge is a trial: the tape holds the replies of the suite's own.
    opened = partial(open_suite, trial=no_out, batches=batches)
    sends = batches is not None or any(one.tier == "batch" for one in resolved.asked.values())
    options: dict[str, Any] = {"out": out, "retry_failed": retry_failed, "quiet": quiet or json}
    loaded, report = in_rounds(
        opened(resolved),
        again=lambda: opened(resolve(suite, chosen)),
        run=partial(run_with_progress, verbose=verbose, **options),
        seconds=resolved.file.limits.waits if sends else None,
        quiet=quiet or json,
    )
    print_run(
        report,
        outputs=outputs,
        find=loaded.data.places,
        as_json=json,
        quiet=quiet,
        also=_recorded(loaded),
        notes=_notes(loaded, report, verbose=verbose),
    )
    raise typer.Exit(report.exit_code)


def _print_nothing(folder: Path | None, *, as_json: bool) -> None:
    """Print that no case of an earlier run has to be scored again."""
    from judgekit.cli.output import print_json

    line = printable(f"nothing to do: no case of {folder} failed or fell below a threshold")
    if as_json:
        verdict = {"word": "DONE", "line": line, "page": None}
        print_json("run", {"cases": 0, "metrics": [], "verdict": verdict, "exit_code": 0})
    else:
        typer.echo(line)


def _notes(suite: "Suite", report: "Report", *, verbose: bool) -> list[str]:
    """Return what standard error says after a run."""
    from judgekit.cli.batch_text import batch_notes
    from judgekit.cli.output import notes_of
    from judgekit.suite.retirement import retirements

    notes = [*notes_of(suite), *batch_notes(suite.batch_facts)]
    if report.run.get("went_on"):
        note = "continued an interrupted run with its recorded replies"
        notes.insert(0, f"judgekit: {printable(str(report.folder))}: {note}")
    live = suite.cassette is None or bool(suite.cassette.ledger.origins["live"])
    notes += [f"judgekit: {one.sentence}" for one in retirements(suite.roles, over=not live)]
    failures = (metric.failures for metric in report.figures.metrics)
    if not verbose and any("metric_error" in one for one in failures):
        notes.append("judgekit: rows failed with metric_error; --verbose prints the traceback")
    return notes


def _check_folder(out: Path | None, *, no_out: bool, ray: str | None, workers: int | None) -> None:
    if out is not None and no_out:
        raise ConfigError("give --out or --no-out, not both")
    if no_out and ray is not None:
        raise ConfigError("--ray writes a run folder; leave out --no-out")
    if workers is not None and ray is None:
        raise ConfigError("--workers belongs to --ray; give both, or neither")


def check_volume(*, quiet: bool, verbose: bool) -> None:
    """Reject --quiet together with --verbose.

    Raises:
        ConfigError: both are given.
    """
    if quiet and verbose:
        raise ConfigError("give --quiet or --verbose, not both")


def _recorded(suite: "Suite") -> list[str]:
    if suite.cassette is None or not suite.cassette.added:
        return []
    count, tape = suite.cassette.added, suite.cassette.path
    where = "kept in the private store" if tape is None else f"written to {tape}"
    if tape is not None and suite.cassette.keeps_tape:
        where = f"kept in the private store; --record new_episodes writes them to {tape}"
    return [printable(f"{count} new repl{'ies' if count != 1 else 'y'} {where}")]
