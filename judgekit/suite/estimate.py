"""Estimate the requests of a suite that are not recorded: calls, tokens, cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import Field, computed_field

from judgekit.cassette.mode import RecordMode
from judgekit.cassette.store import store_folder
from judgekit.core.protocols import with_children
from judgekit.core.value import Value
from judgekit.judges.budget import ANSWER_TOKENS, CHARACTERS_A_TOKEN
from judgekit.judges.kinds import kind_of
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.file import LimitsFile
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import journal_name, price_of
from judgekit.suite.measured import MeasuredSpeed, measured_speed
from judgekit.suite.planned_requests import JudgeRequests, PlannedRequests
from judgekit.suite.resolved import ResolvedSuite
from judgekit.suite.suite import Suite, open_suite

if TYPE_CHECKING:
    from judgekit.batch.choice import BatchChoice
    from judgekit.batch.forecast import JobForecast

_CHUNK = 1 << 20
_MOST = 1 << 30
"""Maximum size of a file whose cases are counted; a larger one would delay the progress line."""
_SPREAD = 1.25
"""Factor of the range around the mean length of recorded replies."""
_ASSUMED_SPREAD = 2.0
"""Factor of the range around `ANSWER_TOKENS`."""
_MOST_RECORDS = 500
"""Number of records of the tape that are read for the length of replies."""
_SECONDS = (0.5, 5.0)
"""Assumed duration of a call, in seconds."""
_FRAME = 20
"""Assumed number of tokens of an answer beside its reason: names, value and punctuation."""
_FURTHER = 10
"""Assumed maximum of follow-up requests per request of a metric with several steps."""


class MissingCalls(Value):
    """The unrecorded requests to one model."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    """`None` if the price is unknown."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def text(self) -> str:
        """Tokens and price, as text."""
        kind = kind_of(self.model)
        if kind.person:
            return "answered by a person"
        if not kind.metered:
            price = "free"
        elif self.dollars is None:
            price = "price unknown"
        else:
            price = "less than a cent" if self.dollars < 0.01 else f"about ${self.dollars:.2f}"
        return f"about {self.tokens_in:,} tokens in and {self.tokens_out:,} out, {price}"


def more_to_come(suite: Suite) -> list[str]:
    """Return the metrics whose later requests depend on replies; those cannot be counted.

    The parts of combinations are included.
    """
    parts = (part for metric in suite.metrics for part in with_children(metric))
    return list(dict.fromkeys(part.name for part in parts if part.asks_further))


def _further_by_case(suite: Suite) -> dict[str, int]:
    """Return the metrics that know how many requests a case has after its first ones."""
    parts = [part for metric in suite.metrics for part in with_children(metric)]
    known = {part.name: getattr(part, "further_by_case", None) for part in parts}
    return {name: count for name, count in known.items() if count}


def missing_calls(suite: Suite) -> list[MissingCalls]:
    """Return the requests that a replay of a suite missed, by model."""
    if suite.cassette is None:
        return []
    ledger = suite.cassette.ledger
    calls = []
    for model, missed in ledger.missed_by.items():
        mean = _length(suite, model).mean
        read, written = missed.characters // CHARACTERS_A_TOKEN, round(mean * missed.questions)
        dollars = _dollars(suite, model, read, written)
        calls.append(
            MissingCalls(
                model=model, calls=missed.calls, tokens_in=read, tokens_out=written, dollars=dollars
            )
        )
    return calls


class _Length(NamedTuple):
    """Tokens of a reply for one question, and where the figure comes from."""

    mean: float
    source: Literal["recorded", "measured", "assumed"]
    most: float | None = None
    """The longest reply that `max_reason` allows."""

    @property
    def spread(self) -> float:
        return _SPREAD if self.source == "recorded" else _ASSUMED_SPREAD


def _length(suite: Suite, model: str) -> _Length:
    assert suite.cassette is not None  # noqa: S101 - the caller checks it
    missed = suite.cassette.ledger.missed_by.get(model)
    bound = missed.longest_reason if missed is not None else None
    most = bound / CHARACTERS_A_TOKEN + _FRAME if bound else None
    recorded = _recorded_length(suite, model)
    if recorded is not None:
        return _Length(recorded, "recorded", most)
    speed = _speed(suite, model)
    if speed is not None and speed.tokens_out is not None:
        return _Length(min(speed.tokens_out, most or math.inf), "measured", most)
    return _Length(min(ANSWER_TOKENS, most or math.inf), "assumed", most)


