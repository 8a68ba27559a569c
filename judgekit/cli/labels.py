"""`judgekit labels`: plan, import and check human labels."""

import sys
from pathlib import Path

import typer

from judgekit.cli.options import command_group
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError

app = command_group("Plan, import and check human labels.")


@app.command("plan")
def plan(
    folder: Path,
    count: int,
    metric: str | None = None,
    seed: int = 42,
    labeller: list[str] | None = None,
    page: Path | None = None,
) -> None:
    """Choose cases of a run for people to label, and print them as JSON Lines.

    Cases are drawn at random from strata by score and by disagreement. Each line has the
    probability of its case, by which agree and correct weight its labels. Never call a judge.

    Exit codes: 0 planned, 2 the run or the number is wrong.
    """
    import json

    from judgekit.analysis.labels.plan import plan_labels

    planned = plan_labels(folder, count, metric=metric, seed=seed, labellers=labeller or ())
    written = None if page is None else planned.write_page(page)
    for line in planned.lines():
        typer.echo(json.dumps(line, ensure_ascii=False))
    _say(planned.text() + (f"page: {written}" if written else ""))


@app.command("import")
def import_(
    sources: list[Path],
    plan: Path | None = None,
    run: Path | None = None,
    metric: str | None = None,
    labeller: str = "",
    map: list[str] | None = None,
) -> None:
    """Read labels of the page of a run, CSV or Label Studio, and print a file of labels.

    A table has a column for each criterion, or the columns criterion and value. Of Label Studio,
    read the JSON export. What is left out is counted.

    Exit codes: 0 imported, 2 a row cannot be read, or two answers contradict each other.
    """
    from judgekit.analysis.labels.importing import import_labels

    names = {}
    for text in map or ():
        column, equals, criterion = text.partition("=")
        if not equals or not column:
            raise ConfigError(f"--map {text}: write it as column=criterion")
        names[column] = criterion
    found = import_labels(
        *sources, plan=plan, run=run, metric=metric, labeller=labeller, names=names
    )
    for line in found.lines():
        typer.echo(line)
    _say(found.text())


@app.command("check")
def check(
    labels: Path, run: Path | None = None, plan: Path | None = None, json: bool = False
) -> None:
    """Check labels: contradictions, labels of another output, missing cases, unknown names.

    With the run, compare cases, outputs and answers; with the plan, find cases without labels.

    Exit codes: 0 no problems, 1 problems, 2 a file cannot be read.
    """
    from judgekit.analysis.labels.check import check_labels
    from judgekit.cli.output import print_json

    checked = check_labels(labels, run, plan=plan)
    if json:
        print_json(checked.to_json())
    else:
        typer.echo(printable(checked.text()), nl=False)
    raise typer.Exit(int(checked.problems > 0))


def _say(text: str) -> None:
    print(printable(text).rstrip("\n"), file=sys.stderr)
