"""Prompt caches of providers: what the requests of a run share, and the order to send them in.

A provider keeps the beginning of a prompt and charges a tenth for it when it comes again. So the
first request with a beginning is sent alone, and those that wait for it follow when it returns.
What is sent for the cache is no part of a key, and of no record.
"""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from judgekit.core.errors import (
    BudgetExceeded,
    CircuitOpen,
    ConfigError,
    JudgePending,
    JudgeRejected,
    RequestRejected,
)
from judgekit.core.in_flight import waiting
from judgekit.core.request import Request, Usage
from judgekit.core.sourced import read_tables
from judgekit.core.suggest import suggest
from judgekit.judges.budget import CHARACTERS_A_TOKEN

if TYPE_CHECKING:
    import asyncio

PromptCaching = Literal["none", "auto"]
PROMPT_CACHINGS: tuple[PromptCaching, ...] = ("none", "auto")
_DATA = Path(__file__).with_name("data") / "prompt_caches.json"
_MINIMUM = "prompt_cache_min_tokens"
_MOST_PREFIXES = 4096
"""Maximum number of prefixes to remember: those of cases are over soon."""
_LINGER = 0.002
_STEPS = 5
"""Steps of the event loop after that, because a busy one is late with everything."""


class CacheRules(NamedTuple):
    """How the prompt cache of a model is used."""

    minimum: int
    """Tokens of the shortest prefix that is kept."""
    seconds: float
    """How long a prefix stays without use."""
    mark: str | None
    """Field of a content part after which the prefix ends; `None` if the provider finds it."""
    value: Mapping[str, Any]
    key: str | None
    """Parameter for the digest of the prefix."""
    options: Mapping[str, Any]
    """Fields of every request, also of those that share nothing."""
    job_value: Mapping[str, Any] = {}
    """Value of the mark in a batch job, whose requests are answered within hours, if it differs."""


def check_caching(caching: str, params: Mapping[str, Any]) -> None:
    """Check the setting of a judge.

    Raises:
        ConfigError: there is no such setting, or parameters of the judge contradict it.
    """
    if caching not in PROMPT_CACHINGS:
        raise ConfigError(f"no cache {caching!r}{suggest(caching, PROMPT_CACHINGS)}")
    if caching == "none":
        return
    extra = params.get("extra_body")
    for row in read_tables(_DATA)["caches"]:
        for name in (row.get("key"), *row.get("options", {})):
            if name and (name in params or (isinstance(extra, dict) and name in extra)):
                raise ConfigError(f"params.{name} and cache: auto are both set; remove one")


@cache
def cache_rules(model: str) -> CacheRules | None:
    """Return how the prompt cache of a model is used; `None` if that is not known."""
    from judgekit.judges.prices import price_entry  # a suite without caching needs no prices

    provider, slash, name = model.partition("/")
    if not slash:
        provider, name = "openai", model
    entry = price_entry(model)
    for row in read_tables(_DATA)["caches"]:
        if provider not in row["providers"] or row.get("models", "") not in name.lower():
            continue
        if row.get("known") and not entry:
            continue
        if row.get("explicit") and not entry.get("supports_prompt_cache_breakpoint"):
            continue
        minimum = entry.get(_MINIMUM)
        return CacheRules(
            int(minimum) if isinstance(minimum, int | float) else row["minimum"],
            row["seconds"],
            row.get("mark"),
            row.get("value", {}),
            row.get("key"),
            row.get("options", {}),
            row.get("job_value", {}),
        )
    return None


class _Prefix:
    """A beginning of requests in one event loop."""

    def __init__(self) -> None:
        self.requests = 0
        """Requests of this run that begin with it."""
        self.warm_until = 0.0
        """Time of the loop until which the provider should have it."""
        self.first: PrefixTurn | None = None
        """The request that is sent alone."""
        self.waiting: deque[asyncio.Future[bool]] = deque()
        """Requests that wait; the result says whether they need not wait for another."""
        self.kept = True
        """Whether the provider keeps it; it may be shorter than it seems."""

    def wake(self) -> None:
        """Let the next request that waits go on: it is the first one, unless it has to wait."""
        while self.waiting:
            future = self.waiting.popleft()
            if not future.done():
                future.set_result(False)
                return

    def free(self, *, over: bool) -> None:
        """Let all requests that wait go on; `over` if they must not wait again."""
        waiting, self.waiting = self.waiting, deque()
        for future in waiting:
            if not future.done():
                future.set_result(over)


class _End(NamedTuple):
    """The end of a prefix of one request."""

    message: int
    """The message it is in."""
    characters: int
    """The characters of this message that belong to it."""
    prefix: _Prefix


