"""`judgekit cassette`: inspect and maintain cassettes."""

from pathlib import Path

import typer

from judgekit.cli.options import command_group, overrides
from judgekit.cli.output import print_json
from judgekit.core.display.parts import counted

app = command_group("Inspect and maintain cassettes.")


@app.command("verify")
def verify(tapes: list[Path], json: bool = False) -> None:
    """Check the digest, key, order and parts of every record.

    List the records that would not be recorded today: a rejection that is not about its case, or
    an empty reply after an outage.
    """
    from judgekit.cassette.show import verify_tape
    from judgekit.suite.maintenance import unjustified_records

    checked = []
    for tape in tapes:
        count = verify_tape(tape)
        reasons = unjustified_records(tape)
        checked.append({"path": str(tape), "records": count, "unjustified": reasons})
        if json:
            continue
        typer.echo(f"{tape}: {counted(count, 'record')}, all valid")
        for key, reason in sorted(reasons.items()):
            typer.echo(f"  {key[:12]} would not be recorded today: {reason}")
        if reasons:
            typer.echo(f"remove with `judgekit cassette prune {tape} --unjustified`")
    if json:
        print_json("verified", {"cassettes": checked})


@app.command("stats")
def stats(tape: Path, json: bool = False) -> None:
    """Count the records of a cassette by model and outcome."""
    from judgekit.cassette.show import tape_stats

    counts = tape_stats(tape)
    if json:
        print_json("cassette_stats", counts.to_json())
    else:
        typer.echo(counts.text(), nl=False)


@app.command("show")
def show(tape: Path, key: str, json: bool = False) -> None:
    """Show one record: the request and the reply."""
    from judgekit.cassette.show import find_record, record_data, record_text

    record = find_record(tape, key)
    if json:
        print_json("record", record_data(record))
    else:
        typer.echo(record_text(record), nl=False)


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
    json: bool = False,
) -> None:
    """Explain why the replay of a suite misses.

    Show the nearest record to each miss, and what differs. --judge and --param explain a run with
    these flags. Never call a judge.

    Exit codes: 0 no miss, 2 the setup is wrong, 3 misses.
    """
    from judgekit.suite.maintenance import explain_misses

    flags = overrides(command.params)
    misses = explain_misses(suite, case=case, most=most, overrides=flags)
    if json:
        print_json("misses", misses.to_json())
    else:
        typer.echo(misses.text(), nl=False)
    raise typer.Exit(3 if misses.missed else 0)


@app.command("prune")
def prune(suite: Path, unjustified: bool = False, yes: bool = False, json: bool = False) -> None:
    """Remove the records that a suite does not use.

    With --unjustified, remove those that would not be recorded today instead, from the cassette
    and from the private store; a cassette may be named instead of a suite.
    """
    from judgekit.suite.maintenance import prune_unjustified, prune_unused

    pruned = (prune_unjustified if unjustified else prune_unused)(suite, remove=yes)
    if json:
        print_json("pruned", {"places": [one._asdict() for one in pruned]})
        return
    for one in pruned:
        typer.echo(one.text())
    if not pruned:
        typer.echo(f"{suite}: nothing is recorded")
