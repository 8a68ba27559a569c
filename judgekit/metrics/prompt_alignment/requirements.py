"""Requirements of a request: find them by rules, and compute the share that an answer meets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, cast

from pydantic import JsonValue

from judgekit.core.case import Case
from judgekit.core.score import Part, Score
from judgekit.metrics._options import needed_prompts, needed_text
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.prompt_alignment.directive import (
    MASK,
    Directive,
    find_directives,
    has_any,
    rule_pattern,
    rule_words,
    stated,
)
from judgekit.metrics.prompt_alignment.requirement import Kind, Requirement, language_name

_BARE_SLACK = {"words": 0.2, "characters": 0.2}
"""Tolerance of "100 words" without a limit; numbers of sentences are exact."""
_MOST_ITEMS = 50


def lengths(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield limits on words, sentences, paragraphs and characters."""
    text = directive.text
    if rule_pattern("each").search(text) or not rule_pattern("writes").match(text):
        return
    negated = rule_pattern("negated").match(text)
    for pattern in [rule_pattern("exceed")] if negated else rule_words().rules["lengths"]:
        for match in pattern.finditer(text):
            if has_any(["method"], text, match.start()):
                continue
            kind = cast("Kind", f"{match['unit'].lower()}s")
            phrase = text[match.start("amount") : match.end()]
            low, high = read_amount(
                f"at most {phrase}" if negated else phrase, tolerance=_BARE_SLACK.get(kind, 0.0)
            )
            if (high or low or 0) > 0:
                yield Requirement(text=stated(match), kind=kind, minimum=low, maximum=high)


