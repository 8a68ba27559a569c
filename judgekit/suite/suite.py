"""The suite file: what to score, by what, with which judge. The only wiring there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.core.canonical import digest_json
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import FileModel, validate_file
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.limits import Limits
from judgekit.core.protocols import Judge, JudgeLike, Metric
from judgekit.core.suggest import suggest
from judgekit.core.value import Displayed
from judgekit.core.yaml_file import Lines
from judgekit.report.gate import gates_of
from judgekit.runner.gatekeeper import Rules, open_baseline
from judgekit.suite.build import Builder
from judgekit.suite.cases import SuiteCases
from judgekit.suite.embedders import SuiteEmbedders
from judgekit.suite.file import (
    DECIDING,
    JUDGE,
    GateFile,
    JudgeFile,
    Overrides,
    SuiteFile,
)
from judgekit.suite.judges import Bench, choose_judges, roles_of
from judgekit.suite.plan import Planner
from judgekit.suite.redaction import make_redactor
from judgekit.suite.rubrics import check_metrics, rubric_folders
from judgekit.suite.source import read_suite, refuse_keys, suite_hints

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart as Shown


class Suite(Displayed):
    """A suite, wired and ready to run."""

    def __init__(
        self,
        file: SuiteFile,
        *,
        base: Path,
        lines: Lines,
        overrides: Overrides,
        judge: Judge | None = None,
    ) -> None:
        self.file = file
        self.base = base
        self._lines = lines
        self._overrides = overrides
        self._given = {} if judge is None else {JUDGE: judge}
        self.roles = choose_judges(file, overrides, lines=lines)
        if judge is not None:
            self.roles[JUDGE] = _facts_of(judge)
        """Who judges, by role."""
        self.no_judge = overrides.no_judge or not self.roles
        self.record = _record(file, overrides, lines)
        self.redact = make_redactor(file, lines=lines)
        self.folders = rubric_folders(file, base=base, lines=lines)
        for name in file.metrics:
            self._check_parts(name, ())
        check_metrics(overrides.settings, list(file.metrics))
        wanted = self._wanted()
        self._check_roles()
        planner = Planner(
            file,
            base=base,
            lines=lines,
            folders=self.folders,
            roles=self.roles,
            no_judge=self.no_judge,
            flags=overrides.settings,
        )
        self.plans = [planner.plan(name) for name in wanted]
        """The metrics to run, described."""
        self._bench = self._wired()
        self.judges = self._bench.judges
        known = self.roles or roles_of(file, lines=lines)
        self.embedders = SuiteEmbedders(
            file, base=base, lines=lines, roles=known, seat=self._bench.seat
        )
        builder = Builder(judges=self.judges, embedders=self.embedders, lines=lines)
        self.metrics = [builder.metric(plan) for plan in self.plans]
        self.thresholds = {n: t for n in wanted if (t := file.metrics[n].threshold) is not None}
        self.gates = {n: _spelled(g) for n in wanted if (g := file.metrics[n].gate)}
        for name in self.gates:
            self._check_gate(name)
        for metric in self.metrics:
            self._check_bounds(metric)
        self.unchecked: list[str] = []
        """Metrics whose gates are left out because nobody judges."""
        if self.no_judge:
            # A gate is set on what a judge says; a stand-in's numbers are of another kind.
            computed = {
                plan.name for plan in self.plans if not any(p.never_ask for p in plan.walk())
            }
            self.unchecked = sorted(set(self.gates) - computed)
            self.gates = {name: gate for name, gate in self.gates.items() if name in computed}
        self.rules = self._rules()
        self.data = SuiteCases(
            file, base=base, lines=lines, overrides=overrides, redact=self.redact
        )
        """What is scored."""
        limits = file.limits
        self.limits = Limits(
            max_failures=limits.max_failures,
            max_fallback=limits.max_fallback,
            # Of few cases, a shard may have none.
            may_be_empty=self.data.shard is not None,
        )
        if self.no_judge:
            # Nobody asked for a judge, so standing in for one is no shortcoming of the run.
            self.limits = self.limits._replace(max_fallback=1 << 60)

    def __repr__(self) -> str:
        names = ", ".join(metric.name for metric in self.metrics)
        return f"Suite({(self.file.name or str(self.base))!r}, metrics=[{names}])"

    def _parts_shown(self) -> Iterator[Shown]:
        from judgekit.core.display.suite import suite_parts

        return suite_parts(self)

    @property
    def at_once(self) -> bool:
        """Whether a run waits for nothing: all that is asked is recorded, or nothing is."""
        return all(metric.synchronous for metric in self.metrics)

    def where(self, *path: str | int) -> str:
        """Return `file:line` of a setting."""
        return self._lines.where(*path)

    # -- judge and cassette -------------------------------------------------------

    def _wired(self) -> Bench:
        """Make the judges that are asked; a role no metric asks needs no key."""
        asked = {JUDGE, *(part.role for plan in self.plans for part in plan.walk())}
        roles = {} if self.no_judge else self.roles
        return Bench(
            {role: judge for role, judge in roles.items() if role in asked},
            file=self.file,
            base=self.base,
            lines=self._lines,
            record=self.record,
            again=self._overrides.again,
            given=self._given,
        )

    @property
    def cassette(self) -> Cassette | None:
        """What stands before all that is asked of a server; `None` where nothing is."""
        return self._bench.cassette

    @property
    def judge(self) -> Judge | None:
        """The judge of the role `judge`."""
        return self.judges.get(JUDGE)

    @property
    def judge_file(self) -> JudgeFile | None:
        """What is said of the role `judge`."""
        return self.roles.get(JUDGE)

    def _check_roles(self) -> None:
        known = list(roles_of(self.file, lines=self._lines))
        for name, entry in self.file.metrics.items():
            if entry.role is not None and entry.role not in known:
                from judgekit.suite.hints import role_hint

                raise ConfigError(
                    f"metric {name!r}: no judge has the role {entry.role!r}"
                    f"{role_hint(entry.role, known)}",
                    where=self.where("metrics", name, "judge" if entry.judge else "likelihood"),
                )

    # -- metrics ------------------------------------------------------------------

    def _wanted(self) -> list[str]:
        """Return the metrics to run: those asked for, or all but mere parts of others.

        A part that has a threshold or a gate of its own is more than that.
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
                raise ConfigError(
                    f"--only {name}: the suite has no such metric{suggest(name, names)}"
                )
        return self._overrides.only or [name for name in names if name not in inner]

    def _check_parts(self, name: str, above: tuple[str, ...]) -> None:
        """Refuse metrics made of each other: all of them would be parts, and none would run."""
        if name in above:
            raise ConfigError(
                f"{name!r} is made of itself; remove it from `of`",
                where=self.where("metrics", name),
            )
        entry = self.file.metrics.get(name)
        for part in (entry.of if entry else None) or ():
            self._check_parts(part, (*above, name))

    def _rules(self) -> Rules:
        """Return what holds for all gates; the baseline is opened only if a gate asks for it."""
        said = self.file.gate
        named = self._overrides.baseline or said.baseline
        asked = [
            name for name, gates in self.gates.items() for gate in listed(gates)
            if "not_worse" in gate
        ]  # fmt: skip
        baseline = None
        if asked and named is None:
            raise ConfigError(
                f"metric {asked[0]!r}: not_worse needs a run to compare with; add "
                "gate: {baseline: FOLDER} at the top, or --baseline FOLDER",
                where=self.where("metrics", asked[0], "gate"),
            )
        if named is not None and (asked or self._overrides.baseline):
            path = Path(named) if self._overrides.baseline else self.base / named
            baseline = open_baseline(path)
        return Rules(undecided=said.undecided, baseline=baseline, max_cost=said.cost,
                     paid=self._paid)  # fmt: skip

    def _paid(self) -> float | None:
        """Return what all replies cost, or cost when they were recorded; `None` if not known."""
        if self.cassette is None:
            return 0.0
        ledger = self.cassette.ledger
        unknown = ledger.unpriced or ledger.unpriced_replays
        return None if unknown else round(ledger.spent + ledger.avoided, 6)

    def _check_gate(self, name: str) -> None:
        try:
            figures = next(m for m in self.metrics if m.name == name).figures
            gates_of(name, self.gates[name], threshold=self.thresholds.get(name), figures=figures)
        except ConfigError as exc:
            raise ConfigError(str(exc), where=self.where("metrics", name, "gate")) from exc

    def _check_bounds(self, metric: Metric) -> None:
        """Refuse a threshold or gate that no value can reach, such as 8 where values end at 1."""
        low, high = metric.range
        bounds = {"threshold": self.thresholds.get(metric.name)}
        for gate in listed(self.gates.get(metric.name, {})):
            bounds.update({f"gate.{s}": b for s, b in gate.items() if s in ("mean", "min", "max")})
        for setting, bound in bounds.items():
            if bound is not None and not low <= bound <= high:
                from judgekit.suite.hints import percent_hint

                raise ConfigError(
                    f"{setting} {bound:g} is outside the values of {metric.name!r}, "
                    f"{low:g} to {high:g} before any scale{percent_hint(bound, low, high)}",
                    where=self.where("metrics", metric.name, *setting.split(".")),
                )

    # -- what a run needs -----------------------------------------------------------

    def cases(self) -> Iterator[Case]:
        """Return the cases, redacted.

        Raises:
            ConfigError: the suite names none.
            DatasetError: they cannot be read.
        """
        return self.data.cases()

    @property
    def partial(self) -> bool:
        """Whether a run is about less than the suite, because flags say so."""
        return self._overrides.partial

    @property
    def flags(self) -> dict[str, Any]:
        """What flags say of the numbers: what a shard must share with the others."""
        return self._overrides.model_dump(include=set(DECIDING), exclude_defaults=True)

    def manifest(self) -> dict[str, Any]:
        """Return what decides the numbers, in a form that does not depend on the machine."""
        file = self.file
        chosen = {role: judge for role, judge in self.roles.items() if not self.no_judge}
        return {
            "suite": {"name": file.name, "description": file.description},
            "notice": file.notice if chosen == roles_of(file, lines=self._lines) else None,
            "judge": None if JUDGE not in chosen else _described(chosen[JUDGE]),
            **self._further(chosen),
            "cases": _cases_given(file),
            **({"cluster": file.cluster} if file.cluster else {}),
            "thresholds": self.thresholds,
            "gates": self.gates,
            **({"gate": said} if (said := _given(file.gate)) else {}),
            **({"calibration": bar} if (bar := _given(file.calibration)) else {}),
            "gates_not_checked": self.unchecked,
            "redact": digest_json([r.model_dump(exclude_none=True) for r in file.redact]),
        }  # fmt: skip

    def _further(self, chosen: Mapping[str, JudgeFile]) -> dict[str, Any]:
        """Return what there is to say of judges beside the first: nothing where there is one."""
        if not set(chosen) - {JUDGE}:
            return {}
        asked = {name: entry.role for name, entry in self.file.metrics.items() if entry.role}
        return {
            "judges": {role: _described(judge) for role, judge in chosen.items()},
            "roles": asked,
        }

    def close(self) -> None:
        """Write what was recorded and close everything."""
        if self.cassette is not None:
            self.cassette.close()


