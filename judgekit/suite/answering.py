"""Answer: cases in, the same cases out with what a system under test says to them.

This is the one place where judgekit asks anything but a judge. It asks as judges are asked:
the same providers, limits, store and tapes, so that answers replay offline as verdicts do.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.store_opener import store_opener
from judgekit.core.case import ANSWERED, Case, has_text
from judgekit.core.errors import CaseError, ConfigError, JudgekitError
from judgekit.core.failure import failure_of
from judgekit.core.file_model import validate_file
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.protocols import JudgeLike
from judgekit.core.replies.text import cut_off, read_text
from judgekit.core.request import About, ChatMessage, Form, Request
from judgekit.core.score import Failure
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import Lines
from judgekit.datasets.load import Source, cases_of
from judgekit.datasets.write import case_writer
from judgekit.judges.connections import closing_connections
from judgekit.judges.limits import LimitedJudge
from judgekit.runner.progress import listener
from judgekit.suite.file import JudgeFile, RedactFile
from judgekit.suite.judges import make_judge
from judgekit.suite.redaction import make_redactor

Field = Literal["output", "baseline"]
FIELDS: tuple[Field, ...] = ("output", "baseline")
PARAMS: Mapping[str, Any] = {"max_tokens": 256, "temperature": 0.0, "top_p": 1.0}
"""How a system is asked unless something else is said."""

_FORM = Form(want="text")


class Answered(NamedTuple):
    """One row, and what became of it."""

    case: Case
    state: Literal["answered", "kept", "failed"]
    failure: Failure | None = None
    cut_off: bool = False
    """Whether max_tokens ended the answer."""


class Answers(NamedTuple):
    """What came of a whole file."""

    cases: list[Case]
    """In their order; left empty where they were written to a file."""
    states: Counter[str]
    """How many were `answered`, `kept` as they were, or `failed`."""
    failures: dict[str, Failure]
    """By case: why it has no answer."""
    cut_off: int
    """Answers that max_tokens ended."""

    @property
    def exit_code(self) -> int:
        """0, or 3 where a case was left without an answer."""
        return 3 if self.states["failed"] else 0

    def __repr__(self) -> str:
        counts = ", ".join(f"{state}={count}" for state, count in sorted(self.states.items()))
        return f"Answers({counts})"

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from judgekit.core.display.answers import answers_parts
        from judgekit.core.display.bundle import bundle

        return bundle(answers_parts(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from judgekit.core.display.bundle import pretty

        pretty(printer, self)


def chat_of(case: Case, *, system: str | None = None) -> tuple[ChatMessage, ...]:
    """Return what a system is asked about a case: system prompt, history, input.

    Args:
        case: what to ask about.
        system: stands in place of the case's own system prompt; blank is none at all.

    Raises:
        CaseError: there is nothing to answer, or the history calls tools, which a chat of plain
            messages cannot show.
    """
    told = case.system if system is None else system
    messages = []
    if told is not None and has_text(told):
        messages.append(ChatMessage(role="system", content=told))
    for message in case.history:
        if message.role == "tool" or message.tool_calls:
            raise CaseError("its history calls tools; only a system that has them can answer it")
        messages.append(ChatMessage(role=message.role, content=message.content))
    if case.input is not None and has_text(case.input):
        messages.append(ChatMessage(role="user", content=case.input))
    if not messages or messages[-1].role != "user":
        raise CaseError("needs an input (field 'input'), or a history that ends with the user")
    return tuple(messages)


async def answer(
    cases: Source,
    judge: JudgeLike,
    *,
    field: Field = "output",
    system: str | None = None,
    replace: bool = False,
    window: int = 32,
    out: str | Path | None = None,
    progress: Callable[[Answered], None] | bool | None = None,
    stop: asyncio.Event | None = None,
) -> Answers:
    """Fill in what a system under test says to each case.

    A case that has the field already is kept as it is. One that gets no answer is left without,
    and says why in its `metadata`; nothing is dropped. The answers come in the order of the cases.

    Args:
        cases: from `load_cases` or `perturb`, or any iterable; also whatever `load_cases` takes.
        judge: the system under test: a model string, an async function of a request, or a judge
            such as a `LiteLLMJudge` or a `Cassette` around one.
        field: `output`, or `baseline` for the answer to compare with.
        system: a system prompt in place of the cases' own; blank for none.
        replace: whether cases that have the field are answered anew.
        window: cases under way at once.
        out: file to write as they come; they are kept in memory only without one.
        progress: called with each row as it leaves; or `True` for a line that is written over.
        stop: set it to end early; what is not answered then is left so.

    Raises:
        ConfigError: no such field.
        DatasetError: a case cannot be read.
        JudgeRejected: the system takes no request like these.
        CassetteCorrupt: a recording was damaged.
        OSError: the file cannot be written.
    """
    if field not in FIELDS:
        raise ConfigError(f"no field {field!r} to fill{suggest(field, list(FIELDS))}")
    tell = listener(progress)
    work = _Answering(judge, field=field, system=system, replace=replace)
    done = Answers([], Counter(), {}, 0)
    keep = done.cases.append
    with nullcontext(keep) if out is None else case_writer(Path(out)) as write:
        async with closing_connections():
            async for row in work.rows(cases_of(cases), window, stop or asyncio.Event()):
                write(row.case)
                done.states[row.state] += 1
                if row.failure is not None:
                    done.failures[row.case.id] = row.failure
                done = done._replace(cut_off=done.cut_off + row.cut_off)
                if tell is not None:
                    tell(row)
    if close := getattr(tell, "close", None):
        close()
    return done


def answer_sync(cases: Source, judge: JudgeLike, **options: Any) -> Answers:
    """Answer from synchronous code; also inside a running event loop, as in a notebook.

    Takes what `answer` takes. Ctrl-C ends it with what there is; a second one raises.
    """
    from judgekit.runner.background import run_stoppable

    return run_stoppable(partial(answer, cases, judge), options)


class _Answering:
    """One file under way."""

    def __init__(
        self, judge: JudgeLike, *, field: Field, system: str | None, replace: bool
    ) -> None:
        self._field = field
        self._system = system
        self._replace = replace
        self._requests = RequestBuilder(judge)
        self._judge = self._requests.judge

    async def rows(
        self, cases: Iterable[Case], window: int, stop: asyncio.Event
    ) -> AsyncIterator[Answered]:
        """Yield every case in its order; so many are asked about at once."""
        under_way: deque[_UnderWay] = deque()
        stopper = asyncio.create_task(_on(stop, under_way))
        try:
            for case in cases:
                while len(under_way) >= max(1, window):
                    yield await self._oldest(under_way, stop)
                under_way.append(_UnderWay(case, asyncio.create_task(self._row(case, stop))))
            while under_way:
                yield await self._oldest(under_way, stop)
        finally:
            left = [stopper, *(row.task for row in under_way)]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _oldest(self, under_way: deque[_UnderWay], stop: asyncio.Event) -> Answered:
        """Wait for the oldest row; it stays among those under way until it is done."""
        case, task = under_way[0]
        try:
            row = await task
        except asyncio.CancelledError:
            if not (task.cancelled() and stop.is_set()):
                raise
            row = self._failed(case, _STOPPED)  # called off before it began
        under_way.popleft()
        return row

    async def _row(self, case: Case, stop: asyncio.Event) -> Answered:
        if not self._replace and has_text(getattr(case, self._field)):
            return Answered(case, "kept")
        if stop.is_set():
            return self._failed(case, _STOPPED)
        try:
            request = self._request(case)
            reply = await self._judge.ask(request)
            text = read_text(reply)
        except asyncio.CancelledError:
            if not stop.is_set():
                raise
            return self._failed(case, _STOPPED)
        except JudgekitError as exc:
            failure = failure_of(exc)
            if failure is None:
                raise
            return self._failed(case, failure)
        ended = cut_off(reply)
        note: dict[str, Any] = {"model": request.model, "key": self._key(request)}
        if ended:
            note["cut_off"] = True
        return Answered(self._filled(case, text, note), "answered", cut_off=ended)

    def _request(self, case: Case) -> Request:
        return self._requests.request(
            messages=chat_of(case, system=self._system),
            form=_FORM,
            sample=0,
            about=About(case=case.id),
        )

    def _key(self, request: Request) -> str:
        """Return the key the answer is recorded under."""
        if isinstance(self._judge, Cassette):
            request = self._judge.as_asked(request)
        return request.key

    def _failed(self, case: Case, failure: Failure) -> Answered:
        said = f"{failure.kind}: {failure.message}"
        note = {"model": self._judge.model, "failure": said}
        return Answered(self._filled(case, None, note), "failed", failure)

    def _filled(self, case: Case, text: str | None, note: dict[str, Any]) -> Case:
        noted = case.metadata.get(ANSWERED)
        notes = {**(noted if isinstance(noted, dict) else {}), self._field: note}
        update: dict[str, Any] = {self._field: text, "metadata": {**case.metadata, ANSWERED: notes}}
        if self._system is not None and self._field == "output":
            # The case says under which system prompt its output was written.
            update["system"] = self._system or None
        return case.model_copy(update=update)


_STOPPED = Failure(kind="not_run", message="stopped before it was answered; run again to go on")


class _UnderWay(NamedTuple):
    case: Case
    task: asyncio.Task[Answered]


async def _on(stop: asyncio.Event, under_way: deque[_UnderWay]) -> None:
    """Call off what is under way when the wish to stop comes."""
    await stop.wait()
    for row in under_way:
        row.task.cancel()


def open_system(
    model: str,
    *,
    api_base: str | None = None,
    api_key_env: str | None = None,
    identity: str | None = None,
    params: Mapping[str, Any] | None = None,
    cassette: Path | None = None,
    record: str = "new_episodes",
    redact: Iterable[str] = (),
    concurrency: int = 8,
) -> Cassette:
    """Return a system under test behind its limits, a tape and the store.

    Args:
        model: the name that litellm uses, such as `openai/NAME`.
        api_base: address of a server of your own.
        api_key_env: environment variable that holds the key.
        identity: what really answers under that name; part of every key.
        params: what shapes an answer, in place of or beside `PARAMS`; `None` leaves one out.
        cassette: tape to replay from and record to; the store alone without one.
        record: `none`, `new_episodes` or `all`.
        redact: names of what is built in, or patterns; what they find is neither asked nor
            recorded.
        concurrency: calls in flight.

    Raises:
        ConfigError: one of these is wrong, or there is no such tape to replay.
        CassetteCorrupt: the tape is damaged.
    """
    wanted = {**PARAMS, **(params or {})}
    lines = Lines(file="")
    file = validate_file(
        JudgeFile,
        {
            "model": model,
            "api_base": api_base,
            "api_key_env": api_key_env,
            "identity": identity,
            "params": {name: value for name, value in wanted.items() if value is not None},
        },
        lines=lines,
    )
    if model.startswith("manual/"):
        raise ConfigError(f"{model} is a person, who gives verdicts only; name a model")
    if concurrency < 1:
        raise ConfigError("concurrency must be at least 1")
    mode = RecordMode.parse(record)
    if mode is RecordMode.NONE and cassette is not None and not cassette.exists():
        raise ConfigError(f"{cassette}: no such cassette to replay")
    asking = mode is not RecordMode.NONE
    judge = make_judge(file, base=Path(), lines=lines, asking=asking)
    rules = validate_file(RedactFile, {"redact": list(redact)}, lines=lines)
    return Cassette(
        LimitedJudge(judge, concurrency=concurrency),
        tape=cassette,
        store=store_opener(cassette.parent if cassette is not None else Path()),
        record=mode,
        redact=make_redactor(rules, lines=lines),
    )


__all__ = [
    "FIELDS",
    "PARAMS",
    "Answered",
    "Answers",
    "answer",
    "answer_sync",
    "chat_of",
    "open_system",
]
