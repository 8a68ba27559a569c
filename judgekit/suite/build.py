"""Build metrics from plans, with the judges and embedders of the suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.cassette.cassette import store_opener
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError, placed
from judgekit.core.file_model import validate_file
from judgekit.core.protocols import Judge, Metric
from judgekit.core.yaml_file import Lines
from judgekit.embedders import DEFAULT, embeds_at_once, open_embedder
from judgekit.judges.absent import AbsentJudge
from judgekit.judges.kinds import kind_of
from judgekit.metrics.catalogue import BUILTIN, PAIRWISE
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import DescribedJudge
from judgekit.suite.overrides import SuiteSettings
from judgekit.suite.plan import MetricPlan, placed_options, refused
from judgekit.suite.roles import find_role
from judgekit.suite.source import NO_KEYS

if TYPE_CHECKING:
    from judgekit.core.jury import Jury
    from judgekit.embedders.shared import SharedEmbedder


AddJudge = Callable[..., Judge]
"""Builds a judge behind the cassette of the suite: `JudgePool.add`."""

TOGETHER = 64
"""The largest number of texts in one batch."""

LITELLM = "litellm:"
"""Prefix of a hosted model in the text form of an embedder."""


class SuiteEmbedders:
    """Opens the embedders of metrics, with files relative to the suite and a store of vectors.

    A hosted embedder, `{model: openai/text-embedding-3-small, api_base: ...}` or `{role: ROLE}` of
    a judge, uses the suite's cassette.

    Raises:
        ConfigError: the suite's own `embedder` is wrong; with `file:line`.
    """

    def __init__(
        self, settings: SuiteSettings, *, roles: Mapping[str, JudgeFile], add_judge: AddJudge
    ) -> None:
        self._base, self._roles, self._add_judge = settings.base, roles, add_judge
        self._opened: dict[str, SharedEmbedder] = {}
        self._default: Any = None
        self.hosted: dict[str, JudgeFile] = {}
        """Model -> settings of the hosted embedders."""
        spec = _full_spec(settings.file.embedder)
        if spec is not None and spec != DEFAULT:
            with placed(settings.where("embedder")):
                # A hosted embedder needs a key only if a metric uses it.
                hosted = _is_hosted(spec) and self._settings(spec)
                self._default = spec if hosted else self.open(spec)

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a metric with an open embedder, its own or that of the suite.

        Raises:
            ConfigError: there is no such embedder.
        """
        spec = options.get("embedder", self._default)
        if "embedder" not in options and spec is None:
            return dict(options)
        return {**options, "embedder": self.open(spec)}

    def open(self, spec: Any) -> Any:
        """Return an open embedder; a name without settings is returned unchanged.

        Raises:
            ConfigError: there is no such embedder.
        """
        from judgekit.embedders.shared import SharedEmbedder

        spec = _full_spec(spec)
        if isinstance(spec, SharedEmbedder):
            return spec
        if not isinstance(spec, (str, Mapping)):
            raise ConfigError(f"embedder must be a name or a mapping, not {spec!r}")
        hosted = _is_hosted(spec)
        if not hosted and embeds_at_once(spec):
            return spec
        key = canonical_json(dict(spec) if isinstance(spec, Mapping) else spec)
        if key not in self._opened:
            self._opened[key] = (
                self._hosted(self._settings(spec))
                if hosted
                else open_embedder(spec, base=self._base, store=store_opener(self._base))
            )
        return self._opened[key]

    def _settings(self, spec: Any) -> JudgeFile:
        """Return the settings of a hosted embedder.

        Raises:
            ConfigError: a setting is wrong, or no judge has the role.
        """
        if "role" not in spec:
            if "api_key" in spec:
                raise ConfigError(f"embedder: {NO_KEYS}")
            return validate_file(JudgeFile, dict(spec), lines=Lines(file=""))
        role = spec["role"]
        if len(spec) > 1:
            raise ConfigError("embedder: a role takes no other key; change the judge of the role")
        return find_role(role, self._roles, subject="embedder")

    def _hosted(self, file: JudgeFile) -> SharedEmbedder:
        if kind_of(file.model).person:
            raise ConfigError(f"embedder: {file.model} is a person; name a model")
        from judgekit.embedders.hosted import HostedEmbedder  # most suites have none
        from judgekit.embedders.shared import SharedEmbedder

        self.hosted[file.model] = file
        judge = self._add_judge(file, at=("embedder",), together=TOGETHER)
        return SharedEmbedder(HostedEmbedder(judge))


def _full_spec(spec: Any) -> Any:
    """Return the mapping for a hosted embedder in text form; other embedders unchanged."""
    if isinstance(spec, str) and spec.startswith(LITELLM):
        return {"model": spec.removeprefix(LITELLM).strip()}
    return spec


def _is_hosted(spec: Any) -> bool:
    return isinstance(spec, Mapping) and ("model" in spec or "role" in spec)


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
                from judgekit.metrics.combine import Combined

                parts: Any = tuple(self.metric(part) for part in plan.parts)
                how: Any = plan.combine
                weights = plan.options.get("weights")
                return Combined(name=plan.name, of=parts, combine=how, weights=weights)
            if plan.never_ask and plan.fallback is None:
                advice = "give the metric a fallback: {use: ...}, or leave it out with --only"
                raise refused(plan.name, f" needs a judge: give the suite one, or {advice}")
            metric = self._single(plan, name=plan.name)
            if plan.fallback is None:
                return metric
            from judgekit.metrics.fallback import WithFallback

            path = ("metrics", plan.name, "fallback")
            with placed_options(self.lines, *path, at=(*path, "use")):
                other = self._single(plan.fallback, name=None)
            return WithFallback(metric, other, no_judge=plan.never_ask, on_budget=plan.on_budget)

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
        # A pairwise metric rejects any readout with its own message.
        if jury.readout is not None and not plan.never_ask and plan.kind != PAIRWISE:
            _check_readout(plan, jury)
        return jury

    def _single(self, plan: MetricPlan, *, name: str | None) -> Metric:
        maker = plan.maker
        assert maker is not None  # noqa: S101 - `metric` builds a combination
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
            named = f" is always named {metric.name!r}; use that name in the suite"
            raise refused(plan.kind, named)
        return metric


def _check_readout(plan: MetricPlan, jury: Jury) -> None:
    """Check that a readout has probabilities to read.

    Raises:
        ConfigError: a single judge answers once, without log-probabilities.
    """
    judge, once = jury.members[0].judge, plan.options.get("samples", jury.samples) == 1
    if isinstance(judge, DescribedJudge):
        return  # a judge in Python may have parameters that only it knows; see `open_suite`
    params, api = judge.settings.params, judge.settings.api
    listed = params.get("logprobs") and params.get("top_logprobs")
    if once and len(jury.members) == 1 and api is None and not listed:
        advice = "params: {logprobs: true, top_logprobs: 5}, or the metric samples: 4"
        raise refused(plan.name, f": readout needs probabilities; give the judge {advice}")
