"""`judgekit schema`: JSON Schemas for editors."""

import typer


def schema(kind: str) -> None:
    """Print the JSON Schema of a kind of file, for editors."""
    from judgekit.authoring.schemas import schema_text

    typer.echo(schema_text(kind), nl=False)
