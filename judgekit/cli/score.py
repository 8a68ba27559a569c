"""`judgekit score`: score one case."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.completion import metric_kinds, rubrics
from judgekit.cli.options import ApiBase, Judges, NoJudge, Param, Record, Set

_Text = "Text, @FILE to read a file, or - for standard input."


def score(
    suite: Annotated[str | None, typer.Argument(hidden=True)] = None,
    input: Annotated[
        str | None, typer.Option("--input", "-i", help=f"What the user asked. {_Text}")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help=f"The answer to score. {_Text}")
    ] = None,
    system: Annotated[str | None, typer.Option("--system", "-s", help="The system prompt.")] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help=f"The answer to compare with. {_Text}")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option("--reference", "-r", help="An accepted answer; may be repeated."),
    ] = None,
    context: Annotated[
        list[str] | None, typer.Option("--context", help="A passage to rely on; may be repeated.")
    ] = None,
    case: Annotated[
        str | None, typer.Option("--case", help="The whole case as JSON: @FILE, - or text.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="Metric to score by; may be repeated.",
            autocompletion=metric_kinds,
        ),
    ] = None,
    rubric: Annotated[
        list[str] | None,
        typer.Option(
            "--rubric", help="Rubric to score by: a name or a file.", autocompletion=rubrics
        ),
    ] = None,
    mode: Annotated[
        str | None, typer.Option("--mode", help="Mode of the rubric: user, system, both.")
    ] = None,
    scale: Annotated[
        float | None, typer.Option("--scale", help="Show scores on 0 to this.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", help="Option of the metric, such as maximum=120; may be repeated."
        ),
    ] = None,
    positive_examples: Annotated[
        Path | None, typer.Option("--positive-examples", help="File of texts that show a trait.")
    ] = None,
    negative_examples: Annotated[
        Path | None, typer.Option("--negative-examples", help="File of texts that lack it.")
    ] = None,
    judge: Judges = None,
    api_base: ApiBase = None,
    cassette: Annotated[
        Path | None, typer.Option("--cassette", help="Tape to replay from and record to.")
    ] = None,
    record: Record = None,
    param: Param = None,
    set: Set = None,
    no_judge: NoJudge = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Score one case and explain the number.

    Exit codes: 0 scored, 2 something is set up wrongly, 3 no score.
    """
    from judgekit.cli.options import named_values, overrides, settings
    from judgekit.cli.scoring import score_and_print
    from judgekit.core.errors import ConfigError

    if suite is not None:
        raise ConfigError(
            f"score takes one case, by flags; to run a suite: judgekit run {suite}"
            if suite.endswith((".yaml", ".yml"))
            else f"score takes flags only; write --output {suite!r}, --metric {suite!r}, ..."
        )
    scored_by = [*(metric or []), *(Path(file).stem for file in rubric or [])]
    code = score_and_print(
        texts={"input": input, "output": output, "system": system, "baseline": baseline},
        lists={"reference": reference, "context": context},
        case=case,
        metrics=metric or [],
        rubrics=rubric or [],
        options={
            "mode": mode,
            "scale": scale,
            "positive_examples": positive_examples and str(positive_examples),
            "negative_examples": negative_examples and str(negative_examples),
            **named_values("--option", option),
        },
        cassette=cassette,
        overrides=overrides(
            judge=judge, api_base=api_base, record=record, param=param, no_judge=no_judge
        ).model_copy(update={"settings": settings(set, scored_by)}),
        as_json=json,
    )
    raise typer.Exit(code)
