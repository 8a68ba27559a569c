"""The results of an examination."""

from __future__ import annotations

from pydantic import Field

from judgekit.core.value import Value
from judgekit.suite.estimate import MissingCalls


class Role(Value):
    """The facts about one judge."""

    role: str
    model: str
    address: str | None = None
    key: str | None = None
    """Name of the environment variable with its key, and whether it is set."""
    via: str | None = None
    """The way to the model, and the reason."""
    mode: str | None = None
    """Its output mode, if the suite, an earlier run or a probe decided it."""
    mode_from: str | None = None
    steps: tuple[str, ...] = ()
    asked: int = 0
    """Number of answers."""
    seconds: float | None = None
    """Median seconds of an answer."""
    repeats: bool | None = None
    """Whether all answers at temperature 0 were the same."""
    dropped_params: dict[str, str] = Field(default_factory=dict)
    server: str | None = None
    problem: str | None = None


class Diagnosis(Value):
    """The result of an examination."""

    judgekit: str
    python: str
    system: str
    packages: dict[str, str | None] = Field(default_factory=dict)
    """Required package -> version; `None` if it is missing."""
    extras: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Extra -> its missing packages; empty if it is installed."""
    keys: tuple[str, ...] = ()
    """Names of environment variables with keys."""
    store: str = ""
    suite: str | None = None
    cases: int | None = None
    roles: tuple[Role, ...] = ()
    missing: tuple[MissingCalls, ...] = ()
    further: tuple[str, ...] = ()
    """Metrics with later requests that `missing` cannot count."""
    asked: bool = False
    problems: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """2 if there are problems, else 0."""
        return 2 if self.problems else 0
