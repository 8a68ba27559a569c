"""Flags and help of command parameters, from `options.json`, and parsing of their values.

A command is a function with plain parameters. `options.json` has an entry for each parameter, under
the command or, for several commands, under `shared`. Keys are `help`, `argument` for a parameter
without a flag, `flags` if the flag is not just the name, `aliases` for other spellings, which work
but are not shown, `path` for what a path is (a `suite` or a `run` may be named by its folder, a
`page` is HTML), `autocompletion` (words, or a function of `completion`), and other arguments of
`typer.Option`. The letter of a flag comes from `LETTERS`.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from judgekit.core.canonical import printable
from judgekit.core.case_field import CASE_TEXTS, FIELD_BY_NAME, TEXTS
from judgekit.core.errors import ConfigError
from judgekit.core.example_model import EXAMPLE_MODEL, LOCAL_MODEL
from judgekit.core.input_file import home_path

if TYPE_CHECKING:
    from judgekit.suite.overrides import Overrides

LETTERS = {
    "--count": "-n",
    "--criterion": "-c",
    "--help": "-h",
    "--input": "-i",
    "--kind": "-k",
    "--metric": "-m",
    "--out": "-o",
    "--port": "-p",
    "--quiet": "-q",
    "--reference": "-r",
    "--system": "-s",
    "--verbose": "-v",
    "--yes": "-y",
}
"""Flag -> its letter, in every command that has the flag. An alias of a command may be another
letter, as it was in earlier versions."""
OPTIONS = Path(__file__).with_name("options.json")


@cache
def option_entries(file: Path = OPTIONS) -> dict[str, dict[str, dict[str, Any]]]:
    """Return command -> parameter -> its entry in a file such as `options.json`."""
    text = file.read_text("utf-8")
    text = text.replace("{model}", EXAMPLE_MODEL).replace("{local_model}", LOCAL_MODEL)
    entries: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    if (flags := entries.get("score")) is not None:
        for name in CASE_TEXTS:
            flags[name] = {"metavar": "<text>", "help": _help_of(name), **flags.get(name, {})}
    return entries


def _help_of(name: str) -> str:
    """Return the help of the flag for a text of a case."""
    about = FIELD_BY_NAME[name].about
    several = name not in TEXTS
    end = "; may be repeated." if several else ". Text, @FILE or - for standard input."
    return f"{about[0].upper()}{about[1:]}{end}"


def command_group(help: str) -> typer.Typer:
    """Return a group of commands, which may contain a single command."""
    app = typer.Typer(help=help, no_args_is_help=True, rich_markup_mode=None)
    app.callback()(lambda: None)  # otherwise typer replaces a group of one command by the command
    return app


def check_place(context: typer.Context, *, json: bool) -> None:
    """Reject `--json` between a group and its command, where it would have no effect.

    Raises:
        ConfigError: it stands there.
    """
    if json and context.invoked_subcommand is not None:
        words = f"{context.command_path} {context.invoked_subcommand}"
        raise ConfigError(f"write --json at the end: {words} ... --json")


def add_flags(function: Callable[..., Any], flags: Mapping[str, Any], *, before: str) -> None:
    """Replace the `**` parameter of a command by parameters that are `None` by default.

    Args:
        function: the command.
        flags: name of each parameter -> the type of its value.
        before: the parameter before which they stand in the help.
    """
    signature = inspect.signature(function)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name == before:
            parameters += [
                inspect.Parameter(name, parameter.kind, default=None, annotation=kind | None)
                for name, kind in flags.items()
            ]
        if parameter.kind != inspect.Parameter.VAR_KEYWORD:
            parameters.append(parameter)
        else:
            del function.__annotations__[parameter.name]
    function.__annotations__ |= {name: kind | None for name, kind in flags.items()}
    vars(function)["__signature__"] = signature.replace(parameters=parameters)


def add_aliases(command: Any, name: str, *, file: Path = OPTIONS) -> None:
    """Give a `Command` the other spellings of its flags.

    Args:
        command: the command; its `aliases` are set.
        name: its name, such as `rubric render`.
        file: see `add_options`.
    """
    own, shared = option_entries(file).get(name, {}), option_entries()["shared"]
    entries = {p.name: own.get(p.name) or shared.get(p.name, {}) for p in command.params}
    command.aliases = {one: e["aliases"] for one, e in entries.items() if "aliases" in e}


def add_options(function: Callable[..., Any], command: str, *, file: Path = OPTIONS) -> None:
    """Give the parameters of a command their flags and help.

    Args:
        function: the command; `Annotated` parameters and the context are not changed.
        command: its name, such as `rubric render`.
        file: the file with the entries of the command; those that commands share are always in
            the file of this package.
    """
    own, shared = option_entries(file).get(command, {}), option_entries()["shared"]
    hints = get_type_hints(function, include_extras=True)
    for name, kind in hints.items():
        if name != "return" and kind is not typer.Context and get_origin(kind) is not Annotated:
            entry = own.get(name) or shared[name]
            hints[name] = Annotated[kind, _parameter(name, kind, **entry)]
            function.__annotations__[name] = hints[name]
    signature = vars(function).get("__signature__")
    if signature is not None:
        # Where a function has one, typer takes the types from the signature.
        every = [p.replace(annotation=hints[p.name]) for p in signature.parameters.values()]
        vars(function)["__signature__"] = signature.replace(parameters=every)


PATHS = frozenset({"cases", "benchmark", "answers", "rubric", "sources", "source"})
"""Parameters that are paths although their type is text: a name, `-` or a path."""


def _is_path(kind: Any) -> bool:
    """Return whether a type is a path, several paths, or optionally so."""
    return kind is Path or any(map(_is_path, get_args(kind)))


def _expanded(value: Any) -> Any:
    """Return a path, or several, with `~` replaced: shells leave it in `--out=~/x` and quotes."""
    if isinstance(value, list | tuple):
        return [_expanded(one) for one in value]
    if isinstance(value, str | Path) and str(value)[:1] == "~":
        return type(value)(home_path(value))
    return value


def _paths(find: Callable[[str, Path], Path]) -> Callable[[typer.Context, Any], Any]:
    """Return a callback that replaces a path, or several, by what `find` returns."""

    def replace(context: typer.Context, value: Any) -> Any:
        value = _expanded(value)
        if isinstance(value, list | tuple):
            return [replace(context, one) for one in value]
        verb = context.command_path.partition(" ")[2]
        return None if value is None else type(value)(find(verb, Path(value)))

    return replace


def _suite(verb: str, path: Path) -> Path:
    """Return a suite for its folder, or for the run folder that it has by default."""
    if not path.is_dir():
        return path
    from judgekit.suite.source import find_suite

    return find_suite(path, verb=verb)


def _run(_: str, path: Path) -> Path:
    """Return the run folder of a suite or of its folder; say so, if it is not the path."""
    if path.suffix not in (".yaml", ".yml") and not path.is_dir():
        return path
    from judgekit.suite.run import find_run

    if (found := find_run(path)) != path:
        print(f"judgekit: run {printable(str(found))}", file=sys.stderr)
    return found


def _page(_: str, path: Path) -> Path:
    """Return the path of a page, checked before the work."""
    from judgekit.core.output_file import check_page

    check_page(path)
    return path


def _parameter(
    name: str,
    kind: Any,
    *,
    argument: bool = False,
    flags: list[str] | None = None,
    aliases: Sequence[str] = (),
    path: Literal["suite", "run", "page"] | None = None,
    autocompletion: str | list[str] | None = None,
    **settings: Any,
) -> Any:
    if name in PATHS or _is_path(kind):
        find = {"suite": _suite, "run": _run, "page": _page}.get(path or "")
        settings["callback"] = _paths(find) if find else _expanded
    if autocompletion is not None:
        settings["autocompletion"] = lambda: _completed(autocompletion)
    if argument:
        return typer.Argument(**settings)
    names = flags or [f"--{name.replace('_', '-')}"]
    letters = [LETTERS[flag] for flag in names if flag in LETTERS]
    return typer.Option(*names, *letters, **settings)


def _completed(words: str | list[str]) -> list[str]:
    """Return words, or those of a function of `completion`.

    Errors are suppressed, because a shell cannot show a message.
    """
    if isinstance(words, list):
        return words
    with suppress(Exception):
        from judgekit.cli import completion

        return sorted(set(vars(completion)[words]()))
    return []


def overrides(flags: Mapping[str, Any], *, suite: bool = False, **others: Any) -> Overrides:
    """Return the overrides of a suite from flags.

    The fields of `Overrides` declare their flags. Flags that the command does not have are ignored.

    Args:
        flags: the parameters of a command.
        suite: whether the command runs a suite file; other commands only use the flags for the
            judge.
        others: fields of `Overrides` that the command itself computes from its flags.

    Raises:
        ConfigError: a parameter is not `name=value`, or a role has two judges.
    """
    from judgekit.suite.overrides import EFFECTS, Overrides

    names = [name for name, effect in EFFECTS.items() if effect.of_judge or suite]
    plain = {name: flags[name] for name in names if not EFFECTS[name].flag and name in flags}
    judge = plain.pop("judge", None) or []
    model, judges = _by_role([judge] if isinstance(judge, str) else judge)
    params = named_values("--param", flags.get("param"))
    # Flags have the right types already.
    return Overrides.model_construct(
        **given(judge=model, judges=judges, params=params, **plain, **others)
    )


def _by_role(flags: list[str]) -> tuple[str | None, dict[str, str]]:
    """Return the model of the role `judge`, and the models of the other roles."""
    from judgekit.suite.judge_file import JUDGE, ROLE

    models: dict[str, str] = {}
    for text in flags:
        role, equals, model = text.partition("=")
        if not equals or not re.match(ROLE, role):
            role, model = JUDGE, text
        if not model:
            raise ConfigError(f"--judge {text}: write it as ROLE=MODEL")
        if model.endswith("/"):
            message = f"names no model; write PROVIDER/MODEL, such as {LOCAL_MODEL}"
            raise ConfigError(f"--judge {text}: {message}")
        if role in models:
            raise ConfigError(f"--judge: the role {role!r} is given twice; give each role once")
        models[role] = model
    return models.pop(JUDGE, None), models


def named_values(flag: str, texts: list[str] | None) -> dict[str, Any]:
    """Return the values of a repeated `name=value` flag: parsed as JSON if valid, else as text.

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


def given(**values: Any) -> dict[str, Any]:
    """Return the values of the flags that are given; paths as text."""
    # A flag that may be repeated is an empty tuple if it is not given.
    known = {name: value for name, value in values.items() if value not in (None, ())}
    return {name: str(v) if isinstance(v, Path) else v for name, v in known.items()}


def settings(
    texts: list[str] | None, metrics: list[str] | None = None
) -> dict[str, dict[str, str]]:
    """Return the values of `--set METRIC.NAME=VALUE` by metric, as text.

    Args:
        texts: the flags.
        metrics: the metrics, if known: a flag may omit the name of a single metric.

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
