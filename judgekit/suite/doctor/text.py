"""A diagnosis for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from judgekit.core.canonical import printable
from judgekit.core.display.parts import counted
from judgekit.suite.doctor.diagnosis import Diagnosis, Role
from judgekit.suite.doctor.installation import DISTRIBUTION
from judgekit.suite.judges import asks_model

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
        lines += textwrap.wrap(
            printable(head + text),
            width,
            subsequent_indent=" " * _MARGIN,
            break_long_words=True,
            break_on_hyphens=False,
        )
    return "\n".join(lines) + "\n"


def _about_installation(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    yield "judgekit", f"{diagnosis.judgekit}, Python {diagnosis.python} on {diagnosis.system}"
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
        if not diagnosis.roles:
            yield "judge", "none"
    for role in diagnosis.roles:
        name = role.role
        for line in _about_role(role):
            yield name, line
            name = ""
    if not diagnosis.asked and any(asks_model(role.model) for role in diagnosis.roles):
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
    if role.via is not None:
        yield f"asked via {role.via}"
    if role.mode is not None:
        source = _MODE_SOURCES.get(str(role.mode_from), "after a fallback")
        yield f"output mode {role.mode} ({source})"
    for step in role.steps:
        yield f"not {step}"
    for name, reason in role.dropped_params.items():
        yield f"{name} not sent: {reason}"
    if role.asked:
        same = "the same each time" if role.repeats else "NOT the same each time"
        yield f"answered {role.asked} times, {same}, in {role.seconds:g} s (median)"
