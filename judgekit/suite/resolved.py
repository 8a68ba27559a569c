"""A suite that is resolved: its file and flags are read and checked, and nothing is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.mode import RecordMode
from judgekit.cassette.tape import tape_generation
from judgekit.core.canonical import digest_json
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import FileModel
from judgekit.core.generation import newest, of_generation
from judgekit.core.input_file import home_path
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.protocols import Judge, JudgeLike, Metric
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import Lines
from judgekit.privacy.rules import make_redactor
from judgekit.report.manifest import ANSWERED_BY, full_manifest
from judgekit.runner.gatekeeper import Rules
from judgekit.runner.limits import Limits
from judgekit.suite.build import Builder, SuiteEmbedders
from judgekit.suite.cases import SuiteCases
from judgekit.suite.file import SuiteFile
from judgekit.suite.gates import SuiteGates, baseline_of, read_gates, read_run_labels
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.judges import DescribedJudge, choose_judges, facts_of
from judgekit.suite.overrides import SHARED, Overrides, SuiteSettings, settings_of
from judgekit.suite.plan import MetricPlan, Planner
from judgekit.suite.roles import check_roles
from judgekit.suite.source import read_suite

if TYPE_CHECKING:
    from judgekit.privacy.redact import Redact
    from judgekit.report.run_labels import RunLabels
    from judgekit.suite.against import OtherRun


@dataclass(frozen=True, eq=False, repr=False)
class ResolvedSuite:
    """A suite whose names, flags and files are resolved.

    It has everything that is known before the first request. `open_suite` adds the judges, the
    cassette and the store.
    """

    settings: SuiteSettings
    """The file and the flags. Only `resolve` applies flags: what opens or runs the suite reads the
    other fields."""
    roles: Mapping[str, JudgeFile]
    """The settings of the judges, by role."""
    asked: Mapping[str, JudgeFile]
    """The settings of the judges that this run may ask, by role; only they need a key."""
    ready: Mapping[str, Judge]
    """The judges that are given in Python, by role."""
    no_judge: bool
    """Whether judged metrics use their fallbacks."""
    record: RecordMode
    again: frozenset[str]
    """Keys of recorded requests to send again."""
    redact: Redact | None
    """Redacts a text."""
    folders: tuple[Path, ...]
    """The rubric folders."""
    plans: tuple[MetricPlan, ...]
    """The plans of the metrics to run."""
    metrics: tuple[Metric, ...]
    """The metrics to run, for descriptions and checks; their judges cannot be asked."""
    hosted: Mapping[str, JudgeFile]
    """Model -> settings of the hosted embedders."""
    thresholds: Mapping[str, float]
    gates: SuiteGates
    rules: Rules
    """The settings of all gates; the cost of a run is known after `open_suite`."""
    labels: RunLabels | None
    """The labels for corrected means."""
    against: OtherRun | None
    """The run whose outputs are the baselines of the cases."""
    limits: Limits
    generation: int
    """The generation of the built-in rubrics: that of the tape, or else the newest."""
    answered_by: str | None = None
    """The model that answered all cases, if the run evaluates its answers."""

    @property
    def file(self) -> SuiteFile:
        """The content of the suite file."""
        return self.settings.file

    @property
    def base(self) -> Path:
        """The folder that paths in the file are relative to."""
        return self.settings.base

    @property
    def asks(self) -> bool:
        """Whether the run has requests, and therefore a cassette."""
        return bool(self.asked or self.hosted)

    @property
    def tape(self) -> Path | None:
        """The tape of the cassette, which may not exist yet; `None` without one."""
        file = self.file.cassette if self.asks else None
        return self.base / home_path(file) if file else None

    def cases(self) -> SuiteCases:
        """Return a reader of the cases; it keeps the state of one run."""
        return SuiteCases(self.settings, redact=self.redact, against=self.against)

    def replaying(self) -> ResolvedSuite:
        """Return the suite in the record mode `none`, which calls no judge."""
        return replace(self, record=RecordMode.NONE)

    def answered(self, model: str) -> ResolvedSuite:
        """Return the suite for cases that a model answered."""
        labels = None if self.labels is None else self.labels.of_outputs()
        return replace(self, answered_by=model, labels=labels)

    @property
    def partial(self) -> bool:
        """Whether flags restrict the run to a part of the suite."""
        return self.settings.overrides.partial or self.answered_by is not None

    @property
    def flags(self) -> dict[str, Any]:
        """The flags that must be equal for all shards."""
        return self.settings.overrides.given(*SHARED)

    def full_manifest(self) -> dict[str, Any]:
        """Return the manifest of a run, including its metrics and rubrics."""
        return full_manifest(self.metrics, self.manifest())

    def manifest(self) -> dict[str, Any]:
        """Return the settings that affect the numbers, independent of the machine."""
        file = self.file
        chosen = {role: judge for role, judge in self.roles.items() if not self.no_judge}
        return {
            "suite": {"name": file.name, "description": file.description},
            "notice": file.notice if chosen == self.settings.written_roles else None,
            "judge": None if JUDGE not in chosen else chosen[JUDGE].described(),
            **self._other_roles(chosen),
            "cases": _cases_entry(file),
            **({ANSWERED_BY: self.answered_by} if self.answered_by else {}),
            **({"cluster": file.cluster} if file.cluster else {}),
            **({"labels": self.labels.described()} if self.labels is not None else {}),
            **({"against": self.against.described()} if self.against is not None else {}),
            "thresholds": dict(self.thresholds),
            "gates": self.gates.written,
            **({"gate": gate} if (gate := _set_fields(file.gate)) else {}),
            **({"calibration": bar} if (bar := _set_fields(file.calibration)) else {}),
            "gates_not_checked": self.gates.unchecked,
            "redact": digest_json([r.model_dump(exclude_none=True) for r in file.redact]),
        }  # fmt: skip

    def _other_roles(self, chosen: Mapping[str, JudgeFile]) -> dict[str, Any]:
        """Return the judges by role and the roles of metrics, if there are several roles."""
        if not set(chosen) - {JUDGE}:
            return {}
        return {
            "judges": {role: judge.described() for role, judge in chosen.items()},
            "roles": {name: entry.role for name, entry in self.file.metrics.items() if entry.role},
        }


def _cases_entry(file: SuiteFile) -> dict[str, Any] | None:
    """Return the source of the cases; the digest of the data set covers their content."""
    if file.rows is not None:
        return {"inline": len(file.rows)}
    return None if file.cases_file is None else _set_fields(file.cases_file)


def _set_fields(entry: FileModel) -> dict[str, Any]:
    """Return the fields of a flat entry that are not `None`.

    `model_dump` would build a serializer for each kind of entry.
    """
    return {name: value for name, value in entry if value is not None}


def resolve(
    path: str | Path, overrides: Overrides | None = None, *, judge: JudgeLike | None = None
) -> ResolvedSuite:
    """Read a suite file and resolve it; see `load_suite`.

    This only reads: it opens no judge, cassette or store, and writes nothing.

    Raises:
        ConfigError: the file is wrong; with `file:line`.
        RubricError: one of its rubrics is wrong.
    """
    file = Path(path)
    data, lines = read_suite(file)
    return resolve_data(data, base=file.parent, lines=lines, overrides=overrides, judge=judge)


def resolve_data(
    data: Mapping[str, Any],
    *,
    base: Path,
    lines: Lines | None = None,
    overrides: Overrides | None = None,
    judge: JudgeLike | None = None,
    ready: Mapping[str, Judge] | None = None,
    generation: int | None = None,
) -> ResolvedSuite:
    """Resolve the content of a suite file; see `resolve` and `build_suite`.

    `ready` has judges that are given in Python, by role; `judge` is that of the role `judge`.
    """
    ready = dict(ready or {})
    overrides = overrides or Overrides()
    if isinstance(judge, str):
        overrides = overrides.model_copy(update={"judge": judge})
    elif judge is not None:
        ready[JUDGE] = as_judge(judge)
        if overrides.record is None:
            overrides = overrides.model_copy(update={"record": "new_episodes"})
    settings = settings_of(data, base=base, lines=lines or Lines(file=""), overrides=overrides)
    if generation is None:
        generation = _generation(settings)
    with of_generation(generation):
        return _resolved(settings, ready, generation)


def _generation(settings: SuiteSettings) -> int:
    """Return the generation of the built-in rubrics under which the suite's tape was begun."""
    file = settings.file.cassette
    return newest() if file is None else tape_generation(settings.base / home_path(file))


