"""Options that several verbs share."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judgekit.cli.completion import record_modes, suite_metrics
from judgekit.core.example_model import EXAMPLE_MODEL

if TYPE_CHECKING:
    from judgekit.suite.file import Overrides

Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help=f"Model to ask, such as {EXAMPLE_MODEL} or ollama_chat/qwen3:8b. "
        "Naming it allows asking what is not recorded.",
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        help=f"Model to ask, such as {EXAMPLE_MODEL} or ollama_chat/qwen3:8b; ROLE=MODEL for "
        "another role of the suite; may be repeated. Naming one allows asking what is not "
        "recorded.",
    ),
]
ApiBase = Annotated[
    str | None, typer.Option("--api-base", help="Address of an OpenAI-compatible server.")
]
Record = Annotated[
    str | None,
    typer.Option(
        "--record",
        help="none (replay only), new_episodes (ask what is missing) or all.",
        autocompletion=record_modes,
    ),
]
Param = Annotated[
    list[str] | None,
    typer.Option("--param", help="Parameter of the judge, such as temperature=0; may be repeated."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Parameter of a metric's rubric, as METRIC.NAME=VALUE; may be repeated.",
    ),
]
SuitePath = Annotated[
    Path | None,
    typer.Argument(
        help="The suite file; suite.yaml or suite.yml of this folder by default.",
        show_default=False,
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only", help="Run only this metric; may be repeated.", autocompletion=suite_metrics
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", help="Stop after so many cases.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="Shape of a row: rows, chat, mastra, turns, mmlu, gsm8k or humaneval."
    ),
]
NoJudge = Annotated[
    bool, typer.Option("--no-judge", help="Ask nobody: judged metrics take their fallbacks.")
]
Export = Annotated[
    list[str] | None,
    typer.Option(
        "--export",
        help="Write the run as FORMAT=FILE: junit, markdown, csv, parquet or json; may be "
        "repeated.",
        show_default=False,
    ),
]
Github = Annotated[
    bool,
    typer.Option(
        "--github", help="In GitHub Actions: add to the summary of the job, and annotate."
    ),
]

Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print the results and errors, nothing else.")
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Say on standard error where files were found, what came of every case, and every "
        "retry.",
    ),
]


def overrides(
    *,
    judge: str | list[str] | None,
    api_base: str | None,
    record: str | None,
    param: list[str] | None,
    no_judge: bool,
) -> Overrides:
    """Return what the shared flags override in a suite.

    Raises:
        ConfigError: a parameter is not `name=value`, or a judge is named twice.
    """
    from judgekit.suite.file import Overrides

    params = named_values("--param", param)
    model, others = _by_role([judge] if isinstance(judge, str) else judge or [])
    # What flags give is of the right type already.
    return Overrides.model_construct(
        judge=model,
        judges=others,
        api_base=api_base,
        record=record,
        params=params,
        no_judge=no_judge,
    )


def _by_role(given: list[str]) -> tuple[str | None, dict[str, str]]:
    """Return the model of the role `judge`, and those of the others."""
    from judgekit.core.errors import ConfigError
    from judgekit.suite.file import JUDGE, ROLE

    found: dict[str, str] = {}
    for text in given:
        role, equals, model = text.partition("=")
        if not equals or not re.match(ROLE, role):
            role, model = JUDGE, text
        if not model:
            raise ConfigError(f"--judge {text}: write it as ROLE=MODEL")
        if role in found:
            raise ConfigError(f"--judge: the role {role!r} is given twice")
        found[role] = model
    return found.pop(JUDGE, None), found


def named_values(flag: str, texts: list[str] | None) -> dict[str, Any]:
    """Return what a repeated `name=value` flag says.

    Raises:
        ConfigError: one is not `name=value`.
    """
    from judgekit.core.errors import ConfigError
    from judgekit.core.value import check_json

    values: dict[str, Any] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"{flag} {text}: write it as name=value")
        values[name] = _value(value)
        try:
            check_json(values[name], where=name)
        except ValueError as exc:
            raise ConfigError(f"{flag} {text}: {exc}; write a number, or a text in quotes") from exc
    return values


def settings(
    texts: list[str] | None, metrics: list[str] | None = None
) -> dict[str, dict[str, str]]:
    """Return what `--set METRIC.NAME=VALUE` says, by metric; the values stay text.

    Args:
        texts: the flags.
        metrics: what is scored by, where that is known: the only one need not be named.

    Raises:
        ConfigError: one is not `METRIC.NAME=VALUE`.
    """
    from judgekit.core.errors import ConfigError

    found: dict[str, dict[str, str]] = {}
    for text in texts or []:
        path, equals, value = text.partition("=")
        metric, _, name = path.strip().rpartition(".")
        if not metric and metrics is not None and len(set(metrics)) == 1:
            metric = metrics[0]
        if not equals or not name or not metric:
            raise ConfigError(
                f"--set {text}: write it as METRIC.NAME=VALUE, such as tone.audience=children"
            )
        found.setdefault(metric, {})[name] = value
    return found


def _value(text: str) -> Any:
    """Take numbers, booleans and lists as such, anything else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
