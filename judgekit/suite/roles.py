"""The roles of a suite: the names by which metrics and flags choose its judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.overrides import SuiteSettings


def find_role(
    role: Any, roles: Mapping[str, JudgeFile], *, subject: str, where: str | None = None
) -> JudgeFile:
    """Return the settings of the judge with a role.

    Args:
        role: the role, as written.
        roles: the judges, by role.
        subject: what names the role, as the beginning of the message: `metric 'tone'`.
        where: `file:line` of the role.

    Raises:
        ConfigError: no judge has it; suggests a role, or how to give a model one.
    """
    if isinstance(role, str) and role in roles:
        return roles[role]
    message = f"{subject}: no judge has the role {role!r}{_hint(str(role), roles)}"
    raise ConfigError(message, where=where)


def _hint(role: str, roles: Mapping[str, JudgeFile]) -> str:
    if "/" in role:
        return f"; give the model a role, `judges: {{second: {role}}}`, and write second here"
    if role == JUDGE and roles:
        # The role may not be written at all: it is that of a metric without `judge`.
        return f"; known: {', '.join(sorted(roles))}; add judge: {min(roles)}"
    return suggest(role, roles)


def check_roles(settings: SuiteSettings, roles: Mapping[str, JudgeFile]) -> None:
    """Check the roles that metrics name, also those of metrics that do not run.

    Args:
        settings: the suite.
        roles: its judges, by role.

    Raises:
        ConfigError: no judge has one of them; with its line.
    """
    for name, entry in settings.file.metrics.items():
        for key, role in entry.named_roles:
            where = settings.where("metrics", name, key)
            find_role(role, roles, subject=f"metric {name!r}", where=where)
