"""A batch job: what the journal says about it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from judgekit.core.value import Value
from judgekit.judges.output_mode import Mode

State = Literal["written", "uploaded", "sending", "sent", "waiting", "unknown", "ended", "dropped"]
"""`written`: the file of the requests is on disk. `uploaded`: the provider has the file.
`sending`: a submit may have reached the provider. `sent`: the provider has named the job.
`waiting`: refused until other jobs end. `unknown`: the answer to a submit was lost, and the job may
exist. `ended`: the replies are on disk. `dropped`: its requests are free again, without replies."""
ID = 40
"""Length of the id of a request in a job: the beginning of its key."""
BY_HAND = "file"
"""The provider of requests that a person sends, as for `vllm run-batch`."""


class Job(Value):
    """A batch job, read from the journal as untrusted data."""

    intent: str = Field(pattern=r"^[0-9a-f]{16}$")
    """The name that judgekit gave it before it was sent."""
    at: str = Field(max_length=40)
    """When its file was written, in UTC."""
    provider: str = Field(max_length=40)
    model: str = Field(max_length=500)
    api_base: str | None = Field(default=None, max_length=2_000)
    api_key_env: str | None = Field(default=None, max_length=200)
    """The environment variable with the key."""
    mode: Mode
    """The output mode of its requests."""
    endpoint: str = Field(default="/v1/chat/completions", max_length=100)
    """The endpoint of its requests, as the provider names it."""
    headers: dict[
        Annotated[str, Field(pattern=r"^[a-z-]{1,40}$")],
        Annotated[str, Field(pattern=r"^[ -~]{0,1000}$")],
    ] = Field(default_factory=dict, max_length=8)
    """Headers that its requests need, without keys."""
    keys: tuple[str, ...] = Field(min_length=1, max_length=200_000)
    """The ids of its requests, the first 40 characters of their keys."""
    sha256: str = Field(max_length=64)
    """Digest of the file with the requests."""
    suite: str | None = Field(default=None, max_length=4_000)
    """The suite whose budget pays for it; `None` in older journals."""
    taken: bool = False
    """Whether a run of the suite has taken and paid its replies."""
    dollars: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The estimated price of the whole job; `None` if it is unknown."""
    state: State = "written"
    attempt: int = Field(default=1, ge=1)
    """Number of the submit; a job that had to wait is submitted again."""
    sent_at: float | None = Field(default=None, allow_inf_nan=False)
    """When the last submit began, in seconds since 1970."""
    uptime: float | None = Field(default=None, allow_inf_nan=False)
    """When it began, in seconds of the system's monotonic clock; `None` in older journals."""
    file: str | None = Field(default=None, max_length=500)
    """The provider's id of the file."""
    job: str | None = Field(default=None, max_length=500)
    """The provider's id of the job."""
    status: str = Field(default="", max_length=80)
    """The provider's last word about the job."""
    problem: str = Field(default="", max_length=2_000)
    replies: int | None = Field(default=None, ge=0)
    """Requests with a reply, of an ended job."""

    @property
    def open(self) -> bool:
        """Whether the provider may still answer its requests."""
        return self.state not in ("ended", "dropped")

    @property
    def name(self) -> str:
        """The name for people: the provider's, or that of the intent."""
        return self.job or f"jk-{self.intent}"

    @property
    def tag(self) -> str:
        """The mark of one submit in the metadata of the provider's job."""
        return f"jk-{self.intent}-{self.attempt}"

    @property
    def shown(self) -> str:
        """The state for people."""
        if self.provider == BY_HAND and self.open:
            return "written to a file"
        if self.state == "sent":
            return self.status or "sent"
        if self.state == "ended" and self.status not in ("", "completed"):
            return f"ended ({self.status})"
        return self.state
