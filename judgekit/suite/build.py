"""Build metrics from plans, bottom up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Judge, Metric
from judgekit.core.yaml_file import Lines
from judgekit.judges.absent import AbsentJudge
from judgekit.metrics.catalogue import BUILTIN, PAIRWISE
from judgekit.suite.embedders import SuiteEmbedders
from judgekit.suite.plan import MetricPlan, placed_options

if TYPE_CHECKING:
    from judgekit.core.jury import Jury


class Builder(NamedTuple):
    """Builds metrics from plans."""

    judges: Mapping[str, Judge]
    """The judges, by role."""
    embedders: SuiteEmbedders
    """The embedders of the suite."""
    lines: Lines
    """The lines of the suite."""

    def metric(self, plan: MetricPlan) -> Metric:
        """Return the metric of a plan.

        Raises:
            ConfigError: an option is wrong; with `file:line`.
        """
        with placed_options(self.lines, "metrics", plan.name):
            if plan.maker is None:
                return self._combined(plan)
            if plan.never_ask and plan.fallback is None:
                raise ConfigError(
                    f"metric {plan.name!r} needs a judge: give the suite one, or give the metric a "
                    "fallback: {use: ...}, or leave it out with --only"
                )
            metric = self._single(plan, name=plan.name)
            if plan.fallback is None:
                return metric
            return self._with_fallback(plan, plan.fallback, metric)

    def _combined(self, plan: MetricPlan) -> Metric:
        from judgekit.metrics.combine import Combined

        parts: Any = tuple(self.metric(part) for part in plan.parts)
        combine: Any = plan.combine
        return Combined(
            name=plan.name, of=parts, combine=combine, weights=plan.options.get("weights")
        )

    def _with_fallback(self, plan: MetricPlan, fallback: MetricPlan, metric: Metric) -> Metric:
        from judgekit.metrics.fallback import WithFallback

        path = ("metrics", plan.name, "fallback")
        with placed_options(self.lines, *path, at=(*path, "use")):
            substitute = self._single(fallback, name=None)
        return WithFallback(metric, substitute, no_judge=plan.never_ask, on_budget=plan.on_budget)

    def _judge(self, plan: MetricPlan) -> Judge:
        """Return the judge of a metric: one, or a jury of its roles."""
        if not plan.roles:
            return AbsentJudge("none")
        if len(plan.roles) == 1 and not plan.asking:
            return self.judges[plan.roles[0]]
        from judgekit.core.jury import Jury

        several = len(plan.roles) > 1
        members = {role if several else "": self.judges[role] for role in plan.roles}
        jury = Jury(members, **plan.asking)
        # A pairwise metric takes no readout at all, and says so.
        if jury.readout is not None and not plan.never_ask and plan.kind != PAIRWISE:
            _check_readout(plan, jury)
        return jury

    def _single(self, plan: MetricPlan, *, name: str | None) -> Metric:
        maker = plan.maker
        assert maker is not None  # noqa: S101 - a combination is built by `_combined`
        options = {**maker.preset, **plan.options}
        if plan.rubric is not None:
            options["rubric"] = plan.rubric
        if name is not None and (plan.kind in BUILTIN or maker.takes("name")):
            options["name"] = name
        if maker.takes("embedder"):
            options = self.embedders.options(options)
        judge = self._judge(plan) if maker.judged else None
        metric = maker.build(judge=judge, options=options)
        if name is not None and metric.name != name:
            raise ConfigError(
                f"metric {plan.kind!r} is always named {metric.name!r}; use that name in the suite"
            )
        return metric


def _check_readout(plan: MetricPlan, jury: Jury) -> None:
    """Refuse a readout where nothing gives probabilities.

    Raises:
        ConfigError: one judge answers once, and is not asked for log-probabilities.
    """
    judge, once = jury.members[0].judge, plan.options.get("samples", jury.samples) == 1
    listed = judge.params.get("logprobs") and judge.params.get("top_logprobs")
    if once and len(jury.members) == 1 and judge.api is None and not listed:
        raise ConfigError(
            f"metric {plan.name!r}: readout needs probabilities; give the judge "
            "params: {logprobs: true, top_logprobs: 5}, or the metric samples: 4"
        )
