"""Silences: rules a file asks not to hear about, each with a reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from judgekit.lint.finding import Finding, Said
from judgekit.lint.rule import Rule, near_rule
from judgekit.lint.subject import Subject


class Silence(NamedTuple):
    """One rule that is not to speak up in a file, or about one of its criteria."""

    rule: str
    reason: str
    where: str
    criterion: str | None

    def covers(self, finding: Finding) -> bool:
        """Return whether it is about a finding."""
        here = self.criterion is None or self.criterion == finding.criterion
        return here and self.rule == finding.rule


def silences(subject: Subject) -> tuple[Silence, ...]:
    """Return the silences of a file; none when its front matter cannot be read."""
    if not subject.readable:
        return ()
    found = [
        Silence(rule, (reason or "").strip(), subject.at("lint", rule), None)
        for rule, reason in subject.file.lint.items()
    ]
    for id, criterion in subject.file.criteria.items():
        for rule, reason in (criterion.lint if criterion is not None else {}).items():
            where = subject.at("criteria", id, "lint", rule)
            found.append(Silence(rule, (reason or "").strip(), where, id))
    return tuple(found)


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
