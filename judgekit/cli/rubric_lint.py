"""`judgekit rubric lint`: check rubrics for mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from judgekit.cli.options import Strict


def lint(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|FILE|FOLDER",
            help="Rubrics to check; the folder rubrics by default.",
            show_default=False,
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Run folder, to check the verdicts in it as well."),
    ] = None,
    format: Annotated[
        Literal["text", "sarif", "json"],
        typer.Option("--format", help="Format of the findings; sarif is SARIF 2.1.0."),
    ] = "text",
    strict: Strict = False,
    minimum: Annotated[
        int | None,
        typer.Option(
            "--minimum",
            min=1,
            help="Verdicts of a criterion that rules on results need; 20 by default.",
        ),
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="List all rules and exit.")] = False,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="RULE", help="Explain a rule and exit.")
    ] = None,
) -> None:
    """Check rubrics for mistakes. Print where, why, and how to fix them.

    Never call a judge. Exit codes: 0 no error, 1 an error, or with --strict a warning.
    """
    from judgekit.authoring.lint.lint import lint_rubrics
    from judgekit.authoring.lint.registry import find_rule
    from judgekit.authoring.lint.text import explained, lint_json, lint_text, rule_list

    if explain is not None:
        typer.echo(explained(find_rule(explain)), nl=False)
        return
    if rules:
        typer.echo(rule_list(), nl=False)
        return
    linted = lint_rubrics(sources or (), results=results, minimum=minimum)
    if format == "sarif":
        from judgekit.authoring.lint.sarif import lint_sarif

        text = lint_sarif(linted)
    else:
        text = lint_json(linted) if format == "json" else lint_text(linted)
    typer.echo(text, nl=False)
    raise typer.Exit(linted.exit_code(strict=strict))
