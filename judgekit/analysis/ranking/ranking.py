"""The result of a ranking, and its texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from judgekit.core.arguments import checked
from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayTable, counted, cut
from judgekit.core.document import Document
from judgekit.core.value import Value, sparse
from judgekit.datasets.dataframes.framed import Framed
from judgekit.stats.intervals import Coefficient

HEAD = ("group", "rank", "ranks", "model", "strength", "95 %", "wins", "ties", "losses", "n")


class RankedModel(Value):
    """One model of a ranking."""

    model: str
    group: int
    """From 1; strengths and ranks of different groups cannot be compared."""
    wins: int = 0
    ties: int = 0
    losses: int = 0
    n: int
    """Number of comparisons with this model."""
    rank: int | None = None
    """Rank in its group, by strength; `None` for a group of one model."""
    rank_low: int | None = None
    """The best rank that the comparisons allow; 95 % for the ranks of all models together."""
    rank_high: int | None = None
    strength: float | None = None
    """Natural logarithm; the mean of a group is 0. `None` for a group of one model."""
    low: float | None = None
    """95 % interval of the strength; `None` for too few prompts."""
    high: float | None = None


class HeadToHead(Value):
    """All comparisons of two models."""

    a: str
    b: str
    wins: int = 0
    """Number of wins of `a`."""
    ties: int = 0
    losses: int = 0

    @property
    def n(self) -> int:
        """Number of comparisons."""
        return self.wins + self.ties + self.losses

    @property
    def rate(self) -> float:
        """Share of the comparisons that `a` won, a tie as half a win."""
        return (self.wins + self.ties / 2) / self.n


class OrderAgreement(Value):
    """How well a ranking agrees with another one about the order of models."""

    name: str
    """The other ranking: a judge, a file, or a run."""
    models: int
    """Number of models in both rankings."""
    only_here: int = 0
    """Number of models that the other ranking lacks."""
    only_there: int = 0
    pairs: int = 0
    """Number of pairs of models in both rankings."""
    same: int = 0
    """Number of pairs in the same order; a tie in either ranking is no order."""
    opposite: int = 0
    share: float | None = None
    """Share of the pairs in the same order, 0..1."""
    share_low: float | None = None
    share_high: float | None = None
    """95 % interval of the share, over prompts, for these models."""
    tau: float | None = None
    """Kendall's tau-b, -1..1; `None` if all models of a ranking are equal."""
    tau_low: float | None = None
    tau_high: float | None = None
    """95 % interval of tau-b, over prompts, for these models."""
    too_few: str | None = None
    """Why there is no interval, or no figure."""

    @property
    def line(self) -> str:
        """The agreement in one sentence."""
        if self.share is None:
            return f"No agreement with the ranking by {self.name}: {self.too_few}."
        share = Coefficient(self.share, self.share_low, self.share_high).text
        tau = Coefficient(self.tau, self.tau_low, self.tau_high).text
        few = f" No interval: {self.too_few}." if self.too_few else ""
        return (
            f"Agreement with the ranking by {self.name}: {self.same:,} of {self.pairs:,} pairs of "
            f"models in the same order, {share}; Kendall's tau-b {tau}. For these "
            f"{counted(self.models, 'model')}; other prompts may order them differently.{few}"
        )


