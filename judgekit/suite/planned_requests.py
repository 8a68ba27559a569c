"""Where the requests of a run would go: recorded, in jobs, into new jobs, or to the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from judgekit.cassette.ledger import Missed
from judgekit.core.key_rules import all_keys
from judgekit.core.request import Reply, Request
from judgekit.judges.budget import CHARACTERS_A_TOKEN, estimated_tokens
from judgekit.judges.kinds import kind_of
from judgekit.judges.price import ModelPrice
from judgekit.suite.judge_file import JudgeFile

if TYPE_CHECKING:
    from judgekit.batch.choice import BatchChoice
    from judgekit.batch.forecast import JobForecast, NewJobs


Stage = Literal["asked", "open", "ended"]
"""A request to send, one in an open job, or one with a reply in an ended job."""


class Renewed(NamedTuple):
    """Recorded replies that a run asks for again."""

    calls: int
    tokens_in: int
    tokens_out: int


class SharedPrefixes:
    """Estimates what a prompt cache does for requests with `cache: auto`, sent in this order."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._counts: Counter[bytes] = Counter()
        self._requests: list[list[tuple[bytes, int]]] = []
        """Digest and length of the prefixes of each request, the shortest first."""

    def add(self, request: Request) -> None:
        """Add a request that is sent."""
        from judgekit.judges.prompt_cache import prefix_ends

        ends = [(end.digest, end.length) for end in prefix_ends(request, self._least)]
        self._counts.update(digest for digest, _ in ends)
        self._requests.append(ends)

    def tokens(self) -> tuple[int, int]:
        """Return the estimated tokens that are read from the cache, and written to it."""
        read = written = 0
        kept: set[bytes] = set()
        for ends in self._requests:
            shared = [(digest, length) for digest, length in ends if self._counts[digest] > 1]
            known = max((length for digest, length in shared if digest in kept), default=0)
            read += known
            written += max((length for _, length in shared), default=0) - known
            kept.update(digest for digest, _ in shared)
        return read // CHARACTERS_A_TOKEN, written // CHARACTERS_A_TOKEN


class JudgeRequests:
    """The requests to one model that have no recorded reply, or whose reply is renewed."""

    def __init__(self) -> None:
        self.asked = Missed()
        """Requests that a run sends, without the renewed ones."""
        self.renewed = Renewed(0, 0, 0)
        self.open, self.ended = Missed(), Missed()
        """Requests that an open job has, and those whose reply an ended one has."""
        self.sendable = 0
        """Requests of those to send that may go into new jobs."""
        self.prefixes: SharedPrefixes | None = None
        """The shared beginnings; `None` without `cache: auto`."""
        self.jobs: NewJobs | None = None
        """The new jobs; `None` without any."""
        self.dearest = 0.0
        """Estimated US dollars of the requests in new jobs, as the budget reserves them."""
        self.unsent = 0
        """Requests that do not fit into the budget."""
        self.begun: dict[Stage, Counter[str]] = {"asked": Counter(), "open": Counter(),
                                                 "ended": Counter()}  # fmt: skip
        """Stage -> metric -> its requests after whose replies it may ask further."""

    @property
    def calls(self) -> int:
        """Number of requests to send."""
        return self.asked.calls + self.renewed.calls


