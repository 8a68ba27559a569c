"""The contracts of everything that can be replaced: judge, metric, embedder, aggregate."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from judgekit.core.case import Case
from judgekit.core.request import Reply, Request
from judgekit.core.score import Row, Score
from judgekit.core.value import Json


class CardExample(NamedTuple):
    """A case, and the value of the metric for it."""

    case: Mapping[str, Any]
    """The case's fields, as a row of a cases file has them; an `id` is not needed."""
    value: float | None
    """The value to four decimals; `None` where the example is not applicable or asks a judge."""
    options: Mapping[str, Any] = {}


class Card(NamedTuple):
    """Documentation for users who choose a metric.

    The metric itself has its range, direction, options and the fields it needs.
    """

    formula: str
    """How to compute the value by hand."""
    source: str
    """The origin of the formula, and how it was changed."""
    empty: str
    """The result for empty, missing or unsuitable input."""
    example: CardExample
    about: str = ""
    """What the metric measures: paragraphs, the first of one sentence."""
    options: Mapping[str, str] = {}
    """Option -> what it is for."""
    modes: str = ""
    """What compatible modes reproduce, and how they differ."""


MAX_DEPTH = 12
"""Metrics within metrics that are followed."""


@runtime_checkable
class Judge(Protocol):
    """An object that answers requests: a model, a person, a recording, or a wrapper."""

    @property
    def model(self) -> str:
        """The model string that goes into every key."""

    async def ask(self, request: Request) -> Reply:
        """Return the reply to a request.

        Raises:
            JudgeUnavailable: no answer after retries.
            JudgeRejected: the judge rejects all such requests.
            CassetteMiss: there is no recording, and calls are not allowed.
        """


JudgeLike = Judge | str | Callable[[Request], Any]
"""What every parameter `judge` takes: a judge, a model string, or an async function."""


class RubricSource(Protocol):
    """What a manifest and a file watcher read from a rubric."""

    @property
    def name(self) -> str:
        """The rubric's name."""

    @property
    def version(self) -> int:
        """The rubric's version."""

    @property
    def path(self) -> Path:
        """The rubric's file."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The file and all files it extends or includes."""

    def said(self) -> dict[str, Any]:
        """Return what the rubric asks, as plain data."""


Asks = Literal["nothing", "verdict", "logprobs"]
"""What a metric requests from a model: nothing, a judge's verdict, or log-probabilities."""


class MetricInfo(NamedTuple):
    """Facts about a metric, for everything but scoring: manifest, page, estimate, watch, doctor."""

    name: str
    """The name in results."""
    type: str
    """The stable name of the kind of metric that manifests carry, such as `Similarity`."""
    range: tuple[float, float] = (0.0, 1.0)
    """Lowest and highest raw value."""
    higher_is_better: bool = True
    needs: tuple[str, ...] = ()
    """Fields of the case, for people to read."""
    asks: Asks = "nothing"
    asks_further: bool = False
    """Whether later requests depend on earlier replies, so that calls cannot be counted ahead."""
    synchronous: bool = False
    """Whether `score` never waits, so that no event loop is needed."""
    figures: Mapping[str, bool] = {}
    """Figures of a whole run beside the mean, and whether higher is better for each."""
    options: Mapping[str, Any] = {}
    """Options that decide the value, as given."""
    made_with: Mapping[str, Json] = {}
    """What decides the value beside the options: rubric, digest, model."""
    rubrics: tuple[RubricSource, ...] = ()
    """The rubrics this metric renders itself; those of `children()` are not repeated."""
    confidence: str = ""
    """What `Score.confidence` means, as a clause: "is the share of ... that ..."."""


