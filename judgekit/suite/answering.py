"""Fill in the answers of a system under test.

The system is called like a judge, with the same providers, limits, store and tapes, so its answers
can be replayed offline.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from judgekit.cassette.cassette import Cassette
from judgekit.core.arguments import checked
from judgekit.core.case import ANSWERED, Case, has_text
from judgekit.core.errors import CaseError, ConfigError, JudgekitError
from judgekit.core.in_flight import Drain
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.limits import check_concurrent
from judgekit.core.protocols import JudgeLike
from judgekit.core.replies.text import cut_off, read_text
from judgekit.core.request import About, ChatMessage, Form
from judgekit.core.score import Failure, failure_of
from judgekit.core.suggest import suggest
from judgekit.datasets.load import Source, cases_of
from judgekit.datasets.write import case_writer
from judgekit.judges.connections import closing_connections
from judgekit.runner.progress import close, listener
from judgekit.runner.sync_form import sync_form

Field = Literal["output", "baseline"]
FIELDS: tuple[Field, ...] = get_args(Field)

_FORM = Form(want="text")
_Running = deque[tuple[Case, asyncio.Task["Answered"]]]


class Answered(NamedTuple):
    """The outcome for one case."""

    case: Case
    state: Literal["answered", "kept", "failed"]
    failure: Failure | None = None
    cut_off: bool = False
    """Whether the answer was cut off by max_tokens."""


class AnsweredCases(NamedTuple):
    """The outcome for all cases."""

    cases: list[Case]
    """The cases in order; empty if they were written to a file."""
    states: Counter[str]
    """`answered`, `kept` (unchanged) and `failed` -> number of cases."""
    failures: dict[str, Failure]
    """Case id -> reason why it has no answer."""
    cut_off: int
    """Number of answers that were cut off by max_tokens."""

    @property
    def exit_code(self) -> int:
        """3 if a case has no answer, else 0."""
        return 3 if self.states["failed"] else 0

    def __repr__(self) -> str:
        counts = ", ".join(f"{state}={count}" for state, count in sorted(self.states.items()))
        return f"AnsweredCases({counts})"

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from judgekit.core.display.html import bundle
        from judgekit.suite.display import answers_parts

        return bundle(answers_parts(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from judgekit.core.display.html import pretty

        pretty(printer, self)


AnswerFunction = Callable[..., Coroutine[Any, Any, AnsweredCases]]
"""A function with the parameters of `answer`."""


def chat_of(case: Case, *, system: str | None = None) -> tuple[ChatMessage, ...]:
    """Return the messages for a system under test: system prompt, history, input.

    Args:
        case: the case to answer.
        system: replaces the case's system prompt; blank for none.

    Raises:
        CaseError: there is no input, or the history has tool calls, which plain chat messages
            cannot represent.
    """
    prompt = case.system if system is None else system
    messages = []
    if prompt is not None and has_text(prompt):
        messages.append(ChatMessage(role="system", content=prompt))
    if any(message.tool_calls for message in case.steps):
        raise CaseError("its answer took tool calls; only a system with the tools can answer")
    for message in case.history:
        if message.role == "tool" or message.tool_calls:
            raise CaseError("its history has tool calls; only a system with the tools can answer")
        messages.append(ChatMessage(role=message.role, content=message.content))
    if case.input is not None and has_text(case.input):
        messages.append(ChatMessage(role="user", content=case.input))
    if not messages or messages[-1].role != "user":
        raise CaseError("needs an input (field 'input'), or a history that ends with the user")
    return tuple(messages)


@checked
async def answer_cases(
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
) -> AnsweredCases:
    """Fill in the answers of a system under test.

    A case that already has the field is not changed. If the system gives no answer, the field stays
    empty and `metadata` has the reason. No case is dropped, and the order is kept.

    Args:
        cases: from `load_cases` or `perturb`, or any iterable; or a source for `load_cases`.
        judge: the system under test: a model string, an async function of a request, or a judge
            such as a `LiteLLMJudge` or a `Cassette`.
        field: the field to fill in: `output`, or `baseline` for the answer to compare with.
        system: a system prompt that replaces those of the cases; blank for none.
        replace: whether to replace existing answers.
        window: number of cases that are answered concurrently.
        out: file to write the cases to; without it, they stay in memory.
        progress: called with each finished row; or `True` for a progress line.
        stop: set it to end early; the remaining cases have no answer.

    Raises:
        ConfigError: the field is unknown.
        DatasetError: a case cannot be read.
        JudgeRejected: the system rejects all requests, for example because of a wrong key.
        CassetteCorrupt: a recording is damaged.
        OSError: the file cannot be written.
    """
    if field not in FIELDS:
        raise ConfigError(f"no field {field!r} to fill{suggest(field, list(FIELDS))}")
    check_concurrent("window", window)
    listen = listener(progress)
    work = _Answering(RequestBuilder(judge), field, system, replace, stop or asyncio.Event())
    done = AnsweredCases([], Counter(), {}, 0)
    with nullcontext(done.cases.append) if out is None else case_writer(Path(out)) as write:
        async with closing_connections():
            async for row in work.rows(cases_of(cases), window):
                write(row.case)
                done.states[row.state] += 1
                if row.failure is not None:
                    done.failures[row.case.id] = row.failure
                done = done._replace(cut_off=done.cut_off + row.cut_off)
                if listen is not None:
                    listen(row)
    close(listen)
    return done


@sync_form(answer_cases)
def answer_cases_sync() -> None:
    """Answer from synchronous code; also inside a running event loop, as in a notebook.

    Ctrl-C ends the run and keeps the answers so far; a second Ctrl-C raises KeyboardInterrupt.
    """


answer_sync = answer_cases_sync
"""The former name. mypy cannot infer the type of a decorated function for an alias in the module
`judgekit`, which all modules depend on."""


class _Answering(NamedTuple):
    """Answers the cases of one call of `answer_cases`."""

    requests: RequestBuilder
    field: Field
    system: str | None
    replace: bool
    stop: asyncio.Event

    async def rows(self, cases: Iterable[Case], window: int) -> AsyncIterator[Answered]:
        """Yield all cases in order; answer up to `window` cases concurrently."""
        running: _Running = deque()
        drain = Drain()
        stopper = asyncio.create_task(self._drained(drain, running))
        try:
            for case in cases:
                if len(running) >= max(1, window):
                    yield await self._oldest(running)
                running.append((case, drain.task(self._row(case))))
            while running:
                yield await self._oldest(running)
        finally:
            stopper.cancel()
            await asyncio.gather(stopper, return_exceptions=True)
            await drain.empty([task for _, task in running])

    async def _drained(self, drain: Drain, running: _Running) -> None:
        """When `stop` is set, wait for the calls in flight, and cancel the other rows."""
        await self.stop.wait()
        await drain.empty([task for _, task in running])

    async def _oldest(self, running: _Running) -> Answered:
        """Wait for the oldest row and remove it."""
        case, task = running[0]
        await asyncio.wait({task})
        running.popleft()
        if task.cancelled() and self.stop.is_set():
            return self._failed(case, STOPPED)
        return task.result()

    async def _row(self, case: Case) -> Answered:
        if not self.replace and has_text(getattr(case, self.field)):
            return Answered(case, "kept")
        if self.stop.is_set():
            return self._failed(case, STOPPED)
        judge = self.requests.judge
        try:
            messages, about = chat_of(case, system=self.system), About(case=case.id)
            request = self.requests.request(messages=messages, form=_FORM, sample=0, about=about)
            reply = await judge.ask(request)
            text = read_text(reply)
        except JudgekitError as exc:
            failure = failure_of(exc)
            if failure is None:
                raise
            return self._failed(case, failure)
        # The request key of the answer.
        asked = judge.as_asked(request) if isinstance(judge, Cassette) else request
        note: dict[str, Any] = {"model": request.model, "key": asked.key}
        truncated = cut_off(reply)
        if truncated:
            note["cut_off"] = True
        return Answered(self._filled(case, text, note), "answered", cut_off=truncated)

    def _failed(self, case: Case, failure: Failure) -> Answered:
        note = {"model": self.requests.judge.model, "failure": f"{failure.kind}: {failure.message}"}
        return Answered(self._filled(case, None, note), "failed", failure)

    def _filled(self, case: Case, text: str | None, note: dict[str, Any]) -> Case:
        earlier = case.metadata.get(ANSWERED)
        notes = {**(earlier if isinstance(earlier, dict) else {}), self.field: note}
        update: dict[str, Any] = {self.field: text, "metadata": {**case.metadata, ANSWERED: notes}}
        if self.system is not None and self.field == "output":
            # The case records the system prompt of its output.
            update["system"] = self.system or None
        return case.model_copy(update=update)


STOPPED = Failure(kind="not_run", message="stopped before it was answered; run again to continue")
