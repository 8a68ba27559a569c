"""`judgekit schema`: JSON Schemas for editors."""

from __future__ import annotations

from typing import Annotated

import typer

from judgekit.cli.completion import schema_kinds


def schema(
    kind: Annotated[
        str,
        typer.Argument(
            help="Kind of file: suite, rubric, persona, cases (one line) or results (one line).",
            show_default=False,
            autocompletion=schema_kinds,
        ),
    ],
) -> None:
    """Print the JSON Schema of a kind of file, for editors."""
    from judgekit.authoring.schemas import schema_text

    typer.echo(schema_text(kind), nl=False)
