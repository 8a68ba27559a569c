"""A lint rule, and the decorator that registers the function that checks it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from judgekit.authoring.lint.finding import Problem, Severity
from judgekit.core.suggest import suggest

if TYPE_CHECKING:
    from judgekit.authoring.lint.subject import OwnCriterion

Check = Callable[[Any], Iterable[Problem]]

CriterionCheck = Callable[["OwnCriterion"], Iterable[Problem]]

CHECKS: dict[str, Check] = {}
"""Rule id -> the function that finds its problems."""


@dataclass(frozen=True)
class LintRule:
    """One rule, as `rules.yaml` describes it.

    Args:
        id: its name in findings, silences and documentation.
        why: what goes wrong otherwise; one or two sentences.
        fix: what to do; one or two sentences, or nothing.
        severity: `error` fails a run, `warning` fails with `--strict`, `note` never fails.
        needs: what the rule reads: the front matter, a rubric that loads, a template (of a rubric
            or a partial one), or the verdicts of a run.
        languages: the texts that the rule reads: `any`, or `English` for a rule about words.
        check: yields the problems of a subject; `None` where loading finds them.
    """

    id: str
    why: str
    fix: str = ""
    severity: Severity = "warning"
    needs: Literal["front", "rubric", "template", "results"] = "front"
    languages: str = "any"
    check: Check | None = None

    @property
    def silenceable(self) -> bool:
        """Whether a file may silence it: a rubric must load whatever its author says."""
        return self.check is not None


def check(rule: str) -> Callable[[Check], Check]:
    """Return a decorator that registers the check of a rule."""

    def register(function: Check) -> Check:
        CHECKS[rule] = function
        return function

    return register


def check_each(rule: str) -> Callable[[CriterionCheck], CriterionCheck]:
    """Return a decorator that registers the check of a rule for each criterion of a file."""

    def register(function: CriterionCheck) -> CriterionCheck:
        CHECKS[rule] = lambda subject: (p for own in subject.own for p in function(own))
        return function

    return register


def near_rule(word: str, known: Collection[str]) -> str:
    """Return the end of a message about an unknown rule."""
    return suggest(word, known, otherwise="; `judgekit rubric lint --rules` lists them")
