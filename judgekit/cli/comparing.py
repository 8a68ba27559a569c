"""Comparing runs in a terminal: what is printed, and the exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from judgekit.analysis.comparison.compare import compare_all
from judgekit.analysis.comparison.comparison import Comparison
from judgekit.cli.screen import colourful, columns
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.report.report import Report

FAIL_ON = ("regressions", "warnings")


def compare_and_print(
    base: Path,
    new: list[Path],
    *,
    cluster: str | None,
    detect: float | None,
    bootstrap: bool,
    across_rubrics: bool,
    allow_same: bool,
    fail_on: str | None,
    cases: int,
    out: Path | None,
    form: str,
) -> int:
    """Compare runs, print what came of it, return the exit code."""
    if fail_on is not None and fail_on not in FAIL_ON:
        raise ConfigError(f"--fail-on {fail_on}: no such thing{suggest(fail_on, list(FAIL_ON))}")
    found = compare_all(
        base,
        list(new),
        cluster=cluster,
        detect=detect,
        interval="bootstrap" if bootstrap else "t",
        across_rubrics=across_rubrics,
        allow_same=allow_same,
    )
    if form == "json":
        data = {"comparisons": [comparison.to_json() for comparison in found]}
        print(json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True))
    elif form == "markdown":
        print("\n".join(comparison.markdown(cases=cases) for comparison in found), end="")
    else:
        texts = [c.text(width=columns(), colour=colourful(), cases=cases) for c in found]
        print("\n".join(texts), end="")
    if out is not None:
        print(
            f"page: {_page(base, new, found, out)}",
            file=sys.stdout if form == "text" else sys.stderr,
        )
    worse = any(comparison.regressions for comparison in found)
    doubtful = any(c.warnings or any(m.refused for m in c.metrics) for c in found)
    return int((fail_on is not None and worse) or (fail_on == "warnings" and doubtful))


def _page(base: Path, new: list[Path], found: Sequence[Comparison], out: Path) -> Path:
    from judgekit.pages.comparison.page import write_comparison

    return write_comparison(Report.read(base), [Report.read(one) for one in new], found, out)
