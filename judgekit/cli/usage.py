"""Format usage errors as one line with advice."""

import re
import sys
from collections.abc import Collection
from itertools import takewhile
from typing import Any

import typer

from judgekit.core.suggest import closest, suggest
from judgekit.core.synonyms import synonym

_NO_COMMAND = re.compile(r"No such command '(.*?)'\.", re.DOTALL)
_EXTRA = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", re.DOTALL)
_QUOTED = re.compile("'([^']*)'")
_VALUES = (
    ("valid integer", "must be a whole number"),
    ("valid number", "must be a number"),
    ("valid float", "must be a number"),
    ("valid boolean", "takes no value"),
)
"""Part of typer's message about a value -> description of valid values."""


_EXTRA_FILES = {
    (".jinja",): "a rubric is named in the suite: metrics: {NAME: {rubric: FILE}}",
    (".csv", ".tsv", ".xlsx", ".parquet"): "one table is read: join several first",
}
"""Endings of a surplus argument -> what to do."""


def usage_line(error: Any, *, groups: Collection[str] = ()) -> str:
    """Return the problem of a command line, with advice.

    Args:
        error: a usage error of typer; its fields depend on the problem.
        groups: the commands that have commands.
    """
    fields = vars(error)
    message = " ".join(str(error.message).split())
    command = error.ctx.command_path if error.ctx is not None else _typed(groups)
    shape = f"`{command} --help`" if error.ctx is None else _shape(error.ctx)
    help = f"`{command} --help`"
    if name := fields.get("option_name"):
        if "possibilities" not in fields:
            needs = "takes no value" if "not take" in message else "needs a value"
            return f"{name} {needs}; {help} shows how"
        return f"{command} has no option {name!r}{_closest_option(name, error.ctx, help)}"
    if unknown := _NO_COMMAND.match(message):
        return _unknown_command(unknown[1], command, error.ctx)
    if extra := _EXTRA.match(message):
        ending = f".{extra[1].rpartition('.')[2]}"
        if said := next((say for ends, say in _EXTRA_FILES.items() if ending in ends), ""):
            return f"{command} does not take {extra[1]!r}; {said}"
        words = extra[1].replace(" ", "").isalpha()
        quotes = "; a text with spaces needs quotes" if words else ""
        return f"{command} does not take {extra[1]!r}{quotes}; write {shape}"
    parameter = fields.get("param")
    if isinstance(error, typer.BadParameter) and parameter is not None:
        what = next((rule for part, rule in _VALUES if part in message), "")
        flag = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.name.upper()
        if not message:  # the argument is missing
            return f"{command} needs {flag}; write {shape}"
        value, choices, known = message.removeprefix("Value error, ").rpartition(" is not one of ")
        if choices:
            return f"{flag}: unknown value {value}{suggest(value[1:-1], _QUOTED.findall(known))}"
        return f"{flag}: {what or message[:1].lower() + message[1:].rstrip('.')}; see {help}"
    return f"{message[:1].lower()}{message[1:].rstrip('.')}; {help} shows how"


def _typed(groups: Collection[str]) -> str:
    """Return the command as typed, without options."""
    words = list(takewhile(lambda word: word.isalpha(), sys.argv[1:]))
    return " ".join(("judgekit", *words[: 2 if words[:1] and words[0] in groups else 1]))


def _shape(context: Any) -> str:
    """Return what a command needs, such as `judgekit merge SUITE FOLDERS... --out <path>`."""
    words = [context.command_path]
    for one in context.command.params:
        if vars(one).get("hidden"):
            continue
        if not one.opts[0].startswith("-"):
            name = re.sub(r"[<>\[\].]", "", one.metavar or one.name).upper()
            name += "..." * (one.nargs == -1)
            words.append(name if one.required else f"[{name}]")
        elif one.required:
            words.append(f"{one.opts[0]} {one.metavar or '<path>'}")
    return f"`{' '.join(words)}`"


def _closest_option(name: str, context: Any, help: str) -> str:
    shown = (p for p in context.command.params if not vars(p).get("hidden"))
    names = [n for p in shown for n in (*p.opts, *p.secondary_opts) if n.startswith("--")]
    if said := synonym("flag", name, names):
        return said
    group: Any = context.parent.command if context.parent is not None else None
    word = name.lstrip("-")
    if hasattr(group, "list_commands") and word in group.list_commands(context):
        return f"; {word!r} is a command: {context.parent.command_path} {word}"
    close = closest(name.lstrip("-"), [n.removeprefix("--") for n in names])
    if not close:
        option = f"; an option of a metric is --option {word}=VALUE" if "--option" in names else ""
        return f"{option}; {help} lists them"
    return f"; did you mean {' or '.join(repr(f'--{one}') for one in close)}?"


def _unknown_command(name: str, command: str, context: Any) -> str:
    if command == "judgekit" and name.endswith((".yaml", ".yml")):
        return f"{name!r} is not a command; to run a suite: judgekit run {name}"
    if context.command.invoke_without_command and name in ("list", "ls", "status"):
        return f"{command} has no command {name!r}; `{command}` lists them"
    if command == "judgekit metrics":
        return f"{name!r} is not a command; to explain a metric: judgekit metrics show {name}"
    known = context.command.list_commands(context)
    said = synonym("command" if command == "judgekit" else "subcommand", name, known)
    hint = said or suggest(name, known, otherwise=f"; `{command} --help` lists them")
    return f"{command} has no command {name!r}{hint}"