def _described(judge: JudgeFile) -> dict[str, Any]:
    return {name: getattr(judge, name) for name in ("model", "identity", "params", "mode")}


def _cases_given(file: SuiteFile) -> dict[str, Any] | None:
    """Return where the cases come from; what they are, the digest of the data set tells."""
    if file.rows is not None:
        return {"inline": len(file.rows)}
    return None if file.cases_file is None else _given(file.cases_file)


def _given(entry: FileModel) -> dict[str, Any]:
    """Return what an entry without entries of its own gives.

    `model_dump` would build the means to write each kind of entry, for half of what it takes to
    read them.
    """
    return {name: value for name, value in entry if value is not None}


def _spelled(gates: GateFile | list[GateFile]) -> dict[str, Any] | list[dict[str, Any]]:
    """Return gates as people write them: one as a mapping, several as a list."""
    if isinstance(gates, list):
        return [_written(gate) for gate in gates]
    return _written(gates)


def _written(gate: GateFile) -> dict[str, Any]:
    return {name: value for name, value in gate if name in gate.model_fields_set}


def listed(gates: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return gates as a list, however they are spelled."""
    return [gates] if isinstance(gates, Mapping) else list(gates)


def load_suite(
    path: str | Path,
    overrides: Overrides | None = None,
    *,
    judge: JudgeLike | None = None,
) -> Suite:
    """Read a suite file and wire it.

    Args:
        path: the suite file.
        overrides: settings that replace those of the file, as flags do.
        judge: what answers the role `judge`, in place of the file's: a model string, an async
            function of a request, or a `Judge`. Naming one is permission to ask it.

    Raises:
        ConfigError: with `file:line`, for anything wrong in it.
        RubricError: for anything wrong in a rubric it names.
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
) -> Suite:
    """Wire a suite given as data; see `load_suite`.

    Raises:
        ConfigError: anything in it is wrong.
    """
    lines = lines or Lines(file="")
    refuse_keys(data, lines)
    if data.get("judge") == "none":
        data = {**data, "judge": None}
    file = validate_file(SuiteFile, data, lines=lines, hints=suite_hints)
    overrides = overrides or Overrides()
    if judge is None:
        return Suite(file, base=base, lines=lines, overrides=overrides)
    if isinstance(judge, str):
        overrides = overrides.model_copy(update={"judge": judge})
        return Suite(file, base=base, lines=lines, overrides=overrides)
    if overrides.record is None:
        overrides = overrides.model_copy(update={"record": "new_episodes"})
    return Suite(file, base=base, lines=lines, overrides=overrides, judge=as_judge(judge))


def _facts_of(judge: Judge) -> JudgeFile:
    """Return what a suite would say of a judge that Python gives: what goes into every key."""
    full = as_judge(judge)
    mode: Any = full.mode
    return JudgeFile.model_construct(
        model=full.model, identity=full.identity, params=dict(full.params), mode=mode
    )


def _record(file: SuiteFile, overrides: Overrides, lines: Lines) -> RecordMode:
    if overrides.record is not None:
        return RecordMode.parse(overrides.record)
    if overrides.judges or (overrides.judge is not None and overrides.judge != "none"):
        # Naming a judge on the command line is permission to ask it.
        return RecordMode.NEW_EPISODES
    try:
        return RecordMode.parse(file.record or "none")
    except ConfigError as exc:
        raise ConfigError(str(exc), where=lines.where("record")) from exc