def _speed(suite: Suite, model: str) -> MeasuredSpeed | None:
    """Return what `doctor --ask` measured of a judge."""
    file = next((judge for judge in suite.roles.values() if judge.model == model), None)
    if file is None:
        return None
    return measured_speed(suite.base, model=model, api_base=file.api_base)


def _recorded_length(suite: Suite, model: str) -> float | None:
    """Return the mean number of tokens of a model's recorded replies, for one question.

    The replies that this run replays come first; after a change of every prompt there are none, so
    those of the tape are as good. `None` if there are neither.
    """
    assert suite.cassette is not None  # noqa: S101 - the caller checks it
    known = suite.cassette.ledger.replayed_by.get(model)
    if known is not None and known.tokens_out:
        return known.tokens_out / known.questions
    tape = suite.cassette.tape
    if tape is not None and tape.closed:  # after the end of a run
        return None
    questions = written = 0
    for record in islice(tape.records() if tape is not None else (), _MOST_RECORDS):
        usage, form = record.reply.usage, record.request.form
        if record.request.model == model and form.want == "verdict" and usage is not None:
            questions += max(1, len(form.questions))
            written += usage.output_tokens
    return written / questions if written else None


def _dollars(suite: Suite, model: str, tokens_in: float, tokens_out: float) -> float | None:
    """Return the cost of calls; `None` if the price is unknown."""
    files = {**suite.embedders.hosted, **{judge.model: judge for judge in suite.roles.values()}}
    price = price_of(files[model]) if model in files else None
    return None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1e6


class PlannedCalls(Value):
    """The requests of a run to one model; ranges are the lowest and the highest estimate."""

    model: str
    recorded: int
    """Number of requests with a recorded reply, which are not sent."""
    in_open_jobs: int = 0
    """Number of requests that an open batch job has, as far as is known without asking."""
    in_ended_jobs: int = 0
    """Number of requests whose reply an ended batch job has."""
    requests: tuple[int, int]
    """Number of requests to send."""
    batch: int = 0
    """Number of requests of the first step that go into new batch jobs."""
    jobs: int = 0
    """Number of these jobs."""
    unsent: int = 0
    """Number of requests that are not sent, because new jobs with them would exceed `max_cost`."""
    tokens_in: tuple[int, int]
    tokens_out: tuple[int, int]
    dollars: tuple[float, float] | None
    """`None` if the price is unknown."""
    tiers: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Service tier -> US dollars of the same requests at that tier, where its price differs."""
    cache_tokens: tuple[int, int] | None = None
    """Tokens of the first step that a prompt cache gives and takes: read from it, and written to
    it; `None` without `cache: auto`."""
    cache_saves: float | None = None
    """US dollars that this saves at the tier of the judge, less than 0 if writes cost more."""
    minutes: tuple[float, float]
    lengths: str
    """Source of the assumed reply length: `recorded`, `measured` or `assumed`."""


class BudgetPlan(Value):
    """What `limits.max_cost` allows."""

    max_cost: float
    held: float
    """US dollars of this suite's batch jobs that are open, or whose replies no run has taken."""
    share: tuple[float, float] | None = None
    """The part of the live requests that the rest pays for, 0..1; `None` if a price is unknown."""


class RunPlan(Value):
    """The requests of a run, estimated without a call."""

    cases: int
    models: tuple[PlannedCalls, ...] = ()
    rounds: tuple[int, int] = (0, 0)
    """Number of rounds of new batch jobs, until all requests are answered."""
    budget: BudgetPlan | None = None
    """`None` without `limits.max_cost`."""
    further: tuple[str, ...] = ()
    """Metrics whose later requests depend on replies; the upper estimates include these."""
    assumptions: tuple[str, ...] = ()
    missing: tuple[MissingCalls, ...] = Field(default=(), exclude=True)


