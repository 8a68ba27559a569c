"""`judgekit compare` and `judgekit rank`: compare runs with a baseline, and rank models."""

import sys
from pathlib import Path

import typer

from judgekit.cli.output import print_document, print_json
from judgekit.cli.screen import colourful, columns
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest

FAIL_ON = ("regressions", "warnings")


def compare(
    base: Path,
    new: list[Path],
    cluster: str | None = None,
    by: str | None = None,
    detect: float | None = None,
    bootstrap: bool = False,
    across_rubrics: bool = False,
    allow_same: bool = False,
    fail_on: str | None = None,
    cases: int = 5,
    out: Path | None = None,
    json: bool = False,
    markdown: bool = False,
) -> None:
    """Compare runs with a baseline, case by case.

    Show what got worse, by how much, and whether chance explains it. Never call a judge.

    Exit codes: 0 compared, 1 --fail-on applies, 2 the runs cannot be compared.
    """
    from judgekit.analysis.comparison.compare import compare_all
    from judgekit.analysis.comparison.differences import ComparisonSettings, IntervalKind

    if fail_on is not None and fail_on not in FAIL_ON:
        raise ConfigError(f"--fail-on {fail_on}: unknown condition{suggest(fail_on, FAIL_ON)}")
    interval: IntervalKind = "bootstrap" if bootstrap else "t"
    settings = ComparisonSettings(cluster, interval, detect, across_rubrics, allow_same, by)
    comparisons = compare_all(base, new, settings)
    if json:
        print_json("comparison", {"comparisons": [one.to_json() for one in comparisons]})
    elif markdown:
        print("\n".join(one.markdown(cases=cases) for one in comparisons), end="")
    else:
        texts = (c.text(width=columns(), colour=colourful(), cases=cases) for c in comparisons)
        print("\n".join(texts), end="")
    if out is not None:
        from judgekit.pages.comparison.page import write_comparison
        from judgekit.report.report import Report

        runs = [Report.read(one) for one in new]
        page = write_comparison(Report.read(base), runs, comparisons, out)
        print(f"page: {page}", file=sys.stderr if json or markdown else sys.stdout)
    worse = any(one.regressions for one in comparisons)
    doubtful = any(c.warnings or any(m.refused for m in c.metrics) for c in comparisons)
    failed = (fail_on is not None and worse) or (fail_on == "warnings" and doubtful)
    raise typer.Exit(int(failed))


def rank(
    sources: list[Path],
    metric: str | None = None,
    judge: str | None = None,
    against: str | None = None,
    draws: int = 1000,
    seed: int = 42,
    out: Path | None = None,
    json: bool = False,
    markdown: bool = False,
) -> None:
    """Rank models by Bradley-Terry strength, with intervals of strengths and ranks.

    Read runs over the same cases, runs of a pairwise metric, or files of comparisons: JSON Lines
    or CSV with prompt, a, b, winner (a, b, a model or tie) and, if known, judge. Never call a
    judge.

    Exit codes: 0 ranked, 2 nothing can be ranked.
    """
    from judgekit.analysis.ranking.rank import rank as rank_models

    settings = {"metric": metric, "judge": judge, "against": against}
    ranking = rank_models(*sources, **settings, draws=draws, seed=seed)
    print_document(ranking, "ranking", ranking.to_json, as_json=json, markdown=markdown)
    if out is not None:
        page = ranking.to_html(out)
        print(f"page: {page}", file=sys.stderr if json or markdown else sys.stdout)
