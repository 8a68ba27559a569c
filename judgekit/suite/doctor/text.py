"""A diagnosis for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from judgekit.core.canonical import printable
from judgekit.suite.doctor.diagnosis import Diagnosis, Role
from judgekit.suite.doctor.installation import DISTRIBUTION

_MARGIN = 12
_WAYS = {"probe": "just probed", "store": "as probed earlier", "suite": "set in the suite"}


def diagnosis_text(found: Diagnosis, *, width: int = 80) -> str:
    """Return a diagnosis for a terminal of some width."""
    lines: list[str] = []
    for name, text in (*_about_installation(found), *_about_suite(found)):
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


def _about_installation(found: Diagnosis) -> Iterator[tuple[str, str]]:
    yield "judgekit", f"{found.judgekit}, Python {found.python} on {found.system}"
    packages = (f"{name} {version or 'MISSING'}" for name, version in found.packages.items())
    yield "packages", ", ".join(packages)
    there = [extra for extra, lacking in found.extras.items() if not lacking]
    yield "extras", ", ".join(there) or "none"
    for extra, lacking in found.extras.items():
        if lacking:
            yield "", f"without {extra} ({', '.join(lacking)}): {_install(extra)}"
    yield (
        "keys",
        f"{', '.join(found.keys)}; their values were not looked at"
        if found.keys
        else ("none in the environment"),
    )
    yield "store", found.store


def _install(extra: str) -> str:
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def _about_suite(found: Diagnosis) -> Iterator[tuple[str, str]]:
    if found.suite is not None:
        count = "" if found.cases is None else f", {found.cases:,} cases"
        yield "suite", f"{found.suite}{count}"
        costs = [f"{c.calls:,} calls to {c.model}, {c.text}" for c in found.missing]
        if found.cases is not None:
            yield "to ask", "; ".join(costs) or "nothing: all of it is recorded"
        if found.further:
            yield "", f"and more, by what is answered, for {', '.join(found.further)}"
        if not found.roles:
            yield "judge", "none"
    for role in found.roles:
        name = role.role
        for line in _about_role(role):
            yield name, line
            name = ""
    if not found.asked and any(role.is_model for role in found.roles):
        yield "", "nobody was asked; --ask puts a few small questions to each judge"
    if not found.problems:
        yield "well", "nothing is wrong"
    for problem in found.problems:
        yield "WRONG", problem


def _about_role(role: Role) -> Iterator[str]:
    where = f" at {role.address}" if role.address else ""
    key = f", key {role.key}" if role.key else ""
    served = f", served as {role.server}" if role.server else ""
    yield f"{role.model}{where}{key}{served}"
    if role.mode is not None:
        yield f"asked by {role.mode} ({_WAYS.get(str(role.mode_from), 'fallen to in use')})"
    for step in role.steps:
        yield f"not by {step}"
    for name, reason in role.dropped_params.items():
        yield f"{name} not sent: {reason}"
    if role.asked:
        same = "the same each time" if role.repeats else "NOT the same each time"
        yield f"answered {role.asked} times, {same}, in {role.seconds:g} s (median)"