class Metric:
    """Scores a case. A subclass needs `name` and `score`; everything else has a default.

    A class that is not a subclass, or a function, becomes a metric through
    `judgekit.metrics.adapter.as_metric`. `info()` and `children()` are all that the rest of the
    package reads; a subclass sets the attributes below and seldom overrides `info`.
    """

    __slots__ = ()

    name: str

    # Read-only properties to a type checker, so that a subclass may use a class attribute, a
    # dataclass field or a property for each.
    if TYPE_CHECKING:

        @property
        def range(self) -> tuple[float, float]:
            """Lowest and highest raw value."""

        @property
        def higher_is_better(self) -> bool:
            """Direction; false for perplexity and toxicity."""

        @property
        def asks(self) -> Asks:
            """What the metric requests from a model."""

        @property
        def asks_further(self) -> bool:
            """Whether later requests depend on earlier replies."""

        @property
        def synchronous(self) -> bool:
            """Whether `score` never waits. A class that overrides `score` sets this again."""

        @property
        def figures(self) -> Mapping[str, bool]:
            """Names of the figures `aggregates` adds, and whether higher is better."""

        @property
        def made_with(self) -> Mapping[str, Json]:
            """What decides the value beside the options."""

        @property
        def rubrics(self) -> tuple[RubricSource, ...]:
            """The rubrics the metric renders itself."""

        @property
        def confidence(self) -> str:
            """What `Score.confidence` means; empty where scores have none."""

        @property
        def needs(self) -> tuple[str, ...]:
            """Fields of the case, for users; `expected.facts` for a key of `expected`."""

        @property
        def card(self) -> Card | None:
            """Documentation for whoever chooses a metric."""

        @property
        def files(self) -> tuple[str, ...]:
            """Options that name files; a suite resolves them relative to itself."""

        @property
        def type_name(self) -> str:
            """The stable name of this kind of metric in manifests."""

    else:
        range = (0.0, 1.0)
        higher_is_better = True
        asks = "nothing"
        asks_further = False
        synchronous = False
        figures = MappingProxyType({})
        made_with = MappingProxyType({})
        rubrics = ()
        confidence = ""
        needs = ()
        card = None
        files = ()
        type_name = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls)
        # A renamed class sets the name that manifests carried before.
        if "type_name" not in own:
            cls.type_name = cls.__name__  # type: ignore[method-assign, assignment]
        # A class that overrides `score` may wait, although its base class does not.
        if "score" in own and "synchronous" not in own:
            cls.synchronous = False  # type: ignore[method-assign, assignment]

    @property
    def options(self) -> Mapping[str, Any]:
        """Options that decide the value, as given; the fields of a dataclass by default."""
        metric: Any = self
        named = fields(metric) if is_dataclass(metric) else ()
        return {f.name: getattr(metric, f.name) for f in named if f.init and f.name != "name"}

    def info(self) -> MetricInfo:
        """Return the facts about this metric."""
        facts = {name: getattr(self, name) for name in MetricInfo._fields if name != "type"}
        return MetricInfo(type=self.type_name, **facts)

    def children(self) -> tuple["Metric", ...]:
        """Return the metrics this one calls, in a fixed order."""
        return ()

    def aggregates(self) -> Sequence["Aggregate"]:
        """Return new aggregates for one run; `figures` names what they compute."""
        return ()

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: one that costs this row, or one that stops the run (see errors).
        """
        raise NotImplementedError


def with_children(metric: Metric, *, depth: int = MAX_DEPTH) -> Iterator[Metric]:
    """Yield a metric, then all metrics within it, each once."""
    seen: set[int] = set()
    stack = [(metric, 0)]
    while stack:
        current, level = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if level < depth:
            stack += [(child, level + 1) for child in reversed(current.children())]


class SimpleMetric(Protocol):
    """The least a class needs to be used as a metric; `range` and others are optional."""

    @property
    def name(self) -> str:
        """The name in results."""

    async def score(self, case: Case) -> Score:
        """Return the score of one case."""


MetricLike = Metric | SimpleMetric | Callable[[Case], Any]
"""What `evaluate` and metrics around metrics take."""


class BaseEmbedder:
    """Facts about an embedder, with their defaults.

    An embedder is a subclass with `identity` and `embed` or `aembed`. A class that is not a
    subclass may have the same attributes; `SharedEmbedder` adapts it.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # read-only to a type checker, so that a subclass may use attributes

        @property
        def dimensions(self) -> int | None:
            """Length of a vector; `None` if unknown before the first."""

        @property
        def semantic(self) -> bool:
            """Whether close vectors mean similar meanings; `lexical` compares words."""

        @property
        def synchronous(self) -> bool:
            """Whether `embed` is so fast that a thread and the store do not pay."""

    else:
        dimensions = None
        semantic = True
        synchronous = False


@runtime_checkable
class Embedder(Protocol):
    """A local embedder, which turns texts into vectors; see also `BaseEmbedder`."""

    @property
    def identity(self) -> str:
        """Name and version, for a model the digest of its files; recorded in every result."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order; called on a thread, one call at a time."""


@runtime_checkable
class AsyncEmbedder(Protocol):
    """A remote embedder, such as a hosted model.

    It limits, retries and records its calls itself. `judgekit.embedders.vectors` requests each text
    once and collects the texts of several rows, the shortest first (see `SharedEmbedder`).
    """

    @property
    def identity(self) -> str:
        """Provider, model and other settings that decide the vectors; recorded in every result."""

    async def aembed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order; up to 256 distinct texts a call.

        Raises:
            JudgeUnavailable: no answer after retries; every waiting row fails.
            JudgeRejected: the server rejects all such calls; the run stops.
            CassetteMiss: a text is not recorded. The call is repeated with half of the texts,
                down to a single one, so that only its rows fail.
        """


@runtime_checkable
class Likelihood(Protocol):
    """An object that returns the log-probabilities of a continuation."""

    async def logprobs(self, *, prompt: str, continuation: str) -> Sequence[float]:
        """Return the natural log-probability of each token of the continuation."""


class Aggregate(Protocol):
    """Figures of a whole data set that are not a mean of rows, fed row by row.

    `Metric.aggregates` returns new ones for each run; the summary lists their figures beside the
    mean, and a gate may name any of them.
    """

    def add(self, row: Row) -> None:
        """Take one more result; the rows come in the order of the cases."""

    def finish(self) -> dict[str, float | int | None]:
        """Return the figures by name; `None` for a figure without data."""
