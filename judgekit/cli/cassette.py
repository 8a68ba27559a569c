"""`judgekit cassette`: inspect and maintain cassettes."""

from pathlib import Path

import typer

from judgekit.cli.options import command_group, overrides

app = command_group("Inspect and maintain cassettes.")


@app.command("verify")
def verify(tapes: list[Path]) -> None:
    """Check the digest, key, order and parts of every record.

    List the records that would not be recorded today: a rejection that is not about its case, or
    an empty reply after an outage.
    """
    from judgekit.cassette.show import verify_tape
    from judgekit.suite.maintenance import unjustified_records

    for tape in tapes:
        count = verify_tape(tape)
        reasons = unjustified_records(tape)
        typer.echo(f"{tape}: {count} record{'s' * (count != 1)}, all valid")
        for key, reason in sorted(reasons.items()):
            typer.echo(f"  {key[:12]} would not be recorded today: {reason}")
        if reasons:
            typer.echo(f"remove with `judgekit cassette prune {tape} --unjustified`")


@app.command("stats")
def stats(tape: Path) -> None:
    """Count the records of a cassette by model and outcome."""
    from judgekit.cassette.show import stats_text

    typer.echo(stats_text(tape), nl=False)


@app.command("show")
def show(tape: Path, key: str) -> None:
    """Show one record: the request and the reply."""
    from judgekit.cassette.show import record_text

    typer.echo(record_text(tape, key), nl=False)


@app.command("scan")
def scan(
    paths: list[Path] | None = None,
    kind: list[str] | None = None,
    allow: list[str] | None = None,
    json: bool = False,
) -> None:
    """Search files for secrets and personal data.

    Search cassettes, run folders and files of cases. Print the place and the kind of each
    finding, never its text.

    Exit codes: 0 no finding, 1 findings, 2 the setup is wrong.
    """
    from judgekit.privacy.scan import allowed, scan

    report = scan(paths or [Path("cassettes")], kinds=kind or None, allow=allowed(allow or []))
    typer.echo(report.json_text() if json else report.text(), nl=False)
    raise typer.Exit(1 if report.findings else 0)


@app.command("explain")
def explain(
    command: typer.Context,
    suite: Path,
    case: str | None = None,
    judge: list[str] | None = None,
    param: list[str] | None = None,
    most: int = 5,
) -> None:
    """Explain why the replay of a suite misses.

    Show the nearest record to each miss, and what differs. --judge and --param explain a run with
    these flags. Never call a judge.

    Exit codes: 0 no miss, 2 the setup is wrong, 3 misses.
    """
    from judgekit.suite.maintenance import explain_misses

    flags = overrides(command.params)
    text, misses = explain_misses(suite, case=case, most=most, overrides=flags)
    typer.echo(text, nl=False)
    raise typer.Exit(3 if misses else 0)


@app.command("prune")
def prune(suite: Path, unjustified: bool = False, yes: bool = False) -> None:
    """Remove the records that a suite does not use.

    With --unjustified, remove those that would not be recorded today instead, from the cassette
    and from the private store; a cassette may be named instead of a suite.
    """
    from judgekit.suite.maintenance import prune_unjustified, prune_unused

    prune = prune_unjustified if unjustified else prune_unused
    typer.echo(prune(suite, remove=yes))
