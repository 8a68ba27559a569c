"""The interfaces of replaceable parts: judge, metric, embedder, aggregate."""

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
    """An example case and its value."""

    case: Mapping[str, Any]
    """The fields of the case, as in a row of a cases file; `id` is optional."""
    value: float | None
    """The value, rounded to four decimals; `None` if not applicable or if a judge is needed."""
    options: Mapping[str, Any] = {}


class Card(NamedTuple):
    """Documentation for users who choose a metric.

    The range, direction, options and required fields come from the metric itself.
    """

    formula: str
    """How to compute the value by hand."""
    source: str
    """The source of the formula, and the changes to it."""
    empty: str
    """The result for empty, missing or unsuitable input."""
    example: CardExample
    about: str = ""
    """What the metric measures; the first paragraph is one sentence."""
    options: Mapping[str, str] = {}
    """Option -> its purpose."""
    modes: str = ""
    """The implementations that compatible modes reproduce, and the differences."""
    no_confidence: str = ""
    """Why scores have no `confidence`, as a clause; empty if they have one."""


MAX_DEPTH = 12
"""Maximum depth of nested metrics."""


@runtime_checkable
class Judge(Protocol):
    """An object that answers requests: a model, a person, a recording, or a wrapper."""

    @property
    def model(self) -> str:
        """The model string; part of every key."""

    async def ask(self, request: Request) -> Reply:
        """Return the reply to a request.

        Raises:
            JudgeUnavailable: no answer after retries.
            JudgeRejected: the judge rejects all such requests.
            CassetteMiss: there is no recording, and calls are not allowed.
        """


class TextStore(Protocol):
    """Keeps texts by key between runs; a cassette's store is one."""

    def get(self, key: str) -> str | None:
        """Return the text of a key; `None` if there is none."""

    def put(self, key: str, text: str) -> None:
        """Store the text of a key."""


class ServerKnowledge(Protocol):
    """What a judge learns about its server: the optional member `knowledge` of a judge."""

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with the name that the server gives its model, if known."""

    def findings(self) -> Mapping[str, Json]:
        """Return facts about the server that this process has learnt."""

    def keep_in(
        self, store: Callable[[], TextStore | None], *, ignore_stored: bool = False
    ) -> None:
        """Keep facts about the server in a store.

        Args:
            store: opens the store; it is called with the first request.
            ignore_stored: learn the facts again, even if the store has them.
        """


JudgeLike = Judge | str | Callable[[Request], Any]
"""Type of every `judge` parameter: a judge, a model string, or an async function."""


class RubricSource(Protocol):
    """The members of a rubric that manifests and the file watcher use."""

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

    def manifest_entry(self) -> dict[str, Any]:
        """Return the questions and the values of their answers, as JSON for manifests."""


Asks = Literal["nothing", "verdict", "logprobs"]
"""What a metric requests from a model: nothing, a judge's verdict, or log-probabilities."""


class MetricInfo(NamedTuple):
    """Facts about a metric, for manifests, pages, cost estimates, `watch` and `doctor`."""

    name: str
    """The name in results."""
    type: str
    """The stable name of the kind of metric in manifests, such as `Similarity`."""
    range: tuple[float, float] = (0.0, 1.0)
    """Lowest and highest raw value."""
    higher_is_better: bool = True
    needs: tuple[str, ...] = ()
    """Required fields of the case, for display."""
    asks: Asks = "nothing"
    asks_further: bool = False
    """Whether later requests depend on earlier replies; calls cannot be counted in advance then."""
    synchronous: bool = False
    """Whether `score` never waits, so that no event loop is needed."""
    figures: Mapping[str, bool] = {}
    """Figure of a whole run, in addition to the mean -> whether higher is better."""
    options: Mapping[str, Any] = {}
    """Options that affect the value, as given."""
    made_with: Mapping[str, Json] = {}
    """Other inputs that affect the value: rubric, digest, model."""
    rubrics: tuple[RubricSource, ...] = ()
    """The rubrics that this metric renders itself, without those of `children()`."""
    confidence: str = ""
    """What `Score.confidence` means, as a clause: "is the share of ... that ..."."""


