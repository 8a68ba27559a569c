"""`judgekit cassette`: look after tapes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.completion import case_ids

app = typer.Typer(help="Look after cassettes.", no_args_is_help=True, rich_markup_mode=None)

Tape = Annotated[
    Path, typer.Argument(help="A cassette, such as cassettes/support.jsonl.", show_default=False)
]
SuiteFile = Annotated[Path, typer.Argument(help="A suite file.", show_default=False)]


@app.command("verify")
def verify(
    tapes: Annotated[list[Path], typer.Argument(help="Cassettes.", show_default=False)],
) -> None:
    """Check that every record is what it says: digests, keys, order, parts."""
    from judgekit.cassette.inspect import verify_tape

    for tape in tapes:
        typer.echo(f"{tape}: {verify_tape(tape)} records, all sound")


@app.command("stats")
def stats(tape: Tape) -> None:
    """Count a cassette's records by model and outcome."""
    from judgekit.cassette.inspect import stats_text

    typer.echo(stats_text(tape), nl=False)


@app.command("show")
def show(
    tape: Tape,
    key: Annotated[str, typer.Argument(help="A key, or its beginning.", show_default=False)],
) -> None:
    """Show one record: what was asked and what was said."""
    from judgekit.cassette.inspect import record_text

    typer.echo(record_text(tape, key), nl=False)


@app.command("explain")
def explain(
    suite: SuiteFile,
    case: Annotated[
        str | None, typer.Option("--case", help="Only this case.", autocompletion=case_ids)
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Misses to explain at most.")] = 5,
) -> None:
    """Say why a suite's replay misses: the nearest record to each miss, and what differs."""
    from judgekit.upkeep import explain_misses

    text, misses = explain_misses(suite, case=case, most=most)
    typer.echo(text, nl=False)
    raise typer.Exit(3 if misses else 0)


@app.command("prune")
def prune(
    suite: SuiteFile,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them; without it they are only counted.")
    ] = False,
) -> None:
    """Remove the records of a suite's cassette that the suite does not use."""
    from judgekit.upkeep import prune_unused

    typer.echo(prune_unused(suite, remove=yes))
