"""Requirement coverage: how much of what a request asks of the form of its answer is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import JsonValue

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError
from judgekit.core.score import Part, Score
from judgekit.metrics._options import needed_text
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.prompt_alignment.directive import find_directives
from judgekit.metrics.prompt_alignment.requirement import Requirement
from judgekit.metrics.prompt_alignment.rules import code, items, lengths, manners, quoted, shapes

__all__ = ["Requirement", "RequirementCoverage", "find_requirements"]

Source = Literal["input", "system", "both"]

_RULES = (lengths, items, shapes, code, quoted, manners)


def find_requirements(text: str) -> tuple[Requirement, ...]:
    """Return the requirements of a request that a rule can check, each once; English only.

    Rules read clauses that tell the reader to do something, and little else (see `directive`):
    what is missed costs a requirement, what is imagined would cost a score.

    >>> [found.check for found in find_requirements("List three fruits in at most 20 words.")]
    ['has at most 20 words', 'has 3 items']
    """
    requirements: dict[Requirement, Requirement] = {}
    for directive in find_directives(text):
        for rule in _RULES:
            for requirement in rule(directive, text):
                # The same requirement may stand in several words.
                requirements.setdefault(replace(requirement, text=""), requirement)
    return tuple(requirements.values())


class RequirementCoverage(ComputedMetric):
    """Share of the checkable requirements that the output meets; 0..1, higher is better.

    Requirements are found by rule in the input, the system prompt, or both. None found is not
    applicable. Needs `output` and the field `stated_in` names (of `both`, one of the
    two).
    """

    name: str = "requirement_coverage"
    stated_in: Source = "both"
    """Where the requirements stand."""

    synchronous = True
    needs = ("output", "input or system")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output, or the text with the requirements, is missing.
        """
        output = needed_text(case, "output")
        if self.stated_in == "both":
            texts = [text for text in (case.input, case.system) if text and has_text(text)]
            if not texts:
                raise CaseError("needs an input or a system prompt (field 'input' or 'system')")
        else:
            texts = [needed_text(case, self.stated_in)]
        found = tuple(dict.fromkeys(found for text in texts for found in find_requirements(text)))
        if not found:
            return not_applicable(
                "The request states no requirement that a rule can check.",
                method="rule-checkable requirements",
            )
        checks = [(requirement, requirement.met_by(output)) for requirement in found]
        met = sum(is_met for _, is_met in checks)
        missed = "; ".join(requirement.check for requirement, is_met in checks if not is_met)
        return Score(
            value=met / len(found),
            parts=tuple(
                Part(
                    id=f"{number}_{requirement.kind}",
                    value=float(is_met),
                    weight=1 / len(found),
                    reason=_explanation(requirement, is_met=is_met),
                )
                for number, (requirement, is_met) in enumerate(checks, 1)
            ),
            reason=f"{met} of {len(found)} requirements met."
            + (f" Not met: {missed}." if missed else ""),
            method="rule-checkable requirements",
            details={"met": met, "found": len(found), "requirements": describe(checks)},
        )


def describe(checks: list[tuple[Requirement, bool]]) -> list[JsonValue]:
    """Return checked requirements as plain data, for details."""
    return [
        {
            "item": requirement.text,
            "kind": requirement.kind,
            "reason": f"the output {'meets' if is_met else 'misses'} {requirement.check!r}",
            "met": is_met,
        }
        for requirement, is_met in checks
    ]


def _explanation(requirement: Requirement, *, is_met: bool) -> str:
    return (
        f'"{requirement.text}": the output {"meets" if is_met else "misses"} "{requirement.check}".'
    )
