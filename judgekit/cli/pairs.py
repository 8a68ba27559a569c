"""`judgekit pairs`: contrastive pairs of a trait."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import ApiBase, Param, Record
from judgekit.core.example_model import EXAMPLE_MODEL

app = typer.Typer(
    help="Contrastive pairs of a trait.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def pairs() -> None:
    """Contrastive pairs of a trait."""


@app.command()
def generate(
    positive_description: Annotated[
        str, typer.Option("--positive-description", help="The trait. Text, or @FILE.")
    ],
    negative_description: Annotated[
        str, typer.Option("--negative-description", help="Its absence. Text, or @FILE.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON file to write.")],
    num_pairs: Annotated[int, typer.Option("--num-pairs", "-n", help="How many.")] = 200,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "--judge",
            help=f"Model that writes them, such as {EXAMPLE_MODEL}. "
            "Naming it allows asking what is not recorded.",
        ),
    ] = None,
    api_base: ApiBase = None,
    param: Param = None,
    cassette: Annotated[
        Path | None, typer.Option("--cassette", help="Tape to replay from and record to.")
    ] = None,
    record: Record = None,
) -> None:
    """Have a model write pairs of answers, with a trait and without.

    The file is what `personalization` takes as positive_examples and as negative_examples. Every
    reply is kept, so that a run that breaks off goes on where it stopped, and a tape replays
    without a network. Exit codes: 0 all pairs, 2 something is set up wrongly, 3 fewer.
    """
    from judgekit.authoring.pairs.generate import told
    from judgekit.authoring.pairs.run import Wanted, run_pairs
    from judgekit.cli.options import named_values

    wanted = Wanted(
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
    generated, by = run_pairs(wanted)
    print(told(generated, output, model=by), file=sys.stderr)
    raise typer.Exit(0 if generated.complete else 3)
