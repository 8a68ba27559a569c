"""Rules about a rubric's verdicts in a run: criteria that tell nothing, or not the truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from judgekit.authoring.lint.finding import Said
from judgekit.authoring.lint.observed import Pair, Seen, Tally
from judgekit.authoring.lint.rule import Rule
from judgekit.authoring.lint.subject import Subject

MINIMUM = 20
"""Verdicts below which nothing is said: of 20, a share of 95 % is 19."""
EDGE = 0.95
"""Share of verdicts at one end from which on a criterion tells cases apart no more."""
SAME = 0.98
"""Share of equal verdicts from which on two criteria are one."""
VARIED = 0.05
"""Share that must lie apart from a criterion's commonest value for agreement to mean anything."""
ABSTAINING = 0.3
INAPPLICABLE = 0.9
CONTRADICTING = 0.05
FEW = 3
"""Contradictions below which they are slips."""
UNFOUND = 0.1
AGAINST = 0.2
UNREADABLE = 0.1


class Verdicts(NamedTuple):
    """A rubric and what was seen of it."""

    subject: Subject
    seen: Seen
    minimum: int

    def at(self, id: str) -> str:
        """Return where a criterion stands."""
        return self.subject.at("criteria", id)

    def tallies(self) -> Iterator[tuple[str, Tally]]:
        """Yield the criteria with enough values."""
        for id, tally in self.seen.tallies.items():
            if tally.scored >= self.minimum:
                yield id, tally

    def pairs(self) -> Iterator[tuple[str, str, Pair]]:
        """Yield the pairs of criteria with enough cases."""
        for (first, second), pair in self.seen.pairs.items():
            if pair.both >= self.minimum:
                yield first, second, pair


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})"


def _edge(verdicts: Verdicts, edge: float, words: str) -> Iterator[Said]:
    for id, tally in verdicts.tallies():
        count = tally.values[edge]
        if count / tally.scored >= EDGE and len(tally.values) > 1:
            yield Said(
                verdicts.at(id), f"{id!r} is worth {words} in {_share(count, tally.scored)}", id
            )


def _ceiling(verdicts: Verdicts) -> Iterator[Said]:
    return _edge(verdicts, 1.0, "1")


def _floor(verdicts: Verdicts) -> Iterator[Said]:
    return _edge(verdicts, 0.0, "0")


def _dead(verdicts: Verdicts) -> Iterator[Said]:
    for id, tally in verdicts.tallies():
        if len(tally.values) == 1:
            value = next(iter(tally.values))
            share = _share(tally.scored, tally.scored)
            yield Said(verdicts.at(id), f"{id!r} is worth {value:g} in {share}", id)


def _redundant(verdicts: Verdicts) -> Iterator[Said]:
    for first, second, pair in verdicts.pairs():
        tallies = verdicts.seen.tallies
        if pair.equal / pair.both >= SAME and _varied(tallies[first]) and _varied(tallies[second]):
            share = _share(pair.equal, pair.both)
            message = f"{second!r} is worth what {first!r} is in {share}"
            yield Said(verdicts.at(second), message, second)


def _varied(tally: Tally) -> bool:
    return 1 - max(tally.values.values()) / tally.scored >= VARIED


def _abstaining(verdicts: Verdicts) -> Iterator[Said]:
    for id, tally in verdicts.seen.tallies.items():
        if tally.answers >= verdicts.minimum and tally.abstained / tally.answers >= ABSTAINING:
            share = _share(tally.abstained, tally.answers)
            yield Said(verdicts.at(id), f"the judge abstained from {id!r} in {share}", id)


def _inapplicable(verdicts: Verdicts) -> Iterator[Said]:
    for id, tally in verdicts.seen.tallies.items():
        if tally.answers >= verdicts.minimum and tally.inapplicable / tally.answers >= INAPPLICABLE:
            share = _share(tally.inapplicable, tally.answers)
            yield Said(verdicts.at(id), f"{id!r} did not apply in {share}", id)


def _contradicting(verdicts: Verdicts) -> Iterator[Said]:
    for id, tally in verdicts.seen.tallies.items():
        count = tally.contradictions
        enough = tally.answers >= verdicts.minimum and count >= FEW
        if enough and count / tally.answers >= CONTRADICTING:
            yield Said(
                verdicts.at(id),
                f"the verdict on {id!r} contradicts its reason in {_share(count, tally.answers)}: "
                f"{'; '.join(tally.contradicting)}",
                id,
            )


def _unfound(verdicts: Verdicts) -> Iterator[Said]:
    for id, tally in verdicts.seen.tallies.items():
        if tally.quotes >= verdicts.minimum and tally.unfound / tally.quotes >= UNFOUND:
            yield Said(
                verdicts.at(id),
                f"{_share(tally.unfound, tally.quotes)} quotes of {id!r} are not in the text: "
                f"{', '.join(tally.unfound_in)}",
                id,
            )


