"""What a shell offers after a TAB. Nothing here may fail: a shell has no place for a message."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps

import typer

Offer = Callable[[typer.Context, str], list[str]]


def _offer(names: Callable[[typer.Context], Iterable[str]]) -> Offer:
    """Return what typer asks: the names that begin with what is typed; none if that fails."""

    @wraps(names)
    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        found: list[str] = []
        with suppress(Exception):
            found = sorted({name for name in names(ctx) if name.startswith(incomplete)})
        return found

    del offered.__wrapped__  # typer looks at the signature, and through a wrapper
    offered.__annotations__ = {"ctx": typer.Context, "incomplete": str}
    return offered


@_offer
def schema_kinds(ctx: typer.Context) -> Iterable[str]:
    """Offer kinds of files that have a schema."""
    return ("suite", "rubric", "cases", "results", "persona")


@_offer
def answer_kinds(ctx: typer.Context) -> Iterable[str]:
    """Offer the ways a criterion of a new rubric may be answered."""
    return ("levels", "boolean", "number", "checklist")


@_offer
def record_modes(ctx: typer.Context) -> Iterable[str]:
    """Offer the record modes."""
    return ("none", "new_episodes", "all")


@_offer
def rubrics(ctx: typer.Context) -> Iterable[str]:
    """Offer the rubrics of this folder and the built-in ones."""
    from pathlib import Path

    from judgekit.rubric.shelf import rubric_names

    here = [name for folder in (Path(), Path("rubrics")) for name in rubric_names(folder)]
    return (*here, *(name for name in rubric_names() if name != "base"))


@_offer
def metric_kinds(ctx: typer.Context) -> Iterable[str]:
    """Offer everything there is to score by."""
    from judgekit.metrics.registry import metric_names

    return metric_names()


def _words() -> list[str]:
    """Return what is typed so far; typer knows options of an unfinished line, not arguments."""
    import shlex

    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return shlex.split(typed)


def _suite_typed() -> str:
    found = (word for word in _words() if word.endswith((".yaml", ".yml")))
    return next(found, "suite.yaml")


@_offer
def suite_metrics(ctx: typer.Context) -> Iterable[str]:
    """Offer the metrics of the suite named before."""
    from pathlib import Path

    from judgekit.core.input_file import MAX_PLAIN, read_text
    from judgekit.core.yaml_file import parse_yaml

    file = Path(_suite_typed())
    data, _ = parse_yaml(read_text(file, most=MAX_PLAIN), file=str(file))
    return (str(name) for name in data["metrics"])


@_offer
def case_ids(ctx: typer.Context) -> Iterable[str]:
    """Offer the ids of the first cases of the file or suite named before."""
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
