"""Rules about the wording of texts. Rules about English words read English texts only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from judgekit.authoring.lint.rule import Problem, check, check_each, repeated
from judgekit.authoring.lint.scales import anchored_in
from judgekit.authoring.lint.subject import LintSubject, OwnCriterion
from judgekit.authoring.lint.words import pattern, two_judgments
from judgekit.core.errors import place

LONG = 120
"""Words of a criterion; a longer one contains several."""


class FrontText(NamedTuple):
    """A text of the front matter."""

    where: str
    text: str
    criterion: str | None


def texts(subject: LintSubject) -> Iterator[FrontText]:
    """Yield every text of the front matter that a judge reads."""
    at = subject.at
    if subject.file.description:
        yield FrontText(at("description"), subject.file.description, None)
    for own in subject.own:
        id, file = own.id, own.file
        yield FrontText(at("criteria", id, "text"), file.text, id)
        for key, levels in (("levels", file.levels), ("options", file.options)):
            for label, level in (levels or {}).items():
                yield FrontText(at("criteria", id, key, label), f"{label} {level.text}", id)
        for number, item in enumerate(file.items or ()):
            yield FrontText(at("criteria", id, "items", number), item, id)
        for name, detail in file.details.items():
            yield FrontText(at("criteria", id, "details", name), detail.text, id)
    for name, detail in subject.file.details.items():
        yield FrontText(at("details", name), detail.text, None)


def _english(subject: LintSubject) -> Iterator[OwnCriterion]:
    """Yield the criteria with an English text."""
    return (own for own in subject.own if subject.english(own.file.text))


@check("double-barrelled")
def _double(subject: LintSubject) -> Iterator[Problem]:
    for own in _english(subject):
        text = own.file.text
        part = two_judgments(text) or ("two questions" if text.count("?") > 1 else None)
        if part is not None and own.file.chosen_kind != "checklist":
            yield own.problem(f" asks for two judgments: {part!r}", "text")
        for number, item in enumerate(own.file.items or ()):
            if (part := two_judgments(item)) is not None:
                yield own.problem(f": an item asks for two judgments: {part!r}", "items", number)


@check("vague-criterion")
def _vague(subject: LintSubject) -> Iterator[Problem]:
    for own in _english(subject):
        text = own.file.text
        described = any(level.text for level in own.criterion.levels)
        match = pattern("vague").search(text)
        if match is None or described or own.file.items or own.file.details:
            continue
        if len(text.split()) > 14 or pattern("anchored").search(text) or anchored_in(subject, own):
            continue
        yield own.problem(f" does not say what {match[0].lower()!r} means", "text")


@check_each("terse-criterion")
def _terse(own: OwnCriterion) -> Iterator[Problem]:
    text = own.file.text.strip()
    spaced = text.isascii() or not re.search("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u9fff]", text)
    described = own.file.items or any(level.text for level in own.criterion.levels)
    short = len(text.split()) < 3 if spaced else len(text) < 4
    if short and not described:
        yield own.problem(f" names a quality ({shorten(text)!r}) but asks nothing", "text")


def _matching(words: str, message: str) -> Callable[[LintSubject], Iterator[Problem]]:
    """Return a check of every English text with the pattern of that name."""

    def check_texts(subject: LintSubject) -> Iterator[Problem]:
        for own in _english(subject):
            if (match := pattern(words).search(own.file.text)) is not None:
                yield own.problem(f" {message}: {shorten(match[0].strip())!r}", "text")

    return check_texts


check("leading-wording")(_matching("leading", "suggests a verdict"))
check("asks-opinion")(_matching("opinion", "asks for the judge's own taste"))
check("rewards-length")(_matching("rewards_length", "rewards length"))
check("unobservable")(_matching("unobservable", "asks for something that no text shows"))


@check("position-reference")
def _position(subject: LintSubject) -> Iterator[Problem]:
    for text in texts(subject):
        words = pattern("position" if subject.english(text.text) else "position_elsewhere")
        match = words.search(text.text)
        if match is not None and text.criterion is not None:
            message = f"{text.criterion!r} refers to a position: {match[0]!r}"
            yield Problem(text.where, message, text.criterion)


@check("negated-question")
def _negated(subject: LintSubject) -> Iterator[Problem]:
    for own in _english(subject):
        match = pattern("negated").search(own.file.text)
        if match is not None and own.file.chosen_kind in ("boolean", "score"):
            yield own.problem(" asks whether something is absent", "text")


@check("duplicate-text")
def _duplicate(subject: LintSubject) -> Iterator[Problem]:
    own_by_id = {own.id: own for own in subject.own}
    for id, first in repeated((_folded(c.question.text), c.id) for c in subject.criteria):
        if id in own_by_id:
            yield own_by_id[id].problem(f" asks the same question as {first!r}", "text")
    for own in subject.own:
        items = own.file.items or ()
        for number, _ in repeated((_folded(item), at) for at, item in enumerate(items)):
            yield own.problem(f" has the item {shorten(items[number])!r} twice", "items", number)


@check("similar-names")
def _alike(subject: LintSubject) -> Iterator[Problem]:
    spelled = ((re.sub(r"[-_]", "", c.id).casefold(), c.id) for c in subject.criteria)
    for id, first in repeated(spelled):
        yield Problem(subject.at("criteria", id), f"{id!r} and {first!r} differ in spelling only")


@check_each("nameless-criterion")
def _nameless(own: OwnCriterion) -> Iterator[Problem]:
    if pattern("nameless").fullmatch(own.id.rpartition(".")[2]):
        yield own.problem(" does not describe its question")


@check_each("long-criterion")
def _long(own: OwnCriterion) -> Iterator[Problem]:
    if (count := len(own.file.text.split())) > LONG:
        yield own.problem(f" has {count} words; the limit is {LONG}", "text")


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def shorten(text: str) -> str:
    """Return a text on one line of at most 60 characters."""
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"


# -- words and characters that were left in a text by mistake --------------------------

MOST = 10
"""Findings of one kind in one template."""


def _anywhere(
    words: str, message: str, *, templates: bool = True, shown: Callable[[str], str] = repr
) -> Callable[[LintSubject], Iterator[Problem]]:
    """Return a check of every text of the front matter and of the templates."""

    def check_texts(subject: LintSubject) -> Iterator[Problem]:
        for text in texts(subject) if subject.readable else ():
            if (match := pattern(words).search(text.text)) is not None:
                yield Problem(text.where, f"{message}: {shown(match[0][:60])}", text.criterion)
        for body in subject.bodies if templates else ():
            for match in islice(pattern(words).finditer(body.words.text), MOST):
                where = place(body.path, body.words.line_at(match.start()))
                yield Problem(where, f"{message}: {shown(match[0][:60])}")

    return check_texts


def _points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text)


check("placeholder")(_anywhere("placeholder", "placeholder"))
check("format-placeholder")(_anywhere("format_placeholder", "judgekit does not fill"))
check("template-in-text")(_anywhere("template", "not rendered", templates=False))
check("hidden-characters")(_anywhere("hidden", "invisible character", shown=_points))
