"""What a call in Python may name: its metrics, its judges, and where replies are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.cassette.mode import RecordChoice
from judgekit.core.protocols import JudgeLike, MetricLike

MetricChoice = MetricLike | str | Path
"""A metric, the name of a metric or rubric, or the path of a rubric file."""
MetricChoices = Sequence[MetricChoice] | Mapping[str, Mapping[str, Any] | None]
"""Several metrics; or their names with options, as under `metrics` in a suite file."""
JudgeChoice = JudgeLike | Mapping[str, Any]
"""A judge, a model string, or the settings of a judge, as under `judge` in a suite file."""
JudgeChoices = JudgeChoice | Sequence[JudgeChoice]
"""A judge, or a list of judges that vote."""


class Recording(NamedTuple):
    """Where the judges of names are recorded, and what they may cost."""

    cassette: str | Path | None = None
    record: RecordChoice | None = None
    max_cost: float | None = None
