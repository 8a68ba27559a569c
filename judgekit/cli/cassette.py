"""`judgekit cassette`: inspect and maintain cassettes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.completion import case_ids
from judgekit.cli.options import Json, Judges, Param, overrides

app = typer.Typer(
    help="Inspect and maintain cassettes.", no_args_is_help=True, rich_markup_mode=None
)

Tape = Annotated[
    Path, typer.Argument(help="Cassette, such as cassettes/support.jsonl.", show_default=False)
]
SuiteFile = Annotated[Path, typer.Argument(help="Suite file.", show_default=False)]


@app.command("verify")
def verify(
    tapes: Annotated[list[Path], typer.Argument(help="Cassettes.", show_default=False)],
) -> None:
    """Check the digest, key, order and parts of every record."""
    from judgekit.cassette.show import verify_tape

    for tape in tapes:
        count = verify_tape(tape)
        typer.echo(f"{tape}: {count} record{'s' * (count != 1)}, all valid")


@app.command("stats")
def stats(tape: Tape) -> None:
    """Count the records of a cassette by model and outcome."""
    from judgekit.cassette.show import stats_text

    typer.echo(stats_text(tape), nl=False)


@app.command("show")
def show(
    tape: Tape,
    key: Annotated[
        str, typer.Argument(help="Key of the record, or its beginning.", show_default=False)
    ],
) -> None:
    """Show one record: the request and the reply."""
    from judgekit.cassette.show import record_text

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
        typer.Option(
            "--kind",
            metavar="<kind>",
            help="Search only for: key, email, card, ip, phone; may be repeated.",
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="<text>",
            help="Harmless text, such as *@shop.example, or @FILE with one per line; may be "
            "repeated.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Search files for secrets and personal data.

    Search cassettes, run folders and files of cases. Print the place and the kind of each
    finding, never its text.

    Exit codes: 0 no finding, 1 findings, 2 the setup is wrong.
    """
    from judgekit.cassette.scan import allowed, scan

    report = scan(paths or [Path("cassettes")], kinds=kind or None, allow=allowed(allow or []))
    typer.echo(report.json_text() if json else report.text(), nl=False)
    raise typer.Exit(1 if report.findings else 0)


@app.command("explain")
def explain(
    suite: SuiteFile,
    case: Annotated[
        str | None, typer.Option("--case", help="Explain only this case.", autocompletion=case_ids)
    ] = None,
    judge: Judges = None,
    param: Param = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Number of misses to explain.")] = 5,
) -> None:
    """Explain why the replay of a suite misses.

    Show the nearest record to each miss, and what differs. --judge and --param explain a run with
    these flags. Never call a judge.

    Exit codes: 0 no miss, 2 the setup is wrong, 3 misses.
    """
    from judgekit.suite.maintenance import explain_misses

    flags = overrides(judge=judge, api_base=None, param=param)
    text, misses = explain_misses(suite, case=case, most=most, overrides=flags)
    typer.echo(text, nl=False)
    raise typer.Exit(3 if misses else 0)


@app.command("prune")
def prune(
    suite: SuiteFile,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove the records; without --yes, count them.")
    ] = False,
) -> None:
    """Remove the records that a suite does not use."""
    from judgekit.suite.maintenance import prune_unused

    typer.echo(prune_unused(suite, remove=yes))