def _resolved(
    settings: SuiteSettings, ready: Mapping[str, Judge], generation: int
) -> ResolvedSuite:
    # The order decides which of several mistakes is reported: first names in the file and the
    # flags, then the metrics, then what depends on their ranges.
    file, _, lines, overrides = settings
    roles = choose_judges(settings)
    roles |= {role: facts_of(judge) for role, judge in ready.items()}
    no_judge = overrides.no_judge or not roles
    if overrides.no_judge and (overrides.judges or overrides.judge not in (None, "none")):
        raise ConfigError("give a judge or --no-judge, not both")
    if overrides.api_base is not None and not roles:
        raise ConfigError("--api-base belongs to a judge, and there is none; add --judge MODEL")
    record = settings.record_mode
    redact = make_redactor(file.redact, salt_env=file.redact_salt_env, lines=lines)
    folders = settings.rubric_folders()
    for name in file.metrics:
        _check_parts(settings, name, ())
    settings.check_metrics()
    known = roles or settings.written_roles
    names = _metrics_to_run(settings)
    check_roles(settings, known)
    planner = Planner(settings, folders=folders, roles=roles, no_judge=no_judge)
    plans = tuple(planner.plan(name) for name in names)
    embedders = SuiteEmbedders(settings, roles=known, add_judge=_described)
    judges = {role: DescribedJudge(one) for role, one in roles.items()}
    builder = Builder(judges=judges, embedders=embedders, lines=lines)
    metrics = tuple(builder.metric(plan) for plan in plans)
    unjudged = {plan.name for plan in plans if any(p.never_ask for p in plan.walk())}
    gates = read_gates(settings, metrics, unjudged=unjudged)
    baseline = baseline_of(settings, gates.gates)
    labels = read_run_labels(settings, metrics=metrics)
    against = _against(settings, metrics)
    # A role that is not used does not need a key.
    used = {JUDGE, *(role for plan in plans for part in plan.walk() for role in part.roles)}
    return ResolvedSuite(
        settings=settings,
        roles=roles,
        asked={} if no_judge else {r: one for r, one in roles.items() if r in used},
        ready=ready,
        no_judge=no_judge,
        record=record,
        again=overrides.again,
        redact=redact,
        folders=folders,
        plans=plans,
        metrics=metrics,
        hosted=embedders.hosted,
        thresholds={n: t for n in names if (t := file.metrics[n].threshold) is not None},
        gates=gates,
        rules=Rules(undecided=file.gate.undecided, baseline=baseline, max_cost=file.gate.cost),
        labels=labels,
        against=against,
        generation=generation,
        limits=Limits(
            max_failures=settings.max_failures,
            # Without a judge, all judged rows are fallbacks; this is not a failure of the run.
            max_fallback=1 << 60 if no_judge else file.limits.max_fallback,
            # A small shard may have no cases.
            may_be_empty=settings.shard is not None,
        ),
    )


