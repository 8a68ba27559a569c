"""The models of a set of comparisons: their wins, their groups, and their strengths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from judgekit.analysis.ranking.records import PairwiseRecord
from judgekit.analysis.ranking.strengths import FittedStrengths, Win, groups_of
from judgekit.core.errors import ConfigError

MOST_MODELS = 1_000
"""Maximum number of models; more suggest that `a` and `b` contain answers."""
_SHOWN = 5
"""Maximum number of groups in a warning."""
_OUTCOMES = {1.0: "wins", 0.5: "ties", 0.0: "losses"}
"""Share of a win -> outcome."""


class Standings:
    """The models of comparisons, by strongly connected groups.

    Args:
        records: the comparisons, each with a winner or a tie.
        draws: draws of the bootstrap.
        seed: its seed.

    Raises:
        ConfigError: there are too many models.
        MissingExtra: evalica is not installed.
    """

    def __init__(self, records: Sequence[PairwiseRecord], *, draws: int, seed: int) -> None:
        names = sorted({name for record in records for name in (record.a, record.b)})
        if len(names) > MOST_MODELS:
            raise ConfigError(
                f"{len(names):,} models, and at most {MOST_MODELS:,} can be ranked; "
                "are 'a' and 'b' names of models?"
            )
        self.names = names
        self.records = records
        numbers = {name: number for number, name in enumerate(names)}
        prompts = {prompt: n for n, prompt in enumerate(sorted({r.prompt for r in records}))}
        self.prompts = len(prompts)
        sides = [(r.prompt, r.a, r.b, r.share or 0.0) for r in records]
        sides += [(prompt, b, a, 1 - share) for prompt, a, b, share in sides]
        self.totals = {name: Counter[str]() for name in names}
        """Model -> outcome -> number of comparisons."""
        self.tallies: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        """Two models -> outcome for the first -> number of comparisons."""
        for _, one, other, won in sides:
            for counts in (self.totals[one], self.tallies[one, other]):
                counts[_OUTCOMES[won]] += 1
        # A tie is half a win for each side. The order makes sums independent of the order of rows.
        wins = sorted(Win(prompts[p], numbers[a], numbers[b], won) for p, a, b, won in sides if won)
        self.groups, self._reach = groups_of(wins, len(names))
        group_of = {model: number for number, group in enumerate(self.groups) for model in group}
        inside: list[list[Win]] = [[] for _ in self.groups]
        for win in wins:
            if group_of[win.winner] == group_of[win.loser]:
                inside[group_of[win.winner]].append(win)
        self.fits = [FittedStrengths(own, draws=draws, seed=seed) if own else None
                     for own in inside]  # fmt: skip
        """The strengths of each group; `None` for a group of one model."""

    def warnings(self) -> Iterator[str]:
        """Yield the groups and their order."""
        groups, names = self.groups, self.names
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
                reached = self._reach[groups[one - 1][0]]
                others = [str(n) for n in numbers[one:] if reached[groups[n - 1][0]] == wins]
                if others:
                    yield f"Group {one} {word} group {', '.join(others)}."


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
