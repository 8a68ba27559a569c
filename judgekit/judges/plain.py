"""Requests without questions: for an answer, a vector, or log-probabilities."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import JsonValue

from judgekit.core.errors import (
    CaseError,
    InvalidReply,
    JudgekitError,
    JudgeUnavailable,
)
from judgekit.core.in_flight import limited, waiting
from judgekit.core.replies.logprobs import logprobs_text
from judgekit.core.replies.vector import vector_text
from judgekit.core.request import Fault, Reply, Request, Try
from judgekit.judges.calls import CallResult, Calls
from judgekit.judges.payments import Payments
from judgekit.judges.rejections import PROBE, taken
from judgekit.judges.translation import BadRequest

if TYPE_CHECKING:
    import asyncio


class PlainRequests:
    """Sends requests without questions; they are never re-asked."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.batch = Batch(self._embeddings, self._takes_others)

    async def reply(self, request: Request, paid: Payments) -> Reply:
        """Return the reply to a request without questions.

        Raises:
            JudgekitError: the call failed.
        """
        if request.form.want == "embedding":
            (message,) = request.messages
            return await self.batch.ask(message.content)
        if request.form.want == "logprobs":
            return await self._logprobs(request, paid)
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        attempt, result = await self._calls.chat(messages, request.form, "text", paid=paid)
        return result.reply(attempt)

    async def takes_probe(self, request: Request, paid: Payments) -> bool:
        """Return whether the server takes a request of the same kind with another text.

        An outage or a refusal does not say that it does not.

        Raises:
            JudgeRejected: the account or the key is the problem.
        """
        if request.form.want == "embedding":
            return await self._takes_text()
        if request.form.want == "logprobs":
            return await taken(self._calls.echo(PROBE, fixed=ECHOING, paid=paid))
        messages = [{"role": "user", "content": PROBE}]
        call = self._calls.chat(messages, request.form, "text", paid=paid, retry=False)
        return await taken(call)

    async def _takes_others(self) -> bool:
        """Return whether the server takes other texts, so that only some of a batch are bad."""
        rejections = self._calls.rejections
        return rejections.taken or await rejections.probed(self._takes_text)

    async def _takes_text(self) -> bool:
        return await taken(self._calls.embed([PROBE]))

    async def _logprobs(self, request: Request, paid: Payments) -> Reply:
        """Ask a completions endpoint for the log-probabilities of a text."""
        text = "".join(message.content for message in request.messages)
        result = await self._calls.echo(text, fixed=ECHOING, paid=paid)
        attempt = result.malformed or _attempt(read_echo, result.data, text)
        return result._replace(params={**result.params, **ECHOING}).reply(attempt)

    async def _embeddings(self, texts: list[str]) -> list[Reply]:
        """Ask for the vectors of several texts in one call; return a reply for each.

        The server counts the tokens of the whole call, so a reply has them only if it was the only
        one. The cost is divided by length. An unusable vector becomes a fault.
        """
        result = await self._calls.embed(texts)
        characters = sum(map(len, texts)) or 1
        usage = result.usage if len(texts) == 1 else None
        replies = []
        for text, attempt in zip(texts, _tries(result, len(texts)), strict=True):
            cost = None if result.cost is None else result.cost * len(text) / characters
            replies.append(result._replace(usage=usage, cost=cost).reply(attempt))
        return replies


def _attempt(read: Callable[..., Try], *arguments: Any) -> Try:
    """Return the attempt that `read` makes of a response; an unusable one becomes a fault."""
    try:
        return read(*arguments)
    except InvalidReply as exc:
        return Try(fault=Fault.of(exc))


def _tries(result: CallResult, count: int) -> list[Try]:
    if result.malformed is not None:
        return [result.malformed] * count
    try:
        vectors = _in_order(result.data.get("data"), count)
    except InvalidReply as exc:
        return [Try(fault=Fault.of(exc))] * count
    return [_attempt(_vector, numbers) for numbers in vectors]


def _vector(numbers: object) -> Try:
    return Try(text=vector_text(numbers), finish="stop")


def _in_order(data: object, count: int) -> list[object]:
    """Return the vectors in the order of the texts; a server may return any order.

    Raises:
        InvalidReply: there is not exactly one vector for each text.
    """
    if not isinstance(data, (list, tuple)) or len(data) != count:
        count_given = len(data) if isinstance(data, (list, tuple)) else "no"
        raise InvalidReply(f"the server gave {count_given} embeddings for {count} texts")
    vectors: dict[object, object] = {}
    for place, entry in enumerate(data):
        fields = entry if isinstance(entry, dict) else {}
        index = fields.get("index")
        if index is not None and type(index) is not int:
            break
        vectors[place if index is None else index] = fields.get("embedding")
    if set(vectors) != set(range(count)):
        raise InvalidReply("the server numbers its embeddings in a way that fits no order")
    return [vectors[place] for place in range(count)]