def plan_run(resolved: ResolvedSuite, batches: BatchChoice | None = None) -> RunPlan:
    """Replay a suite without calls, and estimate the requests of a run in its record mode.

    Args:
        resolved: the suite.
        batches: what the run does with batch jobs.

    Raises:
        JudgekitError: an error that stops a run.
    """
    suite = open_suite(resolved.replaying())
    try:
        return _plan(suite, record=resolved.record, batches=batches)
    finally:
        suite.close()


def _plan(suite: Suite, *, record: RecordMode, batches: BatchChoice | None) -> RunPlan:
    from judgekit.batch.choice import BatchChoice

    cassette, choice = suite.cassette, batches or BatchChoice()
    if cassette is None:
        return RunPlan(cases=evaluate_sync(suite.cases(), suite.metrics).figures.cases)
    home = store_folder(suite.base)
    cassette.recordings.looks_in_store = home.is_dir()
    if not cassette.recordings.looks_in_store:
        cassette.recordings.forget_store()
    _check_sendable(suite.resolved.asked.values(), choice)
    most = suite.file.limits.max_cost
    jobs = _forecast(home)
    name = journal_name(suite.resolved.settings.lines.file, home)
    held = 0.0 if jobs is None else jobs.held(name)
    judges = suite.roles
    prices = {judge.model: price for judge in judges.values() if (price := price_of(judge))}
    planned = PlannedRequests(
        judges,
        prices,
        jobs=jobs,
        choice=choice,
        firsts=_first_rubrics(suite),
        all_again=record is RecordMode.ALL,
        again=suite.resolved.again,
        most=None if most is None else most - held,
    )
    cassette.ledger.watch = planned.watch
    cases = evaluate_sync(suite.cases(), suite.metrics).figures.cases
    missing = {calls.model: calls for calls in missing_calls(suite)}
    names = [*missing, *(m for m in cassette.ledger.replayed_by if m not in missing)]
    further = tuple(more_to_come(suite))
    models = tuple(
        _planned(suite, name, planned.of(name), further, cases=cases, choice=choice)
        for name in names
    )
    asked = [model for model in models if model.requests[1]]
    waits = any(model.in_open_jobs or model.in_ended_jobs for model in models)
    return RunPlan(
        cases=cases,
        models=models,
        rounds=planned.rounds,
        budget=None if most is None else _budget(most, held, planned, models),
        further=further if asked or waits else (),
        assumptions=tuple(_assumptions(suite, asked, further)),
        missing=tuple(missing.values()),
    )


def _check_sendable(judges: Iterable[JudgeFile], choice: BatchChoice) -> None:
    """Reject judges whose requests no job can have, as a run does."""
    for judge in judges:
        sending = choice.sending or judge.tier == "batch"
        if sending and kind_of(judge.model).server and judge.api is None:
            from judgekit.batch.desk import provider_for

            asked = choice._replace(sending=True)
            provider_for(judge.model, headers=bool(judge.headers), choice=asked)


def _forecast(home: Path) -> JobForecast | None:
    """Return what the jobs of a project have; `None` if there are none."""
    if not (home / "batches.jsonl").is_file():
        return None
    from judgekit.batch.forecast import JobForecast

    return JobForecast(home)


