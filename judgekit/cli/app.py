"""The verbs, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from judgekit import __version__
from judgekit.cli import cassette, metrics, report, rubric, run, schema, score

app = typer.Typer(
    help="Score LLM output with LLM judges and rubrics; replay every verdict offline.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("score")(score.score)
app.command("report")(report.report)
app.add_typer(metrics.app, name="metrics")
app.command("schema")(schema.schema)
app.add_typer(rubric.app, name="rubric")
app.add_typer(cassette.app, name="cassette")


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
