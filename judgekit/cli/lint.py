"""`judgekit rubric lint`: what an author would rather hear now."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Form(StrEnum):
    """How findings are printed."""

    text = "text"
    sarif = "sarif"
    json = "json"


def lint(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|FILE|FOLDER",
            help="What to look at; the folder rubrics by default.",
            show_default=False,
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results", help="A run folder: say what the verdicts in it give away as well."
        ),
    ] = None,
    form: Annotated[
        Form, typer.Option("--format", help="text, sarif (2.1.0) or json.")
    ] = Form.text,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 on warnings too.")] = False,
    minimum: Annotated[
        int | None,
        typer.Option(
            "--minimum", min=1, help="Verdicts a criterion needs to be spoken of; 20 by default."
        ),
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List every rule, and stop.")] = False,
    explain: Annotated[
        str | None, typer.Option("--explain", help="Explain one rule, and stop.")
    ] = None,
) -> None:
    """Say what is wrong with rubrics, where, why, and how to mend it. Nobody is asked.

    Exit code 1 when there is an error, with --strict also on a warning.
    """
    from judgekit.authoring.lint.lint import lint_rubrics
    from judgekit.authoring.lint.reference import explained, rule_list
    from judgekit.authoring.lint.registry import find_rule

    if explain is not None:
        typer.echo(explained(find_rule(explain)), nl=False)
        return
    if rules:
        typer.echo(rule_list(), nl=False)
        return
    found = lint_rubrics(sources or (), results=results, minimum=minimum)
    if form is Form.text:
        from judgekit.authoring.lint.text import lint_text

        typer.echo(lint_text(found), nl=False)
    elif form is Form.sarif:
        from judgekit.authoring.lint.sarif import lint_sarif

        typer.echo(lint_sarif(found), nl=False)
    else:
        from judgekit.authoring.lint.text import lint_json

        typer.echo(lint_json(found), nl=False)
    raise typer.Exit(found.exit_code(strict=strict))