def items(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield numbers of items; a number of bullets also requires bullets."""
    text = directive.text
    if rule_pattern("negated").match(text):
        return
    bullets = rule_pattern("bullets")
    for pattern in (*rule_words().rules["items"], bullets):
        for match in pattern.finditer(text):
            low, high = read_amount(match["amount"])
            too_many = (low or 0) > _MOST_ITEMS
            several = rule_pattern("more").search(text, match.end())
            if (high or low or 0) < 2 or too_many or several:
                continue
            if has_any(["each"], text, match.end()):
                continue
            if pattern is bullets:
                if has_any(["method", "about"], text, match.start()):
                    continue
                yield Requirement(text=stated(match), kind="bullet_list")
            yield Requirement(text=stated(match), kind="items", minimum=low, maximum=high)


Bounds = tuple[int | None, int | None]
_LIMITS = ("at_least", "at_most", "below", "above", "roughly")
"""Patterns of words that turn a number into a limit, in the order of priority."""


def read_amount(phrase: str, *, tolerance: float = 0.0) -> Bounds:
    """Return the minimum and maximum number that a phrase allows.

    Args:
        phrase: the text that the pattern `amount` of the data file matched, with the unit and
            "or less" after it, if present.
        tolerance: allowed deviation from a number without a limit, as a share of it; "about"
            always allows 20 %.

    >>> read_amount("under 100"), read_amount("three"), read_amount("3-5"), read_amount("about 10")
    ((None, 99), (3, 3), (3, 5), (8, 12))
    """
    phrase = " ".join(phrase.lower().split())
    words = rule_words()
    numbers = [
        words.numbers.get(match[0]) or int(match[0].replace(",", ""))
        for match in words.patterns["number"].finditer(phrase)
    ]
    first = numbers[0]
    if len(numbers) > 1:
        return min(numbers[:2]), max(numbers[:2])
    limit = next((name for name in _LIMITS if words.patterns[name].search(phrase)), None)
    if limit == "at_least":
        return first, None
    if limit == "at_most":
        return None, first
    if limit == "below":
        return None, max(first - 1, 0)
    if limit == "above":
        return first + 1, None
    if limit == "roughly":
        tolerance = 0.2
    elif "exactly" in phrase:
        tolerance = 0.0
    slack = int(first * tolerance)
    return first - slack, first + slack


def shapes(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield bulleted and numbered lists, tables and JSON."""
    text = directive.text
    for kind, patterns in rule_words().rules["shapes"].items():
        for match in (match for pattern in patterns for match in pattern.finditer(text)):
            # "Explain how it works in bullet points" is a requirement.
            # "Explain how it is sent as JSON" is not.
            lists = kind in ("bullet_list", "numbered_list")
            strict = not lists or match[0].lower().startswith("as")
            barred = ["negation", "method", "about"] if strict else ["negation", "method"]
            if not has_any(barred, text, match.end()):
                yield Requirement(text=stated(match), kind=kind)


def code(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield the requirement of code, in a language if the request names one."""
    for pattern in rule_words().rules["code"]:
        match = pattern.match(directive.text)
        if match and not rule_pattern("story").search(match[0]):
            language = match.groupdict().get("language") or ""
            yield Requirement(text=stated(match), kind="code", argument=language_name(language))
            return


MAX_QUOTED = 200
"""Maximum length of a quotation that counts as words to search for, in characters."""
_QUOTE = re.compile(f'"{MASK}+"')


def quoted(directive: Directive, request: str) -> Iterator[Requirement]:
    """Yield words in quotation marks that the answer must, or must not, contain."""
    text = directive.text
    if rule_pattern("each").search(text):
        return
    for kind, (pattern,) in rule_words().rules["quoted"].items():
        for match in pattern.finditer(text):
            if has_any(["about", "method"], text, match.start()):
                continue
            quotes = list(_QUOTE.finditer(text, match.start("quotes"), match.end()))
            # "this or that" requires neither; "neither this nor that" forbids both.
            either = kind == "contains" and rule_pattern("either").search(match["quotes"])
            if len(quotes) > 1 and (either or kind in ("starts_with", "ends_with")):
                continue
            begin = directive.start
            stated_as = request[begin + match.start() : begin + match.end()].strip(" ,")
            for quote in quotes:
                words = request[begin + quote.start() + 1 : begin + quote.end() - 1].strip()
                if words and len(words) <= MAX_QUOTED:
                    yield Requirement(text=stated_as, kind=kind, argument=words)


def manners(directive: Directive, _: str) -> Iterator[Requirement]:
    """Yield the requirements of a final question, and of text in lower case or capitals."""
    text = directive.text
    match = rule_pattern("question_at_end").search(text)
    each = rule_pattern("each").search(text)
    if match and not each and not has_any(["negation"], text, match.end()):
        yield Requirement(text=stated(match), kind="ends_with_question")
    for kind, (pattern,) in rule_words().rules["cases"].items():
        match = pattern.search(text)
        if match and not has_any(["negation", "method", "about"], text, match.end()):
            yield Requirement(text=stated(match), kind=kind)


Source = Literal["input", "system", "both"]

_RULES = (lengths, items, shapes, code, quoted, manners)


def find_requirements(text: str) -> tuple[Requirement, ...]:
    """Return the distinct requirements of a request that a rule can check; English only.

    The rules check mainly clauses with instructions (see `directive`). They prefer to miss a
    requirement, because a wrong one would lower the score of a good answer.

    >>> [found.check for found in find_requirements("List three fruits in at most 20 words.")]
    ['has at most 20 words', 'has 3 items']
    """
    requirements: dict[Requirement, Requirement] = {}
    for directive in find_directives(text):
        for rule in _RULES:
            for requirement in rule(directive, text):
                # The request may state a requirement twice, in other words.
                requirements.setdefault(replace(requirement, text=""), requirement)
    return tuple(requirements.values())


class RequirementCoverage(ComputedMetric):
    """Share of the rule-checkable requirements that the output meets. Range 0..1, higher is better.

    Rules find the requirements in the input, the system prompt, or both. A case without such
    requirements is not applicable. The metric needs `output` and the field that `stated_in` names;
    with `both`, one of the two is sufficient.
    """

    name: str = "requirement_coverage"
    stated_in: Source = "both"
    """Where to look for requirements: input, system or both."""

    synchronous = True
    needs = ("output", "input or system")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output, or the text with the requirements, is missing.
        """
        output = needed_text(case, "output")
        texts = needed_prompts(case, self.stated_in).values()
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
    """Return checked requirements as plain data for `details`."""
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
