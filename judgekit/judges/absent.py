"""A judge that is only used to compute keys."""

from __future__ import annotations

from typing import NamedTuple

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import JudgeUnavailable
from judgekit.core.request import Api, Reply, Request
from judgekit.core.value import Json


class AbsentJudge(NamedTuple):
    """A judge for computing keys; it cannot be asked."""

    model: str
    identity: str | None = None
    params: dict[str, Json] = {}  # noqa: RUF012 - never changed
    mode: str | None = None
    api: Api | None = None

    async def ask(self, request: Request) -> Reply:
        """Refuse every request."""
        raise JudgeUnavailable(f"{self.model} is not there to be asked")

    def words(self) -> str:
        """Return the model and the other parts of its keys."""
        extra = [f"{name}={canonical_json(value)}" for name, value in self.params.items()]
        extra += [f"identity={self.identity}"] if self.identity else []
        extra += [f"mode={self.mode}"] if self.mode else []
        extra += [f"api={self.api}"] if self.api else []
        return f"{self.model} ({', '.join(extra)})" if extra else self.model
