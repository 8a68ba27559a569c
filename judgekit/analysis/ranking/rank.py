"""Rank models by pairwise comparisons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from judgekit.analysis.ranking.ranking import HeadToHead, ModelRanking, RankedModel
from judgekit.analysis.ranking.records import PairwiseRecord, RankSource, RunRecords, records_of
from judgekit.analysis.ranking.strengths import Win, groups_of, strengths_of
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.stats.bootstrap import SEED
from judgekit.stats.clusters import FEWEST

DRAWS = 1000
LEAST_DRAWS, MOST_DRAWS = 100, 100_000
MOST_MODELS = 1_000
"""Maximum number of models; more suggest that `a` and `b` contain answers."""
_SHOWN = 5
"""Maximum number of groups in a warning."""
_OUTCOMES = {1.0: "wins", 0.5: "ties", 0.0: "losses"}
"""Share of a win -> outcome."""


def rank(
    *sources: RankSource,
    metric: str | None = None,
    judge: str | None = None,
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
    records = _of_judge(read.records, judge)
    decided = [record for record in records if record.share is not None]
    read.left_out["comparisons without a winner"] += len(records) - len(decided)
    read = read._replace(records=decided, left_out=+read.left_out)
    if not decided:
        why = ", ".join(f"{count} {reason}" for reason, count in read.left_out.items())
        why = f" ({why})" if why else ""
        raise ConfigError(f"no comparison has a winner or a tie{why}; check the verdicts")
    return _ranked(read, draws=draws, seed=seed)


def _of_judge(records: list[PairwiseRecord], judge: str | None) -> list[PairwiseRecord]:
    if judge is None:
        return records
    known = {record.judge for record in records if record.judge is not None}
    if judge not in known:
        hint = suggest(judge, known) if known else "; no comparison names its judge"
        raise ConfigError(f"no comparison is by the judge {judge!r}{hint}")
    return [record for record in records if record.judge == judge]


def _ranked(read: RunRecords, *, draws: int, seed: int) -> ModelRanking:
    records = read.records
    names = sorted({name for record in records for name in (record.a, record.b)})
    if len(names) > MOST_MODELS:
        raise ConfigError(
            f"{len(names):,} models, and at most {MOST_MODELS:,} can be ranked; "
            "are 'a' and 'b' names of models?"
        )
    numbers = {name: number for number, name in enumerate(names)}
    prompts = {prompt: n for n, prompt in enumerate(sorted({r.prompt for r in records}))}
    sides = [(r.prompt, r.a, r.b, r.share or 0.0) for r in records]
    sides += [(prompt, b, a, 1 - share) for prompt, a, b, share in sides]
    totals = {name: Counter[str]() for name in names}
    tallies: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for _, one, other, won in sides:
        for counts in (totals[one], tallies[one, other]):
            counts[_OUTCOMES[won]] += 1
    # A tie is half a win for each side. The order makes sums independent of the order of rows.
    wins = sorted(Win(prompts[p], numbers[a], numbers[b], won) for p, a, b, won in sides if won)
    groups, reach = groups_of(wins, len(names))
    group_of = {model: number for number, group in enumerate(groups) for model in group}
    inside: list[list[Win]] = [[] for _ in groups]
    for win in wins:
        if group_of[win.winner] == group_of[win.loser]:
            inside[group_of[win.winner]].append(win)
    models: list[RankedModel] = []
    few: list[int] = []
    for number, (group, own) in enumerate(zip(groups, inside, strict=True), start=1):
        strengths = strengths_of(own, draws=draws, seed=seed) if own else []
        figures = [one._asdict() for one in strengths] or [{}]  # a single model has no strength
        for member, figure in zip(group, figures, strict=True):
            name, counts = names[member], totals[names[member]]
            n = counts.total()
            models.append(RankedModel(model=name, group=number, n=n, **counts, **figure))
        if own and models[-1].low is None:
            few.append(len({win.prompt for win in own}))
    models.sort(key=lambda one: (one.group, one.rank or 0, one.model))
    judges = Counter(record.judge for record in records if record.judge is not None)
    return ModelRanking(
        comparisons=len(records),
        prompts=len(prompts),
        metric=read.metric,
        judges=dict(sorted(judges.items())),
        draws=draws,
        seed=seed,
        too_few=f"{min(few)} of the {FEWEST} prompts that an interval needs" if few else None,
        left_out=dict(sorted(read.left_out.items())),
        warnings=tuple(_warnings(groups, names, reach)),
        models=tuple(models),
        best=tuple(one.model for one in models if one.rank_low == 1) if len(groups) == 1 else (),
        pairs=tuple(
            HeadToHead(a=a, b=b, **tallies[a, b])
            for a, b in combinations([one.model for one in models], 2)
            if (a, b) in tallies
        ),
    )


def _warnings(groups: Sequence[Sequence[int]], names: Sequence[str], reach: Any) -> Iterator[str]:
    """Yield the groups and their order."""
    if len(groups) == 1:
        return
    numbers = range(1, min(len(groups), _SHOWN) + 1)
    named = [f"group {n}: {_listed([names[m] for m in groups[n - 1]])}" for n in numbers]
    more = f"; and {len(groups) - _SHOWN} more" if len(groups) > _SHOWN else ""
    yield (
        f"The comparisons are not strongly connected ({'; '.join(named)}{more}). Strengths and "
        "ranks hold only inside a group; add comparisons that both sides win."
    )
    for one in numbers:
        for word, wins in (("never lost against", True), ("has no order with", False)):
            reached = reach[groups[one - 1][0]]
            others = [str(n) for n in numbers[one:] if reached[groups[n - 1][0]] == wins]
            if others:
                yield f"Group {one} {word} group {', '.join(others)}."


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
