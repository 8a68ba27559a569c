"""`judgekit persona`: check persona files."""

from __future__ import annotations

from pathlib import Path

import typer

from judgekit.cli.options import command_group

app = command_group("Check persona files.")


@app.command("lint")
def lint(files: list[Path], strict: bool = False) -> None:
    """Check persona files for mistakes. Print where and why.

    Never call a judge. Exit codes: 0 no error, 1 an error, or with --strict a warning.
    """
    from judgekit.authoring.lint.persona import lint_personas, persona_rules
    from judgekit.authoring.lint.text import lint_text

    linted = lint_personas(files)
    typer.echo(lint_text(linted, persona_rules()), nl=False)
    raise typer.Exit(linted.exit_code(strict=strict))