class PlannedRequests:
    """Sorts the requests that a replay of a suite makes; `watch` gets each of them.

    Args:
        judges: role -> settings.
        prices: model -> price, of the models whose price is known.
        jobs: the jobs of the project; `None` without any.
        choice: what the run does with jobs.
        firsts: metric that asks in steps -> the rubric of its first one; empty for any.
        all_again: whether all recorded replies are renewed.
        again: keys of recorded replies to renew.
        most: US dollars that new jobs may cost; `None` means no limit.
    """

    def __init__(
        self,
        judges: Mapping[str, JudgeFile],
        prices: Mapping[str, ModelPrice],
        *,
        jobs: JobForecast | None,
        choice: BatchChoice,
        firsts: Mapping[str, str],
        all_again: bool,
        again: Collection[str],
        most: float | None,
    ) -> None:
        self.by_model: dict[str, JudgeRequests] = {}
        self._jobs = jobs
        self._files = {file.model: file for file in reversed([*judges.values()])}
        self._prices = prices
        self._choice, self._all_again, self._again = choice, all_again, frozenset(again)
        self._left, self._firsts = most, firsts
        self._seen: set[int] = set()
        """The first 64 bits of the keys of renewed requests."""

    def of(self, model: str) -> JudgeRequests:
        """Return the requests to a model."""
        return self.by_model.setdefault(model, JudgeRequests())

    def watch(self, request: Request, reply: Reply | None) -> None:
        """Sort one request; `reply` is the recorded one."""
        if reply is not None and not self._renews(request):
            return
        counts = self.of(request.model)
        again = reply is not None
        place = None if self._jobs is None else self._jobs.place(request, again=again)
        # With `--record all`, no reply comes from a job that has ended.
        ended = place == "ended" and again and self._all_again
        stage: Stage = "asked" if place is None or ended else place
        metric = request.about.metric
        if metric in self._firsts and self._firsts[metric] in ("", request.about.rubric):
            counts.begun[stage][metric] += 1
        if stage != "asked":
            (counts.open if stage == "open" else counts.ended).add(request)
            return
        if reply is None:
            counts.asked.add(request)
        else:
            calls, read, written = counts.renewed
            usage = reply.usage
            read += 0 if usage is None else usage.input_tokens
            written += 0 if usage is None else usage.output_tokens
            counts.renewed = Renewed(calls + 1, read, written)
        file = self._files.get(request.model)
        if file is not None and file.cache == "auto" and request.form.want == "verdict":
            self._share(request, counts)
        if file is not None and (self._choice.sending or file.tier == "batch"):
            self._send(request, counts, file)

    @property
    def rounds(self) -> tuple[int, int]:
        """Number of rounds of new jobs, if a metric asks in at most two steps.

        The second step of what an ended job has replied goes into the same round as the rest.
        """
        counts = self.by_model.values()
        low = int(any(one.sendable for one in counts))
        if not self._choice.sending and all(f.tier != "batch" for f in self._files.values()):
            return 0, 0
        if any(one.sendable and one.begun["asked"] for one in counts):
            return low, 2
        if any(one.begun["open"] for one in counts):
            return low, low + 1
        return low, max(low, int(any(one.begun["ended"] for one in counts)))

    def _renews(self, request: Request) -> bool:
        if not self._all_again and not any(key in self._again for key in all_keys(request)):
            return False
        number = int(request.key[:16], 16)
        if number in self._seen:
            return False
        self._seen.add(number)
        return True

    def _share(self, request: Request, counts: JudgeRequests) -> None:
        from judgekit.judges.prompt_cache import cache_rules

        rules = cache_rules(request.model)
        if rules is None:
            return
        if counts.prefixes is None:
            counts.prefixes = SharedPrefixes(rules.minimum * CHARACTERS_A_TOKEN)
        counts.prefixes.add(request)

    def _send(self, request: Request, counts: JudgeRequests, file: JudgeFile) -> None:
        """Count a request for a new job, if jobs take such requests."""
        from judgekit.batch.desk import share_of
        from judgekit.batch.forecast import NewJobs
        from judgekit.batch.provider import provider_of

        provider = provider_of(file.model)
        if provider is None and self._choice.file is not None:
            provider = provider_of("openai/")
        plain = request.form.want == "verdict" and request.form.api is None
        if provider is None or not plain or not kind_of(file.model).server:
            return
        counts.sendable += 1
        price = self._prices.get(file.model)
        dollars = 0.0
        if price is not None:
            dollars = price.estimate(*estimated_tokens(request))
            dollars *= share_of(provider, file.api_base)
        if self._left is not None and (counts.unsent or dollars > self._left):
            counts.unsent += 1  # after the first of them, the judge sends nothing more
            return
        self._left = None if self._left is None else self._left - dollars
        counts.dearest += dollars
        if counts.jobs is None:
            counts.jobs = NewJobs(provider)
        counts.jobs.add(request, name=file.model, params=file.params)
