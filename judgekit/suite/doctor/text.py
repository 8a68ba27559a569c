"""The results of an examination, and their text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import chain, repeat

from pydantic import Field

from judgekit.core.canonical import printable
from judgekit.core.display.parts import counted
from judgekit.core.value import Value
from judgekit.judges.kinds import kind_of
from judgekit.suite.doctor.installation import DISTRIBUTION
from judgekit.suite.doctor.versions import SuiteVersions, versions_lines
from judgekit.suite.estimate import MissingCalls


class Role(Value):
    """The facts about one judge."""

    role: str
    model: str
    address: str | None = None
    key: str | None = None
    """Name of the environment variable with its key, and whether it is set."""
    max_reason: int | None = None
    """Maximum length of its reasons, in characters, if the suite sets one."""
    retires: str | None = None
    """When its model retires, if that is within 90 days or over."""
    via: str | None = None
    """The transport to the model, and the reason for it."""
    mode: str | None = None
    """Its output mode, if known from the suite, an earlier run or a probe."""
    mode_from: str | None = None
    steps: tuple[str, ...] = ()
    system_in_user: str = ""
    """Why the text of the system message is sent in the first user message."""
    asked: int = 0
    """Number of answers."""
    seconds: float | None = None
    """Median duration of an answer, in seconds."""
    repeats: bool | None = None
    """Whether all answers at temperature 0 were the same."""
    dropped_params: dict[str, str] = Field(default_factory=dict)
    server: str | None = None
    problem: str | None = None


class Diagnosis(Value):
    """The result of an examination."""

    release: str
    """The version of judgekit."""
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
    versions: SuiteVersions | None = None
    """The versions of rubrics that the suite uses."""
    missing: tuple[MissingCalls, ...] = ()
    further: tuple[str, ...] = ()
    """Metrics with later requests that `missing` cannot count."""
    asked: bool = False
    problems: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """2 if there are problems, else 0."""
        return 2 if self.problems else 0


_MARGIN = 12
_MODE_SOURCES = {"probe": "probed now", "store": "probed earlier", "suite": "set in the suite"}


def diagnosis_text(diagnosis: Diagnosis, *, width: int = 80) -> str:
    """Return a diagnosis for a terminal of some width."""
    lines: list[str] = []
    for name, text in (*_about_installation(diagnosis), *_about_suite(diagnosis)):
        head = f"{name:<{_MARGIN - 1}} "
        if len(name) >= _MARGIN:
            lines.append(name)
            head = " " * _MARGIN
        indent = " " * _MARGIN
        lines += textwrap.wrap(
            printable(head + text), width, subsequent_indent=indent, break_on_hyphens=False
        )
    return "\n".join(lines) + "\n"


def _about_installation(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    yield "judgekit", f"{diagnosis.release}, Python {diagnosis.python} on {diagnosis.system}"
    packages = (f"{name} {version or 'MISSING'}" for name, version in diagnosis.packages.items())
    yield "packages", ", ".join(packages)
    there = [extra for extra, lacking in diagnosis.extras.items() if not lacking]
    yield "extras", ", ".join(there) or "none"
    for extra, lacking in diagnosis.extras.items():
        if lacking:
            install = f"pip install '{DISTRIBUTION}[{extra}]'"
            yield "", f"without {extra} ({', '.join(lacking)}): {install}"
    keys = ", ".join(diagnosis.keys)
    yield "keys", f"{keys} (values not read)" if keys else "none in the environment"
    yield "store", diagnosis.store


def _about_suite(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    if diagnosis.suite is not None:
        count = "" if diagnosis.cases is None else f", {counted(diagnosis.cases, 'case')}"
        yield "suite", f"{diagnosis.suite}{count}"
        costs = [f"{counted(c.calls, 'call')} to {c.model}, {c.text}" for c in diagnosis.missing]
        if diagnosis.cases is not None:
            yield "to record", "; ".join(costs) or "nothing"
        if diagnosis.further:
            yield "", f"and an unknown number for {', '.join(diagnosis.further)}"
        lines = [] if diagnosis.versions is None else versions_lines(diagnosis.versions)
        for name, line in zip(chain(["rubrics"], repeat("")), lines, strict=False):
            yield name, line
        if not diagnosis.roles:
            yield "judge", "none"
    for role in diagnosis.roles:
        name = role.role
        for line in _about_role(role):
            yield name, line
            name = ""
    if not diagnosis.asked and any(kind_of(role.model).metered for role in diagnosis.roles):
        yield "", "not called; --ask sends a few small requests to each judge"
    if not diagnosis.problems:
        yield "result", "no problems"
    for problem in diagnosis.problems:
        yield "PROBLEM", problem


def _about_role(role: Role) -> Iterator[str]:
    where = f" at {role.address}" if role.address else ""
    key = f", key {role.key}" if role.key else ""
    served = f", served as {role.server}" if role.server else ""
    yield f"{role.model}{where}{key}{served}"
    if role.max_reason is not None:
        yield f"max_reason {role.max_reason}: reasons of at most {role.max_reason} characters"
    if role.retires is not None:
        yield role.retires
    if role.via is not None:
        direct = role.via.removeprefix("direct")
        yield f"asked through {role.via}" if direct == role.via else f"asked directly{direct}"
    if role.mode is not None:
        source = _MODE_SOURCES.get(str(role.mode_from), "after a fallback")
        yield f"output mode {role.mode} ({source})"
    for step in role.steps:
        yield f"not {step}"
    for name, reason in role.dropped_params.items():
        yield f"{name} not sent: {reason}"
    if role.system_in_user:
        yield f"system message sent in the first user message: {role.system_in_user}"
    if role.asked:
        same = "the same each time" if role.repeats else "NOT the same each time"
        yield f"answered {role.asked} times, {same}, in {role.seconds:g} s (median)"