def _against(verdicts: Verdicts) -> Iterator[Said]:
    criteria = verdicts.seen.criteria
    for first, second, pair in verdicts.pairs():
        kinds = [criteria[id].question.kind == "checklist" for id in (first, second)]
        alike = criteria[first].group == criteria[second].group
        positive = criteria[first].weight > 0 and criteria[second].weight > 0
        if sum(kinds) == 1 and alike and positive and pair.against / pair.both >= AGAINST:
            listed, judged = (first, second) if kinds[0] else (second, first)
            yield Said(
                verdicts.at(judged),
                f"{judged!r} and the checklist {listed!r} say the opposite in "
                f"{_share(pair.against, pair.both)}",
                judged,
            )


def _unreadable(verdicts: Verdicts) -> Iterator[Said]:
    seen = verdicts.seen
    rows = seen.rows + seen.unreadable
    if rows >= verdicts.minimum and seen.unreadable / rows >= UNREADABLE:
        share = _share(seen.unreadable, rows)
        yield Said(verdicts.subject.at("name"), f"replies were not of the form in {share}")


def _few(verdicts: Verdicts) -> Iterator[Said]:
    rows = verdicts.seen.rows
    if rows < verdicts.minimum:
        many = f"{rows} verdict{'s' if rows != 1 else ''}" if rows else "no verdicts"
        yield Said(
            verdicts.subject.at("name"),
            f"{many} of this rubric in the run; from {verdicts.minimum} on they are looked at",
        )


def _older(verdicts: Verdicts) -> Iterator[Said]:
    seen = verdicts.seen
    if seen.others:
        share = _share(seen.others, seen.rows)
        yield Said(verdicts.subject.at("name"), f"{share} verdicts are of another version of it")


RULES: tuple[Rule, ...] = (
    Rule(
        "at-ceiling",
        "warning",
        f"A criterion that {EDGE:.0%} of cases meet in full hardly tells them apart.",
        "Ask for more, judge harder cases, or keep it as a gate and say so in a silence.",
        _ceiling,
        needs="results",
    ),
    Rule(
        "at-floor",
        "warning",
        f"A criterion that {EDGE:.0%} of cases miss altogether hardly tells them apart; often it "
        "asks for what no case can have.",
        "Read some reasons; ask for less, or for what these cases can show.",
        _floor,
        needs="results",
    ),
    Rule(
        "no-variance",
        "warning",
        "A criterion that gave every case the same value adds a constant.",
        "Remove it, or judge cases in which it differs.",
        _dead,
        needs="results",
    ),
    Rule(
        "redundant",
        "warning",
        f"Two criteria with equal values in {SAME:.0%} of cases are one, counted twice.",
        "Remove one, or say in its text what the other does not look at.",
        _redundant,
        needs="results",
    ),
    Rule(
        "abstaining",
        "warning",
        f"Where the judge abstains in {ABSTAINING:.0%} of cases, the number is made of the rest.",
        "Show the judge what it lacks, or ask only where it applies: groups with `requires`.",
        _abstaining,
        needs="results",
    ),
    Rule(
        "inapplicable",
        "warning",
        f"A criterion that does not apply in {INAPPLICABLE:.0%} of cases is paid for in all.",
        "Put it into a group with `requires`, or into a rubric for the cases it is about.",
        _inapplicable,
        needs="results",
    ),
    Rule(
        "contradicted",
        "warning",
        f"Verdicts that contradict their own reasons in {CONTRADICTING:.0%} of cases (and at least "
        f"{FEW}) were not drawn from them: often true and false, or high and low, are mixed up.",
        "Say in the text what true, or the highest value, means; ask without negation.",
        _contradicting,
        "values and levels in any language, sentences in English",
        needs="results",
    ),
    Rule(
        "unfound-quotes",
        "warning",
        f"Where {UNFOUND:.0%} of quotes are not in the text, the evidence is made up.",
        "Ask for short quotes, copied exactly; use another judge.",
        _unfound,
        needs="results",
    ),
    Rule(
        "against-checklist",
        "warning",
        f"A verdict that says yes where the checklist beside it says no, in {AGAINST:.0%} of "
        "cases, measures something else than it seems to.",
        "Read some of these cases; mend the text that is taken otherwise than meant.",
        _against,
        needs="results",
    ),
    Rule(
        "unreadable-replies",
        "warning",
        f"Replies that are not of the form in {UNREADABLE:.0%} of cases are cases without a score.",
        "Ask for less at once, simplify the levels, or use a judge that keeps to forms.",
        _unreadable,
        needs="results",
    ),
    Rule(
        "few-results",
        "note",
        "From a handful of verdicts nothing follows; nothing is said of criteria then.",
        "Run more cases, or lower `--minimum`.",
        _few,
        needs="results",
    ),
    Rule(
        "older-results",
        "note",
        "Verdicts of another version of the file may be answers to other questions.",
        "Run again; `judgekit rubric diff` says what changed.",
        _older,
        needs="results",
    ),
)
ABOUT_ROWS = ("few-results", "older-results", "unreadable-replies")
"""Rules that have something to say however few the verdicts are."""
