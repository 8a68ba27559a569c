"""Judges with a model that its provider retires: then no run can be recorded again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple

from judgekit.judges.kinds import kind_of
from judgekit.judges.prices import listed_retirement
from judgekit.judges.retirements import announced
from judgekit.suite.judge_file import JudgeFile

SOON = 90
"""Days before its retirement from which a model is named."""
SOURCE = "litellm's table of models"


class Retirement(NamedTuple):
    """The day on which a provider stops serving a model."""

    model: str
    day: date
    left: int
    """Days until then; 0 or less if it is over."""
    source: str = SOURCE
    """Who says so."""

    @property
    def sentence(self) -> str:
        """The fact with its source, and what to do."""
        if self.left <= 0:
            return (
                f"{self.model} was retired on {self.day} by {self.source}: recordings replay, "
                "but nothing new can be recorded; choose another judge for new cases"
            )
        days = "tomorrow" if self.left == 1 else f"in {self.left} days"
        return (
            f"{self.model} retires on {self.day}, {days}, by {self.source}: record what you need "
            "before, and compare its successor with labels"
        )


def today() -> date:
    """Return the date in UTC; that of `SOURCE_DATE_EPOCH` if it is set, as for builds."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    if seconds.isascii() and seconds.isdigit() and len(seconds) < 12:
        return datetime.fromtimestamp(int(seconds), UTC).date()
    return datetime.now(UTC).date()


def retirement_of(judge: JudgeFile, *, on: date) -> Retirement | None:
    """Return when the model of a judge retires, if that is within 90 days or over.

    A judge with an address is not looked up: its server decides which models it has.
    """
    if judge.api_base is not None or not kind_of(judge.model).metered:
        return None
    listed, source = listed_retirement(judge.model), SOURCE
    if listed is None and (row := announced().get(judge.model)) is not None:
        listed, source = row["day"], row["by"]
    try:
        day = date.fromisoformat(listed or "")
    except ValueError:
        return None
    left = (day - on).days
    return Retirement(judge.model, day, left, source) if left <= SOON else None


def retirements(judges: Mapping[str, JudgeFile], *, over: bool = False) -> list[Retirement]:
    """Return the retirements of several judges, each model once, in their order.

    Args:
        judges: role -> settings.
        over: whether to leave out models that are not retired yet.
    """
    on = today()
    several = {judge.model: retirement_of(judge, on=on) for judge in judges.values()}
    return [one for one in several.values() if one is not None and (one.left <= 0 or not over)]
