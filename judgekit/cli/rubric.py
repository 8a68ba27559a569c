"""`judgekit rubric`: look at rubrics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Look at rubrics.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="A name or a file.", show_default=False)]


@app.command("list")
def list_rubrics(
    folder: Annotated[Path | None, typer.Option("--folder", help="A folder of your own.")] = None,
) -> None:
    """List rubrics: the built-in ones, or those of a folder."""
    from judgekit.errors import AbstractRubric, ConfigError, RubricError
    from judgekit.rubric.load import builtin_folder, load_rubric, rubric_names

    place = folder or builtin_folder()
    if not place.is_dir():
        raise ConfigError("no such folder", where=str(place))
    for name in rubric_names(place):
        try:
            rubric = load_rubric(place / f"{name}.jinja")
        except AbstractRubric:
            continue
        except RubricError as exc:
            typer.echo(f"{name:<22}does not load: {exc}")
            continue
        typer.echo(f"{name:<22}{len(rubric.criteria):>2} criteria  {rubric.description}")


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
        str | None, typer.Option("--case", help="Id of the case; the first by default.")
    ] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="Mode of the rubric.")] = None,
    judge: Annotated[str, typer.Option("--judge", help="Model the key is made for.")] = "MODEL",
    set: Annotated[
        list[str] | None,
        typer.Option("--set", help="Parameter of the rubric, as NAME=VALUE; may be repeated."),
    ] = None,
) -> None:
    """Print exactly what a judge would see, and the key. Nothing is asked."""
    from judgekit.cli.options import settings
    from judgekit.preview import rendered

    said = settings(set, [name]).get(name, {})
    text = rendered(name, cases=cases, case=case, mode=mode, model=judge, settings=said)
    typer.echo(text, nl=False)