ECHOING: dict[str, JsonValue] = {"echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0}
"""Parameters of the request. One token, because some servers treat 0 as "no limit"."""

_ODD = re.compile("�|^bytes:")
"""Tokens that are part of a character; servers write them differently."""


def read_echo(data: Mapping[str, Any], whole: str) -> Try:
    """Return the log-probabilities of a text as an attempt.

    Raises:
        JudgeUnavailable: the server does not echo, or echoes without log-probabilities.
        InvalidReply: the log-probabilities do not fit the text.
    """
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    choice = first if isinstance(first, dict) else {}
    text = choice.get("text")
    if not isinstance(text, str) or not text.startswith(whole):
        raise JudgeUnavailable(
            "log-probabilities are unavailable: the server does not echo the text it is given "
            "(`echo` of /completions); vLLM and llama-cpp-python do"
        )
    figures = choice.get("logprobs")
    names = ("tokens", "token_logprobs", "text_offset")
    tokens, logprobs, offsets = (_list(figures, name) for name in names)
    if tokens is None or logprobs is None:
        message = "log-probabilities are unavailable: the server echoes the text without them"
        raise JudgeUnavailable(message)
    if len(tokens) != len(logprobs) or not all(isinstance(token, str) for token in tokens):
        raise InvalidReply("the server's tokens and log-probabilities do not match")
    begins, dropped = _aligned(tokens, whole) or (_checked_offsets(tokens, offsets, text), 0)
    if begins[-1] < len(whole) and begins[-1] + len(tokens[-1]) < len(whole):
        raise InvalidReply("the server's log-probabilities end before the text does")
    stored = logprobs_text(logprobs[dropped:], begins, length=len(whole))
    return Try(text=stored, finish=choice.get("finish_reason"))


def _list(figures: object, name: str) -> list[Any] | None:
    value = figures.get(name) if isinstance(figures, dict) else None
    return value if isinstance(value, list) and value else None


def _aligned(tokens: Sequence[str], whole: str) -> tuple[list[int], int] | None:
    """Return the offsets of the tokens of the text, and the number of tokens before them.

    A start token may come first, and tokenisers may add a space before the text.
    """
    for dropped in (0, 1):
        spelt = "".join(tokens[dropped:])
        for lead in (0, 1):
            if spelt.startswith(" " * lead + whole) and len(tokens) > dropped:
                lengths = map(len, tokens[dropped:-1])
                return [max(0, at - lead) for at in accumulate(lengths, initial=0)], dropped
    return None


def _checked_offsets(tokens: Sequence[str], offsets: Sequence[Any] | None, text: str) -> list[int]:
    """Return the token offsets of the server, checked against the text.

    Raises:
        InvalidReply: an offset is wrong.
    """
    if offsets is None or len(offsets) != len(tokens):
        raise InvalidReply("the server's tokens do not spell the text")
    for token, at in zip(tokens, offsets, strict=True):
        if not isinstance(at, int) or not 0 <= at <= len(text):
            raise InvalidReply("the server's tokens are at no place in the text")
        if not _ODD.search(token) and text[at : at + len(token)] != token:
            raise InvalidReply("the server's tokens do not spell the text")
    return list(offsets)


MOST_TEXTS = 64
MOST_CHARACTERS = 100_000
"""Maximum number of characters of one call; small servers accept less than hosted providers."""
CALLS = 4
"""Concurrent calls by default."""
_LINGER = 0.005
"""Seconds to wait for more texts after the first one; a call takes much longer."""


class _Waiting(NamedTuple):
    text: str
    future: asyncio.Future[Reply]
    sent: asyncio.Event
    """Set when the call with the text begins."""


class Batch:
    """Collects texts while calls are running and sends them together.

    A rejected batch is split in halves and sent again, so only the bad text fails.

    Args:
        send: sends a batch.
        takes_others: returns whether the server takes any text at all.
    """

    def __init__(
        self,
        send: Callable[[list[str]], Awaitable[list[Reply]]],
        takes_others: Callable[[], Awaitable[bool]],
    ) -> None:
        self._send, self._takes_others = send, takes_others
        self.calls = CALLS
        """Most concurrent calls."""
        self._queue: deque[_Waiting] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, text: str) -> Reply:
        """Return the result for a text."""
        import asyncio

        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # the texts of another loop are sent there
            self._loop, self._queue, self._calls = loop, deque(), set()
        waits = _Waiting(text, loop.create_future(), asyncio.Event())
        self._queue.append(waits)
        if len(self._calls) < self.calls:
            call = loop.create_task(self._work(self._queue))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
        try:
            with waiting():
                await waits.sent.wait()
        except asyncio.CancelledError:
            waits.future.cancel()
            raise
        with limited():  # the call has a time limit, in the task of another text
            return await waits.future

    async def _work(self, queue: deque[_Waiting]) -> None:
        import asyncio

        await asyncio.sleep(_LINGER)
        while queue:
            if batch := _next(queue):
                await self._serve(batch)

    async def _serve(self, batch: list[_Waiting]) -> None:
        """Send a batch; an error affects only its texts."""
        for waits in batch:
            waits.sent.set()
        try:
            results = await self._send([waits.text for waits in batch])
            pairs = list(zip(batch, results, strict=True))
        except BaseException as exc:
            try:
                split = len(batch) > 1 and await self._is_split_after(exc)
            except JudgekitError as other:
                split, exc = False, other
            if split:
                half = len(batch) // 2
                await self._serve(batch[:half])
                await self._serve(batch[half:])
                return
            _fail(batch, exc)
            if not isinstance(exc, Exception):  # otherwise the worker goes on with the next batch
                raise
        else:
            for waits, one in pairs:
                if not waits.future.done():
                    waits.future.set_result(one)

    async def _is_split_after(self, error: BaseException) -> bool:
        """Return whether an error may be about one text of a batch."""
        if isinstance(error, BadRequest):
            return await self._takes_others()
        return isinstance(error, CaseError)


def _next(queue: deque[_Waiting]) -> list[_Waiting]:
    """Remove and return the texts of one call, without cancelled ones."""
    batch: list[_Waiting] = []
    characters = 0
    while queue and len(batch) < MOST_TEXTS:
        if queue[0].future.done():
            queue.popleft()
            continue
        characters += len(queue[0].text)
        if batch and characters > MOST_CHARACTERS:
            break
        batch.append(queue.popleft())
    return batch


def _fail(batch: list[_Waiting], error: BaseException) -> None:
    import asyncio

    for waits in batch:
        if isinstance(error, asyncio.CancelledError):
            waits.future.cancel()
        elif not waits.future.done():
            waits.future.set_exception(error)
