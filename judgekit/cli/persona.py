"""`judgekit persona`: look at personas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Look at personas.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def persona() -> None:
    """Look at personas."""


@app.command("lint")
def lint(
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="Persona files.")],
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 on warnings too.")] = False,
) -> None:
    """Say what is wrong with persona files, where, and why. Nobody is asked.

    Exit code 1 when there is an error, with --strict also on a warning.
    """
    from judgekit.authoring.lint.persona import lint_personas, persona_lint_text

    found = lint_personas(files)
    typer.echo(persona_lint_text(found), nl=False)
    raise typer.Exit(found.exit_code(strict=strict))
