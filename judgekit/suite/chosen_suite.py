"""The suite behind metrics that were chosen by name in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.cassette import Cassette
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError, placed
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.limits import check_cost
from judgekit.core.protocols import Judge
from judgekit.core.yaml_file import Lines
from judgekit.suite.choice import JudgeChoices, Recording
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.judges import facts_of
from judgekit.suite.overrides import Overrides, SuiteSettings, settings_of
from judgekit.suite.plan import Planner
from judgekit.suite.resolved import resolve_data
from judgekit.suite.suite import Suite, open_suite

if TYPE_CHECKING:
    from judgekit.batch.choice import BatchChoice

_JUDGES = {"judge": False, "likelihood": False, "jury": True}
"""Key of an entry that names judges -> whether it names several."""
_OF_JURY = ("vote", "quorum")
_LINES = Lines(file="")


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
            if getattr(ready, "tier", None) == "batch":
                raise _no_jobs(ready)
        role = self._free(JUDGE if only else ready.model)
        self.ready[role] = ready
        return role

    def _free(self, text: str) -> str:
        """Return a role from the last part of a model string that no judge has yet."""
        plain = re.sub(r"[^A-Za-z0-9_-]", "-", text.rpartition("/")[2])[:30].strip("-")
        role = plain if plain[:1].isalpha() else f"{JUDGE}-{plain}".rstrip("-")
        taken = {*self.written, *self.ready}
        return next(r for n in count(1) if (r := role if n == 1 else f"{role}-{n}") not in taken)


def _no_jobs(judge: Judge) -> ConfigError:
    model = as_judge(judge).model
    return ConfigError(
        f"judge: {model} is an object, and no job has its requests; name a model, with its tier as "
        "in {'model': ..., 'tier': 'batch'}"
    )


def open_chosen(
    entries: dict[str, dict[str, Any]],
    judge: JudgeChoices | None,
    recording: Recording,
    batches: BatchChoice | None = None,
) -> Suite:
    """Open a suite of metrics by name.

    Args:
        entries: name -> options.
        judge: the judge of the call.
        recording: where its replies are recorded.
        batches: what the run does with batch jobs.

    Raises:
        ConfigError: a name, an option or a judge is wrong.
    """
    roles = _Roles()
    no_judge = isinstance(judge, str) and judge == "none"
    voters = [] if no_judge else _voters(judge, roles)
    entries = {name: _with_roles(name, entry, roles) for name, entry in entries.items()}
    if not no_judge:
        entries = _with_jury(entries, voters, roles)
    _check_recording(recording, roles)
    if batches is not None and batches.sending and roles.ready:
        raise _no_jobs(next(iter(roles.ready.values())))
    tape = recording.cassette
    data: dict[str, Any] = {"metrics": entries, "judges": roles.written}
    data |= {} if tape is None else {"cassette": str(Path(tape).expanduser())}
    data |= {} if recording.max_cost is None else {"limits": {"max_cost": recording.max_cost}}
    overrides = Overrides(record=recording.record or "new_episodes", no_judge=no_judge)
    resolved = resolve_data(data, base=Path(), overrides=overrides, ready=roles.ready)
    # An object is what its caller made of it, such as a cassette of its own.
    unrecorded = () if tape is not None else tuple(roles.ready)
    return open_suite(resolved, unrecorded=unrecorded, batches=batches)


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
    cost = recording.max_cost
    check_cost(cost)
    for judge in roles.ready.values():
        if cost is not None:
            raise ConfigError(
                f"max_cost: {judge.model} is an object, whose price only you know; name the model "
                "as a text, or set the budget where you make it"
            )
        if recording.cassette is not None and isinstance(judge, Cassette):
            raise ConfigError("cassette: the judge is a Cassette already; leave one of them out")
