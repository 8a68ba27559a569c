"""Gates: bounds on the figures of a run, with checks and explanations."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from pydantic import Field

from judgekit.core import comparing
from judgekit.core.errors import ConfigError, InvalidValue
from judgekit.core.suggest import suggest
from judgekit.core.synonyms import synonym
from judgekit.core.value import Json, Value, sparse
from judgekit.core.value_rule import number_meant
from judgekit.report.constant import FEWEST_CASES
from judgekit.report.summary import MetricSummary

Statistic = Literal[
    "mean",
    "pass_rate",
    "min",
    "max",
    "coverage",
    "abstained",
    "failed",
    "fallback",
    "left_out",
    "empty_answers",
    "not_worse",
    "constant",
]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
COUNTS = ("abstained", "failed", "fallback", "left_out", "empty_answers")
"""Statistics that count rows; a bound in per cent applies to the share of rows."""
SETTINGS = ("where", "cluster", "undecided", "corrected", "labels")
"""Keys of a gate besides its bounds."""
CONSTANT = "constant"
"""The statistic of a gate on the number of criteria with nearly always the same answer."""
COST = "cost"
"""The statistic of the gate on the cost of a run."""

Undecided = Literal["pass", "fail"]
By = Literal["estimate", "interval"]
Answer = Literal["meets", "misses", "undecided", "unknown"]


class Gate(Value):
    """A bound on one figure of one metric: a minimum, or a maximum if lower is better."""

    metric: str
    """Empty for a gate on the whole run."""
    statistic: str
    """One of `STATISTICS`, or a figure of the metric itself."""
    bound: float
    """The bound; the margin for `not_worse`."""
    at_most: bool | None = None
    """For a figure of the metric itself: whether lower is better."""
    share: bool = False
    """Whether the bound of a count is a share of the rows."""
    where: dict[str, Json] = Field(default_factory=dict)
    """Metadata field -> the value, or one of the values, that a case must have."""
    cluster: str | None = None
    """Metadata field that clusters cases; the interval is clustered by it. The suite's, unless the
    gate names its own."""
    undecided: Undecided | None = None
    """Whether an undecided interval passes; with `None`, only the estimate is compared."""
    corrected: bool = sparse(default=False)
    """Whether the mean is the one corrected with labels."""
    any_labels: bool = sparse(default=False)
    """Whether the corrected mean counts although the labelled cases are no random sample."""

    @property
    def races(self) -> bool:
        """Whether it compares the run with its baseline."""
        return self.statistic == "not_worse" and self.at_most is None

    def concerns(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a case belongs to the slice of this gate.

        A field may be a dotted path. A list in the metadata matches if one of its items does.

        >>> gate = Gate(metric="m", statistic="mean", bound=1, where={"user.plan": ["a", "b"]})
        >>> [gate.concerns({"user": {"plan": plan}}) for plan in ("b", "c", ["a", "c"])]
        [True, False, True]
        """
        if not self.where:
            return True
        from judgekit.datasets.selection import spelled, values_in

        return all(
            {*map(spelled, _values(condition))}.intersection(map(spelled, values_in(metadata, f)))
            for f, condition in self.where.items()
        )

    @property
    def subject(self) -> str:
        """The metric and the slice, as the beginning of a sentence."""
        conditions = ", ".join(
            f"{field}={' or '.join(map(str, _values(condition)))}"
            for field, condition in self.where.items()
        )
        return f"{self.metric} where {conditions}" if conditions else self.metric


def _values(condition: Json) -> list[Json]:
    return condition if isinstance(condition, list) else [condition]


class GateResult(Value):
    """The outcome of a gate."""

    gate: Gate
    found: float | None
    passed: bool
    sentence: str
    answer: Answer | None = None
    """`undecided` if the interval contains the bound; `passed` says whether that passes."""
    low: float | None = None
    high: float | None = None
    """95 % interval of the figure."""
    n: int | None = None
    """The number of scores, rows or pairs."""
    by: By | None = None
    """What decided: the estimate or its interval; `None` for figures without an interval: counts,
    the highest and lowest score, and figures of the metric's own."""
    clusters: int | None = None
    too_few: str | None = None
    """Why there is no interval."""


