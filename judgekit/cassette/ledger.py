"""A ledger: what was asked, what was not, and what it cost."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from judgekit.core.request import Reply, Request

Origin = Literal["live", "tape", "store"]


class Missed:
    """Requests that could not be answered."""

    def __init__(self) -> None:
        self.calls = 0
        self.characters = 0
        """Length of their messages."""
        self.questions = 0
        """Questions they put."""


class Ledger:
    """What was asked, what was not, and what it cost."""

    def __init__(self) -> None:
        self.origins: Counter[str] = Counter()
        self.spent = 0.0
        """US dollars for live replies with a known price."""
        self.avoided = 0.0
        """US dollars that recorded replies cost when they were live."""
        self.unpriced = 0
        """Live replies with no known price."""
        self.unpriced_replays = 0
        self.missed_by: dict[str, Missed] = {}
        """By model, the requests that were neither recorded nor allowed."""
        self._missed: set[int] = set()
        """The beginnings of their keys; as numbers they take half of the room."""
        self.servers: dict[str, set[str]] = {}
        """By model, what the servers that answered call themselves, as far as they said."""
        self.reported: dict[str, set[str]] = {}
        """By model, the names under which replies came."""

    @property
    def missed(self) -> int:
        """How many requests were neither recorded nor allowed."""
        return sum(missed.calls for missed in self.missed_by.values())

    def miss(self, request: Request) -> None:
        """Count one request that could not be answered."""
        number = int(request.key[:16], 16)
        if number in self._missed:  # asked once, however many metrics ask it
            return
        self._missed.add(number)
        missed = self.missed_by.setdefault(request.model, Missed())
        missed.calls += 1
        missed.characters += sum(len(message.content) for message in request.messages)
        if request.form.want in ("verdict", "text"):  # the others are not written by a model
            missed.questions += max(1, len(request.form.questions))

    def answered(self, request: Request, reply: Reply) -> None:
        """Note who answered."""
        model = request.model
        if reply.server is not None:
            self.servers.setdefault(model, set()).add(reply.server)
        if reply.model is not None:
            self.reported.setdefault(model, set()).add(reply.model)

    def mixed(self, model: str) -> list[str]:
        """Return the names of the several servers that answered for a model; none of one."""
        servers = _different(self.servers.get(model, set()))
        several = servers if len(servers) > 1 else self.reported.get(model, set())
        return sorted(several) if len(several) > 1 else []

    def add(self, origin: Origin, reply: Reply) -> None:
        """Count one reply."""
        self.origins[origin] += 1
        if origin == "live":
            if reply.cost is None:
                self.unpriced += 1
            else:
                self.spent += reply.cost
        elif reply.cost is None:
            self.unpriced_replays += 1
        else:
            self.avoided += reply.cost


def _different(names: set[str]) -> set[str]:
    """Return names without those that say less of the same server than another one does.

    Names say more now than on older tapes: `x (7 parameters)` is `x (7 parameters, 9 bytes)`.
    """
    facts = {name: _facts(name) for name in names}
    return {
        name
        for name, (base, own) in facts.items()
        if not any(base == other and own < more for other, more in facts.values())
    }


def _facts(name: str) -> tuple[str, frozenset[str]]:
    base, _, facts = name.partition(" (")
    return base, frozenset(facts.removesuffix(")").split(", ") if facts else ())
