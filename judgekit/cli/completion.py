"""Shell completion. Nothing here may fail: a shell cannot show a message."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps


def _completion(names: Callable[[], Iterable[str]]) -> Callable[[], list[str]]:
    """Return a completion function for typer; it returns no names if `names` fails."""

    @wraps(names)
    def completed() -> list[str]:
        with suppress(Exception):
            return sorted(set(names()))
        return []

    return completed


@_completion
def rubrics() -> Iterable[str]:
    """Complete the rubrics in this folder and the built-in ones."""
    from pathlib import Path

    from judgekit.rubric.library import rubric_names

    here = [name for folder in (Path(), Path("rubrics")) for name in rubric_names(folder)]
    return (*here, *(name for name in rubric_names() if name != "base"))


@_completion
def metric_kinds() -> Iterable[str]:
    """Complete the names of metrics."""
    from judgekit.metrics.registry import metric_names

    return metric_names()


def _words() -> list[str]:
    """Return the words typed so far; typer has only the options of an unfinished line."""
    import shlex

    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return shlex.split(typed)


def _suite_typed() -> str:
    files = (word for word in _words() if word.endswith((".yaml", ".yml")))
    return next(files, "suite.yaml")


@_completion
def suite_metrics() -> Iterable[str]:
    """Complete the metrics of the suite in the command line."""
    from pathlib import Path

    from judgekit.core.input_file import MAX_PLAIN, read_text
    from judgekit.core.yaml_file import parse_yaml

    file = Path(_suite_typed())
    data, _ = parse_yaml(read_text(file, most=MAX_PLAIN), file=str(file))
    return (str(name) for name in data["metrics"])


@_completion
def case_ids() -> Iterable[str]:
    """Complete the ids of the first cases of the file or suite in the command line."""
    from itertools import islice
    from pathlib import Path

    from judgekit.core.input_file import MAX_PLAIN, read_text
    from judgekit.core.yaml_file import parse_yaml
    from judgekit.datasets import load_cases

    words = _words()
    named: str | Path = words[words.index("--cases") + 1] if "--cases" in words else ""
    if not named:
        suite = Path(_suite_typed())
        data, _ = parse_yaml(read_text(suite, most=MAX_PLAIN), file=str(suite))
        entry = data["cases"]
        named = suite.parent / (entry if isinstance(entry, str) else entry["path"])
    return [case.id for case in islice(load_cases(named), 200)]


@_completion
def private_kinds() -> Iterable[str]:
    """Complete the kinds of private data."""
    from judgekit.cassette.detectors import DETECTORS

    return DETECTORS
