"""Metrics and judges by name, as arguments in Python: what a suite file says, without the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Metric
from judgekit.core.value import described
from judgekit.metrics.adapter import as_metric
from judgekit.rubric.versions import SUFFIX
from judgekit.runner.limits import Limits
from judgekit.suite.choice import JudgeChoices, MetricChoices, Recording

if TYPE_CHECKING:
    from judgekit.batch.choice import BatchChoice
    from judgekit.batch.desk import BatchFacts
    from judgekit.report.report import Report
    from judgekit.suite.suite import Suite

_EXAMPLE = "metrics=['quality', 'exact_match']"
_OF_NAMES = ("judge", "cassette", "record", "max_cost")


class OpenChoices:
    """Metrics that are ready to score, and the suite behind those that were chosen by name.

    Args:
        metrics: the metrics, as objects or by name.
        judge: the judge of the metrics by name; several are a jury.
        recording: the cassette, the record mode and the budget of these judges.
        batches: what the run does with batch jobs.

    Raises:
        ConfigError: a name, an option or a judge is wrong.
    """

    def __init__(
        self,
        metrics: MetricChoices,
        *,
        judge: JudgeChoices | None,
        recording: Recording,
        batches: BatchChoice | None = None,
    ) -> None:
        chosen = list(_chosen(metrics))
        entries: dict[str, dict[str, Any]] = {}
        for one in chosen:
            if isinstance(one, _Named):
                if one.name in entries:
                    raise ConfigError(f"metrics: {one.name!r} is named twice; name each once")
                entries[one.name] = one.entry
        self.suite: Suite | None = None
        """The suite of the metrics by name; `None` if there are none."""
        if entries:
            # Metrics that are objects need nothing of a suite, whose modules take long to load.
            from judgekit.suite.chosen_suite import open_chosen

            self.suite = open_chosen(entries, judge, recording, batches)
        else:
            _check_unused(judge, recording)
        built = {metric.name: metric for metric in self.suite.metrics} if self.suite else {}
        self.metrics: list[Metric] = [
            built[one.name] if isinstance(one, _Named) else one
            for one in chosen
            if not isinstance(one, _Named) or one.name in built
        ]
        """The metrics, in the given order, without parts of combinations."""

    def limits(self, given: Limits) -> Limits:
        """Return limits that allow fallbacks where there is no judge."""
        if self.suite is None or not self.suite.no_judge:
            return given
        return given._replace(max_fallback=self.suite.limits.max_fallback)

    def thresholds(self, given: float | Mapping[str, float] | None) -> dict[str, float]:
        """Return metric -> threshold; those of entries, and the given ones.

        Raises:
            ConfigError: one is no number, or one number is given for both directions.
        """
        own = dict(self.suite.thresholds) if self.suite is not None else {}
        if given is None:
            return own
        if isinstance(given, Mapping):
            return {**own, **given}
        if len({metric.higher_is_better for metric in self.metrics}) > 1:
            least = next(m.name for m in self.metrics if not m.higher_is_better)
            raise ConfigError(
                f"thresholds: for {least!r}, lower is better, so {given:g} cannot hold for all; "
                f"write one per metric: {{{least!r}: ...}}"
            )
        for metric in self.metrics:
            low, high = metric.range
            if not low <= given <= high:
                raise ConfigError(
                    f"thresholds: {given:g} is outside the values of {metric.name!r}, "
                    f"{low:g} to {high:g}; write a number in that range"
                )
        return {metric.name: given for metric in self.metrics}

    def gates(self, given: Any) -> Any:
        """Return the gates of entries, and the given ones.

        Raises:
            ConfigError: they are not written by metric.
        """
        own = dict(self.suite.written_gates) if self.suite is not None else {}
        if given is None:
            return own
        form = "write gates={'quality': {'mean': 0.6}}"
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ConfigError(
                f"gates: metric -> bounds is expected, not {described(given)}; {form}"
            )
        if not isinstance(given, Mapping):
            return [*given] if not own else _refuse_two(own)
        for name, bounds in given.items():
            if isinstance(bounds, str) or not isinstance(bounds, Iterable):
                names = [metric.name for metric in self.metrics]
                example = name if name in names else names[0]
                figure = "mean" if name in names else name
                bound = 0.6 if isinstance(bounds, str) else bounds
                raise ConfigError(
                    f"gates: {name!r} needs a figure and its bound, not {bounds!r}; "
                    f"write gates={{{example!r}: {{{figure!r}: {bound!r}}}}}"
                )
        return {**own, **given}

    def cost_facts(self) -> dict[str, Any]:
        """Return where the replies to the metrics by name came from, and what they cost."""
        if self.suite is None or self.suite.cassette is None:
            return {}
        from judgekit.suite.run import cost_facts

        return cost_facts(self.suite.cassette)

    def send_jobs(self, report: Report, *, stopped: bool = False) -> BatchFacts | None:
        """Send the new batch jobs, unless the run was stopped; return and note what happened."""
        if self.suite is None or self.suite.batches is None:
            return None
        facts = self.suite.batches.finish(send=not stopped)
        if facts is not None:
            report.run["batch"] = facts.described()
        return facts

    def close(self) -> None:
        """Write the recordings."""
        if self.suite is not None:
            self.suite.close()


def _refuse_two(own: Mapping[str, Any]) -> Any:
    names = ", ".join(own)
    raise ConfigError(f"gates: {names} has a gate in its options, too; write all of them in one")


class _Named(NamedTuple):
    """A metric by name, and its entry."""

    name: str
    entry: dict[str, Any]


def _chosen(metrics: Any) -> Iterator[_Named | Metric]:
    if isinstance(metrics, str | Path):
        raise ConfigError(f"metrics: a list is expected, not a text; write metrics=[{metrics!r}]")
    if isinstance(metrics, Mapping):
        for name, options in metrics.items():
            if options is not None and not isinstance(options, Mapping):
                raise ConfigError(
                    f"metrics: {name!r} needs its options as a dict, not {options!r}; "
                    f"write metrics={{{name!r}: {{}}}}"
                )
            yield _named(name, options or {})
        return
    several = metrics if isinstance(metrics, Iterable) else [metrics]
    for one in several:
        if isinstance(one, Mapping):
            raise ConfigError(
                "metrics: a list takes names and metrics, not a dict; options go into one dict: "
                "metrics={'quality': {'samples': 3}, 'length': {}}"
            )
        if isinstance(one, str | Path):
            yield _named(one, {})
            continue
        if not callable(one) and not hasattr(one, "score"):
            from judgekit.rubric.rubric import Rubric

            if isinstance(one, Rubric):
                raise ConfigError(
                    f"metrics: {one.name!r} is a rubric; write its name or path, or make a metric "
                    "of it: judgekit.RubricMetric(rubric, judge=...)"
                )
        yield as_metric(one)


def _named(name: str | Path, options: Mapping[str, Any]) -> _Named:
    if not isinstance(name, str | Path):
        raise ConfigError(f"metrics: {name!r:.60} is no name; write {_EXAMPLE}")
    text = str(name)
    if isinstance(name, Path) or text.endswith(SUFFIX) or "/" in text or "\\" in text:
        path = Path(text).expanduser()
        return _Named(path.stem, {"rubric": str(path), **options})
    return _Named(text, dict(options))


def _check_unused(judge: object, recording: Recording) -> None:
    """Reject what applies to metrics by name, if there are none."""
    for name, value in zip(_OF_NAMES, (judge, *recording), strict=True):
        if value is not None:
            raise ConfigError(
                f"{name}: these metrics have their judges; leave it out, or name the metrics: "
                f"{_EXAMPLE}"
            )
