"""The commands, imported on use."""

from collections.abc import Mapping, Sequence
from copy import copy
from importlib import import_module
from itertools import dropwhile
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from judgekit import __version__

PANELS = {
    "Start": ("init", "run", "score", "watch", "batch", "doctor"),
    "Results": ("report", "view", "compare", "merge", "rank"),
    "People": ("agree", "correct", "labels"),
    "Files": ("rubric", "cases", "cassette", "schema", "metrics"),
    "Special": ("evaluate", "answer", "perturb", "persona"),
}
"""Headings of the help, each with its commands. The commands of installed packages are listed under
the last one, see `installed`."""
COMMANDS = tuple(name for names in PANELS.values() for name in names)
"""Each command is a function of the same name, or the group `app`, in its module."""
_MODULES = {"agree": "labels", "correct": "labels", "perturb": "cases", "rank": "compare"}
"""Command -> module, if the names differ."""
_SUITES = (".yaml", ".yml")
GROUPS = {"metrics", "rubric", "persona", "cassette", "cases", "labels", "batch"}


class CommandLoader(TyperGroup):
    """Imports a command when it is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        from judgekit.cli.installed import installed_names

        return [*COMMANDS, *(name for name in installed_names() if name not in COMMANDS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; `None` if it does not exist."""
        if cmd_name not in self.commands:
            # The built-in names come first: no package replaces a command, and the search for
            # entry points, which takes longer than parsing the command line, is left out.
            if cmd_name in COMMANDS:
                self.commands[cmd_name] = _command(cmd_name)
            elif cmd_name in self.list_commands(ctx):
                self.commands[cmd_name] = _installed_command(cmd_name)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under their headings, with one margin for all."""
        names = self.list_commands(ctx)
        width = max(map(len, names))
        *_, last = PANELS
        for heading, own in PANELS.items():
            others = names[len(COMMANDS) :] if heading == last else ()
            with formatter.section(heading):
                formatter.write_dl(
                    (name.ljust(width), command.get_short_help_str(formatter.width - 6 - width))
                    for name in (*own, *others)
                    if (command := self.get_command(ctx, name)) is not None
                )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; `help COMMAND` means `COMMAND --help`."""
        if args[:1] == ["help"]:
            args = [*dropwhile("help".__eq__, args), "--help"]
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Parse the options before the command."""
        try:
            return super().make_context(*args, **options)
        except _UsageError as exc:
            raise _in_one_line(exc) from None

    def invoke(self, ctx: Any) -> Any:
        """Parse the rest of the command line, and run the command."""
        try:
            return super().invoke(ctx)
        except _UsageError as exc:
            raise _in_one_line(exc) from None


class Command(TyperCommand):
    """A command with spellings that its help does not show.

    `--ray` may have no value, which typer lacks.
    """

    aliases: Mapping[str, Sequence[str]] = MappingProxyType({})
    """Parameter -> other spellings of its flag."""

    def make_parser(self, ctx: Any) -> Any:
        """Return the parser of the command line."""
        parser = super().make_parser(ctx)
        for parameter in self.params:
            if spellings := self.aliases.get(str(parameter.name)):
                # A copy, because help, completion and suggestions read the spellings of the
                # parameter itself.
                hidden: Any = copy(parameter)
                hidden.opts = list(spellings)
                hidden.add_to_parser(parser, ctx)
        return parser

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; `--ray` without an address means a Ray on this machine."""
        if any("--ray" in parameter.opts for parameter in self.params) and "--ray" in args:
            place = args.index("--ray")
            following = args[place + 1 : place + 2]
            if not following or following[0].startswith("-") or following[0].endswith(_SUITES):
                args = [*args[:place], "--ray=local", *args[place + 1 :]]
        return super().parse_args(ctx, args)


_UsageError: Any = typer.BadParameter.__base__
"""The base class of errors in a command line; typer exports only this subclass."""


def _in_one_line(error: Any) -> Exception:
    if type(error).__name__ == "NoArgsIsHelpError":
        return error  # type: ignore[no-any-return]
    from judgekit.cli.usage import usage_line
    from judgekit.core.errors import ConfigError

    return ConfigError(usage_line(error, groups=GROUPS))


def _command(name: str) -> Any:
    from judgekit.cli.options import OPTIONS, add_aliases, add_options

    module = import_module(f"judgekit.cli.{_MODULES.get(name, name)}")
    if name in GROUPS:
        return _group(name, module.app, OPTIONS)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    add_options(vars(module)[name], name)
    alone.command(name, cls=Command)(vars(module)[name])
    command = get_command(alone)
    add_aliases(command, name)
    return command


def _installed_command(name: str) -> Any:
    from judgekit.cli.installed import AbsentCommand, load_module, options_of
    from judgekit.core.errors import ConfigError

    try:
        module = load_module(name)
    except ConfigError as exc:
        return AbsentCommand(name, str(exc))
    return _group(name, module.app, options_of(module))


def _group(name: str, app: typer.Typer, options: Path | None) -> Any:
    from judgekit.cli.options import add_aliases, add_options

    for info in app.registered_commands:
        info.cls = Command
        if options is not None:
            function: Any = info.callback
            add_options(function, f"{name} {info.name or function.__name__}", file=options)
    if options is not None:
        callback: Any = app.registered_callback and app.registered_callback.callback
        if callback is not None:
            add_options(callback, name, file=options)
    group = get_group(app)
    group.name = name
    if options is not None:
        for word, command in group.commands.items():
            add_aliases(command, f"{name} {word}", file=options)
    return group


app = typer.Typer(
    cls=CommandLoader,
    help="Score LLM output with LLM judges and rubrics. Replay every verdict offline.",
    epilog="See also `judgekit help COMMAND`, `judgekit metrics show NAME`, `judgekit rubric "
    "lint --explain RULE`, and docs/get-started.md in the source.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"judgekit {__version__}")
        raise typer.Exit


_VERSION = typer.Option(
    "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
)


@app.callback()
def judgekit(version: Annotated[bool, _VERSION] = False) -> None:
    """Score LLM output with LLM judges and rubrics. Replay every verdict offline."""
