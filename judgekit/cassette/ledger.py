"""Counts and costs of the replies and misses of a run."""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Literal

from judgekit.core.request import Reply, Request

Origin = Literal["live", "tape", "store"]


class Missed:
    """Missed requests: not recorded, and not allowed by the record mode."""

    def __init__(self) -> None:
        self.calls = 0
        self.characters = 0
        """Length of their messages, in characters."""
        self.questions = 0
        """Number of their questions."""
        self.longest_reason: int | None = 0
        """The largest `max_reason` of their forms, in characters; `None` if one has none."""

    def add(self, request: Request) -> None:
        """Add one request."""
        self.calls += 1
        self.characters += sum(len(message.content) for message in request.messages)
        if request.form.api is not None:  # the API receives the form and returns no text
            self.characters += len(request.form.canonical)
        elif request.form.want in ("verdict", "text"):  # other kinds have no generated tokens
            self.questions += max(1, len(request.form.questions))
            bound = request.form.max_reason
            if bound is None or self.longest_reason is None:
                self.longest_reason = None
            else:
                self.longest_reason = max(bound, self.longest_reason)


class Replayed:
    """Recorded replies of one model."""

    def __init__(self) -> None:
        self.calls = 0
        self.questions = 0
        """Number of questions in replies with known tokens."""
        self.tokens_in = 0
        self.tokens_out = 0


class Savings:
    """What prompt caches and service tiers did for replies."""

    def __init__(self) -> None:
        self.read = 0
        """Tokens that providers read from their prompt caches."""
        self.written = 0
        """Tokens that they wrote to them."""
        self.dollars = 0.0
        """US dollars that both saved, less what the writes cost more."""
        self.tiers: Counter[str] = Counter()
        """Service tier -> replies of a tier other than the standard one."""

    def add(self, reply: Reply) -> None:
        """Add one reply."""
        if reply.usage is not None:
            self.read += reply.usage.cache_read_tokens
            self.written += reply.usage.cache_write_tokens
        self.dollars += reply.saved or 0.0
        if reply.tier is not None:
            self.tiers[reply.tier] += 1

    def facts(self) -> dict[str, Any]:
        """Return the figures for `run.json`; empty without cache and tiers."""
        facts: dict[str, Any] = {}
        if self.read or self.written:
            facts["cache_tokens"] = {"read": self.read, "written": self.written}
        if self.tiers:
            facts["tiers"] = dict(sorted(self.tiers.items()))
        if facts:
            facts["saved"] = round(self.dollars, 6)
        return facts


class Ledger:
    """Counts and costs of the replies and misses of a run."""

    def __init__(self) -> None:
        self.origins: Counter[str] = Counter()
        self.spent = 0.0
        """Cost of live replies with a known price, in US dollars."""
        self.avoided = 0.0
        """Cost of the replayed replies when they were recorded, in US dollars."""
        self.unpriced = 0
        """Number of live replies without a known price."""
        self.unpriced_replays = 0
        self.savings = Savings()
        """Of live replies."""
        self.missed_by: defaultdict[str, Missed] = defaultdict(Missed)
        """Model -> missed requests."""
        self.replayed_by: defaultdict[str, Replayed] = defaultdict(Replayed)
        """Model -> its recorded replies."""
        self.watch: Callable[[Request, Reply | None], None] | None = None
        """Called with each request: once without a reply, or with each recorded one."""
        self._missed: set[int] = set()
        """The first 64 bits of the missed keys; numbers need half the memory of texts."""
        self.older: Counter[str] = Counter()
        """Name of a key rule -> replies that were recorded under the older form of their key."""
        self.superseded = 0
        """Number of replies whose request is recorded under an older form of its key, too."""
        self.servers: defaultdict[str, set[str]] = defaultdict(set)
        """Model -> names of the servers that replied, if they report one."""
        self._by_origin: defaultdict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
        """Model -> replies by the name of the server and by whether they are live."""
        self.reported: defaultdict[str, set[str]] = defaultdict(set)
        """Model -> model names in the replies."""

    @property
    def missed(self) -> int:
        """Number of missed requests."""
        return sum(missed.calls for missed in self.missed_by.values())

    def miss(self, request: Request) -> None:
        """Count one missed request."""
        number = int(request.key[:16], 16)
        if number in self._missed:  # several metrics may send the same request
            return
        self._missed.add(number)
        self.missed_by[request.model].add(request)
        if self.watch is not None:
            self.watch(request, None)

    def replayed(self, request: Request, reply: Reply) -> None:
        """Count one recorded reply of a model and its length."""
        if self.watch is not None:
            self.watch(request, reply)
        model = self.replayed_by[request.model]
        model.calls += 1
        usage = reply.usage
        if usage is not None:
            model.questions += max(1, len(request.form.questions))
            model.tokens_in += usage.input_tokens
            model.tokens_out += usage.output_tokens

    def mixed(self, model: str) -> list[str]:
        """Return the servers or models that replied for a model; empty if there is only one."""
        servers = _different(self.servers.get(model, set()))
        several = servers if len(servers) > 1 else self.reported.get(model, set())
        return sorted(several) if len(several) > 1 else []

    def changed(self, model: str) -> int:
        """Return the number of replayed replies whose server had other weights than it has now.

        The server has the same name for the model, and another size, quantisation or digest.
        """
        counts = self._by_origin.get(model, Counter())
        live = [_facts(name) for name, is_live in counts if is_live]
        return sum(
            count
            for (name, is_live), count in counts.items()
            if not is_live and any(_contradict(_facts(name), now) for now in live)
        )

    def add(self, origin: Origin, request: Request, reply: Reply) -> None:
        """Count one reply, and record its server and its model."""
        self.origins[origin] += 1
        if reply.server is not None:
            self.servers[request.model].add(reply.server)
            self._by_origin[request.model][reply.server, origin == "live"] += 1
        if reply.model is not None:
            self.reported[request.model].add(reply.model)
        if origin == "live":
            self.savings.add(reply)
            if reply.cost is None:
                self.unpriced += 1
            else:
                self.spent += reply.cost
            return
        self.replayed(request, reply)
        if reply.cost is None:
            self.unpriced_replays += 1
        else:
            self.avoided += reply.cost


def _different(names: set[str]) -> set[str]:
    """Return names without less detailed names of the same server.

    Older tapes have shorter names: `x (7 parameters)` for `x (7 parameters, 9 bytes)`.
    """
    facts = {name: _facts(name) for name in names}
    return {
        name
        for name, (base, known) in facts.items()
        if not any(base == other and known < more for other, more in facts.values())
    }


def _facts(name: str) -> tuple[str, frozenset[str]]:
    base, _, facts = name.partition(" (")
    return base, frozenset(facts.removesuffix(")").split(", ") if facts else ())


def _contradict(one: tuple[str, frozenset[str]], other: tuple[str, frozenset[str]]) -> bool:
    """Return whether two names are of one model and neither is only less detailed."""
    return one[0] == other[0] and not (one[1] <= other[1] or other[1] <= one[1])
