"""A suite: metrics, judges and cases, built from its file and flags."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.cassette import Cassette
from judgekit.core.arguments import checked
from judgekit.core.case import Case
from judgekit.core.generation import of_generation
from judgekit.core.input_file import home_path
from judgekit.core.protocols import Judge, JudgeLike, Metric
from judgekit.core.value import Displayed
from judgekit.core.yaml_file import Lines
from judgekit.suite.build import Builder, SuiteEmbedders
from judgekit.suite.judge_file import JUDGE
from judgekit.suite.judges import JudgePool, SharedRun
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import ResolvedSuite, resolve, resolve_data

if TYPE_CHECKING:
    from judgekit.batch.choice import BatchChoice
    from judgekit.batch.desk import BatchDesk, BatchFacts
    from judgekit.core.display.parts import DisplayPart as Shown
    from judgekit.report.run_labels import RunLabels


class Suite(Displayed):
    """A suite that is ready to run: a resolved suite with its judges, from `open_suite`."""

    def __init__(
        self,
        resolved: ResolvedSuite,
        *,
        judges: Mapping[str, Judge],
        cassette: Cassette | None,
        embedders: SuiteEmbedders,
        metrics: list[Metric],
        batches: BatchDesk | None = None,
    ) -> None:
        self.batches = batches
        """What judges ask before their servers; `None` if there are no batch jobs."""
        self.batch_facts: BatchFacts | None = None
        """What the run did with batch jobs, when it has ended."""
        self.resolved = resolved
        """What was known before anything was opened."""
        self.judges = judges
        """The judges behind the cassette, by role."""
        self.cassette = cassette
        """The cassette in front of all judges; `None` without a judge."""
        self.embedders, self.metrics = embedders, metrics
        self.file, self.base = resolved.file, resolved.base
        self.roles, self.no_judge = resolved.roles, resolved.no_judge
        self.record, self.redact = resolved.record, resolved.redact
        self.folders, self.plans = resolved.folders, resolved.plans
        self.thresholds, self.limits = resolved.thresholds, resolved.limits
        self.gates, self.written_gates, self.unchecked = resolved.gates
        self.against = resolved.against
        self.rules = resolved.rules._replace(paid=self._paid)
        """The settings of all gates."""
        self.data = resolved.cases()
        """The cases."""

    def __repr__(self) -> str:
        names = ", ".join(metric.name for metric in self.metrics)
        return f"Suite({(self.file.name or str(self.base))!r}, metrics=[{names}])"

    def _parts_shown(self) -> Iterator[Shown]:
        from judgekit.suite.display import suite_parts

        return suite_parts(self)

    @property
    def at_once(self) -> bool:
        """Whether a run never waits: all metrics are computed or replayed."""
        return all(metric.synchronous for metric in self.metrics)

    def where(self, *path: str | int) -> str:
        """Return `file:line` of a setting."""
        return self.resolved.settings.where(*path)

    @property
    def judge(self) -> Judge | None:
        """The judge of the role `judge`."""
        return self.judges.get(JUDGE)

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
    def labels(self) -> RunLabels | None:
        """The labels for corrected means."""
        return self.resolved.labels

    @property
    def answered_by(self) -> str | None:
        """The model that answered all cases, if this run evaluates its answers."""
        return self.resolved.answered_by

    @property
    def partial(self) -> bool:
        """Whether flags restrict the run to a part of the suite."""
        return self.resolved.partial

    @property
    def flags(self) -> dict[str, Any]:
        """The flags that must be equal for all shards."""
        return self.resolved.flags

    def manifest(self) -> dict[str, Any]:
        """Return the settings that affect the numbers, independent of the machine."""
        return self.resolved.manifest()

    def use_answers(self, cases: Sequence[Case], *, model: str) -> None:
        """Use these cases, which a model answered, instead of those of the file."""
        self.data.answered = cases
        self.resolved = self.resolved.answered(model)

    def close(self) -> None:
        """Write the recordings and close the cassette."""
        if self.batches is not None:
            self.batches.finish(send=False)
        if self.cassette is not None:
            self.cassette.close()


def open_suite(
    resolved: ResolvedSuite,
    *,
    shared: SharedRun | None = None,
    trial: bool = False,
    unrecorded: Collection[str] = (),
    batches: BatchChoice | None = None,
) -> Suite:
    """Open the judges, the cassette and the store of a resolved suite.

    Args:
        resolved: from `resolve`.
        shared: the resources that this process shares with others, if a run has several processes.
        trial: whether the replies of a judge that a flag names instead of the file's stay in the
            private store, unless a flag names a record mode.
        unrecorded: roles whose judges are used as they are given, without cassette and limits.
        batches: what the run does with batch jobs; see `JudgePool`.

    Raises:
        ConfigError: a key or a price is missing, or a judge cannot be opened.
        CassetteCorrupt: the tape is damaged.
    """
    settings = resolved.settings
    file = settings.file
    pool = JudgePool(
        file.limits,
        record=resolved.record,
        base=settings.base,
        lines=settings.lines,
        written=settings.written_roles.values(),
        tape=settings.base / home_path(file.cassette) if file.cassette else None,
        again=resolved.again,
        trial=trial and settings.tries_a_judge,
        shared=shared,
        generation=resolved.generation,
        batches=batches,
    )
    judges = {
        role: pool.add(
            judge,
            at=(JUDGE,) if role == JUDGE and file.judge is not None else ("judges", role),
            ready=resolved.ready.get(role),
        )
        if role not in unrecorded
        else resolved.ready[role]
        for role, judge in resolved.asked.items()
    }
    known = resolved.roles or settings.written_roles
    embedders = SuiteEmbedders(settings, roles=known, add_judge=pool.add)
    builder = Builder(judges=judges, embedders=embedders, lines=settings.lines)
    # A metric that asks nothing is complete; it may have loaded a model of its own.
    with of_generation(resolved.generation):
        metrics = [
            builder.metric(plan) if plan.asks else metric
            for plan, metric in zip(resolved.plans, resolved.metrics, strict=True)
        ]
    return Suite(
        resolved,
        judges=judges,
        cassette=pool.cassette,
        embedders=embedders,
        metrics=metrics,
        batches=pool.batches,
    )


@checked
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
    return open_suite(resolve(path, overrides, judge=judge))


def build_suite(
    data: Mapping[str, Any],
    *,
    base: Path,
    lines: Lines | None = None,
    overrides: Overrides | None = None,
    judge: JudgeLike | None = None,
    shared: SharedRun | None = None,
    generation: int | None = None,
) -> Suite:
    """Build a suite from data; see `load_suite`.

    Args:
        data: the content of the file.
        base: the folder that paths in it are relative to.
        lines: the lines of the file.
        overrides: settings that replace those of the file.
        judge: the judge of the role `judge`.
        shared: the resources that this process shares with others, if a run has several processes.
        generation: the generation of the built-in rubrics; by default that of the tape.

    Raises:
        ConfigError: the data is wrong.
    """
    resolved = resolve_data(
        data, base=base, lines=lines, overrides=overrides, judge=judge, generation=generation
    )
    return open_suite(resolved, shared=shared)
