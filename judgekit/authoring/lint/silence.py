"""Silences: rules that a file turns off, each with a reason."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from judgekit.authoring.lint.rule import LintFinding, Problem, near_rule
from judgekit.authoring.lint.subject import LintSubject, TemplateFile
from judgekit.core.errors import place
from judgekit.rubric.filetext import read_file

MOST = 100
"""Comments of one template that are read."""
_COMMENT = re.compile(r"\{#-?\s*lint\s+([\w-]{1,60})\s*:([^#]{0,500}?)-?#\}")


class Silence(NamedTuple):
    """A rule that is turned off for a file, or for one of its criteria."""

    rule: str
    reason: str
    where: str
    criterion: str | None = None
    template: str | None = None
    """The partial template that contains it; it applies to this file only."""

    def covers(self, finding: LintFinding) -> bool:
        """Return whether it applies to a finding."""
        if self.rule != finding.rule or self.criterion not in (None, finding.criterion):
            return False
        return self.template in (None, finding.file)


def silences(subject: LintSubject) -> Iterator[Silence]:
    """Yield the silences of a file and of its partial templates.

    A partial template has no front matter; it has comments, `{# lint RULE: reason #}`.
    """
    for body in () if subject.faults else subject.bodies:
        if body.name.startswith("_"):
            yield from _in_comments(body)
    if not subject.readable:
        return
    for rule, reason in subject.file.lint.items():
        yield Silence(rule, (reason or "").strip(), subject.at("lint", rule))
    for id, criterion in subject.file.criteria.items():
        for rule, reason in (criterion.lint if criterion is not None else {}).items():
            where = subject.at("criteria", id, "lint", rule)
            yield Silence(rule, (reason or "").strip(), where, id)


def _in_comments(body: TemplateFile) -> Iterator[Silence]:
    text = read_file(body.path)
    for match in islice(_COMMENT.finditer(text), MOST):
        where = place(body.path, text.count("\n", 0, match.start()) + 1)
        yield Silence(match[1], match[2].strip(), where, template=str(body.path))


def silenced(findings: Sequence[LintFinding], silences: Sequence[Silence]) -> list[LintFinding]:
    """Return the findings, marked where a silence with a reason covers them."""
    marked = []
    for finding in findings:
        by = next((s for s in silences if s.reason and s.covers(finding)), None)
        marked.append(finding if by is None else finding._replace(silenced=by.reason))
    return marked


def silence_problems(
    silences: Sequence[Silence], findings: Sequence[LintFinding], *, known: Collection[str],
    checked: Collection[str],
) -> Iterator[tuple[str, Problem]]:  # fmt: skip
    """Yield the rule and the problem of each wrong silence.

    Args:
        silences: the silences of a file.
        findings: all findings in that file.
        known: the rules that may be silenced.
        checked: the rules that ran.
    """
    for silence in silences:
        if silence.rule not in known:
            hint = near_rule(silence.rule, known)
            message = f"silences {silence.rule!r}, which is not a rule that can be silenced{hint}"
            yield "silence-unknown", Problem(silence.where, message)
        elif not silence.reason:
            message = f"silences {silence.rule!r} without a reason"
            yield "silence-without-reason", Problem(silence.where, message)
        elif silence.template is not None:
            continue  # its findings appear where the partial is used
        elif silence.rule in checked and not any(silence.covers(f) for f in findings):
            message = f"silences {silence.rule!r}, which has no finding here"
            yield "silence-unused", Problem(silence.where, message)