GateBounds = Mapping[str, Any] | Gate
"""One gate or several: figure -> bound, plus `where`, `cluster` and `undecided`; or a `Gate`."""
WrittenGates = GateBounds | Sequence[GateBounds]
"""The gates of one metric."""


def gates_by_metric(gates: Mapping[str, WrittenGates] | Iterable[Gate]) -> dict[str, WrittenGates]:
    """Return metric -> gates for gates in either form: by metric, or a list of `Gate`s."""
    if isinstance(gates, Mapping):
        return dict(gates)
    by_metric: dict[str, list[GateBounds]] = {}
    for gate in gates:
        if not isinstance(gate, Gate):
            raise ConfigError(f"gates: write them by metric, or as a list of Gate, not {gate!r}")
        by_metric.setdefault(gate.metric, []).append(gate)
    return dict(by_metric)


def gates_of(
    metric: str,
    bounds: WrittenGates,
    *,
    threshold: float | None,
    figures: Mapping[str, bool] | None = None,
    undecided: Undecided | None = None,
    cluster: str | None = None,
) -> list[Gate]:
    """Return the gates of one metric.

    A `Gate` is not parsed again, only checked and completed, so the result may be passed again.

    Args:
        metric: its name.
        bounds: its gates, as mappings or as `Gate`s.
        threshold: its threshold, if it has one.
        figures: its own figures -> whether higher is better.
        undecided: whether an undecided gate passes, if the gate does not set it.
        cluster: metadata field that clusters cases, for gates without their own.

    Raises:
        ConfigError: the figure is unknown, a bound cannot be one of it, a pass rate has no
            threshold, or a `Gate` belongs to another metric.
    """
    own = figures or {}
    entries = [bounds] if isinstance(bounds, Mapping | Gate) else bounds
    gates = []
    try:
        for entry in entries:
            for gate in [entry] if isinstance(entry, Gate) else _parsed(metric, entry, own):
                _check_gate(gate, metric, threshold=threshold, own=own)
                at_most = not own[gate.statistic] if gate.statistic in own else None
                gates.append(
                    gate.model_copy(
                        update={
                            "at_most": at_most,
                            "undecided": gate.undecided or undecided,
                            "cluster": gate.cluster or cluster,
                        }
                    )
                )
    except ValueError as exc:
        raise ConfigError(f"metric {metric!r}: {exc}") from exc
    return gates


def _parsed(metric: str, entry: Any, own: Mapping[str, bool]) -> Iterator[Gate]:
    if not isinstance(entry, Mapping):
        raise ValueError("a gate is figures and bounds: {mean: 0.8}")
    settings = _settings(entry)
    statistics = [name for name in entry if name not in SETTINGS]
    if settings["where"] and not statistics:
        raise ValueError("a gate with where and no bound")
    for name in statistics:
        _check_figure(name, own)
        if name == CONSTANT and name not in own:
            if entry[name] not in (None, "pass", "fail"):
                raise ValueError(f"constant is pass or fail, not {entry[name]!r}")
            if entry[name] == "fail":
                plain = settings | {"corrected": False, "any_labels": False}
                yield Gate(metric=metric, statistic=name, bound=0, **plain)
            continue
        bound, share = _bound(name, entry[name], counts=name in COUNTS and name not in own)
        try:
            yield Gate(metric=metric, statistic=name, bound=bound, share=share, **settings)
        except InvalidValue as exc:
            raise ValueError(f"gate on {name}: {str(exc).partition(': ')[2]}") from exc


def _check_figure(name: str, own: Mapping[str, bool]) -> None:
    if name not in own and name not in STATISTICS:
        known = [*STATISTICS, *own]
        hint = synonym("gate", name, known) or suggest(name, known)
        raise ValueError(f"no gate on {name!r}{hint}")


