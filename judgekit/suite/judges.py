"""The judges of a suite: which ones flags and file name, how they are made, behind one cassette."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.store_opener import store_opener
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Judge
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import Lines
from judgekit.judges.limits import LimitedJudge, Purse
from judgekit.suite.file import JUDGE, JudgeFile, Overrides, SuiteFile

_OF_ANY_MODEL = {"params", "timeout", "retries", "max_wait", "reasks"}
"""Settings that stay when a flag names another model."""


def roles_of(file: SuiteFile, *, lines: Lines) -> dict[str, JudgeFile]:
    """Return the judges a file names, by role.

    Raises:
        ConfigError: two of them are named `judge`.
    """
    if file.judge is None:
        return dict(file.judges)
    if JUDGE in file.judges:
        where = lines.where("judges", JUDGE)
        raise ConfigError("`judge:` and `judges: {judge: ...}` are one role; keep one", where=where)
    return {JUDGE: file.judge, **file.judges}


def choose_judges(file: SuiteFile, overrides: Overrides, *, lines: Lines) -> dict[str, JudgeFile]:
    """Return the judges that file and flags name, by role; none where nobody is to judge.

    Raises:
        ConfigError: a flag names a role that the file does not have, or two roles would be asked
            exactly the same.
    """
    roles = roles_of(file, lines=lines)
    for role in overrides.judges:
        if role not in roles and role != JUDGE:
            raise ConfigError(f"--judge {role}=...: no such role{suggest(role, list(roles))}")
    if overrides.judge == "none":
        return {}
    wanted = dict(overrides.judges)
    if overrides.judge is not None:
        wanted[JUDGE] = overrides.judge
    for role, model in wanted.items():
        roles[role] = _replaced(roles.get(role), model)
    if JUDGE in roles and (overrides.params or overrides.api_base):
        judge = roles[JUDGE]
        changes: dict[str, Any] = {"params": {**judge.params, **overrides.params}}
        if overrides.api_base:
            changes["api_base"] = overrides.api_base
        roles[JUDGE] = judge.model_copy(update=changes)
    _check_different(roles, lines)
    return roles


def _replaced(judge: JudgeFile | None, model: str) -> JudgeFile:
    if judge is not None and judge.model == model:
        return judge
    # Another model: where to find it and what it costs are not those of the file's judge.
    kept = {} if judge is None else judge.model_dump(include=_OF_ANY_MODEL)
    return JudgeFile.model_validate({**kept, "model": model})


def _check_different(roles: dict[str, JudgeFile], lines: Lines) -> None:
    """Refuse two roles whose requests have the same key: the second would repeat the first."""
    seen: dict[str, str] = {}
    for role, judge in roles.items():
        key = canonical_json([judge.model, judge.identity, judge.params, judge.mode])
        if key in seen:
            raise ConfigError(
                f"judges {seen[key]!r} and {role!r} are one to every recording: same model, "
                "identity, params and mode; give one of them an identity",
                where=lines.where("judges", role),
            )
        seen[key] = role


class Bench:
    """The judges of a suite, each within its own limits, behind one cassette.

    Raises:
        ConfigError: a setting is wrong, a key is not there, or a price is not known.
    """

    def __init__(
        self,
        roles: Mapping[str, JudgeFile],
        *,
        file: SuiteFile,
        base: Path,
        lines: Lines,
        record: RecordMode,
        again: frozenset[str],
        given: Mapping[str, Judge] | None = None,
    ) -> None:
        self._file, self._base, self._lines = file, base, lines
        self._record, self._again = record, again
        self._given = dict(given or {})
        self._purse = Purse(file.limits.max_cost)
        self.judges: dict[str, Judge] = {}
        self.cassette: Cassette | None = None
        for role, judge in roles.items():
            at = (JUDGE,) if role == JUDGE and file.judge is not None else ("judges", role)
            self.judges[role] = self.seat(judge, at=at, ready=self._given.get(role))

    def seat(
        self,
        judge: JudgeFile,
        *,
        at: tuple[str, ...],
        together: int = 1,
        ready: Judge | None = None,
    ) -> Judge:
        """Make a judge and put it behind the cassette, which the first one brings along.

        Args:
            judge: what the suite says of it.
            at: where in the suite it is written.
            together: how many requests one call may hold.
            ready: the judge itself, where Python gives one.

        Raises:
            ConfigError: a setting is wrong, a key is not there, or a price is not known.
        """
        limits = self._file.limits
        asking = self._record is not RecordMode.NONE
        if limits.max_cost is not None and asking and ready is None:
            check_price(judge, lines=self._lines, setting=".".join(at))
        written = judge in roles_of(self._file, lines=self._lines).values()
        made = ready or make_judge(
            judge, base=self._base, lines=self._lines, asking=asking, at=at, written=written
        )
        if together > 1 and hasattr(made, "batch"):
            made.batch.calls = limits.concurrency
        limited = LimitedJudge(
            made,
            concurrency=limits.concurrency * together,
            max_outages=limits.max_outages,
            purse=self._purse,
        )
        if self.cassette is not None:
            return self.cassette.for_judge(limited)
        self.cassette = Cassette(
            limited,
            tape=self._base / self._file.cassette if self._file.cassette else None,
            store=store_opener(self._base),
            record=self._record,
            again=self._again,
        )
        return self.cassette


def make_judge(
    file: JudgeFile,
    *,
    base: Path,
    lines: Lines,
    asking: bool,
    at: tuple[str, ...] = (JUDGE,),
    written: bool = True,
) -> Judge:
    """Make a judge.

    Args:
        file: what the suite says of it.
        base: folder that paths are relative to.
        lines: where the suite's settings stand.
        asking: whether the run may ask it; a replay needs no key.
        at: where in the suite it is written.
        written: whether the suite says it as it is, not a flag.

    Raises:
        ConfigError: a setting is wrong, or the key it names is not there.
    """
    if file.model.startswith("manual/"):
        from judgekit.judges.manual import ManualJudge

        if file.model == "manual/":
            raise ConfigError("name the person who judges: manual/NAME", where=lines.where(*at))
        if asks_in_terminal(file, asking=asking):
            return _person(file, base=base, where=lines.where(*at))
        path = base / file.answers if file.answers else None
        if not asking and path is not None and path.is_file():
            path = None  # a replay asks nobody, so the answers are not read
        return ManualJudge(file.model, path)
    if file.answers:
        where = lines.where(*at, "answers")
        raise ConfigError(
            "answers belong to a judge named manual/NAME; remove them, or name the person",
            where=where,
        )
    if file.model.startswith("fake/"):
        from judgekit.judges.fake import FakeJudge

        return FakeJudge(model=file.model)
    if file.model.startswith("python/"):
        return _installed(file, asking=asking, where=lines.where(*at))
    if file.model.startswith("transformers/"):
        return _on_this_machine(file, base=base, asking=asking, where=lines.where(*at))
    where = lines.where(*at) if written else ""
    try:
        return _asked_by_litellm(file, lines=lines, asking=asking, at=at)
    except ConfigError as exc:
        raise exc if exc.where else ConfigError(str(exc), where=where) from exc


def _asked_by_litellm(file: JudgeFile, *, lines: Lines, asking: bool, at: tuple[str, ...]) -> Judge:
    from judgekit.judges.litellm import LiteLLMJudge

    key = os.environ.get(file.api_key_env) if file.api_key_env else None
    if file.api_key_env and key is None and asking:
        where = lines.where(*at, "api_key_env")
        from judgekit.judges.credentials import variable_shown

        shown = variable_shown(file.api_key_env)
        raise ConfigError(f"{shown} is not set in the environment; set it", where=where)
    return LiteLLMJudge(
        file.model,
        api_base=file.api_base,
        api_key=key,
        params=dict(file.params),
        identity=file.identity,
        mode=file.mode,
        timeout=file.timeout,
        retries=file.retries,
        max_wait=file.max_wait,
        reasks=file.reasks,
        price=(file.price.input, file.price.output) if file.price else None,
    )


def _installed(file: JudgeFile, *, asking: bool, where: str) -> Judge:
    from judgekit.judges.named import installed_judge

    try:
        return installed_judge(file.model, identity=file.identity, params=file.params)
    except ConfigError as exc:
        raise ConfigError(str(exc), where=where) from exc


def _on_this_machine(file: JudgeFile, *, base: Path, asking: bool, where: str) -> Judge:
    if file.params:
        raise ConfigError(
            f"{file.model} takes no params; its figures are what they are", where=where
        )
    if not asking:  # a replay needs neither the model nor what it runs on
        from judgekit.judges.absent import AbsentJudge

        return AbsentJudge(file.model, file.identity)
    from judgekit.judges.local import TransformersJudge

    try:
        return TransformersJudge(file.model, base=base, identity=file.identity)
    except ConfigError as exc:
        raise ConfigError(str(exc), where=where) from exc


def asks_in_terminal(file: JudgeFile, *, asking: bool) -> bool:
    """Return whether a run asks a person in the terminal it runs in."""
    return asking and file.model.startswith("manual/") and not file.answers


def _person(file: JudgeFile, *, base: Path, where: str) -> Judge:
    from judgekit.cassette.store import store_folder
    from judgekit.judges.manual import ManualJudge
    from judgekit.judges.terminal import Console

    try:
        terminal = Console()
    except ConfigError as exc:
        raise ConfigError(f"{file.model}: {exc}", where=where) from exc
    return ManualJudge(file.model, terminal=terminal, drafts=store_folder(base) / "drafts")


def check_price(file: JudgeFile, *, lines: Lines, setting: str = JUDGE) -> None:
    """Refuse a cost limit on a judge whose price is not known.

    Raises:
        ConfigError: neither the suite nor the list of prices has one.
    """
    from judgekit.judges.providers import listed_price

    free = file.model.startswith(("manual/", "fake/", "transformers/"))
    if not free and file.price is None and (file.api_base or listed_price(file.model) is None):
        raise ConfigError(
            f"max_cost needs the price of {file.model}: "
            f"give {setting}.price: {{input: ..., output: ...}}",
            where=lines.where("limits", "max_cost"),
        )
