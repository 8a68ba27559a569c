"""`judgekit rubric`: write, check, show and test rubrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.completion import case_ids, rubrics
from judgekit.cli.options import (
    ApiBase,
    Json,
    Judge,
    Param,
    Record,
    named_values,
    overrides,
    settings,
)
from judgekit.cli.rubric_lint import lint
from judgekit.cli.rubric_new import new

app = typer.Typer(
    help="Write, check, show and test rubrics.", no_args_is_help=True, rich_markup_mode=None
)

app.command("new")(new)
app.command("lint")(lint)

Name = Annotated[
    str,
    typer.Argument(help="Rubric, a name or a file.", show_default=False, autocompletion=rubrics),
]


@app.command("list")
def list_rubrics(
    folder: Annotated[Path | None, typer.Option("--folder", help="List only this folder.")] = None,
    suite: Annotated[
        Path | None, typer.Option("--suite", help="List rubrics as this suite file finds them.")
    ] = None,
) -> None:
    """List rubrics in the order of name lookup."""
    from judgekit.cli.screen import fitted
    from judgekit.rubric.show import list_text

    if suite is not None:
        from judgekit.suite.rubrics import suite_folders

        text = list_text(suite_folders(suite))
    else:
        text = list_text(folder=folder)
    typer.echo(fitted(text), nl=False)


@app.command("show")
def show(name: Name) -> None:
    """Show the criteria, weights and modes of a rubric."""
    from judgekit.rubric.load import load_rubric
    from judgekit.rubric.show import rubric_text

    typer.echo(rubric_text(load_rubric(name)), nl=False)


@app.command("render")
def render(
    name: Name,
    cases: Annotated[
        str | None, typer.Option("--cases", help="File of cases; an invented case by default.")
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(
            "--case", help="Id of the case; the first one by default.", autocompletion=case_ids
        ),
    ] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="Mode of the rubric.")] = None,
    judge: Annotated[str, typer.Option("--judge", help="Model name in the key.")] = "MODEL",
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="<name=value>", help="Rubric parameter; may be repeated."),
    ] = None,
    param: Param = None,
    identity: Annotated[
        str | None, typer.Option("--identity", help="Version of the system behind the model name.")
    ] = None,
    diff: Annotated[
        str | None,
        typer.Option("--diff", help="Version to compare with, a file or git:REVISION:FILE."),
    ] = None,
    json: Json = False,
) -> None:
    """Print what a judge would see, and the key of the request. Never call a judge."""
    from judgekit.authoring.preview import preview_text

    text = preview_text(
        name,
        cases=cases,
        case=case,
        mode=mode,
        model=judge,
        settings=settings(set, [name]).get(name, {}),
        params=named_values("--param", param),
        identity=identity,
        against=diff,
        as_json=json,
    )
    typer.echo(text, nl=False)


@app.command("test")
def run_tests(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names, files or folders; the folder rubrics by default.", show_default=False
        ),
    ] = None,
    record: Record = None,
    judge: Judge = None,
    answers: Annotated[
        str | None,
        typer.Option("--answers", help="File with the answers of the judge manual/NAME."),
    ] = None,
    api_base: ApiBase = None,
    param: Param = None,
    cassettes: Annotated[
        Path | None, typer.Option("--cassettes", help="Folder of the cassettes, NAME.jsonl.")
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove records that no test uses.")
    ] = False,
    json: Json = False,
) -> None:
    """Run the tests in rubrics against recorded replies.

    Call a judge only with --record or --judge.

    Exit codes: 0 passed, 1 a test failed, 2 the setup is wrong, 3 replies are not recorded.
    """
    from judgekit.authoring.rubric_test.command import tests_outcome

    chosen = overrides(judge=judge, api_base=api_base, record=record, param=param)
    text, code = tests_outcome(
        sources or [], chosen, answers=answers, cassettes=cassettes, prune=prune, as_json=json
    )
    typer.echo(text, nl=False)
    raise typer.Exit(code)


@app.command("diff")
def diff(
    old: Annotated[
        str, typer.Argument(help="Rubric, a name, a file or git:REVISION:FILE.", show_default=False)
    ],
    new: Annotated[
        str, typer.Argument(help="Rubric, a name, a file or git:REVISION:FILE.", show_default=False)
    ],
    results: Annotated[
        Path | None, typer.Option("--results", help="Run folder of a run with OLD.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="Metric of the run; by default those that use OLD."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Threshold; that of the run by default.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare two versions of a rubric.

    Show the changes, and their effect on a run.

    Never call a judge: verdicts with an unchanged request are scored again, all others are listed
    as requests to send again.
    """
    from judgekit.authoring.rubric_diff.text import diff_text

    text = diff_text(old, new, results=results, metric=metric, threshold=threshold, as_json=json)
    typer.echo(text, nl=False)