def _check_gate(
    gate: Gate, metric: str, *, threshold: float | None, own: Mapping[str, bool]
) -> None:
    """Check a gate against its metric; the same rules for both forms."""
    name, bound = gate.statistic, gate.bound
    if gate.metric != metric:
        raise ValueError(f"a gate of the metric {gate.metric!r}; put it under that name")
    _check_figure(name, own)
    if gate.corrected and name != "mean":
        two = "[{mean: 0.8, corrected: true}, {...}]"
        raise ValueError(f"corrected applies to mean, not to {name}; write two gates: {two}")
    if gate.any_labels and not gate.corrected:
        raise ValueError("labels: {any: true} is for a gate with corrected: true; add it, or omit")
    if name == "pass_rate" and threshold is None:
        raise ValueError("a gate on pass_rate needs a threshold; add one")
    if name in own:
        return
    if gate.at_most is not None:
        raise ValueError(f"gate on {name}: at_most is for figures of the metric itself; omit it")
    if gate.share and name not in COUNTS:
        raise ValueError(f"gate on {name}: share is for {', '.join(COUNTS)}; omit it")
    if name in ("coverage", "pass_rate") and not 0 <= bound <= 1:
        raise ValueError(f"gate on {name}: a share between 0 and 1 (it is {bound:g})")
    if name in (*COUNTS, "not_worse") and bound < 0:
        raise ValueError(f"gate on {name}: must not be below 0 (it is {bound:g})")


def _settings(entry: Mapping[str, Any]) -> dict[str, Any]:
    where, corrected = entry.get("where") or {}, entry.get("corrected") or False
    cluster, undecided = entry.get("cluster") or None, entry.get("undecided") or None
    if not isinstance(where, Mapping):
        raise ValueError("where is fields and values: {topic: refunds}")
    if cluster is not None and not isinstance(cluster, str):
        raise ValueError("cluster is the name of a field of the metadata")
    if undecided not in (None, "pass", "fail"):
        raise ValueError(f"undecided is pass or fail, not {undecided!r}")
    if corrected not in (True, False):
        raise ValueError(f"corrected is true or false, not {corrected!r}")
    labels = entry.get("labels") or {}
    if not isinstance(labels, Mapping) or set(labels) - {"any"}:
        raise ValueError(f"labels is {{any: true}} or {{any: false}}, not {labels!r}")
    if labels.get("any", False) not in (True, False):
        raise ValueError(f"labels.any is true or false, not {labels['any']!r}")
    return {
        "where": dict(where), "cluster": cluster, "undecided": undecided, "corrected": corrected,
        "any_labels": bool(labels.get("any")),
    }  # fmt: skip


def _bound(name: str, value: Any, *, counts: bool) -> tuple[float, bool]:
    """Return a bound as a number, and whether it is a share of the rows."""
    if counts and isinstance(value, str):
        if not re.fullmatch(PER_CENT, value):
            raise ValueError(f'gate on {name}: a number of rows, or a share of them such as "5%"')
        return float(value[:-1]) / 100, True
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        meant = number_meant(value)
        raise ValueError(f"gate on {name}: must be a number (it is {value!r}){meant}")
    return float(value), False


PER_CENT = r"\d{1,3}(\.\d{1,6})?%"


# -- checking ---------------------------------------------------------------------


