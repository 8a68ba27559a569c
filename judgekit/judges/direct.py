"""Asking a model for what is no verdict: an answer, a vector, the figures of a text."""

from __future__ import annotations

from functools import partial

from judgekit.core.errors import CaseError, InvalidReply
from judgekit.core.request import Fault, Reply, Request, Try
from judgekit.judges import providers
from judgekit.judges.batch import Batch
from judgekit.judges.echo import ECHOING, completions_model, read_echo
from judgekit.judges.embedding import read_embeddings
from judgekit.judges.line import Heard, Line
from judgekit.judges.providers import BadRequest
from judgekit.judges.response import usage_of


class Direct:
    """Asks once: without a form there is nothing to hand back."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self.batch: Batch[Reply] = Batch(self._embedded)

    async def reply(self, request: Request) -> Reply:
        """Return the reply to a request that wants no verdict.

        Raises:
            CaseError: the model took others and not this one.
            JudgekitError: what making the call raises.
        """
        try:
            if request.form.want == "embedding":
                (message,) = request.messages
                return await self.batch.ask(message.content)
            if request.form.want == "logprobs":
                return await self._echoed(request)
            messages = [{"role": m.role, "content": m.content} for m in request.messages]
            heard = await self._line.put(messages, request.form, "text")
        except BadRequest as exc:
            if not self._line.answered or exc.status not in (400, 422):
                raise
            raise CaseError(f"the model took other requests but not this one: {exc}") from None
        return self._reply(self._line.read(heard), heard)

    async def _echoed(self, request: Request) -> Reply:
        """Ask a completions endpoint for the figures of a text that is there already."""
        whole = "".join(message.content for message in request.messages)
        model = completions_model(self._line.model)
        send = partial(providers.complete_text, model=model, prompt=whole)
        heard = await self._line.sent(send, fixed=ECHOING)
        heard = heard._replace(params={**heard.params, **ECHOING})
        if heard.malformed is not None:
            return self._reply(heard.malformed, heard)
        try:
            said = read_echo(heard.response, whole=whole)
        except InvalidReply as exc:
            said = Try(fault=Fault.of(exc))
        return self._reply(said, heard)

    async def _embedded(self, texts: list[str]) -> list[Reply]:
        """Ask for the vectors of several texts in one call; return a reply for each."""
        send = partial(
            providers.load().aembedding,
            model=self._line.model,
            input=texts,
            # Otherwise litellm decides by its name whether a model has them to choose.
            allowed_openai_params=["dimensions"],
        )
        heard = await self._line.sent(send, fixed={})
        return read_embeddings(
            heard,
            texts,
            model=self._line.named(getattr(heard.response, "model", None)),
            cost=self._line.cost(heard),
        )

    def _reply(self, said: Try, heard: Heard) -> Reply:
        return Reply(
            tries=(said,),
            model=self._line.named(getattr(heard.response, "model", None)),
            effective_params=heard.params,
            usage=usage_of(heard.response),
            cost=self._line.cost(heard),
        )
