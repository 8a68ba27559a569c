"""How well the judges of a run agree with people, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.report.manifest import judges_of, mapping

if TYPE_CHECKING:
    from judgekit.report.calibration import Agreement, Calibration
    from judgekit.report.summary import MetricSummary

MOST = 3
"""Criteria a line names."""
CALIBRATED = "calibrated: "
COMPARED = "compared with people: "
BELOW = "compared with people, below the bar of the suite: "
NOT_COMPARED = "not compared with people: "
CORRECTED = "means are corrected with labels, agreement is not measured: "


def calibration_lines(
    metrics: Sequence[MetricSummary], manifest: Mapping[str, Any], known: Calibration | None
) -> list[str]:
    """Return lines on how well judges agree with people.

    A judge with labels is compared with people. It is calibrated where the suite states a bar
    (`calibration`) and the lower end of every coefficient reaches it.

    Args:
        metrics: the metrics of a run.
        manifest: what made the run.
        known: the outcome of `agree`.
    """
    agreements = known.criteria if known is not None else ()
    bar = _bar(manifest)
    corrected = {one.metric for one in metrics if one.corrected and one.corrected.labels.n}
    judged = [one.metric for one in metrics if one.judged and not _by_people(manifest, one.metric)]
    lines, alone = [], []
    for name in judged:
        if own := [one for one in agreements if one.metric == name]:
            lines.append(f"{_standing(own, bar)}{name}: {_figures(own)}{_stated(bar)}")
            lines += [f"jury of {one.name}: {one.jury.votes}" for one in own if one.jury]
        else:
            alone.append(name)
    for start, names in (
        (NOT_COMPARED, [name for name in alone if name not in corrected]),
        (CORRECTED, [name for name in alone if name in corrected]),
    ):
        if names:
            lines.append(f"{start}the judge of {', '.join(names)} (judgekit agree)")
    return lines


def _bar(manifest: Mapping[str, Any]) -> dict[str, float]:
    """Return the bar of each coefficient: the least lower end that the suite accepts."""
    stated = mapping(manifest.get("calibration"))
    return {
        name: float(stated[name])
        for name in ("kappa", "spearman")
        if isinstance(stated.get(name), (int, float))
    }


def _standing(agreements: Sequence[Agreement], bar: Mapping[str, float]) -> str:
    if not bar:
        return COMPARED
    return CALIBRATED if all(_meets(one, bar) for one in agreements) else BELOW


def _meets(one: Agreement, bar: Mapping[str, float]) -> bool:
    """Return whether the suite states at least one bar, and every stated bar is reached."""
    figures = {"kappa": one.kappa, "spearman": one.rank}
    stated = [(figure, least) for name, least in bar.items() if (figure := figures[name])]
    return bool(stated) and all(f.low is not None and f.low >= least for f, least in stated)


def _stated(bar: Mapping[str, float]) -> str:
    words = {"kappa": "kappa", "spearman": "Spearman"}
    least = ", ".join(f"{words[name]} {least:g}" for name, least in bar.items())
    return f"; bar at the lower end: {least}" if bar else ""


def _by_people(manifest: Mapping[str, Any], metric: str) -> bool:
    models = judges_of(manifest, metric)
    return bool(models) and all(model.startswith("manual/") for model in models)


def _figures(agreements: Sequence[Agreement]) -> str:
    parts = []
    for one in agreements[:MOST]:
        figure, word = (one.kappa, "kappa") if one.kappa is not None else (one.rank, "Spearman")
        name = one.criterion or "its verdict"
        if figure is None or figure.value is None:
            parts.append(f"{name} undefined")
        else:
            parts.append(f"{name} {word} {figure.text}")
    more = f", and {len(agreements) - MOST} more" if len(agreements) > MOST else ""
    cases = max(one.cases for one in agreements)
    return f"{', '.join(parts)}{more}, over {cases} case{'s' if cases != 1 else ''} people labelled"
