"""A judge that is only used to compute keys."""

from __future__ import annotations

from typing import Any

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import JudgeUnavailable
from judgekit.core.judge_settings import NO_SETTINGS, JudgeSettings
from judgekit.core.judge_wrapper import NamedJudge
from judgekit.core.request import Reply, Request


class AbsentJudge(NamedJudge):
    """A judge for computing keys; it cannot be asked."""

    settings: JudgeSettings

    def __init__(self, model: str, settings: JudgeSettings = NO_SETTINGS) -> None:
        super().__init__(model)
        self.settings = settings

    def __repr__(self) -> str:
        return f"AbsentJudge({self._model!r}, {self.settings!r})"

    async def ask(self, request: Request) -> Reply:
        """Refuse every request."""
        raise JudgeUnavailable(f"{self.model} is not there to be asked")

    def described(self) -> dict[str, Any]:
        """Return the model and the settings, as the keys of a judge in a suite."""
        settings = {n: v for n, v in vars(self.settings).items() if n != "bounds_reasons"}
        return {"model": self._model, **settings}

    def words(self) -> str:
        """Return the model and the other parts of its keys."""
        settings = self.settings
        extra = [f"{name}={canonical_json(value)}" for name, value in settings.params.items()]
        extra += [f"identity={settings.identity}"] if settings.identity else []
        extra += [f"mode={settings.mode}"] if settings.mode else []
        extra += [f"api={settings.api}"] if settings.api else []
        extra += [f"max_reason={settings.max_reason}"] if settings.max_reason else []
        return f"{self.model} ({', '.join(extra)})" if extra else self.model
