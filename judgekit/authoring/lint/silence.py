"""Silences: rules a file asks not to hear about, each with a reason."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from judgekit.authoring.lint.finding import Finding, Said
from judgekit.authoring.lint.rule import Rule, near_rule
from judgekit.authoring.lint.subject import Body, Subject
from judgekit.core.errors import place
from judgekit.rubric.filetext import read_file

MOST = 100
"""Comments of one template that are read."""


_COMMENT = re.compile(r"\{#-?\s*lint\s+([\w-]{1,60})\s*:([^#]{0,500}?)-?#\}")


class Silence(NamedTuple):
    """One rule that is not to speak up in a file, or about one of its criteria."""

    rule: str
    reason: str
    where: str
    criterion: str | None = None
    template: str | None = None
    """The partial template that holds it, and to which alone it applies."""

    def covers(self, finding: Finding) -> bool:
        """Return whether it is about a finding."""
        if self.rule != finding.rule or self.criterion not in (None, finding.criterion):
            return False
        return self.template in (None, finding.file)


def silences(subject: Subject) -> tuple[Silence, ...]:
    """Return the silences of a file, and of the partial templates it is built from.

    A partial template has no front matter; it says `{# lint RULE: reason #}`.
    """
    found = [silence for body in _partials(subject) for silence in _in_comments(body)]
    if not subject.readable:
        return tuple(found)
    found += [
        Silence(rule, (reason or "").strip(), subject.at("lint", rule))
        for rule, reason in subject.file.lint.items()
    ]
    for id, criterion in subject.file.criteria.items():
        for rule, reason in (criterion.lint if criterion is not None else {}).items():
            where = subject.at("criteria", id, "lint", rule)
            found.append(Silence(rule, (reason or "").strip(), where, id))
    return tuple(found)


def _partials(subject: Subject) -> Iterator[Body]:
    if not subject.faults:
        yield from (body for body in subject.bodies if body.name.startswith("_"))


def _in_comments(body: Body) -> Iterator[Silence]:
    text = read_file(body.path)
    for match in islice(_COMMENT.finditer(text), MOST):
        where = place(body.path, text.count("\n", 0, match.start()) + 1)
        yield Silence(match[1], match[2].strip(), where, template=str(body.path))


def silenced(findings: Sequence[Finding], given: Sequence[Silence]) -> list[Finding]:
    """Return the findings, those marked that a silence with a reason covers."""
    marked = []
    for finding in findings:
        by = next((s for s in given if s.reason and s.covers(finding)), None)
        marked.append(finding if by is None else finding._replace(silenced=by.reason))
    return marked


def faults(
    given: Sequence[Silence], findings: Sequence[Finding], *, known: Collection[str],
    asked: Collection[str],
) -> Iterator[tuple[str, Said]]:  # fmt: skip
    """Yield what is wrong with silences: rule of the finding, and the finding.

    Args:
        given: the silences of a file.
        findings: everything found in that file.
        known: the rules that may be silenced.
        asked: the rules that were looked into this time.
    """
    for silence in given:
        if silence.rule not in known:
            hint = near_rule(silence.rule, known)
            message = f"silences {silence.rule!r}, which is no rule to silence{hint}"
            yield "silence-unknown", Said(silence.where, message)
        elif not silence.reason:
            message = f"silences {silence.rule!r} without saying why"
            yield "silence-without-reason", Said(silence.where, message)
        elif silence.template is not None:
            continue  # what a partial prints is known where it is used
        elif silence.rule in asked and not any(silence.covers(f) for f in findings):
            message = f"silences {silence.rule!r}, which finds nothing here"
            yield "silence-unused", Said(silence.where, message)


RULES: tuple[Rule, ...] = (
    Rule(
        "silence-without-reason",
        "warning",
        "The next author cannot tell whether a finding was thought about or only in the way.",
        'Say why: `lint: {rule: "reason"}`. Without a reason nothing is silenced.',
        silenceable=False,
    ),
    Rule(
        "silence-unknown",
        "warning",
        "A silence of a rule that does not exist silences nothing. What keeps a rubric from "
        "loading cannot be silenced.",
        "Mend the name: `judgekit rubric lint --rules` lists all.",
        silenceable=False,
    ),
    Rule(
        "silence-unused",
        "warning",
        "A silence that outlives its finding hides the next one.",
        "Remove it.",
        silenceable=False,
    ),
)
