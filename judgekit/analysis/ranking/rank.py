"""Rank models by pairwise comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from judgekit.analysis.ranking.order import order_agreement
from judgekit.analysis.ranking.ranking import HeadToHead, ModelRanking, RankedModel
from judgekit.analysis.ranking.records import PairwiseRecord, RankSource, RunRecords, records_of
from judgekit.analysis.ranking.standings import Standings
from judgekit.core.arguments import checked
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.report.report import Report
from judgekit.stats.bootstrap import SEED

DRAWS = 1000
LEAST_DRAWS, MOST_DRAWS = 100, 100_000
OTHERS = "the other comparisons"


@checked
def rank(
    *sources: RankSource,
    metric: str | None = None,
    judge: str | None = None,
    against: RankSource | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> ModelRanking:
    """Rank models by Bradley-Terry strength. No model is called.

    Args:
        sources: two or more runs over the same cases, runs of a pairwise metric, files of
            comparisons (JSON Lines, CSV), or lists of them. A comparison is `{"prompt", "a",
            "b", "winner", "judge"}`; `winner` is `a`, `b`, the name of a model, or `tie`, and
            `judge` may be missing.
        metric: the metric of the runs; required if they have several.
        judge: use only the comparisons of this judge.
        against: measure how well the ranking agrees with that of these comparisons: the name of
            another judge in the sources, or a source, such as a file of people's comparisons.
        draws: number of draws of the bootstrap over prompts.
        seed: seed of the bootstrap.

    Raises:
        ConfigError: a run cannot be read, there are no comparisons, or an option is wrong.
        DatasetError: a comparison cannot be read.
        MissingExtra: evalica is not installed.
    """
    if not LEAST_DRAWS <= draws <= MOST_DRAWS:
        raise ConfigError(f"draws must be from {LEAST_DRAWS} to {MOST_DRAWS:,}, not {draws}")
    if not 0 <= seed < 2**32:
        raise ConfigError(f"the seed must be from 0 to 2**32 - 1, not {seed}")
    if not sources:
        raise ConfigError("nothing to rank; name runs or a file of comparisons")
    read = records_of(sources, metric)
    own, name, others = _of_judge(read.records, judge), "", None
    if against is not None:
        name, others = _against(against, read, metric)
        if judge is None and name in _judges(read.records):
            own = [record for record in own if record.judge != name]
            if not own:
                raise ConfigError(f"all comparisons are by {name!r}; add those of another judge")
        elif judge is not None and judge == name:
            raise ConfigError(f"{judge!r} is compared with itself; name two judges")
    read.left_out["comparisons without a winner"] += sum(one.share is None for one in own)
    standings = Standings(_decided(own, read.left_out), draws=draws, seed=seed)
    ranking = _ranking(standings, read, draws=draws, seed=seed)
    if others is None:
        return ranking
    other = Standings(_decided(others, Counter()), draws=draws, seed=seed)
    return ranking.model_copy(update={"against": order_agreement(standings, other, name)})


def _judges(records: Sequence[PairwiseRecord]) -> set[str]:
    return {record.judge for record in records if record.judge is not None}


def _of_judge(records: list[PairwiseRecord], judge: str | None) -> list[PairwiseRecord]:
    if judge is None:
        return records
    known = _judges(records)
    if judge not in known:
        hint = suggest(judge, known) if known else "; no comparison names its judge"
        raise ConfigError(f"no comparison is by the judge {judge!r}{hint}")
    return [record for record in records if record.judge == judge]


def _against(
    against: RankSource, read: RunRecords, metric: str | None
) -> tuple[str, list[PairwiseRecord]]:
    """Return the name and the comparisons of another ranking.

    Raises:
        ConfigError: it is neither a judge of the comparisons nor a source, or cannot be read.
        DatasetError: a comparison cannot be read.
    """
    judges = _judges(read.records)
    if isinstance(against, str) and against in judges:
        return against, _of_judge(read.records, against)
    if isinstance(against, (str, Path)) and str(against) != "-" and not Path(against).exists():
        known = suggest(str(against), judges) if judges else "; no comparison names its judge"
        raise ConfigError(f"against: no judge, file or run folder {str(against)!r}{known}")
    of_run = isinstance(against, Report) or (
        isinstance(against, (str, Path)) and Path(against).is_dir()
    )
    name = str(against) if isinstance(against, (str, Path)) else OTHERS
    return name, records_of([against], (metric or read.metric) if of_run else None).records


def _decided(records: Sequence[PairwiseRecord], left_out: Counter[str]) -> list[PairwiseRecord]:
    """Return the comparisons with a winner or a tie.

    Raises:
        ConfigError: there is none.
    """
    decided = [record for record in records if record.share is not None]
    if not decided:
        why = ", ".join(f"{count} {reason}" for reason, count in (+left_out).items())
        why = f" ({why})" if why else ""
        raise ConfigError(f"no comparison has a winner or a tie{why}; check the verdicts")
    return decided


def _ranking(standings: Standings, read: RunRecords, *, draws: int, seed: int) -> ModelRanking:
    models: list[RankedModel] = []
    few = [fit for fit in standings.fits if fit is not None and fit.too_few]
    for number, (group, fit) in enumerate(
        zip(standings.groups, standings.fits, strict=True), start=1
    ):
        # A single model has no strength.
        figures = [one._asdict() for one in fit.strengths()] if fit is not None else [{}]
        for member, figure in zip(group, figures, strict=True):
            name = standings.names[member]
            counts = standings.totals[name]
            n = counts.total()
            models.append(RankedModel(model=name, group=number, n=n, **counts, **figure))
    models.sort(key=lambda one: (one.group, one.rank or 0, one.model))
    judges = Counter(record.judge for record in standings.records if record.judge is not None)
    connected = len(standings.groups) == 1
    return ModelRanking(
        comparisons=len(standings.records),
        prompts=standings.prompts,
        metric=read.metric,
        judges=dict(sorted(judges.items())),
        draws=draws,
        seed=seed,
        too_few=min(few, key=lambda fit: fit.prompts).too_few if few else None,
        left_out=dict(sorted((+read.left_out).items())),
        warnings=tuple(standings.warnings()),
        models=tuple(models),
        best=tuple(one.model for one in models if one.rank_low == 1) if connected else (),
        pairs=tuple(
            HeadToHead(a=a, b=b, **standings.tallies[a, b])
            for a, b in combinations([one.model for one in models], 2)
            if (a, b) in standings.tallies
        ),
    )
