"""`judgekit cassette`: look after tapes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.completion import case_ids
from judgekit.cli.options import Judges, Param

app = typer.Typer(help="Look after cassettes.", no_args_is_help=True, rich_markup_mode=None)

Tape = Annotated[
    Path, typer.Argument(help="A cassette, such as cassettes/support.jsonl.", show_default=False)
]
SuiteFile = Annotated[Path, typer.Argument(help="A suite file.", show_default=False)]


@app.command("verify")
def verify(
    tapes: Annotated[list[Path], typer.Argument(help="Cassettes.", show_default=False)],
) -> None:
    """Check that every record is what it says.

    Its digest, its key, its place, and the parts it names.
    """
    from judgekit.cassette.inspect import verify_tape

    for tape in tapes:
        count = verify_tape(tape)
        typer.echo(f"{tape}: {count} record{'s' * (count != 1)}, all sound")


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


@app.command("scan")
def scan(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files and folders; the folder cassettes by default.", show_default=False
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", help="Only this: key, email, card, ip, phone; may be repeated."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            help="Known to be harmless, such as *@shop.example, or @FILE with one a line; "
            "may be repeated.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Look for secrets and personal data in files.

    In cassettes, run folders and files of cases.

    Says where and of what kind a thing is, never the thing itself.

    Exit codes: 0 nothing found, 1 something found, 2 something is set up wrongly.
    """
    from judgekit.cassette.scan import allowed, scan

    done = scan(paths or [Path("cassettes")], kinds=kind or None, allow=allowed(allow or []))
    typer.echo(done.json_text() if json else done.text(), nl=False)
    raise typer.Exit(1 if done.findings else 0)


@app.command("explain")
def explain(
    suite: SuiteFile,
    case: Annotated[
        str | None, typer.Option("--case", help="Only this case.", autocompletion=case_ids)
    ] = None,
    judge: Judges = None,
    param: Param = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Misses to explain at most.")] = 5,
) -> None:
    """Say why the replay of a suite misses.

    The nearest record to each miss, and what differs.

    With --judge and --param, why a run with these flags would. Nobody is asked.
    """
    from judgekit.cli.options import overrides
    from judgekit.suite.maintenance import explain_misses

    flags = overrides(judge=judge, api_base=None, record=None, param=param, no_judge=False)
    text, misses = explain_misses(suite, case=case, most=most, overrides=flags)
    typer.echo(text, nl=False)
    raise typer.Exit(3 if misses else 0)


@app.command("prune")
def prune(
    suite: SuiteFile,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them; without it they are only counted.")
    ] = False,
) -> None:
    """Remove the records that a suite does not use."""
    from judgekit.suite.maintenance import prune_unused

    typer.echo(prune_unused(suite, remove=yes))
