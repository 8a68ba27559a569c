"""The figures of a metric over a whole run, with their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from judgekit.metrics.quote import FIGURES as QUOTE_FIGURES

if TYPE_CHECKING:
    from judgekit.report.summary import MetricSummary


_GRADE = "grade_"
"""Before a letter: how many sessions had it."""


def shown_figures(summary: MetricSummary) -> dict[str, str]:
    """Return the figures by label; a bootstrap interval as `0.83 ± 0.04`.

    With it stand the interval itself, `[0.79, 0.87]`, the range and the spread over sessions.
    """
    figures = summary.figures
    shown: dict[str, str] = {}
    own: set[str] = set()
    # A replay loads the modules of these metrics only if it has them.
    if "bootstrap_margin" in figures:
        from judgekit.metrics.brand_voice.sessions import FIGURES as SESSION_FIGURES

        own |= set(SESSION_FIGURES)
        shown |= _spread(summary)
    if "positional_consistency" in figures:
        from judgekit.metrics.pairwise.figures import FIGURES as PAIR_FIGURES

        own |= set(PAIR_FIGURES)
        shown |= _pairs(figures)
    grades = []
    for name, figure in figures.items():
        if name.startswith(_GRADE):
            grades += [f"{name.removeprefix(_GRADE)} {figure:g}"] if figure else []
        elif name not in own:
            shown[name.replace("_", " ")] = "-" if figure is None else f"{figure:.4g}"
    return {**shown, "grades": ", ".join(grades)} if grades else shown


def telling_figures(summary: MetricSummary) -> dict[str, str]:
    """Return the figures of `shown_figures`; quote counts only if a quote was not verified."""
    quiet = () if summary.figures.get("unverified_quotes") else QUOTE_FIGURES
    hidden = {name.replace("_", " ") for name in quiet}
    return {name: text for name, text in shown_figures(summary).items() if name not in hidden}


def _pairs(figures: Mapping[str, float | None]) -> dict[str, str]:
    """Return the figures of a pairwise metric; the labels differ from those of `shown_figures`."""
    if figures["positional_consistency"] is figures["tie_rate"] is None:
        return {}

    def text(name: str, ends: str = "") -> str:
        """Return a figure and its interval; the ends are missing in older reports."""
        value, low, high = (figures.get(n) for n in (name, f"{ends}_low", f"{ends}_high"))
        interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
        return "-" if value is None else f"{value:.2f}{interval}"

    controlled = text("length_controlled_win_rate", "length_controlled")
    if figures["length_separated"]:
        controlled = "none (length alone would explain every outcome)"
    return {
        "both orders agree": text("positional_consistency"),
        "answer shown first preferred": text("first_position_rate", "first_position"),
        "ties": text("tie_rate"),
        "win rate at equal length": controlled,
    }


def _spread(summary: MetricSummary) -> dict[str, str]:
    """Return the figures over sessions."""
    figures, mean, scale = summary.figures, summary.mean, summary.scale
    least, most = figures["lowest"], figures["highest"]
    if least is None or most is None:
        return {}
    spread = {"range": f"{least * scale:.2f} to {most * scale:.2f}"}
    if mean is None or least == most:
        return spread
    low, high, margin = (figures[f"bootstrap_{name}"] for name in ("low", "high", "margin"))
    if low is None or high is None or margin is None:
        interval = f"{mean * scale:.2f}, too few sessions for an interval"
    else:
        interval = f"{mean * scale:.2f} ± {margin * scale:.2f}, "
        interval += f"[{low * scale:.2f}, {high * scale:.2f}]"
    sd, variance = figures["sd_ddof_1"], figures["variance_ddof_1"]
    if sd is not None and variance is not None:
        spread["sd (ddof 1)"] = f"{sd * scale:.3f}"
        spread["variance (ddof 1)"] = f"{variance * scale**2:.4f}"
    return {"by session": interval, **spread}
