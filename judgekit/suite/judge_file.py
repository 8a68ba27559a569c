"""The models of the judges in a suite file."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from judgekit.core.credentials import credential_in
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import FileModel
from judgekit.core.judge_settings import LEAST_REASON, MOST_REASON
from judgekit.core.value import check_json
from judgekit.judges.kinds import RECORDED, kind_of
from judgekit.judges.tier import check_tier


def _judge(value: Any) -> Any:
    """Read a text as a judge's model, and name the judge of a file of verdicts."""
    value = {"model": value} if isinstance(value, str) else value
    if not isinstance(value, dict) or not isinstance(value.get("recorded"), str):
        return value
    if others := [name for name in value if name != "recorded" and value[name]]:
        raise ValueError(f"recorded goes without {others[0]}: its verdicts are there already")
    return {**value, "model": f"{RECORDED.prefix}{Path(value['recorded']).stem}"}


class PriceFile(FileModel):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    """Price of the prompt."""
    output: float = Field(ge=0)
    """Price of the reply."""
    cache_read: float | None = Field(default=None, ge=0)
    """Price of tokens that the provider reads from its prompt cache; by default that of `input`."""
    cache_write: float | None = Field(default=None, ge=0)
    """Price of tokens that it writes to the cache; by default that of `input`."""


def _either(schema: dict[str, Any]) -> None:
    """Add to the schema that a model or a file of verdicts is required."""
    del schema["required"]
    schema["anyOf"] = [{"required": ["model"]}, {"required": ["recorded"]}]


class JudgeFile(FileModel):
    """A judge."""

    model_config = ConfigDict(json_schema_extra=_either)

    model: str = Field(min_length=1)
    """The model name of litellm, such as openai/NAME; `manual/NAME` is a person."""
    api_base: str | None = None
    """Address of your own server; of an OpenAI-compatible server, it ends in /v1."""
    api_key_env: str | None = None
    """Environment variable with the key. Never write the key into a file."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further headers of every request, for a gateway: `{X-Team: "${TEAM}"}`; `${NAME}` is a
    variable of the environment. Not part of any key; values of variables are never written."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Sampling parameters: temperature, max_tokens, seed, ...; part of every request key."""
    identity: str | None = None
    """The version of the model behind this name, such as a revision; part of every request key."""
    mode: Literal["json_schema", "json_object_schema", "tools", "json_object", "text"] | None = None
    """How the judge is asked for JSON; by default, judgekit probes the server."""
    max_reason: int | None = Field(default=None, ge=LEAST_REASON, le=MOST_REASON)
    """Maximum length of a reason, a quote or another text of a reply, in characters; part of every
    request key where it is set."""
    api: Literal["decisions", "systemone"] | None = None
    """The API, if it is no chat: a decision endpoint of OpenAI or of System One."""
    via: Literal["direct", "litellm"] | None = None
    """The way to the model: HTTP of judgekit, or litellm; chosen by default."""
    cache: Literal["auto", "none"] = "none"
    """Whether requests are sent as the prompt cache of the provider needs them. Not part of any
    key."""
    tier: Literal["standard", "flex", "batch"] = "standard"
    """The price and speed of the calls: `flex` is slower at half the price, where the provider has
    it, and `batch` is that of `run --batch`. Not part of any key."""
    fallback_tier: Literal["standard", "flex", "none"] | None = None
    """The tier where `tier: flex` has no room, and of what `tier: batch` asks live; standard by
    default. With `none`, such requests of `tier: flex` fail as unavailable."""
    timeout: float | None = Field(default=None, gt=0)
    """Seconds that one call may take; by default 60, and 900 with `tier: flex`."""
    retries: int = Field(default=3, ge=0)
    """Further attempts after an outage."""
    max_wait: float = Field(default=60.0, ge=0)
    """The longest wait between attempts, in seconds."""
    reasks: int = Field(default=1, ge=0, le=3)
    """Further requests after a reply that does not match the schema."""
    price: PriceFile | None = None
    """The price of the model, instead of litellm's list price."""
    answers: str | None = None
    """File with a person's answers, for `manual/NAME`."""
    recorded: str | None = None
    """File with verdicts of another system, instead of `model`."""

    def described(self) -> dict[str, Any]:
        """Return the settings for a manifest."""
        settings = dict(self)
        given = [name for name in ("api", "max_reason") if settings[name]]
        names = ("model", "identity", "params", "mode", *given)
        return {name: settings[name] for name in names}

    @field_validator("params")
    @classmethod
    def _json(cls, params: dict[str, Any]) -> dict[str, Any]:
        check_json(params, where="params")
        if (place := credential_in(params)) is not None:
            raise ValueError(f"params.{'.'.join(place)} is a credential; use api_key_env")
        return params

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, str]) -> dict[str, str]:
        from judgekit.judges.headers import check_headers  # most suites have none

        try:
            check_headers(headers)
        except ConfigError as exc:
            raise ValueError(str(exc)) from exc
        return headers

    @model_validator(mode="after")
    def _of_one_api(self) -> Self:
        try:
            kind = kind_of(self.model)
        except ConfigError as exc:  # the reader of the file adds the line to a ValueError
            raise ValueError(str(exc)) from exc
        if kind is RECORDED and self.recorded is None:
            raise ValueError(f"{self.model} is a file of verdicts; write judge: {{recorded: FILE}}")
        given = {
            "headers": self.headers,
            "cache": self.cache != "none",
            "tier": self.tier != "standard",
        }
        for name, is_set in given.items():
            if is_set and not kind.server:
                raise ValueError(f"{self.model} is behind no server; remove {name}")
        try:
            if self.cache != "none":
                from judgekit.judges.prompt_cache import check_caching

                check_caching(self.cache, self.params)
            check_tier(self.tier, self.fallback_tier, self.params)
        except ConfigError as exc:
            raise ValueError(str(exc)) from exc
        if self.api is None:
            return self
        if not kind.server:
            raise ValueError(f"{self.model} is behind no server, so it has no api; remove api")
        for name in ("mode", "max_reason", "reasks", "via", "cache", "tier", "fallback_tier"):
            if name in self.model_fields_set and getattr(self, name) is not None:
                raise ValueError(f"{name} is for chats, and api: {self.api} is none; remove {name}")
        return self


OneJudge = Annotated[
    JudgeFile | None, BeforeValidator(_judge, json_schema_input_type=str | JudgeFile | None)
]

NamedJudge = Annotated[JudgeFile, BeforeValidator(_judge, json_schema_input_type=str | JudgeFile)]

JUDGE = "judge"
"""The default role."""

ROLE = r"^[A-Za-z][A-Za-z0-9_-]{0,39}$"
