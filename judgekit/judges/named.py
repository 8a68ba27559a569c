"""Create a judge from a model string, a function, or the name of an installed judge."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import BaseModel

from judgekit.core.entry_points import offers
from judgekit.core.errors import ConfigError, InvalidReply
from judgekit.core.foreign_errors import foreign_errors
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import NamedJudge
from judgekit.core.protocols import Judge
from judgekit.core.request import Reply, Request, Try
from judgekit.core.suggest import suggest
from judgekit.judges.kinds import PYTHON, JudgeSetup, open_judge

GROUP = "judgekit.judges"
"""Entry points of packages that offer judges: NAME = package.module:attribute"""
PREFIX = PYTHON.prefix
"""Prefix of the model strings of judges written in Python."""

Answered = Reply | str | Mapping[str, Any] | BaseModel
JudgeFunction = Callable[[Request], Answered | Awaitable[Answered]]


class FunctionJudge(NamedJudge):
    """A judge that calls a function, usually an async one, for its replies.

    Args:
        function: takes a `Request`; returns the text of the reply, its object as a dict or a
            pydantic object, or a whole `Reply`. It may raise `JudgeRefused` or another
            `JudgeError`. Any other exception is a `JudgeUnavailable` with its file and line.
        model: the model string; part of every key, so change it when the function changes.
        identity: the model behind the function; part of every key.
        params: settings of the replies; part of every key.
    """

    settings: JudgeSettings

    def __init__(
        self,
        function: JudgeFunction,
        *,
        model: str | None = None,
        identity: str | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self._function = function
        super().__init__(model or PREFIX + str(getattr(function, "__name__", "judge")))
        self.settings = JudgeSettings(identity=identity, params=dict(params or {}))

    def __repr__(self) -> str:
        return f"FunctionJudge({self.model!r})"

    async def ask(self, request: Request) -> Reply:
        """Return what the function replies.

        Raises:
            InvalidReply: it returned something else.
            JudgeUnavailable: it raised an exception.
        """
        with foreign_errors(self.model):
            reply = self._function(request)
            if inspect.isawaitable(reply):
                reply = await reply
        return reply if isinstance(reply, Reply) else self._reply_of(reply)

    def _reply_of(self, answered: object) -> Reply:
        try:
            text = _text_of(answered)
        except (TypeError, ValueError, RecursionError) as exc:
            raise InvalidReply(f"{self.model} returned data that is not JSON: {exc}") from exc
        if text is None:
            returned = "nothing" if answered is None else type(answered).__name__
            raise InvalidReply(
                f"{self.model} returned {returned}; return the text of the reply, a dict, a "
                "pydantic object or a Reply"
            )
        return Reply(tries=(Try(text=text, finish="stop"),), model=self.model)


def _text_of(answered: object) -> str | None:
    if isinstance(answered, str):
        return answered
    if isinstance(answered, BaseModel):
        answered = answered.model_dump(mode="json")
    if isinstance(answered, Mapping):
        return json.dumps(dict(answered), ensure_ascii=False)
    return None


def judge_of(judge: str | JudgeFunction) -> Judge:
    """Return the judge of a model string or a function.

    Args:
        judge: a model as litellm names it, such as `openai/gpt-5-mini`; a name of another kind,
            such as `fake/NAME`; or a function (see `FunctionJudge`).

    Raises:
        ConfigError: there is no such judge.
    """
    if isinstance(judge, str):
        return open_judge(JudgeSetup(model=judge))
    if judge.__name__ == "<lambda>":
        raise ConfigError(
            "judge is a lambda, and its name goes into every key; write async def NAME(request)"
        )
    return FunctionJudge(judge)


def open_installed(setup: JudgeSetup) -> Judge:
    """Open the judge `python/NAME`; see `installed_judge`."""
    return installed_judge(setup.model, **setup.given("identity", "params"))


def installed_judge(
    model: str, *, identity: str | None = None, params: Mapping[str, Any] | None = None
) -> Judge:
    """Return a judge that an installed package offers under the entry points `judgekit.judges`.

    Args:
        model: `python/NAME`.
        identity: the model behind the function; part of every key.
        params: settings; part of every key.

    Raises:
        ConfigError: no package or several packages offer it, it cannot be loaded, or it is not a
            judge.
    """
    name = model.removeprefix(PREFIX)
    matches = [offer for offer in offers(GROUP) if offer.name == name]
    if not matches:
        known = sorted({offer.name for offer in offers(GROUP)})
        hint = suggest(name, known) if known else "; no installed package offers a judge"
        raise ConfigError(f"no judge named {name!r} in the entry points {GROUP}{hint}")
    if len({offer.value for offer in matches}) > 1:
        packages = ", ".join(offer.package for offer in matches)
        raise ConfigError(f"several packages offer a judge named {name!r}: {packages}")
    judge = f"judge {name!r} of {matches[0].value}"
    try:
        loaded = matches[0].load()
    except Exception as exc:
        raise ConfigError(f"{judge} cannot be loaded: {exc}") from exc
    if isinstance(loaded, type):
        try:
            loaded = loaded()
        except TypeError as exc:
            raise ConfigError(f"{judge}: {exc}") from exc
    if isinstance(loaded, Judge):
        if identity is not None or params:
            raise ConfigError(
                f"judge {name!r} is an object with settings of its own; only a judge that is a "
                "function takes identity and params"
            )
        return loaded
    if not callable(loaded):
        raise ConfigError(
            f"{judge} is a {type(loaded).__name__}; a judge is an "
            "async function of a request, or an object with `model` and `async ask(request)`"
        )
    return FunctionJudge(loaded, model=model, identity=identity, params=params)
