"""`judgekit pairs`: generate contrastive pairs of answers."""

import sys
from pathlib import Path

import typer

from judgekit.cli.options import command_group, named_values

app = command_group("Generate contrastive pairs of answers.")


@app.command()
def generate(
    command: typer.Context,
    positive_description: str,
    negative_description: str,
    output: Path,
    num_pairs: int = 200,
    model: str | None = None,
    api_base: str | None = None,
    param: list[str] | None = None,
    cassette: Path | None = None,
    record: str | None = None,
) -> None:
    """Call a model to write pairs of answers, one with a trait and one without.

    The metric `personalization` reads the file as positive_examples and negative_examples. Every
    reply is stored, so the same command continues an interrupted one; a cassette replays offline.

    Exit codes: 0 all pairs, 2 the setup is wrong, 3 fewer pairs.
    """
    from judgekit.steering.pairs import PairsPlan, outcome_text, run_pairs

    plan = PairsPlan(**{**command.params, "param": named_values("--param", param)})
    generated, writer = run_pairs(plan)
    print(outcome_text(generated, output, model=writer), file=sys.stderr)
    raise typer.Exit(0 if generated.complete else 3)
