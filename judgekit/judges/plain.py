"""Requests without questions: for an answer, a vector, or log-probabilities."""

from __future__ import annotations

from judgekit.core.errors import CaseError, InvalidReply
from judgekit.core.request import Fault, Reply, Request, Try
from judgekit.judges.batch import Batch
from judgekit.judges.calls import Calls
from judgekit.judges.echo import ECHOING, read_echo
from judgekit.judges.embedding import read_embeddings
from judgekit.judges.translation import BadRequest


class PlainRequests:
    """Sends requests without questions; they are never re-asked."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.batch: Batch[Reply] = Batch(self._embeddings)

    async def reply(self, request: Request) -> Reply:
        """Return the reply to a request without questions.

        Raises:
            CaseError: the model rejects this request and accepts others.
            JudgekitError: the call failed.
        """
        try:
            if request.form.want == "embedding":
                (message,) = request.messages
                return await self.batch.ask(message.content)
            if request.form.want == "logprobs":
                return await self._logprobs(request)
            messages = [{"role": m.role, "content": m.content} for m in request.messages]
            attempt, result = await self._calls.chat(messages, request.form, "text")
            return result.reply(attempt)
        except BadRequest as exc:
            if not self._calls.answered or exc.status not in (400, 422):
                raise
            raise CaseError(f"the model took other requests but not this one: {exc}") from None

    async def _logprobs(self, request: Request) -> Reply:
        """Ask a completions endpoint for the log-probabilities of a text."""
        text = "".join(message.content for message in request.messages)
        result = await self._calls.echo(text, fixed=ECHOING)
        attempt = result.malformed
        if attempt is None:
            try:
                attempt = read_echo(result.data, whole=text)
            except InvalidReply as exc:
                attempt = Try(fault=Fault.of(exc))
        return result._replace(params={**result.params, **ECHOING}).reply(attempt)

    async def _embeddings(self, texts: list[str]) -> list[Reply]:
        """Ask for the vectors of several texts in one call; return a reply for each."""
        return read_embeddings(await self._calls.embed(texts), texts)
