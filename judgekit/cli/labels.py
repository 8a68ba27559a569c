"""`judgekit labels`, `agree` and `correct`: plan, import, check and use labels of people."""

import json as json_
import sys
from functools import partial
from pathlib import Path

import typer

from judgekit.cli.options import command_group
from judgekit.cli.output import print_document, print_json
from judgekit.cli.screen import columns
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
    json: bool = False,
) -> None:
    """Choose cases of a run for people to label, and print them as JSON Lines.

    Cases are drawn at random from strata by score and by disagreement. Each line has the
    probability of its case, by which agree and correct weight its labels. Never call a judge.

    Exit codes: 0 planned, 2 the run or the number is wrong.
    """
    from judgekit.analysis.labels.plan import plan_labels

    planned = plan_labels(folder, count, metric=metric, seed=seed, labellers=labeller or ())
    written = None if page is None else planned.write_page(page)
    if json:
        print_json("label_plan", planned.to_json())
    else:
        for line in planned.lines():
            typer.echo(json_.dumps(line, ensure_ascii=False))
    _say(planned.text() + (f"page: {written}" if written else ""))


@app.command("import")
def import_(
    sources: list[Path],
    plan: Path | None = None,
    run: Path | None = None,
    metric: str | None = None,
    labeller: str = "",
    map: list[str] | None = None,
    json: bool = False,
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
    if json:
        print_json("labels", found.to_json())
    else:
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

    checked = check_labels(labels, run, plan=plan)
    if json:
        print_json("label_check", checked.to_json())
    else:
        typer.echo(printable(checked.text()), nl=False)
    raise typer.Exit(int(checked.problems > 0))


def _say(text: str) -> None:
    print(printable(text).rstrip("\n"), file=sys.stderr)


def agree(
    folder: Path,
    labels: Path,
    combine: str = "each",
    failures: str = "wrong",
    weights: str | None = None,
    cluster: str | None = None,
    group: str | None = None,
    system: str | None = None,
    alt_test: float | None = None,
    all: bool = False,
    html: Path | None = None,
    json: bool = False,
    markdown: bool = False,
) -> None:
    """Measure how well a judge agrees with human labels.

    Compare criterion by criterion, and write agree.json into the run folder: reports and pages of
    the run then show the agreement. Never call a judge.

    Exit codes: 0 compared, 2 the run or the labels are wrong; if only the labels of some criteria
    are wrong, the others are printed.
    """
    from judgekit.analysis.agreement.agree import agree as measure
    from judgekit.core.display.markdown import to_markdown
    from judgekit.core.display.text import to_text
    from judgekit.report.agreement_words import agreement_parts
    from judgekit.report.folder import PAGE
    from judgekit.report.report import Report

    calibration = measure(
        folder, labels, combine=combine, failures=failures, weights=weights,  # type: ignore[arg-type]
        cluster=cluster, group=group, system=system, alt_test=alt_test,
    )  # fmt: skip
    parts = agreement_parts(calibration, everything=all)
    if json:
        print_json("agreement", calibration.model_dump(mode="json"))
    elif markdown:
        typer.echo(to_markdown(parts), nl=False)
    else:
        typer.echo(to_text(parts, width=columns()))
    if html is not None:
        page = calibration.to_html(html, run=folder)
        typer.echo(f"page: {page}", err=json or markdown)
    if (folder / PAGE).is_file():
        typer.echo(f"written again with the agreement: {Report.read(folder).to_html()}", err=True)
    if calibration.problems:
        raise typer.Exit(2)


def correct(
    folder: Path,
    labels_file: Path,
    by: str = "ppi",
    labels: str = "mean",
    cluster: str | None = None,
    json: bool = False,
    markdown: bool = False,
) -> None:
    """Correct the means of a judge with labels of people, with intervals that contain its errors.

    A judge scores every case, people label some of them. Print for each labelled metric and
    criterion the mean of the judge, of the labels, and the corrected one. Never call a judge.

    Exit codes: 0 corrected, 2 the run or the labels are wrong.
    """
    from judgekit.analysis.correction.correct import correct_means
    from judgekit.report.folder import PAGE

    corrected = correct_means(folder, labels_file, by=by, combine=labels, cluster=cluster)  # type: ignore[arg-type]
    data = partial(corrected.model_dump, mode="json")
    print_document(corrected, "correction", data, as_json=json, markdown=markdown)
    if (folder / PAGE).is_file():
        note = "the page of the run shows means as judged; `labels:` in the suite corrects them"
        typer.echo(note, err=True)
