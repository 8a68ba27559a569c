"""Flags and help of command parameters, from `options.json`, and what their values mean.

A command is a function of plain parameters. `options.json` has an entry for each of them, under the
command or, for several commands, under `shared`: `help`, `argument` for one without a flag, `short`
or `flags` where the flag is not just the name, and further arguments of `typer.Option`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin, get_type_hints

import typer

from judgekit.cli import completion
from judgekit.cli.completion import record_modes, suite_metrics
from judgekit.core.errors import ConfigError
from judgekit.core.example_model import EXAMPLE_MODEL, LOCAL_MODEL

if TYPE_CHECKING:
    from judgekit.suite.file import Overrides

OPTIONS = Path(__file__).with_name("options.json")

_MODEL = f"such as {EXAMPLE_MODEL} or {LOCAL_MODEL}"

Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="<model>",
        help=f"Model to call, {_MODEL}. Naming a model allows calls for replies that are not "
        "recorded.",
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="<model>",
        help=f"Model to call, {_MODEL}; ROLE=MODEL for another role of the suite; may be "
        "repeated. Naming a model allows calls for replies that are not recorded.",
    ),
]
ApiBase = Annotated[
    str | None,
    typer.Option("--api-base", metavar="<url>", help="Address of an OpenAI-compatible server."),
]
Record = Annotated[
    str | None,
    typer.Option(
        "--record",
        metavar="<mode>",
        help="none (replay only), new_episodes (call for missing replies) or all (call for every "
        "reply).",
        autocompletion=record_modes,
    ),
]
Param = Annotated[
    list[str] | None,
    typer.Option(
        "--param", metavar="<name=value>", help="Model parameter, such as seed=7; may be repeated."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="<metric.name=value>",
        help="Parameter of a metric's rubric; may be repeated.",
    ),
]
SuitePath = Annotated[
    Path | None,
    typer.Argument(
        help="Suite file; suite.yaml or suite.yml in this folder by default.", show_default=False
    ),
]
CasesFile = Annotated[
    str, typer.Argument(help="File of cases, or - for standard input.", show_default=False)
]
RunFolder = Annotated[
    Path, typer.Argument(help="Run folder, written by judgekit run.", show_default=False)
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="<metric>",
        help="Run only this metric; may be repeated.",
        autocompletion=suite_metrics,
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="<n>", help="Score only the first n cases.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="<format>",
        help="Format of the rows: rows, chat, mastra, turns, mmlu, gsm8k or humaneval.",
    ),
]
NoJudge = Annotated[
    bool, typer.Option("--no-judge", help="Call no judge: judged metrics use their fallbacks.")
]
Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", help="Run folder that the gate not_worse compares with."),
]
Cassette = Annotated[
    Path | None, typer.Option("--cassette", help="Cassette to replay from and record to.")
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", help="Metadata field that groups dependent cases, such as user."),
]
Export = Annotated[
    list[str] | None,
    typer.Option(
        "--export",
        metavar="<format=file>",
        help="Also write the run as junit, markdown, csv, parquet or json; may be repeated.",
        show_default=False,
    ),
]
Github = Annotated[
    bool,
    typer.Option("--github", help="In GitHub Actions: write a job summary and annotations."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 1 on warnings too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the results and errors.")]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Print the files in use, the result of each case and each retry to standard error.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask no questions.")]


@cache
def option_entries() -> dict[str, dict[str, dict[str, Any]]]:
    """Return command -> parameter -> its entry in `options.json`."""
    text = OPTIONS.read_text("utf-8")
    text = text.replace("{model}", EXAMPLE_MODEL).replace("{local_model}", LOCAL_MODEL)
    entries: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return entries


def add_options(function: Callable[..., Any], command: str) -> None:
    """Give the parameters of a command their flags and help.

    Args:
        function: the command; a parameter that is `Annotated` or the context stays as it is.
        command: its name, such as `rubric render`.
    """
    entries = option_entries()
    own = entries.get(command, {})
    for name, kind in get_type_hints(function, include_extras=True).items():
        if name != "return" and kind is not typer.Context and get_origin(kind) is not Annotated:
            entry = own.get(name) or entries["shared"][name]
            function.__annotations__[name] = Annotated[kind, _parameter(name, **entry)]


def _parameter(
    name: str,
    *,
    argument: bool = False,
    short: str | None = None,
    flags: list[str] | None = None,
    autocompletion: str | None = None,
    **settings: Any,
) -> Any:
    if autocompletion is not None:
        settings["autocompletion"] = vars(completion)[autocompletion]
    if argument:
        return typer.Argument(**settings)
    names = flags or [f"--{name.replace('_', '-')}", *([short] if short else [])]
    return typer.Option(*names, **settings)


def overrides(
    *,
    judge: str | list[str] | None,
    api_base: str | None,
    param: list[str] | None,
    record: str | None = None,
    no_judge: bool = False,
    **others: Any,
) -> Overrides:
    """Return what flags override in a suite.

    Args:
        judge: `--judge`.
        api_base: `--api-base`.
        param: `--param`.
        record: `--record`.
        no_judge: `--no-judge`.
        others: further fields of `Overrides`.

    Raises:
        ConfigError: a parameter is not `name=value`, or a role has two judges.
    """
    from judgekit.suite.file import Overrides

    params = named_values("--param", param)
    model, judges = _by_role([judge] if isinstance(judge, str) else judge or [])
    # Flags have the right types already.
    return Overrides.model_construct(
        judge=model,
        judges=judges,
        api_base=api_base,
        record=record,
        params=params,
        no_judge=no_judge,
        **others,
    )


def _by_role(flags: list[str]) -> tuple[str | None, dict[str, str]]:
    """Return the model of the role `judge`, and the models of the other roles."""
    from judgekit.suite.file import JUDGE, ROLE

    models: dict[str, str] = {}
    for text in flags:
        role, equals, model = text.partition("=")
        if not equals or not re.match(ROLE, role):
            role, model = JUDGE, text
        if not model:
            raise ConfigError(f"--judge {text}: write it as ROLE=MODEL")
        if role in models:
            raise ConfigError(f"--judge: the role {role!r} is given twice; give each role once")
        models[role] = model
    return models.pop(JUDGE, None), models


def named_values(flag: str, texts: list[str] | None) -> dict[str, Any]:
    """Return the values of a repeated `name=value` flag: JSON where they parse, text otherwise.

    Raises:
        ConfigError: one is not `name=value`.
    """
    from judgekit.core.value import check_json

    values: dict[str, Any] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"{flag} {text}: write it as name=value")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
        try:
            check_json(values[name], where=name)
        except ValueError as exc:
            raise ConfigError(f"{flag} {text}: {exc}; write a number, or a text in quotes") from exc
    return values


def settings(
    texts: list[str] | None, metrics: list[str] | None = None
) -> dict[str, dict[str, str]]:
    """Return the values of `--set METRIC.NAME=VALUE` by metric; the values stay text.

    Args:
        texts: the flags.
        metrics: the metrics, where they are known: a flag may leave out the name of the only one.

    Raises:
        ConfigError: one is not `METRIC.NAME=VALUE`.
    """
    values: dict[str, dict[str, str]] = {}
    for text in texts or []:
        path, equals, value = text.partition("=")
        metric, _, name = path.strip().rpartition(".")
        if not metric and metrics is not None and len(set(metrics)) == 1:
            metric = metrics[0]
        if not equals or not name or not metric:
            raise ConfigError(
                f"--set {text}: write it as METRIC.NAME=VALUE, such as tone.audience=children"
            )
        values.setdefault(metric, {})[name] = value
    return values