def _described(judge: JudgeFile, **_: object) -> Judge:
    return DescribedJudge(judge)


def _against(settings: SuiteSettings, metrics: Sequence[Metric]) -> OtherRun | None:
    folder = settings.overrides.against
    if folder is None:
        return None
    from judgekit.suite.against import OtherRun

    against = OtherRun(Path(folder))
    against.check_read(metrics)
    return against


def _metrics_to_run(settings: SuiteSettings) -> list[str]:
    """Return the metrics of `--only`, or all metrics except parts of combinations.

    A part with its own threshold or gate is also included.
    """
    entries = settings.file.metrics
    inner = {
        name
        for entry in entries.values()
        for name in entry.of or ()
        if name in entries and entries[name].threshold is None and not entries[name].gate
    }
    names = list(settings.file.metrics)
    for name in settings.overrides.only:
        if name not in names:
            parts = [part.strip() for part in name.split(",")]
            hint = suggest(name, names)
            if len(parts) > 1:
                hint = f"; repeat the flag: {' '.join(f'--only {part}' for part in parts if part)}"
            raise ConfigError(f"--only {name}: the suite has no such metric{hint}")
    return settings.overrides.only or [name for name in names if name not in inner]


def _check_parts(settings: SuiteSettings, name: str, above: tuple[str, ...]) -> None:
    """Reject combinations that contain themselves."""
    if name in above:
        message = f"{name!r} contains itself; remove it from `of`"
        raise ConfigError(message, where=settings.where("metrics", name))
    entry = settings.file.metrics.get(name)
    for part in (entry.of if entry else None) or ():
        _check_parts(settings, part, (*above, name))
