"""`judgekit batch`: follow, cancel and collect batch jobs."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from judgekit.cli.options import check_place
from judgekit.core.errors import ConfigError, placed

if TYPE_CHECKING:
    from judgekit.batch.jobs import Jobs
    from judgekit.batch.polling import PollClock

app = typer.Typer(help="Follow, cancel and collect batch jobs.", rich_markup_mode=None)

_PENDING = 4
"""Exit code while a job is open."""


@app.callback(invoke_without_command=True)
def batch(command: typer.Context, json: bool = False) -> None:
    """Follow, cancel and collect batch jobs.

    Without a command, print the state of all jobs of this folder, as the providers report it.
    """
    check_place(command, json=json)
    if command.invoked_subcommand is None:
        jobs = _jobs()
        jobs.look()
        _print(jobs, as_json=json)


@app.command("wait")
def wait(timeout: str | None = None, json: bool = False) -> None:
    """Wait until all jobs have ended, and collect their replies.

    Exit codes: 0 all jobs have ended, 2 the setup is wrong, 4 a job is still open.
    """
    from judgekit.batch.polling import PollClock

    with placed("--timeout"):
        clock = PollClock(None if timeout is None else _seconds(timeout))
    jobs = _jobs()
    jobs.look()
    wait_for(jobs, clock, quiet=json)
    _print(jobs, as_json=json)
    raise typer.Exit(_PENDING if jobs.open else 0)


@app.command("cancel")
def cancel(job: str, json: bool = False) -> None:
    """Cancel a job at its provider, and collect the replies that it has.

    A job that the provider does not have is dropped: its requests may be asked again.
    """
    jobs = _jobs()
    jobs.cancel(job)
    _print(jobs, as_json=json)


@app.command("collect")
def collect(file: Path | None = None, json: bool = False) -> None:
    """Collect the replies of jobs that have ended; a run of the suite reads them.

    With a file, take the replies in it instead: the output of `vllm run-batch`, or of any provider
    in the form of OpenAI or Anthropic.

    Exit codes: 0 all jobs have ended, 2 the setup is wrong, 4 a job is still open.
    """
    jobs = _jobs()
    if file is None:
        jobs.look()
    else:
        jobs.take(file)
    _print(jobs, as_json=json)
    raise typer.Exit(_PENDING if jobs.open else 0)


def _jobs() -> "Jobs":
    from judgekit.batch.jobs import Jobs
    from judgekit.cassette.store import store_folder

    return Jobs(store_folder())


def _print(jobs: "Jobs", *, as_json: bool) -> None:
    from judgekit.cli.batch_text import job_data, job_lines
    from judgekit.cli.output import print_json

    if as_json:
        print_json("batch_jobs", {"jobs": [job_data(job, jobs.problems) for job in jobs.all]})
        return
    if not jobs.all:
        typer.echo("no batch jobs in this folder")
    for line in job_lines(jobs.all, jobs.problems):
        typer.echo(line)


def _seconds(text: str) -> float:
    from judgekit.core.duration import seconds_in

    try:
        return seconds_in(text)
    except ValueError as exc:
        raise ConfigError(str(exc)) from exc


def wait_for(jobs: "Jobs", clock: "PollClock", *, quiet: bool = False) -> None:
    """Look at jobs until none of them moves or the time is over; show a clock on a terminal.

    Args:
        jobs: the jobs.
        clock: the time limit.
        quiet: whether to show no clock.
    """
    from judgekit.cli.screen import StatusLine
    from judgekit.core.duration import clock_text

    most = "" if clock.seconds is None else f" of {clock_text(clock.seconds)}"
    with StatusLine(shown=not quiet) as line:
        while jobs.moving and not clock.over:
            count, left = len(jobs.open), clock.pause()
            while left > 0:
                noun = "batch job" if count == 1 else "batch jobs"
                waited = clock_text(clock.waited)
                line.show(f"{waited}{most}: waiting for {count} {noun}; Ctrl-C leaves them running")
                time.sleep(min(1.0, left))
                left -= 1.0
            jobs.look()
