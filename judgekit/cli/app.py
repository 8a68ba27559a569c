"""The verbs, put together."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from judgekit import __version__

VERBS = (
    "init", "run", "watch", "merge", "score", "report", "compare", "view", "agree", "answer",
    "perturb", "schema", "metrics", "rubric", "persona", "pairs", "cassette", "doctor",
)  # fmt: skip
"""Each is a module here: a function of its own name, or an `app` of further verbs."""


class Verbs(TyperGroup):
    """Makes a verb when it is asked for: no verb waits for what the others need."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all verbs, in the order of the help."""
        return [*VERBS, *(name for name in self.commands if name not in VERBS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb; `None` where there is none of that name."""
        if cmd_name in VERBS and cmd_name not in self.commands:
            self.commands[cmd_name] = _verb(cmd_name)
        return self.commands.get(cmd_name)

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Read the options before the verb."""
        try:
            return super().make_context(*args, **options)
        except _UsageError as exc:
            raise _in_one_line(exc) from None

    def invoke(self, ctx: Any) -> Any:
        """Read the rest of the command line, and run the verb."""
        try:
            return super().invoke(ctx)
        except _UsageError as exc:
            raise _in_one_line(exc) from None


_UsageError: Any = typer.BadParameter.__base__
"""The error of everything that is wrong with a command line; typer exports only this heir of it."""


def _in_one_line(error: Any) -> Exception:
    if type(error).__name__ == "NoArgsIsHelpError":
        return error  # type: ignore[no-any-return]
    from judgekit.cli.usage import usage_line
    from judgekit.core.errors import ConfigError

    return ConfigError(usage_line(error))


def _verb(name: str) -> Any:
    module = import_module(f"judgekit.cli.{name}")
    if hasattr(module, "app"):
        group = get_group(module.app)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name)(getattr(module, name))
    return get_command(alone)


app = typer.Typer(
    cls=Verbs,
    help="Score LLM output with LLM judges and rubrics; replay every verdict offline.",
    epilog="More: `judgekit COMMAND --help`, `judgekit metrics show NAME`, `judgekit rubric lint "
    "--explain RULE`, and the folder docs of the project's source; begin with docs/get-started.md.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"judgekit {__version__}")
        raise typer.Exit


@app.callback()
def judgekit(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Score LLM output with LLM judges and rubrics; replay every verdict offline."""
