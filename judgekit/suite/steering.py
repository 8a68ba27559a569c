"""A system under test that is a model of this machine, with and without steering."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judgekit.cassette.cassette import Cassette
from judgekit.core.errors import ConfigError
from judgekit.core.judge_wrapper import BaseJudge
from judgekit.datasets.load import Source
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.steered import SteerableModel, SteeredJudge
from judgekit.judges.steering_vector import Steering
from judgekit.suite.answering import Answers, answer


async def answer_twice(
    cases: Source, judge: Cassette, steering: Steering, *, out: Path | None = None, **options: Any
) -> Answers:
    """Fill in `baseline` without steering, then `output` with it; takes the options of `answer`.

    Args:
        cases: the cases.
        judge: a model of this machine, from `open_system`.
        steering: the vector, its layer and strength.
        out: file to write the cases to; without it, they stay in memory.
        options: of `answer`.

    Returns:
        The outcome of both, added up; a failure is that of the output, if both failed.

    Raises:
        ConfigError: the model cannot be steered, or the vector is of another model.
    """
    plain = await answer(cases, judge, **{**options, "field": "baseline"})
    steered = await answer(plain.cases, steered_system(judge, steering), out=out, **options)
    return steered._replace(
        states=plain.states + steered.states,
        failures=plain.failures | steered.failures,
        cut_off=plain.cut_off + steered.cut_off,
    )


def steered_system(system: Cassette, steering: Steering) -> BaseJudge:
    """Return the same system with a steering, behind the same tape and store."""
    judge = SteeredJudge(
        steerable(system), identity=system.identity, params=system.params, steering=steering
    )
    return system.for_judge(LimitedJudge(judge, concurrency=1))


def steerable(system: Cassette) -> SteerableModel:
    """Return the model of a system.

    Raises:
        ConfigError: it is not on this machine.
    """
    inner = system.judge.judge if isinstance(system.judge, LimitedJudge) else None
    if not isinstance(inner, SteeredJudge):
        raise ConfigError(f"{system.model} cannot be steered; name a model of this machine")
    return inner.local
