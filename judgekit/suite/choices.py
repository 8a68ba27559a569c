"""Metrics and judges by name, as arguments in Python: what a suite file says, without the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.cassette.cassette import Cassette
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError, placed
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.protocols import Judge, JudgeLike, Metric, MetricLike
from judgekit.core.yaml_file import Lines
from judgekit.metrics.adapter import as_metric
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.versions import SUFFIX
from judgekit.runner.limits import Limits
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.judges import facts_of
from judgekit.suite.overrides import Overrides, SuiteSettings, settings_of
from judgekit.suite.plan import Planner
from judgekit.suite.resolved import resolve_data
from judgekit.suite.suite import Suite, open_suite

MetricChoice = MetricLike | str | Path
"""A metric, the name of a metric or rubric, or the path of a rubric file."""
MetricChoices = Sequence[MetricChoice] | Mapping[str, Mapping[str, Any] | None]
"""Several metrics; or their names with options, as under `metrics` in a suite file."""
JudgeChoice = JudgeLike | Mapping[str, Any]
"""A judge, a model string, or the settings of a judge, as under `judge` in a suite file."""
JudgeChoices = JudgeChoice | Sequence[JudgeChoice]
"""A judge, or a list of judges that vote."""

_EXAMPLE = "metrics=['quality', 'exact_match']"
_JUDGES = {"judge": False, "likelihood": False, "jury": True}
"""Key of an entry that names judges -> whether it names several."""
_OF_JURY = ("vote", "quorum")
_OF_NAMES = ("judge", "cassette", "record", "max_cost")
_LINES = Lines(file="")


class Recording(NamedTuple):
    """Where the judges of names are recorded, and what they may cost."""

    cassette: str | Path | None = None
    record: str | None = None
    max_cost: float | None = None


class OpenChoices:
    """Metrics that are ready to score, and the suite behind those that were chosen by name.

    Args:
        metrics: the metrics, as objects or by name.
        judge: the judge of the metrics by name; several are a jury.
        recording: the cassette, the record mode and the budget of these judges.

    Raises:
        ConfigError: a name, an option or a judge is wrong.
    """

    def __init__(
        self, metrics: MetricChoices, *, judge: JudgeChoices | None, recording: Recording
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
            self.suite = _open(entries, judge, recording)
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
            for name, value in given.items():
                if not _is_number(value):
                    raise ConfigError(f"thresholds: {name!r} needs a number, not {value!r}")
            return {**own, **given}
        first = self.metrics[0].name if self.metrics else "quality"
        if not _is_number(given):
            raise ConfigError(
                f"thresholds: a number, or metric -> number, is expected, not {given!r}; "
                f"write thresholds={{{first!r}: 0.7}}"
            )
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
            raise ConfigError(f"gates: metric -> bounds is expected, not {given!r}; {form}")
        if not isinstance(given, Mapping):
            return [*given] if not own else _refuse_two(own)
        for name, bounds in given.items():
            if isinstance(bounds, str) or not isinstance(bounds, Iterable):
                names = [metric.name for metric in self.metrics]
                example = name if name in names else names[0]
                figure = "mean" if name in names else name
                raise ConfigError(
                    f"gates: {name!r} needs a figure and its bound, not {bounds!r}; "
                    f"write gates={{{example!r}: {{{figure!r}: {bounds!r}}}}}"
                )
        return {**own, **given}

    def close(self) -> None:
        """Write the recordings."""
        if self.suite is not None:
            self.suite.close()


def _refuse_two(own: Mapping[str, Any]) -> Any:
    names = ", ".join(own)
    raise ConfigError(f"gates: {names} has a gate in its options, too; write all of them in one")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
        if isinstance(one, Rubric):
            raise ConfigError(
                f"metrics: {one.name!r} is a rubric; write its name or path, or make a metric of "
                "it: judgekit.RubricMetric(rubric, judge=...)"
            )
        if not callable(one) and not hasattr(one, "score"):
            raise ConfigError(f"metrics: {one!r:.60} is no metric; write {_EXAMPLE}")
        yield as_metric(one)


def _named(name: str | Path, options: Mapping[str, Any]) -> _Named:
    if not isinstance(name, str | Path):
        raise ConfigError(f"metrics: {name!r:.60} is no name; write {_EXAMPLE}")
    text = str(name)
    if isinstance(name, Path) or text.endswith(SUFFIX) or "/" in text or "\\" in text:
        path = Path(text).expanduser()
        return _Named(path.stem, {"rubric": str(path), **options})
    return _Named(text, dict(options))


class _Roles:
    """Gives each judge of a call a role; equal model strings have one."""

    def __init__(self) -> None:
        self.written: dict[str, Any] = {}
        """Role -> settings, of judges that are named."""
        self.ready: dict[str, Judge] = {}
        """Role -> judge, of judges that are objects."""

    def role(self, judge: Any, *, where: str, only: bool = False) -> str:
        """Return the role of a judge.

        Args:
            judge: the judge.
            where: the argument, for messages.
            only: whether it is the one judge of the call, which has the role `judge`.
        """
        named = isinstance(judge, str | Mapping)
        known = self.written if named else self.ready
        settings = dict(judge) if isinstance(judge, Mapping) else judge
        for role, other in known.items():
            if other is settings or (named and canonical_json(other) == canonical_json(settings)):
                return role
        if named:
            text = str(settings["model"] if isinstance(settings, dict) and "model" in settings
                       else settings)  # fmt: skip
            role = self._free(JUDGE if only else text)
            self.written[role] = settings
            return role
        with placed(where):
            ready = as_judge(judge)
        role = self._free(JUDGE if only else ready.model)
        self.ready[role] = ready
        return role

    def _free(self, text: str) -> str:
        """Return a role from the last part of a model string that no judge has yet."""
        plain = re.sub(r"[^A-Za-z0-9_-]", "-", text.rpartition("/")[2])[:30].strip("-")
        role = plain if plain[:1].isalpha() else f"{JUDGE}-{plain}".rstrip("-")
        taken = {*self.written, *self.ready}
        return next(r for n in count(1) if (r := role if n == 1 else f"{role}-{n}") not in taken)


def _open(
    entries: dict[str, dict[str, Any]], judge: JudgeChoices | None, recording: Recording
) -> Suite:
    roles = _Roles()
    no_judge = isinstance(judge, str) and judge == "none"
    voters = [] if no_judge else _voters(judge, roles)
    entries = {name: _with_roles(name, entry, roles) for name, entry in entries.items()}
    if not no_judge:
        entries = _with_jury(entries, voters, roles)
    _check_recording(recording, roles)
    tape = recording.cassette
    data: dict[str, Any] = {"metrics": entries, "judges": roles.written}
    data |= {} if tape is None else {"cassette": str(Path(tape).expanduser())}
    data |= {} if recording.max_cost is None else {"limits": {"max_cost": recording.max_cost}}
    overrides = Overrides(record=recording.record or "new_episodes", no_judge=no_judge)
    resolved = resolve_data(data, base=Path(), overrides=overrides, ready=roles.ready)
    # An object is what its caller made of it, such as a cassette of its own.
    return open_suite(resolved, unrecorded=() if tape is not None else tuple(roles.ready))


def _voters(judge: Any, roles: _Roles) -> list[str]:
    """Return the roles of the judges of a call."""
    if judge is None:
        return []
    if isinstance(judge, list | tuple):
        if not judge:
            raise ConfigError("judge: the list is empty; name one: judge='openai/MODEL'")
        if len(judge) > 1:
            voters = [roles.role(one, where=f"judge: {n}") for n, one in enumerate(judge, start=1)]
            for role in voters:
                if voters.count(role) > 1:
                    twice = roles.written.get(role, role)
                    raise ConfigError(f"judge: {twice!r} is named twice; name each once")
            return voters
        judge = judge[0]
    return [roles.role(judge, where="judge", only=True)]


def _with_roles(name: str, entry: Mapping[str, Any], roles: _Roles) -> dict[str, Any]:
    """Return an entry with roles instead of its judges."""
    changed = dict(entry)
    for key, several in _JUDGES.items():
        judge = entry.get(key)
        if judge is None:
            continue
        where = f"metrics: {name}: {key}"
        if not several:
            changed[key] = roles.role(judge, where=where)
        elif isinstance(judge, Mapping):
            changed[key] = {roles.role(one, where=where): share for one, share in judge.items()}
        elif isinstance(judge, list | tuple):
            changed[key] = [roles.role(one, where=where) for one in judge]
        else:
            raise ConfigError(f"{where}: a list of judges is expected, not {judge!r:.60}")
    return changed


def _with_jury(
    entries: dict[str, dict[str, Any]], voters: list[str], roles: _Roles
) -> dict[str, dict[str, Any]]:
    """Return entries with the jury of the call, where a metric has no judge.

    Raises:
        ConfigError: a metric needs a judge, and there is none.
    """
    # What a jury needs is checked with the jury, below.
    plain = {
        name: {key: value for key, value in entry.items() if key not in _OF_JURY or "jury" in entry}
        for name, entry in entries.items()
    }
    data = {"metrics": plain, "judges": roles.written}
    settings = settings_of(data, base=Path(), lines=_LINES)
    changed = dict(entries)
    for name in _asking(settings, roles):
        if any(entries[name].get(key) is not None for key in _JUDGES):
            continue
        if not voters and entries[name].get("fallback") is None:
            raise ConfigError(
                f"metrics: {name!r} needs a judge; name one: judge='openai/MODEL', or "
                "judge='none' for the computed fallback of a metric that has one"
            )
        if len(voters) > 1:
            changed[name] = {**entries[name], "jury": voters}
    return changed


def _asking(settings: SuiteSettings, roles: _Roles) -> Iterator[str]:
    """Yield the metrics that ask a judge."""
    known = {**settings.written_roles, **{r: facts_of(one) for r, one in roles.ready.items()}}
    known.setdefault(JUDGE, JudgeFile.model_construct(model="none"))
    planner = Planner(settings, folders=(), roles=known, no_judge=False)
    for name in settings.file.metrics:
        with placed("metrics"):
            plan = planner.plan(name)
        if plan.roles:
            yield name


def _check_recording(recording: Recording, roles: _Roles) -> None:
    if recording.cassette is not None and not isinstance(recording.cassette, str | Path):
        raise ConfigError(
            f"cassette: the path of a tape is expected, not {type(recording.cassette).__name__}; "
            "an open Cassette is a judge: judge=cassette"
        )
    if not isinstance(recording.record, str | None):
        raise ConfigError(
            f"record: {recording.record!r} is no record mode; write 'none' (replay only), "
            "'new_episodes' or 'all'"
        )
    cost = recording.max_cost
    if cost is not None and (not _is_number(cost) or cost <= 0):
        raise ConfigError(f"max_cost: US dollars above 0 are expected, not {cost!r}")
    for judge in roles.ready.values():
        if cost is not None:
            raise ConfigError(
                f"max_cost: {judge.model} is an object, whose price only you know; name the model "
                "as a text, or set the budget where you make it"
            )
        if recording.cassette is not None and isinstance(judge, Cassette):
            raise ConfigError("cassette: the judge is a Cassette already; leave one of them out")


def _check_unused(judge: object, recording: Recording) -> None:
    """Reject what applies to metrics by name, if there are none."""
    for name, value in zip(_OF_NAMES, (judge, *recording), strict=True):
        if value is not None:
            raise ConfigError(
                f"{name}: these metrics have their judges; leave it out, or name the metrics: "
                f"{_EXAMPLE}"
            )