class PrefixTurn:
    """The place of one request among those that share a prefix with it."""

    def __init__(self, of: PromptCache, request: Request) -> None:
        self.of, self.request = of, request
        self.ends: list[_End] = []
        """The ends of its prefixes, the shortest first."""

    @property
    def shared(self) -> list[_End]:
        """The ends of the prefixes that another request of this run has too."""
        return [end for end in self.ends if end.prefix.requests > 1 and end.prefix.kept]

    def succeed(self, warm_until: float) -> None:
        """Note a response: its prefixes are in the cache, so all that wait go on."""
        for end in self.shared:
            end.prefix.warm_until = warm_until
        self._leave(free=True, over=False)

    def fail(self, *, for_all: bool) -> None:
        """Note an error: the next request is the first one, or no request has to wait."""
        self._leave(free=for_all, over=for_all)

    def step_down(self) -> None:
        """Let the next request be the first one."""
        for end in self.ends:
            if end.prefix.first is self:
                end.prefix.first = None
                end.prefix.wake()

    def leave_unshared(self) -> None:
        """Lead no prefix that no other request has so far: it is sent without a mark."""
        for end in self.ends:
            if end.prefix.first is self and end.prefix.requests == 1:
                end.prefix.first = None

    def _leave(self, *, free: bool, over: bool) -> None:
        for end in self.ends:
            prefix = end.prefix
            if prefix.first is self:
                prefix.first = None
            # Also where it did not lead: a prefix may have got cold without a first request.
            if prefix.first is None and free:
                prefix.free(over=over)
            elif prefix.first is None:
                prefix.wake()


_turn: ContextVar[PrefixTurn | None] = ContextVar("turn", default=None)


def step_down() -> None:
    """Let the next request be the first one: this one waits before another attempt."""
    turn = _turn.get()
    if turn is not None:
        turn.step_down()