def _planned(
    suite: Suite,
    model: str,
    counts: JudgeRequests,
    further: tuple[str, ...],
    *,
    cases: int,
    choice: BatchChoice,
) -> PlannedCalls:
    assert suite.cassette is not None  # noqa: S101 - the caller checks it
    ledger, limits = suite.cassette.ledger, suite.file.limits
    known, asked, renewed = ledger.replayed_by.get(model), counts.asked, counts.renewed
    length, speed = _length(suite, model), _speed(suite, model)
    calls = counts.calls
    read = asked.characters // CHARACTERS_A_TOKEN + renewed.tokens_in
    written = round(length.mean * asked.questions) + renewed.tokens_out
    spread = length.spread
    begun = sum(counts.begun.values(), Counter[str]())
    by_case = _further_by_case(suite)
    more = sum(_FURTHER * begun[name] for name in further if name not in by_case)
    # One request of the first step may serve many cases.
    more += sum(cases * count for name, count in by_case.items() if begun[name])
    requests = calls, calls + more
    most, first = 1 + more / calls if calls else 0.0, [asked]
    if more and not calls:  # requests that follow those in jobs, and are as long
        first = [counts.open, counts.ended]
        most = more / sum(one.calls for one in first)
    longest_read = sum(one.characters for one in first) // CHARACTERS_A_TOKEN + renewed.tokens_in
    questions = sum(one.questions for one in first)
    tokens_in = read, round(longest_read * most)
    longest = (round(length.mean * questions) + renewed.tokens_out) * spread
    if length.most is not None and questions and not renewed.calls:
        longest = max(min(longest, length.most * questions), written / spread)
    tokens_out = round(written / spread), round(longest * most)
    tiers = dict(_tiers(suite, model, tokens_in, tokens_out, by_hand=choice.file is not None))
    dollars = tiers.pop("standard", None)
    sends = counts.sendable - counts.unsent
    file = next((judge for judge in suite.roles.values() if judge.model == model), None)
    tier = "batch" if sends else "standard" if file is None else file.tier
    cached = None if counts.prefixes is None else counts.prefixes.tokens()
    minutes = _minutes(limits, model, speed, requests, tokens_in, tokens_out)
    return PlannedCalls(
        model=model,
        recorded=(known.calls if known is not None else 0) - renewed.calls,
        in_open_jobs=counts.open.calls,
        in_ended_jobs=counts.ended.calls,
        requests=requests,
        batch=sends,
        jobs=0 if counts.jobs is None else counts.jobs.count,
        unsent=counts.unsent,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        dollars=tiers.get(tier, dollars),
        tiers={} if dollars is None or not tiers else {"standard": dollars, **tiers},
        cache_tokens=cached,
        cache_saves=None if cached is None else _cache_saves(file, tier, cached),
        minutes=minutes,
        lengths=length.source,
    )


def _minutes(
    limits: LimitsFile,
    model: str,
    speed: MeasuredSpeed | None,
    requests: tuple[int, int],
    tokens_in: tuple[int, int],
    tokens_out: tuple[int, int],
) -> tuple[float, float]:
    """Return how long live requests take."""
    at_once = (256, 8) if limits.concurrency == "auto" else (limits.concurrency,) * 2
    minutes = []
    seconds = _seconds(speed)
    for n in (0, 1):
        times = [requests[n] * seconds[n] / at_once[n] / 60]
        if isinstance(limits.rpm, int):
            times.append(requests[n] / limits.rpm)
        if isinstance(limits.tpm, int):
            times.append((tokens_in[n] + tokens_out[n]) / limits.tpm)
        minutes.append(round(max(times), 2) if kind_of(model).metered else 0.0)
    return minutes[0], minutes[1]


