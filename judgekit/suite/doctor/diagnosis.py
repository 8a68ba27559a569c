"""What was found, as values."""

from __future__ import annotations

from pydantic import Field

from judgekit.core.value import Value


def asks_model(name: str) -> bool:
    """Return whether a name is that of a model asked over a network."""
    return not name.startswith(("manual/", "fake/", "transformers/"))


class Role(Value):
    """One judge: what is known of it, and what came of asking."""

    role: str
    model: str
    address: str | None = None
    key: str | None = None
    """Name of the environment variable the suite gives, and whether it is set."""
    mode: str | None = None
    """How it takes a form, if a suite, an earlier run or a probe said so."""
    mode_from: str | None = None
    steps: tuple[str, ...] = ()
    asked: int = 0
    """Answers it gave."""
    seconds: float | None = None
    """Median time of an answer."""
    repeats: bool | None = None
    """Whether it gave the same answer each time at temperature 0."""
    dropped_params: dict[str, str] = Field(default_factory=dict)
    server: str | None = None
    problem: str | None = None

    @property
    def is_model(self) -> bool:
        """Whether it is a model that is asked over a network."""
        return asks_model(self.model)


class Cost(Value):
    """What the requests that are not recorded would take, of one model."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None = None
    text: str


class Diagnosis(Value):
    """Everything that was found."""

    judgekit: str
    python: str
    system: str
    packages: dict[str, str | None] = Field(default_factory=dict)
    """Version by package judgekit needs; `None` where it is missing."""
    extras: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Packages that are missing, by extra; none means the extra is there."""
    keys: tuple[str, ...] = ()
    """Environment variables that hold keys: their names."""
    store: str = ""
    suite: str | None = None
    cases: int | None = None
    roles: tuple[Role, ...] = ()
    missing: tuple[Cost, ...] = ()
    further: tuple[str, ...] = ()
    """Metrics that ask more than `missing` counts, by what is answered."""
    asked: bool = False
    problems: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 where nothing is wrong, else 2."""
        return 2 if self.problems else 0