class Metric:
    """Scores a case. A subclass needs `name` and `score`; all other members have defaults.

    `judgekit.metrics.adapter.as_metric` makes a metric of a function or of another class. The rest
    of the package reads only `info()` and `children()`. A subclass sets the attributes below and
    rarely overrides `info`.
    """

    __slots__ = ()

    name: str

    # Declared as read-only properties for type checkers, so a subclass may use a class attribute, a
    # dataclass field or a property.
    if TYPE_CHECKING:

        @property
        def range(self) -> tuple[float, float]:
            """Lowest and highest raw value."""

        @property
        def higher_is_better(self) -> bool:
            """Whether higher values are better; false for perplexity and toxicity."""

        @property
        def asks(self) -> Asks:
            """What the metric requests from a model."""

        @property
        def asks_further(self) -> bool:
            """Whether later requests depend on earlier replies."""

        @property
        def synchronous(self) -> bool:
            """Whether `score` never waits. A class that overrides `score` must set this again."""

        @property
        def validated(self) -> bool:
            """Whether scores contain only data that was validated before, such as a reply.

            They are not searched for values that are not JSON, a tenth of a replay. A subclass must
            set this again.
            """

        @property
        def figures(self) -> Mapping[str, bool]:
            """Name of a figure that `aggregates` adds -> whether higher is better."""

        @property
        def made_with(self) -> Mapping[str, Json]:
            """Other inputs that affect the value."""

        @property
        def rubrics(self) -> tuple[RubricSource, ...]:
            """The rubrics the metric renders itself."""

        @property
        def confidence(self) -> str:
            """The meaning of `Score.confidence`; empty if scores have none."""

        @property
        def needs(self) -> tuple[str, ...]:
            """Required fields of the case, for display; a key of `expected` is `expected.facts`."""

        @property
        def card(self) -> Card | None:
            """Documentation for users who choose a metric."""

        @property
        def files(self) -> tuple[str, ...]:
            """Options that name files; a suite resolves them relative to its own folder."""

        @property
        def type_name(self) -> str:
            """The stable name of this kind of metric in manifests."""

    else:
        range = (0.0, 1.0)
        higher_is_better = True
        asks = "nothing"
        asks_further = False
        synchronous = False
        validated = False
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
        # A renamed class sets its former name, which existing manifests contain.
        if "type_name" not in own:
            cls.type_name = cls.__name__  # type: ignore[method-assign, assignment]
        # A subclass may override any method, so it makes no promise of its base class.
        if "validated" not in own:
            cls.validated = False  # type: ignore[method-assign, assignment]
        # A class that overrides `score` may wait, although its base class does not.
        if "score" in own and "synchronous" not in own:
            cls.synchronous = False  # type: ignore[method-assign, assignment]

    @property
    def options(self) -> Mapping[str, Any]:
        """Options that affect the value, as given; by default, the fields of a dataclass."""
        metric: Any = self
        named = fields(metric) if is_dataclass(metric) else ()
        return {f.name: getattr(metric, f.name) for f in named if f.init and f.name != "name"}

    def info(self) -> MetricInfo:
        """Return the facts about this metric."""
        facts = {name: getattr(self, name) for name in MetricInfo._fields if name != "type"}
        return MetricInfo(type=self.type_name, **facts)

    def children(self) -> tuple["Metric", ...]:
        """Return the metrics that this metric calls, in a fixed order."""
        return ()

    def aggregates(self) -> Sequence["Aggregate"]:
        """Return new aggregates for one run; `figures` has the names of their results."""
        return ()

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: only this row fails, or the run stops (see `judgekit.core.errors`).
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
    """The minimum interface of a metric; `range` and other members are optional."""

    @property
    def name(self) -> str:
        """The name in results."""

    async def score(self, case: Case) -> Score:
        """Return the score of one case."""


MetricLike = Metric | SimpleMetric | Callable[[Case], Any]
"""Type of the metrics that `evaluate` and metric wrappers accept."""


class BaseEmbedder:
    """Facts about an embedder, with their defaults.

    An embedder is a subclass with `identity` and `embed` or `aembed`. A class that is not a
    subclass may have the same attributes; `SharedEmbedder` adapts it.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # read-only for type checkers, so a subclass may use attributes

        @property
        def dimensions(self) -> int | None:
            """Length of a vector; `None` if unknown until the first vector."""

        @property
        def semantic(self) -> bool:
            """Whether close vectors mean similar meanings; `lexical` compares words."""

        @property
        def synchronous(self) -> bool:
            """Whether `embed` is so fast that a thread and the store are not worth their cost."""

    else:
        dimensions = None
        semantic = True
        synchronous = False


@runtime_checkable
class Embedder(Protocol):
    """A local embedder, which converts texts to vectors; see also `BaseEmbedder`."""

    @property
    def identity(self) -> str:
        """Name and version; for a model, also the digest of its files. Recorded in every result."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order; called on a thread, one call at a time."""


@runtime_checkable
class AsyncEmbedder(Protocol):
    """A remote embedder, such as a hosted model.

    The embedder limits, retries and records its own calls. `judgekit.embedders.vectors` requests
    each text once and batches the texts of several rows, the shortest first (see `SharedEmbedder`).
    """

    @property
    def identity(self) -> str:
        """Provider, model and other settings that affect the vectors; recorded in every result."""

    async def aembed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order, for up to 256 distinct texts.

        Raises:
            JudgeUnavailable: no answer after retries; every waiting row fails.
            JudgeRejected: the server rejects all such calls; the run stops.
            CassetteMiss: a text is not recorded. The call is repeated with halves of the texts,
                down to a single text, so only the rows of that text fail.
        """


@runtime_checkable
class Likelihood(Protocol):
    """An object that returns the log-probabilities of a continuation."""

    async def logprobs(self, *, prompt: str, continuation: str) -> Sequence[float]:
        """Return the natural log-probability of each token of the continuation."""


class Aggregate(Protocol):
    """Computes figures of a whole run that are not a mean over rows; rows are added one by one.

    `Metric.aggregates` returns new aggregates for each run. The summary lists their figures with
    the mean, and gates can use them.
    """

    def add(self, row: Row) -> None:
        """Add a result; rows come in the order of the cases."""

    def finish(self) -> dict[str, float | int | None]:
        """Return the figures by name; `None` for a figure without data."""
