"""The figures of a metric over a whole run, with their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from judgekit.metrics.pairwise.figures import FIGURES as PAIR_FIGURES
from judgekit.metrics.quote import FIGURES as QUOTE_FIGURES

if TYPE_CHECKING:
    from judgekit.report.summary import MetricSummary


_SPREAD = (
    "bootstrap_low",
    "bootstrap_high",
    "bootstrap_margin",
    "lowest",
    "highest",
    "sd_ddof_1",
    "variance_ddof_1",
)
"""What metrics over sessions make; see `judgekit.stats.bootstrap`."""

_GRADE = "grade_"
"""Before a letter: how many sessions had it."""


def shown_figures(summary: MetricSummary) -> dict[str, str]:
    """Return the figures by label; a bootstrap interval as `0.83 ± 0.04`.

    With it stand the interval itself, `[0.79, 0.87]`, the range and the spread over sessions.
    """
    figures = summary.figures
    shown = {
        name.replace("_", " "): "-" if figure is None else f"{figure:.4g}"
        for name, figure in figures.items()
        if not set(_SPREAD) <= set(figures) or name not in _SPREAD
    }
    grades = {name: figure for name, figure in figures.items() if name.startswith(_GRADE)}
    for name in grades:
        shown.pop(name.replace("_", " "))
    if counted := [f"{name.removeprefix(_GRADE)} {n:g}" for name, n in grades.items() if n]:
        shown["grades"] = ", ".join(counted)
    if set(PAIR_FIGURES) <= set(figures):
        shown = {**_pairs(figures), **shown}
        for name in PAIR_FIGURES:
            del shown[name.replace("_", " ")]
    return {**_spread(summary), **shown} if set(_SPREAD) <= set(figures) else shown


def telling_figures(summary: MetricSummary) -> dict[str, str]:
    """Return the figures of `shown_figures`; quote counts only if a quote was not verified."""
    quiet = () if summary.figures.get("unverified_quotes") else QUOTE_FIGURES
    hidden = {name.replace("_", " ") for name in quiet}
    return {name: text for name, text in shown_figures(summary).items() if name not in hidden}


def _pairs(figures: Mapping[str, float | None]) -> dict[str, str]:
    """Return the figures of a pairwise metric; the labels differ from those of `shown_figures`."""
    if figures["positional_consistency"] is figures["tie_rate"] is None:
        return {}
    names = ("positional_consistency", "first_position_rate", "first_position_low",
             "first_position_high", "tie_rate", "length_controlled_win_rate")  # fmt: skip
    consistency, first, low, high, ties, controlled = (
        "-" if figures[name] is None else f"{figures[name]:.2f}" for name in names
    )
    interval = "" if low == "-" else f" [{low}, {high}]"
    if figures["length_separated"]:
        controlled = "none (length alone would explain every outcome)"
    return {
        "both orders agree": consistency,
        "answer shown first preferred": first + interval,
        "ties": ties,
        "win rate at equal length": controlled,
    }


def _spread(summary: MetricSummary) -> dict[str, str]:
    low, high, margin, least, most, sd, variance = (summary.figures[name] for name in _SPREAD)
    mean, scale = summary.mean, summary.scale
    if least is None or most is None:
        return {}
    figures = {"range": f"{least * scale:.2f} to {most * scale:.2f}"}
    if mean is None or least == most:
        return figures
    if low is None or high is None or margin is None:
        interval = f"{mean * scale:.2f}, too few sessions for an interval"
    else:
        interval = f"{mean * scale:.2f} ± {margin * scale:.2f}, "
        interval += f"[{low * scale:.2f}, {high * scale:.2f}]"
    figures = {"by session": interval, **figures}
    if sd is not None and variance is not None:
        figures["sd (ddof 1)"] = f"{sd * scale:.3f}"
        figures["variance (ddof 1)"] = f"{variance * scale**2:.4f}"
    return figures