class ModelRanking(Document, Framed, Value):
    """Models by Bradley-Terry strength; made by `judgekit.rank`.

    Its data frame has a row for each model.
    """

    comparisons: int
    prompts: int
    metric: str | None = None
    """The metric of the runs."""
    judges: dict[str, int]
    """Judge -> number of comparisons; without comparisons of an unnamed judge."""
    draws: int
    """Draws of the bootstrap."""
    seed: int
    too_few: str | None = None
    """Why there are no intervals."""
    left_out: dict[str, int]
    """Reason -> number of results without a comparison."""
    warnings: tuple[str, ...]
    """Warnings to read before any figure."""
    models: tuple[RankedModel, ...]
    """The models by group, then the strongest first."""
    best: tuple[str, ...] = ()
    """The models that may be the strongest, with 95 % confidence; empty without rank intervals, or
    if the comparisons do not connect all models."""
    pairs: tuple[HeadToHead, ...]
    """All pairs of compared models, in the order of `models`."""
    against: OrderAgreement | None = sparse(default=None)
    """Agreement with another ranking; `None` if there is none to compare with."""

    def __repr__(self) -> str:
        return f"ModelRanking({', '.join(one.model for one in self.models)})"

    __str__ = __repr__

    @property
    def connected(self) -> bool:
        """Whether the comparisons connect all models, so all strengths can be compared."""
        return all(one.group == 1 for one in self.models)

    def _parts_shown(self) -> Iterator[DisplayLine | DisplayTable]:
        by = f" by {self.metric}" if self.metric else ""
        judges = f"; judged by {', '.join(self.judges)}" if self.judges else ""
        made_of = f"{counted(self.comparisons, 'comparison')}{by}"
        yield DisplayLine(cut(f"{made_of} on {counted(self.prompts, 'prompt')}{judges}"), "title")
        for warning in self.warnings:
            yield DisplayLine(f"! {cut(warning, 600)}", "bad")
        yield DisplayLine(cut(verdict(self)))
        if self.against is not None:
            yield DisplayLine(cut(self.against.line, 600))
        rows = []
        for one in self.models:
            rank = "–" if one.rank is None else str(one.rank)
            counts = [f"{count:,}" for count in (one.wins, one.ties, one.losses, one.n)]
            figures = [signed(one.strength), strength_interval(one), *counts]
            model = cut(one.model, MOST_NAME)
            rows.append([str(one.group), rank, rank_interval(one), model, *figures])
        first = int(self.connected)  # one group needs no column
        numbers = [place - first for place in (0, 1, 4, 6, 7, 8, 9) if place >= first]
        yield DisplayTable(HEAD[first:], [row[first:] for row in rows], numbers=numbers)
        yield DisplayLine("")
        for note in notes(self):
            yield DisplayLine(cut(note), "note")

    def _frame_rows(self) -> Iterable[Mapping[str, Any]]:
        return (one.model_dump() for one in self.models)

    @checked
    def to_html(self, path: str | Path) -> Path:
        """Write the ranking as one self-contained HTML file and return its path.

        Raises:
            ConfigError: the file cannot be written.
        """
        from judgekit.core.renderers import renderer

        written: Path = renderer("ranking page")(self, Path(path))
        return written

    def to_json(self) -> dict[str, Any]:
        """Return the ranking as JSON."""
        return self.model_dump(mode="json")


def signed(value: float | None) -> str:
    """Return the text of a strength, with its sign.

    >>> signed(-0.5), signed(0.123), signed(None), signed(-0.001)
    ('−0.50', '+0.12', '–', '0.00')
    """
    if value is None:
        return "–"
    text = f"{abs(value):.2f}"
    return text if text == "0.00" else f"{'−' if value < 0 else '+'}{text}"


def rank_interval(model: RankedModel) -> str:
    """Return the ranks that the comparisons allow, such as `2 to 4`; a dash for unknown ones."""
    if model.rank_low is None or model.rank_high is None:
        return "–"
    if model.rank_low == model.rank_high:
        return str(model.rank_low)
    return f"{model.rank_low} to {model.rank_high}"


def strength_interval(model: RankedModel) -> str:
    """Return the text of a strength's interval; a dash if there is none."""
    return "–" if model.low is None else f"[{signed(model.low)}, {signed(model.high)}]"


def verdict(ranking: ModelRanking) -> str:
    """Return the outcome as a sentence."""
    if not ranking.connected:
        return "The comparisons do not put all models on one scale."
    first = ranking.best
    if not first:
        name = ranking.models[0].model
        return f"{name} has the highest strength; chance can explain it, with so few prompts."
    if len(first) == 1:
        return f"{first[0]} has the highest strength; chance hardly explains it (95 %)."
    return (
        f"{', '.join(first[:-1])} or {first[-1]} may be the strongest: chance can explain which "
        "of them is first."
    )


def notes(ranking: ModelRanking) -> Iterator[str]:
    """Yield notes on the figures."""
    yield "Strengths are log-odds with mean 0; ties count as half wins."
    if ranking.too_few is not None:
        yield f"No intervals: {ranking.too_few}."
    elif any(one.low is not None for one in ranking.models):
        yield (
            f"{ranking.draws:,} bootstrap draws over prompts, seed {ranking.seed}. An interval of "
            "a strength is 95 % for itself; the ranks are 95 % for all models together."
        )
    if ranking.left_out:
        reasons = ", ".join(f"{count:,} {why}" for why, count in ranking.left_out.items())
        yield f"Left out: {reasons}."
