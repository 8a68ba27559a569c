"""A suite: metrics, judges and cases, built from its file and flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.cassette import Cassette
from judgekit.core.canonical import digest_json
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import FileModel
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.limits import Limits
from judgekit.core.protocols import Judge, JudgeLike
from judgekit.core.suggest import suggest
from judgekit.core.value import Displayed
from judgekit.core.yaml_file import Lines
from judgekit.privacy.rules import make_redactor
from judgekit.report.manifest import ANSWERED_BY
from judgekit.runner.gatekeeper import Rules
from judgekit.suite.build import Builder, SuiteEmbedders
from judgekit.suite.cases import SuiteCases
from judgekit.suite.file import SuiteFile
from judgekit.suite.gates import baseline_of, read_gates, read_run_labels
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.judges import JudgePool, SharedRun, choose_judges, facts_of
from judgekit.suite.overrides import SHARED, Overrides, SuiteSettings, settings_of
from judgekit.suite.plan import Planner
from judgekit.suite.roles import check_roles
from judgekit.suite.source import read_suite

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart as Shown
    from judgekit.suite.against import OtherRun


class Suite(Displayed):
    """A suite that is ready to run."""

    def __init__(
        self,
        settings: SuiteSettings,
        *,
        judge: Judge | None = None,
        shared: SharedRun | None = None,
    ) -> None:
        file, base, lines, overrides = settings
        self.file, self.base = file, base
        self._overrides, self._settings = overrides, settings
        self.roles = choose_judges(settings)
        """The settings of the judges, by role."""
        if judge is not None:
            self.roles[JUDGE] = facts_of(judge)
        self.no_judge = self._overrides.no_judge or not self.roles
        self.record = settings.record_mode
        self.redact = make_redactor(file.redact, salt_env=file.redact_salt_env, lines=lines)
        self.folders = settings.rubric_folders()
        for name in file.metrics:
            self._check_parts(name, ())
        settings.check_metrics()
        names = self._metrics_to_run()
        known = self.roles or settings.written_roles
        check_roles(settings, known)
        planner = Planner(settings, folders=self.folders, roles=self.roles, no_judge=self.no_judge)
        self.plans = [planner.plan(name) for name in names]
        """The plans of the metrics to run."""
        # A role that is not used does not need a key.
        used = {JUDGE, *(r for plan in self.plans for part in plan.walk() for r in part.roles)}
        asked = {} if self.no_judge else {r: j for r, j in self.roles.items() if r in used}
        self._pool = JudgePool(
            asked, settings=settings, record=self.record, judge=judge, shared=shared
        )
        self.judges = self._pool.judges
        self.embedders = SuiteEmbedders(settings, roles=known, add_judge=self._pool.add)
        builder = Builder(judges=self.judges, embedders=self.embedders, lines=lines)
        self.metrics = [builder.metric(plan) for plan in self.plans]
        self.thresholds = {n: t for n in names if (t := file.metrics[n].threshold) is not None}
        unjudged = {plan.name for plan in self.plans if any(p.never_ask for p in plan.walk())}
        self.gates, self.written_gates, self.unchecked = read_gates(
            settings, self.metrics, unjudged=unjudged
        )
        self.rules = Rules(
            undecided=file.gate.undecided,
            baseline=baseline_of(settings, self.gates),
            max_cost=file.gate.cost,
            paid=self._paid,
        )
        """The settings of all gates."""
        self.labels = read_run_labels(settings, metrics=self.metrics)
        """The labels for corrected means."""
        self.against: OtherRun | None = None
        """The run whose outputs are the baselines of the cases."""
        if overrides.against is not None:
            from judgekit.suite.against import OtherRun

            self.against = OtherRun(Path(overrides.against))
            self.against.check_read(self.metrics)
        self.data = SuiteCases(settings, redact=self.redact, against=self.against)
        """The cases."""
        self.answered_by: str | None = None
        """The model that answered all cases, if this run evaluates its answers."""
        self.limits = Limits(
            max_failures=settings.max_failures,
            # Without a judge, all judged rows are fallbacks; this is not a failure of the run.
            max_fallback=1 << 60 if self.no_judge else file.limits.max_fallback,
            # A small shard may have no cases.
            may_be_empty=self.data.shard is not None,
        )

    def __repr__(self) -> str:
        names = ", ".join(metric.name for metric in self.metrics)
        return f"Suite({(self.file.name or str(self.base))!r}, metrics=[{names}])"

    def _parts_shown(self) -> Iterator[Shown]:
        from judgekit.core.display.result import suite_parts

        return suite_parts(self)

    @property
    def at_once(self) -> bool:
        """Whether a run never waits: all metrics are computed or replayed."""
        return all(metric.synchronous for metric in self.metrics)

    def where(self, *path: str | int) -> str:
        """Return `file:line` of a setting."""
        return self._settings.where(*path)

    @property
    def cassette(self) -> Cassette | None:
        """The cassette in front of all judges; `None` without a judge."""
        return self._pool.cassette

    @property
    def judge(self) -> Judge | None:
        """The judge of the role `judge`."""
        return self.judges.get(JUDGE)

    @property
    def judge_file(self) -> JudgeFile | None:
        """The settings of the role `judge`."""
        return self.roles.get(JUDGE)

    def _metrics_to_run(self) -> list[str]:
        """Return the metrics of `--only`, or all metrics except parts of combinations.

        A part with its own threshold or gate is also included.
        """
        entries = self.file.metrics
        inner = {
            name
            for entry in entries.values()
            for name in entry.of or ()
            if name in entries and entries[name].threshold is None and not entries[name].gate
        }
        names = list(self.file.metrics)
        for name in self._overrides.only:
            if name not in names:
                hint = suggest(name, names)
                raise ConfigError(f"--only {name}: the suite has no such metric{hint}")
        return self._overrides.only or [name for name in names if name not in inner]

    def _check_parts(self, name: str, above: tuple[str, ...]) -> None:
        """Reject combinations that contain themselves."""
        if name in above:
            message = f"{name!r} contains itself; remove it from `of`"
            raise ConfigError(message, where=self.where("metrics", name))
        entry = self.file.metrics.get(name)
        for part in (entry.of if entry else None) or ():
            self._check_parts(part, (*above, name))

    def _paid(self) -> float | None:
        """Return the cost of all replies, including recorded ones; `None` if a price is unknown."""
        if self.cassette is None:
            return 0.0
        ledger = self.cassette.ledger
        unknown = ledger.unpriced or ledger.unpriced_replays
        return None if unknown else round(ledger.spent + ledger.avoided, 6)

    def cases(self) -> Iterator[Case]:
        """Return the cases, redacted.

        Raises:
            ConfigError: the suite names none.
            DatasetError: they cannot be read.
        """
        return self.data.cases()

    @property
    def partial(self) -> bool:
        """Whether flags restrict the run to a part of the suite."""
        return self._overrides.partial or self.answered_by is not None

    @property
    def flags(self) -> dict[str, Any]:
        """The flags that must be equal for all shards."""
        return self._overrides.given(*SHARED)

    def manifest(self) -> dict[str, Any]:
        """Return the settings that affect the numbers, independent of the machine."""
        file = self.file
        chosen = {role: judge for role, judge in self.roles.items() if not self.no_judge}
        return {
            "suite": {"name": file.name, "description": file.description},
            "notice": file.notice if chosen == self._settings.written_roles else None,
            "judge": None if JUDGE not in chosen else chosen[JUDGE].described(),
            **self._other_roles(chosen),
            "cases": _cases_entry(file),
            **({ANSWERED_BY: self.answered_by} if self.answered_by else {}),
            **({"cluster": file.cluster} if file.cluster else {}),
            **({"labels": self.labels.described()} if self.labels is not None else {}),
            **({"against": self.against.described()} if self.against is not None else {}),
            "thresholds": self.thresholds,
            "gates": self.written_gates,
            **({"gate": gate} if (gate := _set_fields(file.gate)) else {}),
            **({"calibration": bar} if (bar := _set_fields(file.calibration)) else {}),
            "gates_not_checked": self.unchecked,
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

    def use_answers(self, cases: Sequence[Case], *, model: str) -> None:
        """Use these cases, which a model answered, instead of those of the file."""
        self.data.answered, self.answered_by = cases, model
        if self.labels is not None:
            self.labels = self.labels.of_outputs()

    def close(self) -> None:
        """Write the recordings and close the cassette."""
        if self.cassette is not None:
            self.cassette.close()


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


def load_suite(
    path: str | Path, overrides: Overrides | None = None, *, judge: JudgeLike | None = None
) -> Suite:
    """Load a suite file.

    Args:
        path: the suite file.
        overrides: settings that replace those of the file, as flags do.
        judge: the judge of the role `judge`, instead of the file's: a model string, an async
            function of a request, or a `Judge`. With this argument, calls to the judge are allowed.

    Raises:
        ConfigError: the file is wrong; with `file:line`.
        RubricError: one of its rubrics is wrong.
    """
    file = Path(path)
    data, lines = read_suite(file)
    return build_suite(data, base=file.parent, lines=lines, overrides=overrides, judge=judge)


def build_suite(
    data: Mapping[str, Any],
    *,
    base: Path,
    lines: Lines | None = None,
    overrides: Overrides | None = None,
    judge: JudgeLike | None = None,
    shared: SharedRun | None = None,
) -> Suite:
    """Build a suite from data; see `load_suite`.

    Args:
        data: the content of the file.
        base: the folder that paths in it are relative to.
        lines: the lines of the file.
        overrides: settings that replace those of the file.
        judge: the judge of the role `judge`.
        shared: the resources that this process shares with others, if a run has several processes.

    Raises:
        ConfigError: the data is wrong.
    """
    overrides = overrides or Overrides()
    if isinstance(judge, str):
        overrides = overrides.model_copy(update={"judge": judge})
        judge = None
    elif judge is not None and overrides.record is None:
        overrides = overrides.model_copy(update={"record": "new_episodes"})
    settings = settings_of(data, base=base, lines=lines or Lines(file=""), overrides=overrides)
    own = None if judge is None else as_judge(judge)
    return Suite(settings, judge=own, shared=shared)
