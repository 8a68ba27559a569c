"""An embedder on a server. It uses a judge, so its requests are recorded and limited."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.core.arguments import checked
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import InvalidReply, JudgekitError
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.protocols import BaseEmbedder, JudgeLike
from judgekit.core.replies.vector import read_vector
from judgekit.core.request import About, ChatMessage, Form, Request
from judgekit.core.synchronous import gather_all, run_inline

_FORM = Form(want="embedding")


class HostedEmbedder(BaseEmbedder):
    """Embeds texts with a provider that litellm supports, or an OpenAI-compatible server.

    It makes one request per text, so each is recorded and replayed separately; a `LiteLLMJudge`
    sends simultaneous requests in one call. All vectors must have the same length, which is
    `params.dimensions` if it is set.

    Args:
        judge: the model, as a `LiteLLMJudge` or a `Cassette` around one.
    """

    dimensions: int | None = None

    @checked
    def __init__(self, judge: JudgeLike) -> None:
        self._requests = RequestBuilder(judge)
        self.judge = self._requests.judge
        params = dict(self._requests.settings.params)
        dimensions = params.get("dimensions")
        self.dimensions = dimensions if isinstance(dimensions, int) else None
        facts = {"identity": self._requests.settings.identity, "params": params}
        facts = {name: value for name, value in facts.items() if value}
        self._identity = self.judge.model + (f" {canonical_json(facts)}" if facts else "")

    @property
    def identity(self) -> str:
        """The model and everything else that affects the vectors."""
        return self._identity

    @property
    def synchronous(self) -> bool:
        """Whether it is synchronous, as in a replay."""
        return self.judge.synchronous

    def request(self, text: str) -> Request:
        """Return the request for a text."""
        messages = (ChatMessage(role="user", content=text),)
        return self._requests.request(messages=messages, form=_FORM, sample=0, about=About())

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """Return recorded vectors, in order; only in a replay.

        Raises:
            CassetteMiss: a text is not recorded.
            InvalidReply: a vector is invalid, or has another length than the others.
        """
        vectors: list[tuple[float, ...]] = []
        first: JudgekitError | None = None
        for text in texts:
            try:
                vectors.append(run_inline(self._vector(text)))
            except JudgekitError as exc:
                first = first or exc  # look up the others too, so that all misses are counted
        if first is not None:
            raise first
        return vectors

    async def aembed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """Return one vector per text, in order.

        Raises:
            JudgekitError: the first error, in the order of the texts.
        """
        return await gather_all(map(self._vector, texts))

    async def _vector(self, text: str) -> tuple[float, ...]:
        reply = await self.judge.ask(self.request(text))
        vector = read_vector(reply)
        if self.dimensions is None:
            self.dimensions = len(vector)
        if len(vector) != self.dimensions:
            raise InvalidReply(
                f"{self.judge.model} returned a vector of {len(vector)} numbers where "
                f"{self.dimensions} are expected"
            )
        return vector
