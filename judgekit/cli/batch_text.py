"""Flags and output about batch jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import printable
from judgekit.core.display.parts import counted
from judgekit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgekit.batch.choice import BatchChoice
    from judgekit.batch.desk import BatchFacts
    from judgekit.batch.job import Job


def batch_choice(
    *, batch: bool, file: Path | None, resend: bool, ray: str | None, record: str | None
) -> BatchChoice | None:
    """Return what a run does with batch jobs, by its flags; `None` without them.

    Raises:
        ConfigError: flags contradict each other.
    """
    if not (batch or resend or file is not None):
        return None
    if ray is not None:
        raise ConfigError("--batch and --resend work without --ray; leave it out")
    if record is not None and record != "new_episodes":
        flag = "--batch" if batch else "--batch-file" if file is not None else "--resend"
        raise ConfigError(f"{flag} sends what is not recorded; leave out --record {record}")
    from judgekit.batch.choice import BatchChoice

    return BatchChoice(sending=batch or file is not None, resend=resend, file=file)


def batch_notes(facts: BatchFacts | None) -> list[str]:
    """Return lines about the jobs of a run, for standard error."""
    if facts is None:
        return []
    return [f"judgekit: {printable(line)}" for line in _notes(facts)]


def _notes(facts: BatchFacts) -> Iterator[str]:
    from judgekit.batch.job import BY_HAND

    if facts.collected:
        yield f"took {_replies(facts.collected)} from batch jobs"
    if facts.new:
        yield f"{counted(facts.new, 'request')} in new batch jobs, {_price(facts.dollars)}"
    for job in facts.jobs:
        yield f"job {job.name}: {counted(len(job.keys), 'request')} to {job.model}, {job.shown}"
    yield from facts.problems
    if any(job.provider == BY_HAND for job in facts.jobs):
        yield "send the file, then run `judgekit batch collect` with the replies"
    if any(job.provider != BY_HAND for job in facts.jobs):
        yield "run `judgekit batch wait`, then the suite again: it takes the replies"
    elif facts.new and not facts.jobs:
        yield "the new jobs have ended; run the suite again: it takes the replies"


def job_lines(jobs: Iterable[Job], problems: dict[str, str]) -> Iterator[str]:
    """Yield a line for each job, and one for its problem."""
    for job in jobs:
        requests = counted(len(job.keys), "request")
        line = f"{job.name}  {job.model}  {requests}  {_price(job.dollars)}  {job.shown}"
        if job.state == "ended" and job.replies is not None:
            line += f", {_replies(job.replies)}"
            if missing := len(job.keys) - job.replies:
                line += f", {missing:,} without one (may be asked again)"
        yield printable(line)
        if problem := problems.get(job.intent) or job.problem:
            yield printable(f"  {problem}")


def job_data(job: Job, problems: dict[str, str]) -> dict[str, Any]:
    """Return a job as JSON values, without the ids of its requests."""
    names = ("name", "provider", "model", "api_base", "state", "status", "open", "replies")
    facts = {name: getattr(job, name) for name in names}
    problem = problems.get(job.intent) or job.problem or None
    return {**facts, "at": job.at, "requests": len(job.keys), "dollars": job.dollars,
            "problem": problem}  # fmt: skip


def _replies(count: int) -> str:
    return f"{count:,} repl{'y' if count == 1 else 'ies'}"


def _price(dollars: float | None) -> str:
    if dollars is None:
        return "price unknown"
    return f"about ${dollars:.2f}" if dollars >= 0.01 else "less than a cent"
