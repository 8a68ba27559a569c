"""Choose and open judges by the settings of files and flags."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.cassette.cassette import Cassette, store_opener
from judgekit.cassette.mode import RecordMode
from judgekit.core.canonical import canonical_json
from judgekit.core.credentials import credential_in
from judgekit.core.errors import ConfigError, placed
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import JudgeWrapper, as_judge
from judgekit.core.protocols import Judge
from judgekit.core.request import Reply, Request
from judgekit.core.yaml_file import Lines
from judgekit.judges.absent import AbsentJudge
from judgekit.judges.budget import Budget, CostMeter, LocalBudget
from judgekit.judges.kinds import KINDS, JudgeSetup, kind_of, open_judge
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.price import ModelPrice
from judgekit.judges.tier import check_tier
from judgekit.suite.file import LimitsFile
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.overrides import SuiteSettings
from judgekit.suite.roles import find_role
from judgekit.suite.source import NO_KEYS

if TYPE_CHECKING:
    from judgekit.batch.choice import BatchChoice
    from judgekit.batch.desk import BatchDesk
    from judgekit.cassette.store import Store
    from judgekit.judges.pace import Pace
    from judgekit.privacy.redact import Redact

_OF_ANY_MODEL = {"params", "max_reason", "timeout", "retries", "max_wait", "reasks", "cache"}
"""Settings that are kept if a flag names another model."""


def choose_judges(settings: SuiteSettings) -> dict[str, JudgeFile]:
    """Return the judges of file and flags, by role; none with `--judge none`.

    Raises:
        ConfigError: a flag names an unknown role, or two roles have the same request keys.
    """
    roles, overrides = settings.written_roles, settings.overrides
    for role in overrides.judges:
        if role != JUDGE:
            find_role(role, roles, subject=f"--judge {role}=...")
    if overrides.judge == "none":
        return {}
    models = dict(overrides.judges)
    if overrides.judge is not None:
        models[JUDGE] = overrides.judge
    for role, model in models.items():
        roles[role] = _replaced(roles.get(role), model)
    if JUDGE in roles and (overrides.params or overrides.api_base):
        judge = roles[JUDGE]
        if (place := credential_in(overrides.params)) is not None:
            raise ConfigError(f"--param {'.'.join(place)}: {NO_KEYS}")
        changes: dict[str, Any] = {"params": {**judge.params, **overrides.params}}
        if overrides.api_base:
            kind = kind_of(judge.model)
            if kind.name in KINDS and not kind.server:
                problem = f"{judge.model} is behind no address; name a model with --judge"
                raise ConfigError(problem, where=f"--api-base {overrides.api_base}")
            changes["api_base"] = overrides.api_base
        roles[JUDGE] = judge.model_copy(update=changes)
    for role, judge in roles.items():
        roles[role] = _saving(judge, tier=overrides.tier, cache=overrides.cache)
    _check_different(roles, settings.lines)
    for role, judge in roles.items():
        at = (JUDGE,) if role == JUDGE and settings.file.judge is not None else ("judges", role)
        _check_answers(judge, settings.where(*at, "answers"))
    return roles


def _check_answers(judge: JudgeFile, where: str) -> None:
    """Reject a file of answers for a judge that is no person, also if no metric uses it."""
    if judge.answers and not kind_of(judge.model).terminal:
        message = "answers belong to a judge named manual/NAME; remove them, or name the person"
        raise ConfigError(message, where=where)


def facts_of(judge: Judge) -> JudgeFile:
    """Return the settings of a judge object that go into request keys."""
    full = as_judge(judge)
    return JudgeFile.model_construct(model=full.model, **vars(full.settings))


def _replaced(judge: JudgeFile | None, model: str) -> JudgeFile:
    if judge is not None and judge.model == model:
        return judge
    # Address, key and price of the file's judge do not apply to another model.
    settings = {} if judge is None else judge.model_dump(include=_OF_ANY_MODEL)
    return JudgeFile.model_validate({**settings, "model": model})


def _saving(judge: JudgeFile, *, tier: str | None, cache: str | None) -> JudgeFile:
    """Return a judge with `--tier` and `--cache`; they are for chats behind a server.

    Raises:
        ConfigError: there is no such value, or a parameter contradicts it.
    """
    if not kind_of(judge.model).server or judge.api is not None:
        return judge
    changes: dict[str, Any] = {}
    if tier is not None:
        kept = None if tier in ("standard", judge.fallback_tier) else judge.fallback_tier
        with placed(f"--tier {tier}"):
            check_tier(tier, kept, judge.params)
        changes = {"tier": tier, "fallback_tier": kept}
    if cache is not None:
        from judgekit.judges.prompt_cache import check_caching

        with placed(f"--cache {cache}"):
            check_caching(cache, judge.params)
        changes["cache"] = cache
    return judge.model_copy(update=changes) if changes else judge


def _check_different(roles: dict[str, JudgeFile], lines: Lines) -> None:
    """Reject two roles with the same request keys: the second would replay the first."""
    seen: dict[str, str] = {}
    for role, judge in roles.items():
        names = ("model", "identity", "params", "mode", "api", "recorded", "max_reason")
        key = canonical_json([getattr(judge, name) for name in names])
        if key in seen:
            same = "same model, identity, params and mode; give one of them an identity"
            message = f"judges {seen[key]!r} and {role!r} are the same to every recording: {same}"
            raise ConfigError(message, where=lines.where("judges", role))
        seen[key] = role


class DescribedJudge(JudgeWrapper):
    """A judge with the settings of a suite, for descriptions and keys; it cannot be asked."""

    def __init__(self, file: JudgeFile) -> None:
        api: Any = "recorded" if file.recorded is not None else file.api
        settings = JudgeSettings(
            identity=file.identity,
            params=file.params,
            mode=file.mode,
            api=api,
            max_reason=file.max_reason,
            bounds_reasons=not kind_of(file.model).person,
        )
        super().__init__(AbsentJudge(file.model, settings))

    @property
    def synchronous(self) -> bool:
        """True: a refusal never waits."""
        return True

    async def ask(self, request: Request) -> Reply:
        """Refuse every request."""
        return await self.judge.ask(request)


class SharedRun(NamedTuple):
    """The resources that the processes of one run share, for one of these processes."""

    store: Callable[[], Store]
    """Opens the store of this process; another process adds its records to the tape."""
    budget: Budget | None = None
    """The budget of all processes; `None` without `limits.max_cost`."""
    pace: Callable[..., Pace] | None = None
    """Creates the shared pace for one server; takes the arguments of `LocalPace`."""


class JudgePool:
    """Judges with their own limits, a common budget and paces, behind one cassette.

    Args:
        limits: the limits of each judge, and of the servers.
        record: the record mode.
        base: folder that paths in the settings of judges are relative to.
        lines: the lines of the settings.
        written: the settings that come from a file, not from a flag.
        tape: the tape of the cassette.
        store_base: folder whose project has the store, instead of `base`.
        again: keys of recorded requests to send again.
        redact: redacts requests and recordings, if the cases are not redacted.
        trial: whether the replies stay in the store, because no judge of the suite gives them.
        budget: a budget shared with other pools, instead of `limits.max_cost`.
        shared: the resources that this process shares with others.
        generation: the generation of the built-in rubrics; by default that of the tape.
        batches: what the run does with batch jobs; by default it takes the replies of those that
            ended, and asks nothing that others have.
    """

    def __init__(
        self,
        limits: LimitsFile,
        *,
        record: RecordMode,
        base: Path,
        lines: Lines,
        written: Collection[JudgeFile],
        tape: Path | None = None,
        store_base: Path | None = None,
        again: frozenset[str] = frozenset(),
        redact: Redact | None = None,
        trial: bool = False,
        budget: Budget | None = None,
        shared: SharedRun | None = None,
        generation: int | None = None,
        batches: BatchChoice | None = None,
    ) -> None:
        self._limits, self._base, self._lines, self._written = limits, base, lines, written
        self._asking = record is not RecordMode.NONE
        self._renewing, self._shared = record is RecordMode.ALL, shared is not None
        budget = budget or (None if shared is None else shared.budget)
        self._priced = budget is not None or limits.max_cost is not None
        self._budget: Budget = budget or LocalBudget(limits.max_cost)
        self._make_pace = None if shared is None else shared.pace
        self._paces: dict[str, Pace] = {}
        """The paces of servers, by their names."""
        self._open_cassette = partial(
            Cassette,
            tape=tape,
            store=shared.store if shared is not None else store_opener(store_base or base),
            record=record,
            redact=redact,
            again=again,
            keeps_tape=shared is not None or trial,
            generation=generation,
        )
        self.cassette: Cassette | None = None
        self._open_desk = partial(
            self._batch_desk,
            home=store_base or base,
            again=again,
            record=record,
            shared=shared is not None,
        )
        self.batches = self._open_desk(batches, needed=batches is not None)

    def _batch_desk(
        self,
        choice: BatchChoice | None = None,
        *,
        needed: bool,
        home: Path,
        again: frozenset[str],
        record: RecordMode,
        shared: bool,
    ) -> BatchDesk | None:
        """Return what judges ask before their servers; `None` if there are no batch jobs."""
        if not self._asking:
            return None
        from judgekit.cassette.store import store_folder

        folder = store_folder(home)
        if not needed and not (folder / "batches.jsonl").exists():
            return None
        from judgekit.batch.choice import BatchChoice
        from judgekit.batch.desk import BatchDesk

        return BatchDesk(
            lambda: folder,
            choice=choice or BatchChoice(),
            taking=record is not RecordMode.ALL,
            again=again,
            budget=self._budget if isinstance(self._budget, LocalBudget) else None,
            suite=journal_name(self._lines.file, folder),
            following=not shared,
        )

    def add(
        self,
        judge: JudgeFile,
        *,
        at: tuple[str, ...],
        together: int = 1,
        ready: Judge | None = None,
    ) -> Judge:
        """Build a judge behind the cassette; the first judge opens it.

        Args:
            judge: its settings.
            at: path of the settings in the suite.
            together: the largest number of requests in one call.
            ready: the judge itself, if given in Python.

        Raises:
            ConfigError: a setting is wrong, or a key or price is missing.
        """
        limits, price = self._limits, None
        if self._priced and self._asking and ready is None:
            price = price_of(judge)
            if price is None:
                advice = f"give {'.'.join(at)}.price: {{input: ..., output: ...}}"
                message = f"max_cost needs the price of {judge.model}: {advice}"
                raise ConfigError(message, where=self._lines.where("limits", "max_cost"))
        kind = kind_of(judge.model)
        pace = self._pace(judge) if self._asking and kind.metered else None
        # A judge behind a server waits before each HTTP attempt, so it is made with its limits.
        itself = kind.server and ready is None
        meter = CostMeter(self._budget, judge.model, price) if itself and self._priced else None
        built = ready or make_judge(
            judge,
            base=self._base,
            lines=self._lines,
            asking=self._asking,
            at=at,
            written=judge in self._written,
            pace=pace if itself else None,
            meter=meter,
        )
        sending = judge.tier == "batch" and itself and self._asking and together == 1
        if sending:
            self._check_batches(judge, at)
            self.batches = self.batches or self._open_desk(needed=True)
        if self.batches is not None and itself and together == 1:
            from judgekit.judges.litellm import LiteLLMJudge

            if isinstance(built, LiteLLMJudge):
                known = price_of(judge) if price is None else price
                built.later = self.batches.joined(
                    model=judge.model,
                    api_base=judge.api_base,
                    api_key_env=judge.api_key_env,
                    headers=bool(judge.headers),
                    price=known,
                    sending=sending,
                )
        if together > 1:
            from judgekit.judges.litellm import LiteLLMJudge

            if isinstance(built, LiteLLMJudge):
                built.batch.calls = limits.most_calls
        limited = LimitedJudge(
            built,
            concurrency=limits.most_calls * together,
            max_outages=limits.max_outages,
            budget=self._budget,
            price=price,
            pace=None if itself else pace,
        )
        if self.batches is not None and itself:
            limited.spared = self.batches.has
        if self.cassette is not None:
            return self.cassette.for_judge(limited)
        self.cassette = self._open_cassette(limited)
        return self.cassette

    def _check_batches(self, judge: JudgeFile, at: tuple[str, ...]) -> None:
        """Reject `tier: batch` in runs that cannot send jobs, as those with the flag are."""
        problem = None
        if self._shared:
            problem = "works without --ray; leave one of them out"
        elif self._renewing:
            problem = "sends what is not recorded; use --record new_episodes"
        if problem is not None:
            where = self._lines.where(*at, "tier") if judge in self._written else ""
            raise ConfigError(f"tier: batch {problem}", where=where)

    def _pace(self, judge: JudgeFile) -> Pace | None:
        """Return the pace of a judge's server; `None` without such limits.

        A self-hosted server has one pace, because all its models share the machine. Each hosted
        model has its own pace, because providers limit models separately.
        """
        limits = self._limits
        if not limits.paced:
            return None
        from judgekit.judges.endpoint import address
        from judgekit.judges.pace import LocalPace

        name = address(judge.api_base) or judge.model
        if name not in self._paces:
            make = self._make_pace or LocalPace
            self._paces[name] = make(
                name,
                concurrency="auto" if limits.concurrency == "auto" else None,
                rpm=limits.rpm,
                tpm=limits.tpm,
                max_wait=judge.max_wait,
            )
        return self._paces[name]


def beside_jobs(judge: Judge, file: JudgeFile, *, near: Path, record: RecordMode) -> LimitedJudge:
    """Return a judge with limits, which asks nothing live that a batch job of the project has.

    Args:
        judge: the judge.
        file: its settings.
        near: folder whose project has the jobs.
        record: the record mode; with `all`, no reply comes from a job that has ended.
    """
    from judgekit.cassette.store import store_folder
    from judgekit.judges.litellm import LiteLLMJudge

    limited = LimitedJudge(judge)
    folder = store_folder(near)
    if isinstance(judge, LiteLLMJudge) and (folder / "batches.jsonl").exists():
        from judgekit.batch.desk import BatchDesk

        desk = BatchDesk(lambda: folder, taking=record is not RecordMode.ALL)
        judge.later = desk.joined(
            model=file.model,
            api_base=file.api_base,
            api_key_env=file.api_key_env,
            headers=bool(file.headers),
            price=price_of(file),
        )
        limited.spared = desk.has
    return limited


def journal_name(suite: str, home: Path) -> str:
    """Return the name of a suite file in the journal of batch jobs; empty without a file."""
    path, project = Path(suite).resolve(), home.parent
    if not suite:
        return ""
    return str(path.relative_to(project) if path.is_relative_to(project) else path)


def make_judge(
    file: JudgeFile,
    *,
    base: Path,
    lines: Lines,
    asking: bool,
    at: tuple[str, ...] = (JUDGE,),
    written: bool = True,
    pace: Pace | None = None,
    meter: CostMeter | None = None,
) -> Judge:
    """Build a judge.

    Args:
        file: its settings.
        base: folder that paths are relative to.
        lines: lines of the suite.
        asking: whether the run may call it; a replay needs no key.
        at: path of the settings in the suite.
        written: whether the settings are from the file, not from a flag.
        pace: the pace of its server, for judges that wait for it before each HTTP attempt.
        meter: charges each HTTP attempt to the budget, for the same judges.

    Raises:
        ConfigError: a setting is wrong, or the key is missing.
    """

    def where(*keys: str) -> str:
        # The settings of a flag have no line.
        return lines.where(*at, *keys) if written else ""

    _check_answers(file, where("answers"))
    settings = {name: value for name, value in file if name != "model"}
    settings["price"] = None if file.price is None else file.price.model_dump()
    setup = JudgeSetup(
        model=file.model,
        settings=settings,
        base=base,
        asking=asking,
        terminal=asks_in_terminal(file, asking=asking),
        pace=pace,
        meter=meter,
        where=where,
        private=partial(_private_folder, base),
    )
    with placed(where()):
        return open_judge(setup)


def _private_folder(base: Path) -> Path:
    from judgekit.cassette.store import store_folder

    return store_folder(base)


def asks_in_terminal(file: JudgeFile, *, asking: bool) -> bool:
    """Return whether the judge is a person who answers in this terminal."""
    return asking and kind_of(file.model).terminal and not file.answers


def price_of(file: JudgeFile) -> ModelPrice | None:
    """Return the price of a judge's model; `None` if it is unknown."""
    from judgekit.judges.prices import listed_price

    if not kind_of(file.model).metered:
        return ModelPrice(0.0, 0.0)
    if file.price is not None:
        return ModelPrice(**file.price.model_dump())
    return listed_price(file.model) if file.api_base is None else None
