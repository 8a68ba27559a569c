"""The seams: one method each, so that anything can stand on either side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from judgekit.core.case import Case
from judgekit.core.request import Reply, Request
from judgekit.core.score import Row, Score


@runtime_checkable
class Judge(Protocol):
    """Something that answers a request: a model, a person, a recording, a limit around one."""

    @property
    def model(self) -> str:
        """The model string that goes into every key."""

    async def ask(self, request: Request) -> Reply:
        """Return what was said.

        Raises:
            JudgeUnavailable: nobody answered, after retries.
            JudgeRejected: no request like this will be taken.
            CassetteMiss: nothing is recorded and asking is not allowed.
        """


@runtime_checkable
class Metric(Protocol):
    """Something that scores a case."""

    @property
    def name(self) -> str:
        """The name results carry."""

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest raw value."""

    @property
    def higher_is_better(self) -> bool:
        """Direction; perplexity and toxicity are the other way round."""

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: one that costs this row, or one that stops the run (see errors).
        """


@runtime_checkable
class Embedder(Protocol):
    """Something on this machine that turns texts into vectors.

    It may also say `dimensions` (the length of a vector), and `at_once = True` where vectors are
    made so fast that neither a thread nor the store is worth its while.
    """

    @property
    def identity(self) -> str:
        """Name and version, for a model the digest of its files; stamped on every result."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order; called on a thread, one call at a time."""


@runtime_checkable
class AsyncEmbedder(Protocol):
    """Something elsewhere that turns texts into vectors, such as a hosted model.

    It bounds its calls, retries and records them itself; `judgekit.embedders.vectors` sees to it
    that no text is asked for twice and hands over what several rows want together (see
    `SharedEmbedder`), the shortest first.
    """

    @property
    def identity(self) -> str:
        """Provider, model and whatever else decides the vectors; stamped on every result."""

    async def aembed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order; up to 256 distinct texts a call.

        Raises:
            JudgeUnavailable: nobody answered, after retries; every row that waits fails.
            JudgeRejected: no call like this will be taken; the run stops.
            CassetteMiss: a text is not recorded. It is asked for again with half of the others,
                down to the text alone, so that only its rows fail.
        """


class Likelihood(Protocol):
    """Something that says how probable a continuation is."""

    async def logprobs(self, *, prompt: str, continuation: str) -> Sequence[float]:
        """Return the natural log-probability of each token of the continuation."""


class Aggregate(Protocol):
    """Figures of a whole data set that are not a mean of rows, fed row by row.

    A metric that has some returns new ones from a method `aggregates()`; they stand in the
    summary's `figures` beside the mean. An attribute `figures` of the metric maps their names to
    whether higher is better; a gate may name any of them.
    """

    def add(self, row: Row) -> None:
        """Take one more result; the rows come in the order of the cases."""

    def finish(self) -> dict[str, float | int | None]:
        """Return the figures by name; `None` where there is nothing to make one of."""
