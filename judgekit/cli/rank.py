"""`judgekit rank`: rank models by pairwise comparisons."""

import sys
from pathlib import Path


def rank(
    sources: list[Path],
    metric: str | None = None,
    judge: str | None = None,
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
    from judgekit.cli.output import print_document

    ranking = rank_models(*sources, metric=metric, judge=judge, draws=draws, seed=seed)
    print_document(ranking, ranking.to_json, as_json=json, markdown=markdown)
    if out is not None:
        page = ranking.to_html(out)
        print(f"page: {page}", file=sys.stderr if json or markdown else sys.stdout)
