"""Lint rules, the decorators that register their checks, and their findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import package_data

if TYPE_CHECKING:
    from judgekit.authoring.lint.subject import OwnCriterion

T = TypeVar("T")

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Worst first."""


class Problem(NamedTuple):
    """The result of a check."""

    where: str
    """`file:line`, or the file alone."""
    message: str
    criterion: str | None = None
    """The criterion of the problem: silences of that criterion apply."""


class LintFinding(NamedTuple):
    """A problem, and the rule that it breaks."""

    file: str
    line: int
    """Line number from 1; also 1 for a finding about the whole file."""
    rule: str
    severity: Severity
    message: str
    criterion: str | None = None
    case: str | None = None
    """The id of the case, in a file of cases."""
    field: str | None = None
    """The field of the case."""
    silenced: str | None = None
    """The reason why the file silences it."""


Check = Callable[[Any], Iterable[Problem]]

CriterionCheck = Callable[["OwnCriterion"], Iterable[Problem]]

CHECKS: dict[str, Check] = {}
"""Rule id -> the function that finds its problems."""


@dataclass(frozen=True)
class LintRule:
    """One rule, as `rules.yaml` describes it.

    Args:
        id: its name in findings, silences and documentation.
        why: the effect of the problem; one or two sentences.
        fix: how to fix it; one or two sentences, or empty.
        severity: `error` fails a run, `warning` fails with `--strict`, `note` never fails.
        needs: the input of the rule: the front matter, a valid rubric, a template (of a rubric or a
            partial one), the verdicts of a run, or a rubric with `--api`.
        languages: the language of the texts: `any`, or `English` for a rule about words.
        check: yields the problems of a subject; `None` if loading reports them.
    """

    id: str
    why: str
    fix: str = ""
    severity: Severity = "warning"
    needs: Literal["front", "rubric", "template", "results", "api"] = "front"
    languages: str = "any"
    check: Check | None = None

    @property
    def silenceable(self) -> bool:
        """Whether a file may silence it; errors that prevent loading cannot be silenced."""
        return self.check is not None

    def finding(self, problem: Problem, *, severity: Severity | None = None) -> LintFinding:
        """Return a problem as a finding of this rule, by default with its severity."""
        file, colon, line = problem.where.rpartition(":")
        if not (colon and line.isascii() and line.isdigit()):
            file, line = problem.where, "1"
        at, severity = max(1, int(line)), severity or self.severity
        return LintFinding(file, at, self.id, severity, problem.message, problem.criterion)


class Linted:
    """The outcome of lint.

    Attributes:
        files: the files checked.
        findings: all findings by file and line, including silenced ones.
        open: the findings that are not silenced.
    """

    def __init__(self, files: Sequence[Path], findings: Iterable[LintFinding]) -> None:
        def order(one: LintFinding) -> tuple[Any, ...]:
            return one.file, one.line, SEVERITIES.index(one.severity), one.rule, one.message

        self.files = tuple(files)
        self.findings = tuple(sorted(set(findings), key=order))
        self.open = tuple(one for one in self.findings if one.silenced is None)

    def count(self, severity: Severity) -> int:
        """Return the number of open findings with a severity."""
        return sum(one.severity == severity for one in self.open)

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 1 if there is an error, or with `strict` a warning; else 0."""
        return int(bool(self.count("error") or (strict and self.count("warning"))))


@cache
def rules_in(file: Path) -> dict[str, LintRule]:
    """Return id -> rule of a file of rules without families."""
    return {id: LintRule(id, **text) for id, text in package_data(file).items()}


def check(rule: str) -> Callable[[Check], Check]:
    """Return a decorator that registers the check of a rule."""

    def register(function: Check) -> Check:
        CHECKS[rule] = function
        return function

    return register


def check_each(rule: str, *, english: bool = False) -> Callable[[CriterionCheck], CriterionCheck]:
    """Return a decorator that registers the check of a rule for each criterion of a file.

    Args:
        rule: the id of the rule.
        english: whether only criteria with an English text are checked.
    """

    def register(function: CriterionCheck) -> CriterionCheck:
        def check_own(subject: Any) -> Iterator[Problem]:
            for own in subject.own:
                if not english or own.english:
                    yield from function(own)

        CHECKS[rule] = check_own
        return function

    return register


def repeated(keyed: Iterable[tuple[Hashable, T]]) -> Iterator[tuple[T, T]]:
    """Yield each value with a repeated key, and the first value with that key."""
    seen: dict[Hashable, T] = {}
    for key, value in keyed:
        first = seen.setdefault(key, value)
        if first != value:
            yield value, first


def near_rule(word: str, known: Collection[str], *, command: str = "rubric") -> str:
    """Return the end of a message about an unknown rule."""
    return suggest(word, known, otherwise=f"; `judgekit {command} lint --rules` lists them")
