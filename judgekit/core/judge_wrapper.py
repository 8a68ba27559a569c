"""A judge around a judge: what both kinds of wrapper have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Judge
from judgekit.core.request import About, ChatMessage, Form, Reply, Request
from judgekit.core.value import Json, trusted


class JudgeAround:
    """Passes on what goes into keys from the judge behind it."""

    judge: Judge

    @property
    def model(self) -> str:
        """The model of the judge behind."""
        return self.judge.model

    @property
    def identity(self) -> str | None:
        """The identity of the judge behind."""
        return getattr(self.judge, "identity", None)

    @property
    def params(self) -> dict[str, Json]:
        """The parameters of the judge behind."""
        return dict(getattr(self.judge, "params", {}))

    @property
    def mode(self) -> str | None:
        """The output mode the author forced on the judge behind, if any."""
        return getattr(self.judge, "mode", None)

    def keep_in(self, store: Callable[[], Any]) -> None:
        """Offer the judge behind a store for what is learned of it."""
        keep = getattr(self.judge, "keep_in", None)
        if keep is not None:
            keep(store)

    async def identified(self, reply: Reply) -> Reply:
        """Return a reply with what the judge behind finds out of its server after answering."""
        identified = getattr(self.judge, "identified", None)
        named: Reply = reply if identified is None else await identified(reply)
        return named

    def findings(self) -> dict[str, Json]:
        """What was found out about the judge behind; empty where nothing was."""
        found = getattr(self.judge, "findings", None)
        return {} if found is None else dict(found())

    def close(self) -> None:
        """Close the judge behind, if there is anything to close."""
        close = getattr(self.judge, "close", None)
        if close is not None:
            close()


def _no_judge(given: object) -> str:
    if isinstance(given, str):
        return f"judge is the text {given!r}; make a judge of it: judgekit.LiteLLMJudge({given!r})"
    return (
        f"judge is a {type(given).__name__}, which has no `model`; a judge is an object with "
        "`model` and `async ask(request)`, such as judgekit.LiteLLMJudge"
    )


class Asking:
    """Builds requests to one judge; what is the same for all of them is looked up once."""

    def __init__(self, judge: Judge) -> None:
        if not hasattr(judge, "model"):
            raise ConfigError(_no_judge(judge))
        self.judge = judge
        self._common: dict[str, Any] = {
            "model": judge.model,
            "identity": getattr(judge, "identity", None),
            "params": dict(getattr(judge, "params", {})),
        }
        self._mode = getattr(judge, "mode", None)
        # What a judge says of itself is checked once, here.
        Request(messages=(), form=Form(), mode=self._mode, **self._common)

    def request(
        self, *, messages: tuple[ChatMessage, ...], form: Form, sample: int, about: About
    ) -> Request:
        """Return the request for one sample."""
        return trusted(
            Request,
            {
                "messages": messages,
                "form": form,
                **self._common,
                "sample": sample,
                "mode": self._mode,
                "about": about,
            },
        )
