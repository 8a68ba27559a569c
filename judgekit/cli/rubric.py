"""`judgekit rubric`: look at rubrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli import lint, new
from judgekit.cli.completion import case_ids, rubrics
from judgekit.cli.options import ApiBase, Judge, Param, Record

app = typer.Typer(help="Look at rubrics.", no_args_is_help=True, rich_markup_mode=None)

app.command("new")(new.new)
app.command("lint")(lint.lint)

Name = Annotated[
    str,
    typer.Argument(help="A name or a file.", show_default=False, autocompletion=rubrics),
]


@app.command("list")
def list_rubrics(
    folder: Annotated[Path | None, typer.Option("--folder", help="Only this folder.")] = None,
    suite: Annotated[
        Path | None, typer.Option("--suite", help="A suite file: as it looks rubrics up.")
    ] = None,
) -> None:
    """List rubrics in the order in which names are looked up."""
    from judgekit.cli.screen import fitted
    from judgekit.rubric.show import list_text

    if suite is not None:
        from judgekit.suite.rubrics import suite_shelves

        text = list_text(suite_shelves(suite))
    else:
        text = list_text(folder=folder)
    typer.echo(fitted(text), nl=False)


@app.command("show")
def show(name: Name) -> None:
    """Show a rubric's criteria, weights and modes."""
    from judgekit.rubric.load import load_rubric
    from judgekit.rubric.show import rubric_text

    typer.echo(rubric_text(load_rubric(name)), nl=False)


@app.command("render")
def render(
    name: Name,
    cases: Annotated[
        str | None, typer.Option("--cases", help="File of cases; a made-up case without one.")
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(
            "--case", help="Id of the case; the first by default.", autocompletion=case_ids
        ),
    ] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="Mode of the rubric.")] = None,
    judge: Annotated[str, typer.Option("--judge", help="Model the key is made for.")] = "MODEL",
    set: Annotated[
        list[str] | None,
        typer.Option("--set", help="Parameter of the rubric, as NAME=VALUE; may be repeated."),
    ] = None,
    param: Param = None,
    identity: Annotated[
        str | None, typer.Option("--identity", help="What answers under the model's name.")
    ] = None,
    diff: Annotated[
        str | None,
        typer.Option("--diff", help="Another version, a file or git:REVISION:FILE, to compare."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, with the form.")] = False,
) -> None:
    """Print exactly what a judge would see, and the key. Nothing is asked."""
    from judgekit.authoring.preview import rendered
    from judgekit.cli.options import named_values, settings

    text = rendered(
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
            help="Names, files or folders; the folder rubrics/ without one.", show_default=False
        ),
    ] = None,
    record: Record = None,
    judge: Judge = None,
    answers: Annotated[
        str | None, typer.Option("--answers", help="Answers of the judge manual/NAME, a file.")
    ] = None,
    api_base: ApiBase = None,
    param: Param = None,
    cassettes: Annotated[
        Path | None, typer.Option("--cassettes", help="Folder of the cassettes NAME.jsonl.")
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove records that no test uses.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Run the tests in rubrics against recorded replies.

    Nothing is asked of a judge unless --record or --judge says so.

    Exit codes: 0 passed, 1 a test failed, 2 something is set up wrongly, 3 not all is recorded.
    """
    from judgekit.authoring.rubric_test.command import tell_tests
    from judgekit.cli.options import overrides

    chosen = overrides(judge=judge, api_base=api_base, record=record, param=param, no_judge=False)
    text, code = tell_tests(
        sources or [], chosen, answers=answers, cassettes=cassettes, prune=prune, as_json=json
    )
    typer.echo(text, nl=False)
    raise typer.Exit(code)


@app.command("diff")
def diff(
    old: Annotated[
        str, typer.Argument(help="A name, a file or git:REVISION:FILE.", show_default=False)
    ],
    new: Annotated[
        str, typer.Argument(help="A name, a file or git:REVISION:FILE.", show_default=False)
    ],
    results: Annotated[
        Path | None, typer.Option("--results", help="Run folder made with OLD.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", help="Metric of the run; those by OLD otherwise.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Pass line; the run's own otherwise.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Say what changed between two versions of a rubric.

    And what that does to the verdicts of a run.

    Nothing is asked: a verdict whose request is the same is folded again, any other is named as
    one to ask again.
    """
    from judgekit.authoring.rubric_diff.text import tell_diff

    text = tell_diff(old, new, results=results, metric=metric, threshold=threshold, as_json=json)
    typer.echo(text, nl=False)
