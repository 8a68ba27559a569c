"""The statistics of the answers to one criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from judgekit.analysis.agreement.pairs import Answer, Cases, JudgedPair, Pairs
from judgekit.core.display.parts import answer_text
from judgekit.core.errors import ConfigError
from judgekit.metrics.pairwise.figures import side_of
from judgekit.report import calibration as results
from judgekit.stats.agreement import PairColumns, kappa_figure, rank_figure
from judgekit.stats.coefficients import Level, alpha_figure, kendall_figure, pearson_figure
from judgekit.stats.intervals import CountedFigure
from judgekit.stats.shares import (
    error_figures,
    forecast_figures,
    macro_f1_figure,
    mean_figure,
    probability_bins,
    same_figure,
    share_figures,
)

MOST_DISAGREEMENTS = 10
"""Maximum number of disagreements to keep."""
MOST_PAIRS = 5_000_000
"""Maximum number of pairs of people, over all cases of a criterion."""
MOST_REASON = 1_000
"""Maximum length of a stored reason, in characters."""


@dataclass(frozen=True)
class AnswerScale:
    """The possible answers to one criterion, in order, and their distances."""

    kind: results.Scale
    order: Sequence[Answer]
    """All answers; their indices are those in `Paired`."""
    tabled: bool
    """Whether there are few enough answers for a table and kappa."""
    power: int
    """Exponent of the distance in kappa: 1 for linear, 2 for quadratic, 0 for no weights."""
    clustered: bool
    rank: Mapping[Answer | None, int]
    """Answer -> index; a reply without a verdict has the index after all answers."""
    numbers: Sequence[float]
    """The position of each index on the scale."""

    @property
    def yes_no(self) -> bool:
        """Whether the answers are no and yes."""
        return list(self.order) == [False, True] and isinstance(self.order[0], bool)

    def judged(self, pairs: Pairs) -> PairColumns:
        """Return pairs as indices."""
        import numpy as np

        return PairColumns(
            np.array([pair.case.unit for pair in pairs], dtype=np.int64),
            np.array([self.rank[pair.judge] for pair in pairs], dtype=np.int64),
            np.array([self.rank[pair.person] for pair in pairs], dtype=np.int64),
            np.array([pair.weight for pair in pairs], dtype=float),
            clustered=self.clustered,
        )

    def same(self, pairs: PairColumns) -> int | None:
        """Return the number of pairs with equal answers; `None` for numbers with many values."""
        return int((pairs.first == pairs.second).sum()) if self.tabled else None

    def figures(self, pairs: PairColumns) -> dict[str, CountedFigure]:
        """Return the statistics for such answers, by name."""
        known = pairs.where(pairs.first < len(self.order))
        figures = share_figures(pairs) if self.yes_no else {}
        if self.tabled:
            figures["kappa"] = self.main(pairs)
            figures["same"] = same_figure(pairs)
        if self.kind != "number" and not self.yes_no:
            figures["macro_f1"] = macro_f1_figure(pairs, len(self.order))
        others = {}
        if self.kind != "nominal":
            others["spearman"] = rank_figure(known)
            others["kendall"] = kendall_figure(known)
        if self.kind == "number" or self.yes_no:
            others["pearson"] = pearson_figure(known, self.numbers)
        if self.kind == "number":
            others |= error_figures(known, self.numbers)
        return figures | {name: CountedFigure(len(known), one) for name, one in others.items()}

    def forecasts(self, pairs: Pairs) -> dict[str, CountedFigure]:
        """Return the judge's probabilities of people's answers, where its rows have them."""
        known = [pair for pair in pairs if pair.probabilities and self.tabled]
        forecasts = [pair.probabilities for pair in known]
        return forecast_figures(forecasts, [pair.person for pair in known], self.judged(known))

    def bins(self, pairs: Pairs) -> list[results.ProbabilityBin]:
        """Return the judge's most probable answers by their probability; empty without any."""
        known = [pair for pair in pairs if pair.probabilities and self.tabled]
        forecasts = [pair.probabilities for pair in known]
        people = [pair.person for pair in known]
        return [results.ProbabilityBin(**one._asdict())
                for one in probability_bins(forecasts, people, self.judged(known))]  # fmt: skip

    def orders(self, pairs: Pairs, values: Mapping[str, float]) -> dict[str, CountedFigure]:
        """Return how two orders of two answers agree with each other and with people.

        Args:
            pairs: the answers; those of a pairwise metric have both orders.
            values: the value of each word.
        """
        rows: list[tuple[JudgedPair, int, int, int]] = [
            (pair, side_of(one), side_of(other), side_of(values[pair.person]))
            for pair in pairs for one, other in pair.orders
            if isinstance(pair.person, str) and pair.person in values
        ]  # fmt: skip
        if not rows:
            return {}
        columns = self.judged([row[0] for row in rows])
        shares = {
            "positional": [float(one == other) for _, one, other, _ in rows],
            "either_order": [((one == person) + (other == person)) / 2
                             for _, one, other, person in rows],
            "both_orders": [float(one == other == person) for _, one, other, person in rows],
        }  # fmt: skip
        return {name: CountedFigure(len(rows), mean_figure(own, 1.0, columns))
                for name, own in shares.items()}  # fmt: skip

    def between(self, people: PairColumns) -> dict[str, CountedFigure]:
        """Return the statistics of pairs of two people; each pair is given in both orders."""
        both = self.figures(people) if len(people) else {}
        # With both orders, the F1 of yes and of no are omitted.
        kept = both.keys() - {"precision", "recall", "specificity"}
        return {name: CountedFigure(both[name].n // 2, both[name].figure) for name in kept}

    def main(self, pairs: PairColumns) -> CountedFigure:
        """Return kappa, or Spearman's rho for numbers with many values."""
        size = len(self.order)
        if not self.tabled:
            known = pairs.where(pairs.first < size)
            return CountedFigure(len(known), rank_figure(known))
        size += bool((pairs.first >= size).any())
        places, power = self.numbers if self.power else None, self.power or 2
        return CountedFigure(len(pairs), kappa_figure(pairs, size, places, power=power))


class RatedCases:
    """All labels of one criterion as columns, with the judge's answers.

    Args:
        scale: the answers.
        cases: a pair for each label, by case.

    Raises:
        ConfigError: the cases have more than `MOST_PAIRS` pairs of people.
    """

    def __init__(self, scale: AnswerScale, cases: Cases) -> None:
        import numpy as np

        self.scale, self.cases = scale, cases
        pairs = [pair for own in cases for pair in own]
        self._sizes = np.array([len(own) for own in cases], dtype=np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._case = np.repeat(np.arange(len(cases)), self._sizes)
        self.judged = scale.judged(pairs)
        self.labellers = [pair.labeller for pair in pairs]
        once = self._people_once()
        self._between = np.concatenate([once, once[:, ::-1]])
        one, other = self._between.T
        units, people, weights = self.judged.units, self.judged.second, self.judged.weights
        sides = people[one], people[other]
        self.people = PairColumns(units[one], *sides, weights[one], clustered=scale.clustered)
        """Pairs of answers by two people to one case, in both orders, as the order is arbitrary."""

    def _people_once(self) -> Any:
        """Return the indices of the labels of each pair of people, in order."""
        import numpy as np

        count = int((self._sizes * (self._sizes - 1) // 2).sum())
        if count > MOST_PAIRS:
            most = int(self._sizes.max())
            raise ConfigError(
                f"up to {most:,} people labelled the same case, which makes {count:,} pairs of "
                f"people; at most {MOST_PAIRS:,} are compared: keep fewer labellers of each case"
            )
        found = [np.empty((0, 2), dtype=np.int64)]
        for size in np.unique(self._sizes[self._sizes > 1]):
            local = np.array(list(combinations(range(size), 2)))
            starts = self._starts[self._sizes == size]
            found.append((starts[:, None, None] + local).reshape(-1, 2))
        pairs = np.concatenate(found)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    def alphas(self, *, judge: bool) -> dict[str, CountedFigure]:
        """Return Krippendorff's alphas over cases with at least two answers.

        For unordered answers, a failed reply is an extra category; otherwise it is missing.

        Args:
            judge: whether the judge is included as a rater.
        """
        import numpy as np

        scale, columns = self.scale, self.judged
        levels: list[Level] = ["nominal"] if scale.tabled else []
        levels += ["ordinal"] if scale.kind != "nominal" else []
        levels += ["interval"] if scale.kind == "number" else []
        figures = {}
        for level in levels:
            case, places = self._case, columns.second
            if judge:
                first, failed = columns.first[self._starts], len(scale.order)
                known = np.flatnonzero(first < (failed + (level == "nominal")))
                case = np.concatenate([case, known])
                places = np.concatenate([places, first[known]])
            figures[f"alpha_{level}"] = alpha_figure(
                case, places, [*scale.numbers, 0.0], level,
                units=columns.units[self._starts] if scale.clustered else None,
                weights=[own[0].weight for own in self.cases],
            )  # fmt: skip
        return {name: one for name, one in figures.items() if one.n}

    def by_labeller(self) -> list[results.LabellerAgreement]:
        """Return each labeller's agreement with the judge and the other labellers, by name."""
        import numpy as np

        names, numbers = np.unique(self.labellers, return_inverse=True)
        first = numbers[self._between[:, 0]]
        name = "kappa" if self.scale.tabled else "spearman"
        found = []
        for number, labeller in enumerate(names.tolist()):
            sides = (self.judged.where(numbers == number), self.people.where(first == number))
            judge, others = (results.AgreementStatistic.of(name, *self.scale.main(side))
                             if len(side) else None for side in sides)  # fmt: skip
            found.append(results.LabellerAgreement(labeller=labeller, judge=judge, others=others))
        return found

    def disagreements(self) -> list[results.Disagreement]:
        """Return the cases with the largest mean distance of the judge to the labels."""
        import numpy as np

        scale, first, second = self.scale, self.judged.first, self.judged.second
        apart = (first != second).astype(float)
        if scale.kind != "nominal":
            numbers = np.array([*scale.numbers, 0.0])
            width = (scale.numbers[-1] - scale.numbers[0]) or 1.0
            known = first < len(scale.order)
            apart = np.where(known, np.abs(numbers[first] - numbers[second]) / width, 1.0)
        distances = np.bincount(self._case, weights=apart) / self._sizes
        worst = np.argsort(-distances, kind="stable")[:MOST_DISAGREEMENTS]
        return [_disagreement(self.cases[place], float(distances[place]))
                for place in worst.tolist() if distances[place] > 0]  # fmt: skip


def _disagreement(pairs: Pairs, distance: float) -> results.Disagreement:
    case, judge, reason = pairs[0].case, shown(pairs[0].judge), pairs[0].judge_reason[:MOST_REASON]
    people = [{"labeller": p.labeller, "value": shown(p.person), "reason": p.reason[:MOST_REASON]}
              for p in pairs]  # fmt: skip
    return results.Disagreement(case=case.id, judge=judge, reason=reason,
                                people=people, distance=distance)  # fmt: skip


def shown(answer: Answer | None) -> str:
    """Return an answer as text."""
    return results.NO_VERDICT if answer is None else answer_text(answer)
