"""`judgekit steer`: find the layer and the strength that steer a model towards a trait."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import typer

from judgekit.cli.options import command_group, named_values
from judgekit.core.errors import ConfigError

T = TypeVar("T", int, float)

app = command_group("Find the layer and the strength that steer a model towards a trait.")


@app.command()
def optimize(
    command: typer.Context,
    model: str,
    pairs: Path,
    trait_description: str,
    layers: str,
    strengths: str = "0.5,1,2",
    positive_examples: Path | None = None,
    negative_examples: Path | None = None,
    prompts: str | None = None,
    judge: str | None = None,
    api_base: str | None = None,
    param: list[str] | None = None,
    option: list[str] | None = None,
    max_tokens: int = 256,
    out: Path | None = None,
    cassette: Path | None = None,
    record: str | None = None,
) -> None:
    """Train a steering vector for each layer, and score the answers of each layer and strength.

    The model is on this machine; nothing is downloaded. Every reply is stored, so the same command
    continues an interrupted one, and a cassette replays without the model and its libraries.

    Exit codes: 0 there is a best cell, 1 none, 2 the setup is wrong, 3 some answers have no score.
    """
    from judgekit.cli.screen import StatusLine, columns
    from judgekit.steering.search import SteeringPlan, optimize_steering
    from judgekit.suite.judge_file import JudgeFile

    params = named_values("--param", param)
    plan = SteeringPlan(**{name: command.params[name] for name in SteeringPlan._fields})
    plan = plan._replace(
        layers=_numbers("--layers", layers, int),
        strengths=_numbers("--strengths", strengths, float),
        judge=JudgeFile(model=judge, api_base=api_base, params=params) if judge else None,
        option=named_values("--option", option),
        record=record or "new_episodes",
    )
    with StatusLine() as line:
        table = optimize_steering(plan, out=out, progress=line.show)
    print(table.text(width=columns()), end="")
    if out is not None:
        print(f"written to {out}")
    missing = [cell for cell in table.cells if not cell.complete]
    for cell in missing:
        print(f"layer {cell.layer}, strength {cell.strength:g}: {cell.counts}")
    raise typer.Exit(3 if missing else 0 if table.best else 1)


def _numbers(flag: str, text: str, kind: Callable[[str], T]) -> list[T]:
    """Return the distinct numbers of a list such as `8,10-14`, in its order.

    Raises:
        ConfigError: the list is invalid.
    """
    numbers: dict[T, None] = {}
    for word in text.split(","):
        first, dash, last = word.strip().partition("-") if kind is int else (word, "", "")
        try:
            number = kind(first)
            span = list(range(int(number), min(int(last), 9999) + 1)) if dash else [number]
            numbers |= dict.fromkeys(span)
            if not span:
                raise ValueError(word)
        except ValueError as exc:
            example = "8,10-14" if kind is int else "0.5,1,2"
            raise ConfigError(f"{flag} {text}: {word!r} is wrong; write such as {example}") from exc
    if not all(map(math.isfinite, numbers)) or (kind is float and 0 in numbers):
        raise ConfigError(f"{flag} {text}: must be finite and not 0, which is the baseline")
    return list(numbers)
