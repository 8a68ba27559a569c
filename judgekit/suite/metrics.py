"""The metrics of a suite: each made of its entry, with its judge, rubric, files and fallback."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from judgekit.core.errors import ConfigError, UnknownOption
from judgekit.core.protocols import Judge, Metric
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import Lines
from judgekit.metrics.catalogue import BUILTIN, STAND_INS
from judgekit.metrics.registry import build, create, find, metric_names, near_metric, shared_options
from judgekit.rubric.load import load_rubric
from judgekit.rubric.shelf import own_shelves, rubric_names
from judgekit.suite.embedders import SuiteEmbedders
from judgekit.suite.file import JUDGE, FallbackFile, MetricFile, SuiteFile
from judgekit.suite.kinds import check_role, is_judged, is_rubric
from judgekit.suite.rubrics import Settings


class SuiteMetrics:
    """Makes what stands under `metrics`.

    Args:
        file: the suite.
        base: folder that paths are relative to.
        lines: where the suite's settings stand.
        folders: where the suite has rubrics.
        roles: the judges the suite has, whether or not they are wanted here.
        judges: those that were made, by role.
        no_judge: whether nobody is to judge.
        embedders: opens what metrics name as such.
        flags: metric -> parameter of its rubric -> setting, as `--set` says it.
    """

    def __init__(
        self,
        file: SuiteFile,
        *,
        base: Path,
        lines: Lines,
        folders: tuple[Path, ...],
        roles: Collection[str],
        judges: Mapping[str, Judge],
        no_judge: bool,
        embedders: SuiteEmbedders,
        flags: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._entries = file.metrics
        self._base = base
        self._lines = lines
        self._folders = folders
        self._roles = roles
        self._judges = judges
        self._no_judge = no_judge
        self._embedders = embedders
        self._flags = flags

    def make(self, name: str) -> Metric:
        """Return the metric of an entry, with all it is made of.

        Raises:
            ConfigError: a setting is wrong, or nobody is there to judge; with `file:line`.
            RubricError: its rubric is.
        """
        entry = self._entries[name]
        where = self._lines.where("metrics", name)
        try:
            if entry.combine is not None or entry.of is not None:
                return self._combined(name, entry)
            return self._single(name, entry)
        except UnknownOption as exc:
            raise self._unknown(exc, "metrics", name) from exc
        except ConfigError as exc:
            raise exc if exc.where else ConfigError(str(exc), where=where) from exc

    def _unknown(self, error: UnknownOption, *path: str) -> ConfigError:
        """Return the error about an option, with all that a suite may write in its place."""
        from judgekit.suite.hints import key_hint

        keys = FallbackFile if path[-1] == "fallback" else MetricFile
        known = [*error.known, *keys.model_fields]
        hint = key_hint((*path, error.option), [name for name in known if name != "name"])
        message = f"metric {error.metric!r} takes no option {error.option!r}{hint}"
        return ConfigError(message, where=self._lines.where(*path, error.option))

    def _combined(self, name: str, entry: MetricFile) -> Metric:
        from judgekit.metrics.combine import Combined

        inner = []
        for part in entry.of or ():
            if part not in self._entries:
                hint = suggest(part, list(self._entries))
                raise ConfigError(f"combines {part!r}, which the suite does not have{hint}")
            inner.append(self.make(part))
        options = dict(entry.model_extra or {})
        weights = options.pop("weights", None)
        if options:
            raise UnknownOption(name, next(iter(options)), ["weights"], hint="")
        return Combined(
            name=name, of=tuple(inner), combine=entry.combine or "mean", weights=weights
        )

    def _single(self, name: str, entry: MetricFile) -> Metric:
        if entry.metric is not None and entry.rubric is not None:
            raise ConfigError(f"metric {name!r}: `metric` and `rubric` are both given; remove one")
        options = dict(entry.model_extra or {})
        kind = entry.metric or entry.rubric or name
        judged = is_judged(kind, entry, base=self._base, folders=self._folders)
        if judged and self._no_judge:
            return self._stand_in(name, kind, entry)
        if entry.role is not None and not judged:
            raise ConfigError(f"metric {name!r} is computed and asks no judge; remove `judge`")
        if judged:
            check_role(name, kind, entry)
        judge = self._asked(name, entry) if judged else None
        metric = self._create(name, kind, entry, judge=judge, options=options)
        if entry.fallback is None:
            return metric
        if not judged:
            raise ConfigError(
                f"metric {name!r} is computed; only judged metrics take a fallback: remove it"
            )
        from judgekit.metrics.fallback import WithFallback

        substitute = self._substitute(
            name, entry.fallback, kind=kind, options=entry.model_extra or {}
        )
        return WithFallback(metric, substitute, on_budget=entry.fallback.on_budget)

    def _asked(self, name: str, entry: MetricFile) -> Judge:
        role = entry.role or JUDGE
        if role not in self._judges:
            raise ConfigError(
                f"metric {name!r} asks the role {role!r}, and the suite has only "
                f"{', '.join(sorted(self._roles))}; add judge: {min(self._roles)}"
            )
        return self._judges[role]

    def _stand_in(self, name: str, kind: str, entry: MetricFile) -> Metric:
        """Return the metric that never asks: its fallback under its own name."""
        from judgekit.metrics.fallback import WithFallback

        fallback = entry.fallback
        if fallback is None and kind in STAND_INS:
            fallback = FallbackFile.model_validate({"use": STAND_INS[kind]})
        if fallback is None:
            raise ConfigError(
                f"metric {name!r} needs a judge: give the suite one, or give the metric a "
                "fallback: {use: ...}, or leave it out with --only"
            )
        options = dict(entry.model_extra or {})
        metric = self._create(name, kind, entry, judge=_Nobody(), options=options)
        substitute = self._substitute(name, fallback, kind=kind, options=entry.model_extra or {})
        return WithFallback(metric, substitute, no_judge=True)

    def _substitute(
        self, name: str, fallback: FallbackFile, *, kind: str, options: Mapping[str, Any]
    ) -> Metric:
        """Return what stands in; a metric's own stand-in takes over its options."""
        own = fallback.model_extra or {}
        if STAND_INS.get(kind) == fallback.use:
            own = {**shared_options(kind, fallback.use, options), **own}
        where = self._lines.where("metrics", name, "fallback", "use")
        try:
            if find(fallback.use).judged:
                raise ConfigError(f"{fallback.use!r} asks a judge; name a computed metric")
            return create(fallback.use, **self._placed(fallback.use, dict(own)))
        except UnknownOption as exc:
            raise self._unknown(exc, "metrics", name, "fallback") from exc
        except ConfigError as exc:
            raise exc if exc.where else ConfigError(str(exc), where=where) from exc

    def _create(
        self,
        name: str,
        kind: str,
        entry: MetricFile,
        *,
        judge: Judge | None,
        options: dict[str, Any],
    ) -> Metric:
        settings = Settings(
            metric=name,
            said=entry.parameters or {},
            flags=self._flags.get(name, {}),
            lines=self._lines,
        )
        if kind in BUILTIN and BUILTIN[kind].judged:
            # Looked up beside the suite, never beside whoever runs it.
            maker = find(kind)
            if maker.takes("rubric"):
                rubric = options.get("rubric", maker.preset.get("rubric", kind))
                options["rubric"] = settings.of(
                    load_rubric(rubric, base=self._base, folders=self._folders)
                )
            else:
                settings.refuse()
            options = self._placed(kind, options)
            return create(kind, judge=judge, name=name, **options)
        if entry.metric is None and is_rubric(kind, entry, base=self._base, folders=self._folders):
            from judgekit.metrics.rubric import RubricMetric

            options = {
                "rubric": settings.of(load_rubric(kind, base=self._base, folders=self._folders)),
                "name": name,
                **options,
            }
            return build(name, RubricMetric, judged=True, judge=judge, options=options)
        settings.refuse()
        if kind not in BUILTIN and kind not in metric_names():
            raise ConfigError(f"no metric named {kind!r}{self._near_metric(kind)}")
        if kind in BUILTIN or find(kind).takes("name"):
            options["name"] = name
        options = self._placed(kind, options)
        metric = create(kind, judge=judge, **options)
        if metric.name != name:
            raise ConfigError(
                f"metric {kind!r} calls itself {metric.name!r} and takes no other name; "
                f"write it under that name"
            )
        return metric

    def _placed(self, kind: str, options: dict[str, Any]) -> dict[str, Any]:
        """Return options with files found beside the suite and the embedder opened."""
        for option in find(kind).files:
            if isinstance(options.get(option), str):
                options = {**options, option: str(self._base / options[option])}
        return self._embedders.options(kind, options)

    def _near_metric(self, name: str) -> str:
        """Return a hint at the metric that may be meant, or at a rubric beside the suite."""
        shelves = own_shelves(self._base, self._folders)
        own = [rubric for shelf in shelves for rubric in rubric_names(shelf.folder)]
        return suggest(name, own, otherwise="") or near_metric(name)


class _Nobody:
    """Stands where a judge would, in metrics that never ask."""

    model = "none"

    async def ask(self, request: object) -> Any:
        raise ConfigError("no judge is wanted")