class Marks(NamedTuple):
    """What one call sends for the cache."""

    rules: CacheRules
    ends: tuple[_End, ...]
    digest: str | None
    """Of the longest shared prefix."""
    in_job: bool = False

    def added_to(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters with those for the cache; SDKs do not know all of them."""
        rules, sent = self.rules, dict(params)
        if rules.key is not None and self.digest is not None:
            sent[rules.key] = self.digest
        if rules.options:
            extra = sent.get("extra_body")
            sent["extra_body"] = {**(extra if isinstance(extra, dict) else {}), **rules.options}
        return sent

    def placed(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the messages with a mark at the end of each shared prefix."""
        rules = self.rules
        if rules.mark is None or not self.ends:
            return messages
        value = (self.in_job and rules.job_value) or rules.value
        cuts: dict[int, list[int]] = {}
        for end in self.ends:
            cuts.setdefault(end.message, []).append(end.characters)
        sent = list(messages)
        for number, places in cuts.items():
            text, parts, start = str(messages[number]["content"]), list[dict[str, Any]](), 0
            for place in places:
                part = {"type": "text", "text": text[start:place], rules.mark: dict(value)}
                parts.append(part)
                start = place
            if start < len(text):
                parts.append({"type": "text", "text": text[start:]})
            sent[number] = {**messages[number], "content": parts}
        return sent

    def note(self, usage: Usage | None) -> None:
        """Note whether the provider keeps the prefixes: a marked one is written, or read."""
        if usage is None or self.rules.mark is None or not self.ends:
            return
        if not (usage.cache_read_tokens or usage.cache_write_tokens):
            for end in self.ends:
                end.prefix.kept = False


class PromptCache:
    """The prompt cache of one judge, in one run.

    Args:
        model: the model, for messages.
        rules: how its cache is used.
        linger: seconds in which requests that are made together arrive.
    """

    def __init__(self, model: str, rules: CacheRules, *, linger: float = _LINGER) -> None:
        self._model, self._rules, self._linger = model, rules, linger
        self._least = rules.minimum * CHARACTERS_A_TOKEN
        self._known: WeakKeyDictionary[asyncio.AbstractEventLoop, OrderedDict[bytes, _Prefix]] = (
            WeakKeyDictionary()
        )
        self.refused = False
        """Whether the server takes nothing for the cache."""

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[None]:
        """Wait until a request may be sent: while the first one with its prefix is on its way.

        The body sends it. The wait comes before that for slots, pace and budget.
        """
        import asyncio

        present = _turn.get()
        if self.refused or (present is not None and present.of is self):
            yield  # a wrapper has waited
            return
        turn = self._arrived(request)
        if turn.ends:
            with waiting():
                await asyncio.sleep(self._linger)
                for _ in range(_STEPS):
                    await asyncio.sleep(0)
            await self._first_or_warm(turn)
        token = _turn.set(turn)
        try:
            yield
        except BaseException as exc:
            turn.fail(for_all=_is_for_all(exc))
            raise
        finally:
            _turn.reset(token)
        turn.succeed(asyncio.get_running_loop().time() + self._rules.seconds)

    def marks(self, messages: list[dict[str, Any]], *, in_job: bool = False) -> Marks | None:
        """Return what a call with these messages sends for the cache.

        Args:
            messages: those of the request that has its turn, or more; a probe has others.
            in_job: whether a batch job has the call: no request of it is known to be the first.
        """
        import asyncio

        turn, rules = _turn.get(), self._rules
        if self.refused:
            return None
        shared: list[_End] = []
        if turn is not None and _begins(messages, turn.request):
            turn.leave_unshared()
            shared = turn.shared
        if not shared:
            return Marks(rules, (), None) if rules.options else None
        if in_job:
            return Marks(rules, tuple(shared), _name(messages, shared[-1]), in_job=True)
        now = asyncio.get_running_loop().time()
        # One that another request is writing now would be written twice.
        marked = [e for e in shared if e.prefix.first is turn or e.prefix.warm_until > now]
        return Marks(rules, tuple(marked), _name(messages, shared[-1]))

    def leave(self, error: str) -> bool:
        """Send nothing for the cache any more, if an error is about it; return if it is.

        Another call may have found that out in the meantime: the request is then sent again.
        """
        rules = self._rules
        names = (rules.key, rules.mark, *rules.options)
        if not any(name is not None and name in error for name in names):
            return False
        if not self.refused:
            self.refused = True
            logging.getLogger("judgekit").warning(
                "%s: cache: auto has no effect, because the server does not take it: %.200s",
                self._model,
                error,
            )
        return True

    def _arrived(self, request: Request) -> PrefixTurn:
        """Count a request under each of its prefixes that is long enough."""
        import asyncio

        prefixes = self._known.setdefault(asyncio.get_running_loop(), OrderedDict())
        turn = PrefixTurn(self, request)
        for found in prefix_ends(request, self._least):
            prefix = self._prefix(prefixes, found.digest)
            turn.ends.append(_End(found.message, found.place, prefix))
        for end in turn.ends:
            end.prefix.requests += 1
        return turn

    @staticmethod
    def _prefix(prefixes: OrderedDict[bytes, _Prefix], digest: bytes) -> _Prefix:
        prefix = prefixes.get(digest)
        if prefix is None:
            prefix = prefixes[digest] = _Prefix()
            while len(prefixes) > _MOST_PREFIXES:
                prefixes.popitem(last=False)
        prefixes.move_to_end(digest)
        return prefix

    async def _first_or_warm(self, turn: PrefixTurn) -> None:
        """Return when the request is the first one of its cold prefixes, or all are warm."""
        import asyncio

        loop = asyncio.get_running_loop()
        over = False
        while not over:
            ends = (end.prefix for end in turn.ends if end.prefix.kept)
            cold = [prefix for prefix in ends if prefix.warm_until <= loop.time()]
            led = next((prefix for prefix in cold if prefix.first is not None), None)
            if led is None:
                for prefix in cold:
                    prefix.first = turn
                return
            future: asyncio.Future[bool] = loop.create_future()
            led.waiting.append(future)
            try:
                with waiting():
                    over = await future
            except BaseException:
                if future.done() and not future.cancelled():
                    led.wake()  # in its place
                raise


class PrefixEnd(NamedTuple):
    """The end of a beginning that other requests may have, too."""

    digest: bytes
    message: int
    """The message it is in."""
    place: int
    """The characters of this message that belong to it."""
    length: int
    """Characters of all messages up to it."""


def prefix_ends(request: Request, least: int) -> Iterator[PrefixEnd]:
    """Yield the ends of the prefixes of a request of at least so many characters, in order."""
    # Providers put the schema of the reply before the messages.
    digest = hashlib.sha256(_bytes(request.instructions))
    length, messages = 0, request.messages
    for number, message in enumerate(messages):
        last = number == len(messages) - 1
        start = 0
        for place in _ends_of(message.content, message.shared if last else 0):
            digest.update(message.role.encode() + b"\0" + _bytes(message.content[start:place]))
            length += place - start
            start = place
            # One end before the last message is enough: that of the instructions.
            if length < least or (not last and number != len(messages) - 2):
                continue
            yield PrefixEnd(digest.digest(), number, place, length)


def _ends_of(text: str, shared: int) -> list[int]:
    """Return where prefixes end in a message: after what other requests share, and at its end."""
    return [shared, len(text)] if 0 < shared < len(text) else [len(text)]


def _begins(messages: list[dict[str, Any]], request: Request) -> bool:
    """Return whether messages begin with those of a request; those of a probe do not."""
    return len(messages) >= len(request.messages) and all(
        sent["role"] == message.role and str(sent["content"]).startswith(message.content)
        for sent, message in zip(messages, request.messages, strict=False)
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _name(messages: list[dict[str, Any]], end: _End) -> str:
    """Return the digest of a prefix for the provider, 32 hexadecimal characters."""
    digest = hashlib.sha256()
    for message in messages[: end.message]:
        digest.update(_bytes(str(message["content"])))
    digest.update(_bytes(str(messages[end.message]["content"])[: end.characters]))
    return digest.hexdigest()[:32]


def _is_for_all(error: BaseException) -> bool:
    """Return whether no request can be answered, so that none has to wait."""
    if isinstance(error, RequestRejected):
        return False
    return isinstance(error, JudgeRejected | BudgetExceeded | CircuitOpen | JudgePending)
