"""What a judge learns about its server: the name of the model, the output mode, the parameters."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from judgekit.core.protocols import TextStore
from judgekit.core.request import Reply
from judgekit.judges.calls import Calls
from judgekit.judges.endpoint import Naming
from judgekit.judges.negotiation import Negotiation


class LearntFromServer:
    """The knowledge of a judge behind a server; see `judgekit.core.protocols.ServerKnowledge`.

    Args:
        calls: the calls of the judge.
        negotiation: finds its output mode; `None` if the API has none.
    """

    def __init__(self, calls: Calls, negotiation: Negotiation | None = None) -> None:
        self._calls = calls
        self._negotiation = negotiation
        self._naming = Naming(calls)

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with the server's name for its model; the server is asked once.

        This is separate from `ask`, so a reply is stored before the server is asked.
        """
        if not self._naming.done:
            await self._naming.ask()
        return self.named(reply)

    def named(self, reply: Reply) -> Reply:
        """Return a reply with the server's name for its model, if it is known already."""
        name = self._naming.name
        same = name is None or reply.server == name
        return reply if same else reply.model_copy(update={"server": name})

    def findings(self) -> dict[str, JsonValue]:
        """Return facts that this process learnt about the judge; empty before the first request."""
        if not self._calls.prepared:
            return {}
        findings: dict[str, JsonValue] = {}
        if (found := self._negotiation) is not None:
            findings = {
                "mode": found.forced or found.mode,
                "mode_from": "suite" if found.forced else found.source,
                "steps": list(found.steps),
                "probes": found.probes,
            }
        if (api := self._calls.api) is not None:
            findings["api"] = api
        findings |= {
            "dropped_params": dict(self._calls.parameters.dropped),
            "system_in_user": self._calls.system.refused,
            "server": self._naming.name,
        }
        return {name: value for name, value in findings.items() if value}

    def keep_in(
        self, store: Callable[[], TextStore | None], *, ignore_stored: bool = False
    ) -> None:
        """Keep the output mode in a store, opened with the first request."""
        if self._negotiation is not None:
            self._negotiation.keep_in(store, ignore_stored=ignore_stored)