def _tiers(
    suite: Suite,
    model: str,
    tokens_in: tuple[int, int],
    tokens_out: tuple[int, int],
    *,
    by_hand: bool,
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield service tiers with the US dollars of requests: `standard`, and those that differ."""
    from judgekit.batch.desk import share_of
    from judgekit.batch.provider import provider_of
    from judgekit.judges.prices import listed_price

    file = next((judge for judge in suite.roles.values() if judge.model == model), None)
    low, high = (_dollars(suite, model, tokens_in[n], tokens_out[n]) for n in (0, 1))
    if low is None or high is None:
        return
    yield "standard", (round(low, 6), round(high, 6))
    if file is None or file.api_base is not None or by_hand:
        return
    flex = None if file.price is not None else listed_price(model, "flex")
    if flex is not None and flex[:2] != (listed_price(model) or flex)[:2]:
        prices = [(tokens_in[n] * flex.input + tokens_out[n] * flex.output) / 1e6 for n in (0, 1)]
        yield "flex", (round(prices[0], 6), round(prices[1], 6))
    provider = provider_of(model)
    if provider is not None and (share := share_of(provider, file.api_base)) != 1.0:
        yield "batch", (round(low * share, 6), round(high * share, 6))


def _cache_saves(file: JudgeFile | None, tier: str, cached: tuple[int, int]) -> float | None:
    """Return the US dollars that a prompt cache saves; `None` if a price is unknown."""
    from judgekit.judges.prices import listed_price

    price = None if file is None else price_of(file)
    if file is not None and tier == "flex" and file.price is None and file.api_base is None:
        price = listed_price(file.model, tier)
    if price is None or tier == "batch":  # providers differ in what jobs read from a cache
        return None
    rates = price.rates()
    read, written = cached
    saves = read * (rates.read - rates.cache_read) + written * (rates.read - rates.cache_write)
    return round(saves, 6)


def _first_rubrics(suite: Suite) -> dict[str, str]:
    """Return the metrics that ask in steps, with the rubric of the first; empty for any."""
    parts = (part for metric in suite.metrics for part in with_children(metric))
    further = [part for part in parts if part.asks_further]
    return {p.name: p.rubrics[0].name if len(p.rubrics) > 1 else "" for p in further}


def _budget(
    most: float, held: float, planned: PlannedRequests, models: Sequence[PlannedCalls]
) -> BudgetPlan:
    """Return what the budget allows."""
    reserved = sum(one.dearest for one in planned.by_model.values())
    live = [model for model in models if model.requests[0] > model.batch + model.unsent]
    known = [model.dollars for model in live if model.dollars is not None]
    share = None
    if len(known) == len(live):
        left = max(0.0, most - held - reserved)
        full = [sum(dollars[n] for dollars in known) for n in (1, 0)]
        low, high = (1.0 if cost <= left else left / cost for cost in full)
        share = (round(low, 4), round(high, 4))
    return BudgetPlan(max_cost=most, held=round(held, 6), share=share)


def _seconds(speed: MeasuredSpeed | None) -> tuple[float, float]:
    """Return the range of the duration of a call: measured, or assumed."""
    if speed is None:
        return _SECONDS
    return speed.seconds / _ASSUMED_SPREAD, speed.seconds * _ASSUMED_SPREAD


def _assumptions(
    suite: Suite, asked: Sequence[PlannedCalls], further: tuple[str, ...]
) -> Iterator[str]:
    if not asked:
        return
    yield f"{CHARACTERS_A_TOKEN} characters a token"
    if any(model.lengths == "assumed" for model in asked):
        low, high = ANSWER_TOKENS / _ASSUMED_SPREAD, ANSWER_TOKENS * _ASSUMED_SPREAD
        yield f"{low:g} to {high:g} tokens an answer"
    if any(model.lengths == "recorded" for model in asked):
        yield "replies as long as the recorded ones"
    if any(model.lengths == "measured" for model in asked):
        yield "replies as long as those of doctor --ask"
    if any(_length(suite, model.model).most is not None for model in asked):
        yield "reasons of at most max_reason characters"
    calls = suite.file.limits.concurrency
    at_once = "8 to 256" if calls == "auto" else str(calls)
    speeds = {model.model: _speed(suite, model.model) for model in asked}
    if not all(speeds.values()):
        yield f"{_SECONDS[0]:g} to {_SECONDS[1]:g} seconds a call, {at_once} calls at a time"
    for name, speed in speeds.items():
        if speed is not None:
            low, high = _seconds(speed)
            yield (
                f"{low:.2g} to {high:.2g} seconds a call of {name}, around the median of"
                f" doctor --ask, {at_once} calls at a time"
            )
    by_case = _further_by_case(suite)
    if others := [name for name in further if name not in by_case]:
        yield f"up to {_FURTHER} further requests after each of {', '.join(others)}"
    for name in further:
        if name in by_case:
            yield f"up to {by_case[name]} a case of {name} after its lists of requirements"


def expected_cases(suite: Suite) -> int | None:
    """Count the cases of a suite by lines; return `None` if lines are not cases."""
    path, limit = suite.data.source()
    if (inline := suite.data.count) is not None:
        return None if suite.data.narrowed else min(inline, limit or inline)
    entry = suite.file.cases_file
    plain = entry is None or (
        entry.container in (None, "auto", "jsonl") and entry.format != "turns"
    )
    file = Path(path)
    plain = plain and not suite.data.narrowed and file.suffix in (".jsonl", ".ndjson")
    if not plain or not file.is_file():
        return None
    count = 0
    with suppress(OSError), file.open("rb") as lines:
        for number, chunk in enumerate(iter(partial(lines.read, _CHUNK), b"")):
            if number * _CHUNK > _MOST or b'"turn_index"' in chunk:  # several lines make a case
                return None
            count += chunk.count(b"\n")
            last = chunk
        count += bool(count == 0 or not last.endswith(b"\n"))
    return count if limit is None else min(count, limit)
