"""Open hosted judges: chat models, and decision endpoints."""

from __future__ import annotations

import os
from typing import Any

from judgekit.core.errors import ConfigError
from judgekit.core.example_model import EXAMPLE_MODEL
from judgekit.judges.kinds import JudgeSetup
from judgekit.judges.price import ModelPrice
from judgekit.judges.server_judge import ServerJudge

_OF_SERVERS = ("api_base", "identity", "params", "timeout", "retries", "max_wait", "headers")
_OF_CHATS = ("mode", "max_reason", "reasks", "via", "cache", "tier", "fallback_tier")


def open_hosted(setup: JudgeSetup) -> ServerJudge:
    """Open a hosted model; a replay needs no key.

    Raises:
        ConfigError: a setting is wrong, or the variable of the key is not set.
    """
    if setup.asking and "/" not in setup.model and setup.settings.get("api_base") is None:
        from judgekit.judges.prices import price_entry

        # litellm finds the provider of a bare name in its table of prices, and of tuned models.
        if not setup.model.startswith("ft:") and not price_entry(setup.model):
            form = f"write PROVIDER/NAME, such as {EXAMPLE_MODEL}"
            bare = f"the model {setup.model!r} lacks its provider; {form}"
            raise ConfigError(bare, where=setup.where("model"))
    settings: dict[str, Any] = {
        **setup.given(*_OF_SERVERS),
        "pace": setup.pace,
        "meter": setup.meter,
    }
    if settings.get("timeout") is None:
        settings.pop("timeout", None)  # the kind of the judge has a default
    if variable := setup.settings.get("api_key_env"):
        settings["api_key"] = os.environ.get(variable)
        if settings["api_key"] is None and setup.asking:
            from judgekit.judges.endpoint import variable_shown

            message = f"{variable_shown(variable)} is not set in the environment; set it"
            raise ConfigError(message, where=setup.where("api_key_env"))
    if price := setup.settings.get("price"):
        settings["price"] = ModelPrice(**price)
    if api := setup.settings.get("api"):
        from judgekit.judges.decisions import DecisionJudge

        return DecisionJudge(setup.model, api=api, **settings)
    from judgekit.judges.litellm import LiteLLMJudge

    chat = setup.given(*_OF_CHATS)
    if setup.asking and "flex" in (chat.get("tier"), chat.get("fallback_tier")):
        from judgekit.judges.tier import flex_problem

        if (problem := flex_problem(setup.model, settings.get("api_base"))) is not None:
            raise ConfigError(problem, where=setup.where("tier"))
    return LiteLLMJudge(setup.model, **settings, **chat)
