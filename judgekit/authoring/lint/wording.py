"""Rules about the wording of texts. Rules about English words check only English texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from judgekit.authoring.lint.foreign import foreign_placeholders
from judgekit.authoring.lint.rule import Problem, check, check_each, repeated
from judgekit.authoring.lint.scales import is_anchored
from judgekit.authoring.lint.subject import LintSubject, OwnCriterion
from judgekit.authoring.lint.words import pattern, two_judgments
from judgekit.core.errors import place
from judgekit.rubric.case_text import uses_case
from judgekit.rubric.template_analysis import fence_labels

LONG = 120
"""Maximum number of words of a criterion; a longer one contains several questions."""


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


@check_each("double-barrelled", english=True)
def _double(own: OwnCriterion) -> Iterator[Problem]:
    text = own.file.text
    part = two_judgments(text) or ("two questions" if text.count("?") > 1 else None)
    if part is not None and own.file.chosen_kind != "checklist":
        yield own.problem(f" asks for two judgments: {part!r}", "text")
    for number, item in enumerate(own.file.items or ()):
        if (part := two_judgments(item)) is not None:
            yield own.problem(f": an item asks for two judgments: {part!r}", "items", number)


@check_each("vague-criterion", english=True)
def _vague(own: OwnCriterion) -> Iterator[Problem]:
    text = own.file.text
    match = pattern("vague").search(text)
    described = own.file.items or own.file.details or own.has_texts
    if match is None or described or len(text.split()) > 14:
        return
    if not pattern("anchored").search(text) and not is_anchored(own):
        yield own.problem(f" does not say what {match[0].lower()!r} means", "text")


@check_each("terse-criterion")
def _terse(own: OwnCriterion) -> Iterator[Problem]:
    text = own.file.text.strip()
    spaced = text.isascii() or not re.search("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u9fff]", text)
    short = len(text.split()) < 3 if spaced else len(text) < 4
    if short and not own.file.items and not own.has_texts:
        yield own.problem(f" names a quality ({shorten(text)!r}) but asks nothing", "text")


def _check_matches(rule: str, words: str, message: str) -> None:
    """Register a check of every English text with the pattern of that name."""

    @check_each(rule, english=True)
    def check_text(own: OwnCriterion) -> Iterator[Problem]:
        if (match := pattern(words).search(own.file.text)) is not None:
            yield own.problem(f" {message}: {shorten(match[0].strip())!r}", "text")


_check_matches("leading-wording", "leading", "suggests a verdict")
_check_matches("asks-opinion", "opinion", "asks for the judge's own taste")
_check_matches("rewards-length", "rewards_length", "rewards length")
_check_matches("unobservable", "unobservable", "asks for something that no text shows")


@check("position-reference")
def _position(subject: LintSubject) -> Iterator[Problem]:
    for text in texts(subject):
        words = pattern("position" if subject.english(text.text) else "position_elsewhere")
        match = words.search(text.text)
        if match is not None and text.criterion is not None:
            message = f"{text.criterion!r} refers to a position: {match[0]!r}"
            yield Problem(text.where, message, text.criterion)


@check_each("negated-question", english=True)
def _negated(own: OwnCriterion) -> Iterator[Problem]:
    if own.file.chosen_kind in ("boolean", "score") and pattern("negated").search(own.file.text):
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


def _check_everywhere(
    rule: str, words: str, message: str, show: Callable[[str], str] = repr
) -> None:
    """Register a check of every text of the front matter and of the templates."""

    @check(rule)
    def check_texts(subject: LintSubject) -> Iterator[Problem]:
        for text in texts(subject) if subject.readable else ():
            if (match := pattern(words).search(text.text)) is not None:
                yield Problem(text.where, f"{message}: {show(match[0][:60])}", text.criterion)
        for body in subject.bodies:
            for match in islice(pattern(words).finditer(body.words.text), MOST):
                where = place(body.path, body.words.line_at(match.start()))
                yield Problem(where, f"{message}: {show(match[0][:60])}")


def _points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text)


_check_everywhere("placeholder", "placeholder", "placeholder")
_check_everywhere("hidden-characters", "hidden", "invisible character", show=_points)


@check("format-placeholder")
def _foreign(subject: LintSubject) -> Iterator[Problem]:
    tags = fence_labels(subject.trees)
    for text in texts(subject) if subject.readable else ():
        for one in islice(foreign_placeholders(text.text, tags=tags), 1):
            yield Problem(text.where, _not_filled(one.text), text.criterion)
    for body in subject.bodies:
        for one in islice(foreign_placeholders(body.words.text, tags=tags), MOST):
            yield Problem(place(body.path, body.words.line_at(one.offset)), _not_filled(one.text))


def _not_filled(text: str) -> str:
    return f"judgekit does not fill: {text[:60]!r}"


@check("template-in-text")
def _template_in_text(subject: LintSubject) -> Iterator[Problem]:
    for text in texts(subject) if subject.readable else ():
        match = pattern("template").search(text.text)
        if match is not None and not (text.criterion is not None and uses_case(text.text)):
            yield Problem(text.where, f"not rendered: {match[0][:60]!r}", text.criterion)