class Figure(NamedTuple):
    """The figure that is compared with a bound."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    clusters: int | None = None
    error: float | None = None
    """Standard error; `None` if the figure has none."""
    sampled: bool = False
    """Whether it is an estimate, which has an interval unless there are too few values."""
    too_few: str | None = None
    """Why there is no interval."""


def check(gate: Gate, summary: MetricSummary, *, empty: str = "check `where`") -> GateResult:
    """Check a gate; a missing figure never passes.

    Args:
        gate: the bound.
        summary: the metric over the cases of the gate.
        empty: the message for a slice without cases.
    """
    if gate.at_most is None and gate.statistic in ("coverage", *COUNTS):
        return _check_rows(gate, summary)
    if gate.at_most is None and gate.statistic == CONSTANT:
        return _check_constant(gate, summary)
    figure = figure_of(gate, summary)
    words = _WORDS.get(gate.statistic, gate.statistic.replace("_", " "))
    words = f"corrected {words}" if gate.corrected else words
    name = f"{gate.subject}: {words}"
    if (value := figure.value) is None:
        sliced = gate.where and not summary.rows
        why = f"no case is in this slice; {empty}" if sliced else "nothing was scored"
        why = figure.too_few if gate.corrected and figure.too_few else why
        return unknown(gate, f"{name} is unknown: {why}", n=0)
    at_most = gate.at_most
    if at_most is None:
        at_most = gate.statistic != "pass_rate" and not summary.higher_is_better
    meets = comparing.at_most if at_most else comparing.at_least
    rule = f"{'at most' if at_most else 'at least'} {gate.bound:g}"
    over = f"{figure.n}" if figure.clusters is None else f"{figure.n} in {figure.clusters} clusters"
    shown = f"{name} {value:.3f}{_spread(figure)} over {over}"
    if gate.corrected and summary.corrected is not None:
        shown += " labels"
        warning = None if gate.any_labels else summary.corrected.warning
        if warning is not None and meets(value, gate.bound):
            accept = "labels: {any: true} in the gate accepts these labels"
            return GateResult(gate=gate, found=value, passed=False, answer="unknown",
                              sentence=f"{shown} does not pass: {warning} ({accept})",
                              low=figure.low, high=figure.high, n=figure.n,
                              too_few=figure.too_few)  # fmt: skip
        # Beside the figure, because a gate is often read alone.
        shown += summary.corrected.condition
    elif gate.statistic == "mean" and summary.corrected is not None:
        shown += " (the judge alone, not corrected)"
    passed = meets(value, gate.bound)
    by: By | None = None
    if figure.sampled:
        unsure = gate.corrected and figure.too_few is not None
        by = "estimate" if gate.undecided is None and not unsure else "interval"
    known = {name: getattr(figure, name) for name in ("low", "high", "n", "clusters", "too_few")}
    ends = (figure.low, figure.high)
    if by != "interval" or all(e is not None and meets(e, gate.bound) == passed for e in ends):
        rule += f" by its {by}" if by else ""
        return _compared(gate, value, shown, rule, passed=passed, by=by, **known)
    passed = gate.undecided == "pass"
    more = more_text(figure, abs(value - gate.bound), supposing=f"the true {words} is {value:.3f}")
    sentence = (
        f"{shown}: cannot tell yet by its interval whether {rule}{more}; that "
        f"{'passes' if passed else 'does not pass'} (undecided: {gate.undecided or 'fail'})"
    )
    return GateResult(gate=gate, found=value, passed=passed, sentence=sentence,
                      answer="undecided", by=by, **known)  # fmt: skip


def _spread(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return f" [too few: {figure.too_few}]" if figure.too_few else ""
    return f" [{figure.low:.3f}, {figure.high:.3f}]"


def more_text(figure: Figure, distance: float, *, supposing: str) -> str:
    """Return the number of additional cases or clusters to decide, in brackets; may be empty.

    Args:
        figure: the figure, with its standard error.
        distance: its distance from the bound.
        supposing: the assumption behind the number.
    """
    if not figure.error:
        return ""
    from judgekit.stats.power import more_cases

    what, size = "clusters", figure.clusters
    if size is None:
        what, size = "cases", figure.n
    deviation = figure.error * math.sqrt(size)
    more = more_cases(deviation, size, distance, supposing=supposing, what=what)
    return f" ({more})" if more else ""


_WORDS: Mapping[str, str] = {"min": "lowest score", "max": "highest score"}


def figure_of(gate: Gate, summary: MetricSummary) -> Figure:
    """Return the figure that a gate checks."""
    n, clusters, too_few = summary.scored, summary.clusters, summary.too_few
    if gate.corrected:
        one = summary.corrected
        if one is None:
            return Figure(None, too_few="no label is about the value of this metric")
        found = one.corrected
        return Figure(found.value, found.low, found.high, int(one.labels.n),
                      sampled=True, too_few=found.too_few)  # fmt: skip
    if gate.at_most is not None:
        return Figure(value=summary.figures.get(gate.statistic), n=n)
    if gate.statistic in ("min", "max"):
        return Figure(value=summary.minimum if gate.statistic == "min" else summary.maximum, n=n)
    if gate.statistic == "mean":
        value, error = summary.mean, summary.standard_error
        low, high = summary.interval or (None, None)
    else:
        value, error = summary.pass_rate, summary.pass_standard_error
        low, high = summary.pass_low, summary.pass_high
    return Figure(value, low, high, n, clusters, error, sampled=True, too_few=too_few)


def _check_rows(gate: Gate, summary: MetricSummary) -> GateResult:
    """Check the share of scored rows, or the number of rows with one reason for no score."""
    rows = summary.rows - summary.not_applicable
    if rows == 0:
        return unknown(gate, f"{gate.subject}: {gate.statistic} is unknown: no row to count", n=0)
    if gate.statistic == "coverage":
        value = summary.scored / rows
        passed = comparing.at_least(value, gate.bound)
        text = f"coverage {value:.3f} ({summary.scored} of {rows} rows scored)"
        rule = f"at least {gate.bound:g}"
    else:
        count: int = getattr(summary, gate.statistic)
        count += summary.not_run if gate.statistic == "failed" else 0
        value = count / rows if gate.share else float(count)
        passed = comparing.at_most(value, gate.bound)
        text = f"{gate.statistic.replace('_', ' ')} {count} of {rows} rows"
        text += f" ({value:.1%})" if gate.share else ""
        rule = f"at most {f'{gate.bound * 100:g}%' if gate.share else f'{gate.bound:g}'}"
    return _compared(gate, value, f"{gate.subject}: {text}", rule, passed=passed, n=rows)


def _check_constant(gate: Gate, summary: MetricSummary) -> GateResult:
    """Check that no criterion has nearly always the same answer, or probabilities near chance."""
    answered = [one for one in summary.criteria if one.scored]
    if not answered:
        why = "no criterion was answered"
        return unknown(gate, f"{gate.subject}: constant is unknown: {why}", n=0)
    lines, n = summary.constant_lines, summary.scored
    sentence = f"{gate.subject}: the answers to each criterion differ between cases"
    if lines:
        sentence = f"{gate.subject}: {'; '.join(lines)} (constant: fail)"
    elif few := [one.id for one in answered if one.scored < FEWEST_CASES]:
        sentence = f"{gate.subject}: too few cases to call the judge of {', '.join(few)} constant"
    answer: Answer = "misses" if lines else "meets"
    return GateResult(gate=gate, found=float(len(lines)), passed=not lines, sentence=sentence,
                      answer=answer, n=n)  # fmt: skip


def check_cost(bound: float, paid: float | None) -> GateResult:
    """Check the total cost of all replies against a bound.

    Args:
        bound: US dollars.
        paid: total cost of the replies, at the time of recording for recorded ones; `None` if a
            price is unknown.
    """
    gate = Gate(metric="", statistic=COST, bound=bound, at_most=True)
    if paid is None:
        return unknown(gate, "cost is unknown: not every reply has a price")
    return _compared(
        gate,
        paid,
        f"cost ${paid:.4f}",
        f"at most ${bound:g}",
        passed=comparing.at_most(paid, bound),
    )


def unknown(gate: Gate, sentence: str, *, n: int | None = None) -> GateResult:
    """Return the result of a gate without a figure, which never passes."""
    return GateResult(gate=gate, found=None, passed=False, sentence=sentence, answer="unknown", n=n)


def _compared(
    gate: Gate, value: float, shown: str, rule: str, *, passed: bool, **known: Any
) -> GateResult:
    """Return the result of a gate whose figure decides."""
    answer: Answer = "meets" if passed else "misses"
    sentence = f"{shown} {answer} {rule}"
    return GateResult(
        gate=gate, found=value, passed=passed, sentence=sentence, answer=answer, **known
    )
