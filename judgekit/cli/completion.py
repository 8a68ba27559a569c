"""Shell completions, by the name in `options.json`; imported when a shell requests them."""

import os
import shlex
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from judgekit.core.input_file import MAX_PLAIN, read_text
from judgekit.core.yaml_file import parse_yaml


def rubrics() -> Iterable[str]:
    """Complete the rubrics in this folder and the built-in ones."""
    from judgekit.rubric.library import rubric_names

    here = [name for folder in (Path(), Path("rubrics")) for name in rubric_names(folder)]
    return (*here, *(name for name in rubric_names() if name != "base"))


def metric_kinds() -> Iterable[str]:
    """Complete the names of metrics."""
    from judgekit.metrics.registry import metric_names

    return metric_names()


def private_kinds() -> Iterable[str]:
    """Complete the kinds of private data."""
    from judgekit.privacy.detectors import DETECTORS

    return DETECTORS


def suite_metrics() -> Iterable[str]:
    """Complete the metrics of the suite in the command line."""
    return map(str, _suite()[1]["metrics"])


def case_ids() -> Iterable[str]:
    """Complete the ids of the first cases of the file or suite in the command line."""
    from judgekit.datasets import load_cases

    words = _words()
    named: str | Path = words[words.index("--cases") + 1] if "--cases" in words else ""
    if not named:
        suite, data = _suite()
        entry = data["cases"]
        named = suite.parent / (entry if isinstance(entry, str) else entry["path"])
    return [case.id for case in islice(load_cases(named), 200)]


def _suite() -> tuple[Path, Any]:
    """Return the suite in the command line, by default suite.yaml, and its content."""
    files = (word for word in _words() if word.endswith((".yaml", ".yml")))
    suite = Path(next(files, "suite.yaml"))
    return suite, parse_yaml(read_text(suite, most=MAX_PLAIN), file=str(suite))[0]


def _words() -> list[str]:
    """Return the words typed so far; typer has only the options of an unfinished line."""
    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return shlex.split(typed)
