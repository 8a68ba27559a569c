"""What is known of how far the judges of a run agree with people, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.report.manifest import judges_of

if TYPE_CHECKING:
    from judgekit.report.calibration import Agreement, Calibration

MOST = 3
"""Criteria a line names."""


def calibration_lines(
    metrics: Sequence[tuple[str, int]], manifest: Mapping[str, Any], known: Calibration | None
) -> list[str]:
    """Return what is known of how far judges agree with people, in a line or a few.

    Args:
        metrics: the metrics of a run, and how many of their scores a judge gave.
        manifest: what made the run.
        known: what `agree` found.
    """
    found = known.criteria if known is not None else ()
    held = {one.metric for one in found}
    judged = [name for name, count in metrics if count and not _by_people(manifest, name)]
    lines = []
    for name in judged:
        if name in held:
            lines.append(f"calibrated: {name}: {_figures([o for o in found if o.metric == name])}")
    alone = [name for name in judged if name not in held]
    if alone:
        lines.append(
            f"uncalibrated: nobody compared the judge of {', '.join(alone)} with people "
            "(judgekit agree)"
        )
    return lines


def _by_people(manifest: Mapping[str, Any], metric: str) -> bool:
    models = judges_of(manifest, metric)
    return bool(models) and all(model.startswith("manual/") for model in models)


def _figures(found: Sequence[Agreement]) -> str:
    said = []
    for one in found[:MOST]:
        figure, word = (one.kappa, "kappa") if one.kappa is not None else (one.rank, "Spearman")
        name = one.criterion or "its verdict"
        if figure is None or figure.value is None:
            said.append(f"{name} undefined")
        elif figure.low is None or figure.high is None:
            said.append(f"{name} {word} {figure.value:.2f}")
        else:
            said.append(f"{name} {word} {figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]")
    more = f", and {len(found) - MOST} more" if len(found) > MOST else ""
    cases = max(one.cases for one in found)
    return f"{', '.join(said)}{more}, over {cases} case{'s' if cases != 1 else ''} people labelled"
