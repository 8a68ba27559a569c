"""`judgekit batch`: follow, cancel and collect batch jobs."""

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from judgekit.cli.options import check_place
from judgekit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgekit.batch.jobs import Jobs

app = typer.Typer(help="Follow, cancel and collect batch jobs.", rich_markup_mode=None)

_PENDING = 4
"""Exit code while a job is open."""
_PAUSES = (5.0, 10.0, 20.0, 30.0, 60.0)
"""Seconds between looks at the jobs; the last one repeats."""
_DURATION = re.compile(r"([0-9]{1,6})([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


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
    left = seconds_of(timeout)
    jobs, turn = _jobs(), 0
    jobs.look()
    while jobs.moving and (left is None or left > 0):
        pause = _PAUSES[min(turn, len(_PAUSES) - 1)]
        pause = pause if left is None else min(pause, left)
        time.sleep(pause)
        left, turn = None if left is None else left - pause, turn + 1
        jobs.look()
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


def seconds_of(text: str | None) -> float | None:
    """Return the seconds of a duration such as `90s`, `30m`, `6h` or `1d`; `None` for none.

    Raises:
        ConfigError: it is no duration.
    """
    if text is None:
        return None
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"--timeout {text}: write it as 90s, 30m, 6h or 1d")
    return float(int(match[1]) * _UNITS[match[2]])
