"""Answers of a steered model: what `judgekit answer --steering-vector` loads."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from judgekit.cassette.cassette import Cassette
from judgekit.core.errors import ConfigError
from judgekit.core.judge_wrapper import BaseJudge
from judgekit.datasets.load import Source
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.local_text import LocalTextJudge
from judgekit.steering.steered import SteerableModel, SteeredJudge
from judgekit.steering.vector import Steering, read_steering
from judgekit.suite.answering import AnsweredCases, AnswerFunction, answer_cases


def answer_steered(vector: Path, *, layer: int, strength: float) -> AnswerFunction:
    """Return a function like `answer` that steers the system by a vector in a file.

    Raises:
        ConfigError: the file is missing or is no vector, or the strength is 0 or not finite.
    """
    return partial(answer_twice, steering=read_steering(vector, layer=layer, strength=strength))


async def answer_twice(
    cases: Source, judge: Cassette, *, steering: Steering, out: Path | None = None, **options: Any
) -> AnsweredCases:
    """Fill in `baseline` without steering, then `output` with steering.

    Args:
        cases: the cases.
        judge: a local model, from `open_system`.
        steering: the vector, its layer and strength.
        out: file to write the cases to; without it, they stay in memory.
        options: options of `answer`.

    Returns:
        The sum of both outcomes; if both failed for a case, the failure of the output.

    Raises:
        ConfigError: the model cannot be steered, or the vector is for another model.
    """
    model = steerable(judge)
    plain = await answer_cases(cases, judge, **{**options, "field": "baseline"})
    steered = await answer_cases(
        plain.cases, steered_system(judge, model, steering), out=out, **options
    )
    return steered._replace(
        states=plain.states + steered.states,
        failures=plain.failures | steered.failures,
        cut_off=plain.cut_off + steered.cut_off,
    )


def steered_system(system: Cassette, model: SteerableModel, steering: Steering) -> BaseJudge:
    """Return the system with a steering and the same tape and store.

    Args:
        system: a local model, from `open_system`.
        model: its model, from `steerable`.
        steering: the vector, its layer and strength.
    """
    settings = system.settings
    judge = SteeredJudge(
        model, identity=settings.identity, params=settings.params, steering=steering
    )
    return system.for_judge(LimitedJudge(judge, concurrency=1))


def steerable(system: Cassette) -> SteerableModel:
    """Return the model of a system.

    Raises:
        ConfigError: the system is not a local model.
    """
    inner = system.judge.judge if isinstance(system.judge, LimitedJudge) else None
    if not isinstance(inner, LocalTextJudge):
        raise ConfigError(f"{system.model} cannot be steered; name a model of this machine")
    return SteerableModel(inner.local)
