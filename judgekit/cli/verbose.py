"""The output of `--verbose` to standard error: files, cases, retries and tracebacks."""

import logging
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from judgekit.core.canonical import printable
from judgekit.core.credentials import known_secrets
from judgekit.core.protocols import with_children
from judgekit.core.score import Failure, Score
from judgekit.core.secret_forms import SecretForms
from judgekit.runner.progress import Progress
from judgekit.suite.suite import Suite


@contextmanager
def logged() -> Iterator[None]:
    """Print the library's log while the body runs: retries, output modes, tracebacks."""
    logger = logging.getLogger("judgekit")
    handler = _LogPrinter()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _LogPrinter(logging.Handler):
    """Prints a line for each record, and one traceback per raising location."""

    def __init__(self) -> None:
        super().__init__()
        self._places: set[tuple[str, int]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info is None or record.exc_info[1] is None:
            print_line(record.getMessage())
            return
        error = record.exc_info[1]
        frames = traceback.extract_tb(error.__traceback__)
        place = (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)
        if place in self._places:
            return
        self._places.add(place)
        print_line(f"{record.getMessage()}:")
        for line in "".join(traceback.format_exception(error)).splitlines():
            print(printable(_without_keys(line)), file=sys.stderr, flush=True)


def _without_keys(line: str) -> str:
    """Return a line without keys of the environment, which an exception may quote."""
    return SecretForms(known_secrets()).hide(line)


def print_line(text: str) -> None:
    """Print a text as one line on standard error."""
    print(" ".join(printable(text).split()), file=sys.stderr, flush=True)


def print_files(suite: Suite) -> None:
    """Print the files and judges of a suite."""
    from judgekit.judges.endpoint import shown_address

    source, limit = suite.data.source()
    print_line(f"cases: {source}" + (f", the first {limit:,}" if limit is not None else ""))
    for role, judge in suite.roles.items():
        at = f" at {shown_address(judge.api_base)}" if judge.api_base else ""
        print_line(f"{role}: {judge.model}{at}, record: {suite.record.value}")
    cassette = suite.cassette
    if cassette is not None and cassette.path is not None:
        count = len(cassette.tape) if cassette.tape is not None else 0
        print_line(f"cassette: {cassette.path}, {count:,} recorded")
    for metric in suite.metrics:
        for part in with_children(metric):
            for rubric in part.rubrics:
                print_line(
                    f"rubric of {metric.name}: {rubric.name}@{rubric.version}, {rubric.path}"
                )


def print_case(names: Sequence[str], places: Mapping[str, str], progress: Progress) -> None:
    """Print the scores of the last case on one line, and a line for each failure.

    Args:
        names: names of the metrics.
        places: derived id of a case -> its file and line.
        progress: the progress with the results of a case.
    """
    if progress.case is None:
        return
    scores = []
    failures = []
    for name, result in zip(names, progress.results, strict=True):
        if isinstance(result, Failure):
            failures.append(f"{name} failed ({result.kind}): {result.message}")
        else:
            scores.append(f"{name} {_shown(result)}")
    for text in [", ".join(scores), *failures] if scores else failures:
        print_line(f"{places.get(progress.case.id, progress.case.id)}: {text}")


def _shown(score: Score) -> str:
    if score.value is None:
        return score.status.replace("_", " ")
    return f"{score.shown:g}{' (fallback)' if score.fallback is not None else ''}"
