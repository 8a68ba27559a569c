"""What decision endpoints among the judges of a metric cannot be asked."""

from __future__ import annotations

from judgekit.core.decisions import DECISION_APIS, left_out_of, refusal_of
from judgekit.core.errors import ConfigError
from judgekit.core.jury import Jury
from judgekit.rubric.rubric import Rubric


def check_askable(metric: str, rubric: Rubric, *, mode: str, jury: Jury) -> None:
    """Refuse criteria that a judge of a metric cannot be asked.

    Raises:
        ConfigError: names the first of them.
    """
    for member in jury.members:
        if member.judge.api not in DECISION_APIS:
            continue
        for criterion in rubric.criteria_of(mode):
            if (why := refusal_of(criterion.question)) is not None:
                raise ConfigError(
                    f"{metric}: {member.judge.model} (api: {member.judge.api}) cannot be asked "
                    f"criterion {criterion.id!r} of rubric {rubric.name!r}: {why}, or name another "
                    "judge"
                )


def unsupported_parts(rubric: Rubric, *, mode: str, jury: Jury) -> list[str]:
    """Return what a rubric asks for and decision endpoints do not give; empty without any."""
    if not any(member.judge.api in DECISION_APIS for member in jury.members):
        return []
    asked = [(c.id, left_out_of(c.question)) for c in rubric.criteria_of(mode)]
    parts = [f"{', '.join(left_out)} of {id}" for id, left_out in asked if left_out]
    return ["reasons", *parts, *(f"detail {detail.name}" for detail in rubric.details)]
