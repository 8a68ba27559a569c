"""`judgekit pairs`: generate contrastive pairs of answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import ApiBase, Cassette, Param, Record, named_values
from judgekit.core.example_model import EXAMPLE_MODEL

app = typer.Typer(
    help="Generate contrastive pairs of answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def pairs() -> None:
    """Generate contrastive pairs of answers."""


@app.command()
def generate(
    positive_description: Annotated[
        str,
        typer.Option("--positive-description", help="Description of the trait. Text, or @FILE."),
    ],
    negative_description: Annotated[
        str,
        typer.Option(
            "--negative-description",
            help="Description of an answer without the trait. Text, or @FILE.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file to write.")],
    num_pairs: Annotated[int, typer.Option("--num-pairs", "-n", help="Number of pairs.")] = 200,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "--judge",
            help=f"Model that writes the pairs, such as {EXAMPLE_MODEL}. Naming a model allows "
            "calls for replies that are not recorded.",
        ),
    ] = None,
    api_base: ApiBase = None,
    param: Param = None,
    cassette: Cassette = None,
    record: Record = None,
) -> None:
    """Call a model to write pairs of answers, one with a trait and one without.

    The metric `personalization` reads the file as positive_examples and negative_examples. Every
    reply is stored, so the same command continues an interrupted one; a cassette replays offline.

    Exit codes: 0 all pairs, 2 the setup is wrong, 3 fewer pairs.
    """
    from judgekit.authoring.pairs.run import PairsPlan, outcome_text, run_pairs

    plan = PairsPlan(
        positive=positive_description,
        negative=negative_description,
        num=num_pairs,
        output=output,
        model=model,
        api_base=api_base,
        params=named_values("--param", param),
        cassette=cassette,
        record=record,
    )
    generated, writer = run_pairs(plan)
    print(outcome_text(generated, output, model=writer), file=sys.stderr)
    raise typer.Exit(0 if generated.complete else 3)
