"""Plans: the metrics of a suite with all names resolved, before they are built.

`Planner` looks each name up once: the class behind it, its rubric, role, files and fallback.
`judgekit.suite.build` builds metrics from plans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from judgekit.core.errors import ConfigError, RubricError, UnknownOption, placed
from judgekit.core.input_file import home_path
from judgekit.core.suggest import closest, suggest
from judgekit.core.synonyms import key_synonym, synonym
from judgekit.core.yaml_file import Lines
from judgekit.metrics.catalogue import BUILTIN, PAIRWISE, STAND_INS
from judgekit.metrics.registry import Maker, find, near_metric, rubric_maker
from judgekit.rubric.library import find_rubric, own_folders, rubric_names
from judgekit.rubric.load import load_rubric
from judgekit.rubric.rubric import Rubric
from judgekit.suite.file import FallbackFile, MetricFile
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.overrides import SuiteSettings
from judgekit.suite.roles import find_role

JURY_KEYS = ("vote", "quorum", "order", "calls", "readout", "max_reason")
"""Keys of a metric that are settings of a `Jury`."""
SUBJECTS = ("metric", "rubric", "criteria", "pairwise")
"""Keys that define the kind of a metric; at most one is allowed."""
OF_ONE_METRIC = (
    *SUBJECTS, "description", "requires", "judge", "likelihood", "jury", *JURY_KEYS, "parameters",
    "fallback", "with",
)  # fmt: skip
"""Keys that a combination of metrics does not take; its metrics have them."""


class MetricPlan(NamedTuple):
    """The description of one metric."""

    name: str
    kind: str
    """The name in the registry or of the rubric; `combine` for a combination."""
    options: Mapping[str, Any]
    """Options of the suite, with files relative to the working folder."""
    maker: Maker | None = None
    """Its class or function; `None` for a combination."""
    rubric: Rubric | None = None
    """Its rubric, with parameters set."""
    roles: tuple[str, ...] = ()
    """The roles of its judges; several are a jury. Empty for a computed metric."""
    asking: Mapping[str, Any] = MappingProxyType({})
    """Settings of a `Jury`: samples, orders, calls and vote."""
    fallback: MetricPlan | None = None
    """The computed metric that is used if the judge does not answer."""
    never_ask: bool = False
    """Whether all scores come from the fallback, because the run has no judge."""
    on_budget: bool = False
    parts: tuple[MetricPlan, ...] = ()
    """The metrics of a combination."""
    combine: str = "mean"

    @property
    def asks(self) -> bool:
        """Whether its metric needs a judge or an embedder, which only an open suite has."""
        return any(
            part.roles or (part.maker is not None and part.maker.takes("embedder"))
            for part in self.walk()
        )

    def walk(self) -> Iterator[MetricPlan]:
        """Yield this plan, then those of all nested metrics."""
        yield self
        for inner in (*self.parts, *([self.fallback] if self.fallback is not None else [])):
            yield from inner.walk()


@dataclass(eq=False, repr=False)
class Planner:
    """Resolves the entries under `metrics`."""

    settings: SuiteSettings
    """The suite."""
    folders: tuple[Path, ...]
    """Its rubric folders."""
    roles: Mapping[str, JudgeFile]
    """The settings of the suite's judges, by role."""
    no_judge: bool
    """Whether the run has no judge."""
    _plans: dict[str, MetricPlan] = field(default_factory=dict, init=False)

    def plan(self, name: str) -> MetricPlan:
        """Return the plan of an entry and of its parts.

        Raises:
            ConfigError: a name or setting is wrong, or no judge has its role; with `file:line`.
            RubricError: its rubric is wrong.
        """
        if name not in self._plans:
            with placed_options(self.settings.lines, "metrics", name):
                entry = self.settings.file.metrics[name]
                combined = entry.combine is not None or entry.of is not None
                plan = self._combined if combined else self._single
                self._plans[name] = plan(name, entry)
        return self._plans[name]

    def _combined(self, name: str, entry: MetricFile) -> MetricPlan:
        key = "of" if entry.of is not None else "combine"
        for other in OF_ONE_METRIC:
            if getattr(entry, "with_" if other == "with" else other) is not None:
                advice = "remove one, or give it to the metrics that are combined"
                raise refused(name, f": `{key}` and `{other}` are both given; {advice}")
        for part in entry.of or ():
            if part not in self.settings.file.metrics:
                hint = suggest(part, list(self.settings.file.metrics))
                raise ConfigError(f"combines {part!r}, which the suite does not have{hint}")
        options = dict(entry.model_extra or {})
        if unknown := [option for option in options if option != "weights"]:
            raise UnknownOption(name, unknown[0], ["weights"], hint="")
        parts = tuple(self.plan(part) for part in entry.of or ())
        return MetricPlan(name, "combine", options, parts=parts, combine=entry.combine or "mean")

    def _single(self, name: str, entry: MetricFile) -> MetricPlan:
        kind, maker, rubric = self._resolved(name, entry)
        if not maker.judged and entry.role is not None:
            raise refused(name, " is computed and needs no judge; remove `judge`")
        if not maker.judged and entry.fallback is not None:
            raise refused(name, " is computed; only judged metrics take a fallback: remove it")
        rubric = self.settings.with_parameters(rubric, name)
        options = dict(entry.model_extra or {})
        if "name" in options:
            raise refused(name, " has its key as its name; rename the key, and remove `name`")
        if entry.with_ is not None:
            if not maker.takes("opponent"):
                raise refused(name, ": with needs pairwise: RUBRIC; add it")
            options["opponent"] = entry.with_
        asking = self._asking(name, entry, maker, options)
        roles: tuple[str, ...] = ()
        if maker.judged and not self.no_judge:
            chosen = tuple(entry.jury or ()) or (entry.role or JUDGE,)
            self._check_asks(name, entry, maker)
            for role in chosen:
                find_role(role, self.roles, subject=f"metric {name!r}")
            roles = chosen
        never_ask = maker.judged and self.no_judge
        return MetricPlan(
            name=name,
            kind=kind,
            maker=maker,
            options=self._with_files(maker, options),
            rubric=rubric,
            roles=roles,
            asking=asking,
            fallback=self._fallback(name, kind, entry, options),
            never_ask=never_ask,
            on_budget=entry.fallback is not None and entry.fallback.on_budget and not never_ask,
        )

    def _resolved(self, name: str, entry: MetricFile) -> tuple[str, Maker, Rubric | None]:
        """Return the kind of a metric, its maker, and its rubric."""
        keys = [key for key in SUBJECTS if getattr(entry, key) is not None]
        if keys == ["metric", "rubric"] and (framed := self._framed(entry)) is not None:
            return framed
        if len(keys) > 1:
            raise refused(name, f": `{keys[0]}` and `{keys[1]}` are both given; remove one")
        if entry.criteria is not None:
            return name, rubric_maker(name), self._inline(name, entry)
        if entry.description is not None or entry.requires is not None:
            raise refused(name, ": description and requires need criteria in the same entry")
        if entry.pairwise is not None:
            return PAIRWISE, find(PAIRWISE), self._load(entry.pairwise)
        kind = entry.metric or entry.rubric or name
        plain = kind.rpartition("@")[0] or kind
        built_in = BUILTIN.get(plain)
        if built_in is not None and (built_in.judged or entry.rubric is None):
            maker = find(kind)
            asks_rubric = maker.judged and maker.takes("rubric")
            source = maker.preset.get("rubric", kind) if asks_rubric else None
            with maker.of_generation():
                return plain, maker, None if source is None else self._load(source)
        try:
            path = find_rubric(kind, base=self.settings.base, folders=self.folders)
        except RubricError as exc:
            if entry.rubric is not None:
                # Without its own place, the error gets the line of the suite.
                raise ConfigError(str(exc)) from exc
        else:
            return kind, rubric_maker(kind), load_rubric(path)
        try:
            return kind, find(kind), None
        except ConfigError as exc:
            if str(exc).startswith("no metric named"):
                raise self._no_metric(name, kind, entry) from exc
            raise

    def _framed(self, entry: MetricFile) -> tuple[str, Maker, Rubric] | None:
        """Return a built-in metric that asks by another rubric; `None` if it takes none."""
        kind, rubric = str(entry.metric), str(entry.rubric)
        built_in = BUILTIN.get(kind)
        if built_in is None or not built_in.judged:
            return None
        maker = find(kind)
        return (kind, maker, self._load(rubric)) if maker.takes("rubric") else None

    def _load(self, source: str) -> Rubric:
        # Relative to the suite, not to the working folder.
        return load_rubric(source, base=self.settings.base, folders=self.folders)

    def _inline(self, name: str, entry: MetricFile) -> Rubric:
        from judgekit.rubric.load import inline_rubric

        return inline_rubric(
            name,
            entry.criteria or {},
            description=entry.description,
            requires=entry.requires,
            file=Path(self.settings.lines.file or "suite.yaml"),
            lines=self.settings.lines.under("metrics", name),
        )

    def _asking(
        self, name: str, entry: MetricFile, maker: Maker, options: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the settings of a jury; `samples` is also taken from metrics without that option.

        Raises:
            ConfigError: the metric does not use a judge with a rubric, or a setting requires
                another one.
        """
        asking = {key: getattr(entry, key) for key in JURY_KEYS if getattr(entry, key) is not None}
        # A metric that takes both has them from its jury.
        if "calls" in asking and maker.takes("calls") and not maker.takes("samples"):
            options["calls"] = asking.pop("calls")
        if maker.judged and maker.asks == "verdict" and not maker.takes("samples"):
            asking.update({key: options.pop(key) for key in ("samples",) if key in options})
        if entry.jury is None:
            for key in ("vote", "quorum"):
                if key in asking:
                    raise refused(name, f": {key} needs a jury; add jury: [role, role]")
        elif entry.judge is not None:
            raise refused(name, ": `judge` and `jury` are both given; remove one")
        elif len(set(entry.jury)) < len(entry.jury):
            raise refused(name, ": jury names a role twice; name each once")
        elif isinstance(entry.jury, dict):
            asking["weights"] = dict(entry.jury)
        given = [*asking, *(["jury"] if entry.jury is not None else [])]
        if given and maker.asks != "verdict":
            what = "is computed" if not maker.judged else "asks for log-probabilities"
            raise refused(name, f" {what} and takes no {given[0]}; remove it")
        return asking

    def _check_asks(self, name: str, entry: MetricFile, maker: Maker) -> None:
        """Reject a role under the wrong key."""
        logprobs = maker.asks == "logprobs"
        if logprobs and entry.judge is not None:
            raise refused(name, f" needs log-probabilities; write likelihood: {entry.judge}")
        if not logprobs and entry.likelihood is not None:
            raise refused(name, f" needs a judge; write judge: {entry.likelihood}")

    def _fallback(
        self, name: str, kind: str, entry: MetricFile, options: Mapping[str, Any]
    ) -> MetricPlan | None:
        """Return the plan of the fallback; the metric's default fallback takes its options."""
        fallback = entry.fallback
        own = STAND_INS.get(kind) if entry.criteria is None else None
        if fallback is None and self.no_judge and own is not None:
            fallback = FallbackFile.model_validate({"use": own})
        if fallback is None:
            return None
        path = ("metrics", name, "fallback")
        with placed_options(self.settings.lines, *path, at=(*path, "use")):
            maker = find(fallback.use)
            if maker.judged:
                raise ConfigError(f"{fallback.use!r} needs a judge; name a computed metric")
            fallback_options = dict(fallback.model_extra or {})
            if own == fallback.use:
                judged = find(kind)
                shared = {
                    option: value
                    for option, value in options.items()
                    if option != "name" and judged.takes(option) and maker.takes(option)
                }
                fallback_options = {**shared, **fallback_options}
            options = self._with_files(maker, fallback_options)
            return MetricPlan(name=fallback.use, kind=fallback.use, maker=maker, options=options)

    def _with_files(self, maker: Maker, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with files relative to the suite."""
        files = {
            option: str(self.settings.base / home_path(value))
            for option, value in options.items()
            if option in maker.files and isinstance(value, str)
        }
        return {**options, **files}

    def _no_metric(self, name: str, kind: str, entry: MetricFile) -> ConfigError:
        """Return the error for an entry whose kind is no metric and no rubric."""
        if kind == name and (key := _misspelled_subject(entry)):
            return refused(name, f": unknown key {key}")
        return ConfigError(f"no metric named {kind!r}{self._near_metric(kind)}")

    def _near_metric(self, name: str) -> str:
        """Return a hint: the closest rubric of the suite, or else the closest metric."""
        folders = own_folders(self.settings.base, self.folders)
        own = [rubric for folder in folders for rubric in rubric_names(folder.path)]
        for folder in folders:
            for ending in _NEAR_RUBRIC:
                if (file := folder.path / f"{name}{ending}").is_file():
                    return f"; {file} is there: a rubric ends in .jinja, so rename it"
        return suggest(name, own, otherwise="") or near_metric(name)


_NEAR_RUBRIC = (".md", ".txt", ".j2", ".jinja2", ".html", ".prompt")
"""Endings of templates elsewhere."""


def _misspelled_subject(entry: MetricFile) -> str:
    """Return the option that was meant as one of `SUBJECTS`, and which; empty if there is none."""
    for option in entry.model_extra or {}:
        meant = synonym("metric", option, SUBJECTS)
        if not meant and (close := closest(option, SUBJECTS, alike=0.7)):
            meant = f"; did you mean {close[0]!r}?"
        if meant:
            return f"{option!r}{meant}"
    return ""


def refused(metric: str, problem: str) -> ConfigError:
    """Return an error about a metric of the suite; the problem continues the sentence."""
    return ConfigError(f"metric {metric!r}{problem}")


@contextmanager
def placed_options(
    lines: Lines, *path: str | int, at: tuple[str | int, ...] | None = None
) -> Iterator[None]:
    """Add `file:line` to configuration errors, and the known keys to unknown options."""
    try:
        with placed(lines.where(*(at or path))):
            yield
    except UnknownOption as exc:
        from judgekit.suite.hints import key_hint

        keys = FallbackFile if path[-1] == "fallback" else MetricFile
        own = [field.alias or name for name, field in keys.model_fields.items()]
        known = [name for name in (*exc.known, *own) if name != "name"]
        at = (*path, exc.option)
        hint = key_synonym(at, known) or key_hint(at, known)
        message = f"metric {exc.metric!r} takes no option {exc.option!r}{hint}"
        raise ConfigError(message, where=lines.where(*path, exc.option)) from exc
