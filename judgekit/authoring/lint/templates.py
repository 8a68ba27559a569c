"""Rules about the template: its text, the order of its questions, and missing parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from judgekit.authoring.lint.rule import Problem, check, check_each
from judgekit.authoring.lint.subject import LintSubject, OwnCriterion, without_place
from judgekit.authoring.lint.wording import shorten, texts
from judgekit.authoring.lint.words import fields, pattern
from judgekit.core.case_field import JUDGED
from judgekit.core.errors import CaseError, ConfigError, RubricError, place
from judgekit.rubric.asked import shown_fields, shows_criteria
from judgekit.rubric.invented import invented_case, needed_fields, with_invented_parameters
from judgekit.rubric.template_analysis import unfenced, unread

LARGE = 4_000
"""Maximum number of tokens of a rubric's text, which is paid for with every case."""
_MODES = 4
"""Modes that are rendered to count their tokens, the default mode first."""

_FAR = 600
"""Characters between two keys of the same object."""


@check("unfenced-text")
def _unfenced(subject: LintSubject) -> Iterator[Problem]:
    own = {body.name: body.path for body in subject.bodies}
    for spot in unfenced(subject.trees):
        if spot.template in own:
            message = f"prints text of the case outside a fence: {spot.words}"
            yield Problem(place(own[spot.template], spot.line), message)


@check("unused-variable")
def _unread(subject: LintSubject) -> Iterator[Problem]:
    for body in subject.bodies:
        if body.name.startswith("_"):
            continue  # other files may import from it
        for spot in unread(body.name, subject.trees):
            yield Problem(place(body.path, spot.line), f"nothing reads the {spot.words}")


@check("verdict-first")
def _verdict_first(subject: LintSubject) -> Iterator[Problem]:
    for body in subject.bodies:
        text = body.words.text
        offset = _verdict_before_reason(text, in_english=subject.english(text))
        if offset is not None:
            yield _asked_first(place(body.path, body.words.line_at(offset)), text[offset:])
    for front in texts(subject) if subject.readable else ():
        offset = _verdict_before_reason(front.text, in_english=subject.english(front.text))
        if offset is not None:
            yield _asked_first(front.where, front.text[offset:], front.criterion)


def _verdict_before_reason(text: str, *, in_english: bool) -> int | None:
    """Return the offset at which a text asks for the verdict first, in a form or in English."""
    for keys in (pattern("reply_keys"), pattern("reply_fields")):
        verdict: int | None = None
        reasoned = False
        end = 0
        for match in keys.finditer(text):
            if match.start() - end > _FAR or "}" in text[end : match.start()]:
                verdict, reasoned = None, False  # another object begins
            end = match.end()
            if pattern("reason").fullmatch(match[1]) is None:
                verdict = match.start(1) if verdict is None and not reasoned else verdict
            elif verdict is not None:
                return verdict
            else:
                reasoned = True
    sentence = pattern("verdict_first").search(text) if in_english else None
    return sentence.start() if sentence is not None else None


def _asked_first(where: str, text: str, criterion: str | None = None) -> Problem:
    line = shorten(text.lstrip().split("\n", 1)[0])
    return Problem(where, f"asks for the verdict before the reason: {line!r}", criterion)


@check("unshown-part")
def _unshown(subject: LintSubject) -> Iterator[Problem]:
    """Find parts of the front matter that the template does not show."""
    printed = subject.printed
    for key in ("examples", "details"):
        if getattr(subject.file, key) and key not in printed:
            yield Problem(subject.at(key), f"the template never shows the {key}")
    if "criteria" not in printed:
        return
    if subject.own and not shows_criteria(subject.loaded):
        yield subject.own[0].problem(": the template never shows the texts of criteria", "text")
    if "outline" in printed:
        return
    for own in subject.own:
        key, words_to_answer = own.words
        parts = [(key, "levels", words_to_answer), ("items", "items", own.file.items)]
        for key, attribute, entries in parts:
            if entries and attribute not in printed:
                yield own.problem(f": the template never shows its {key}", key)
        if own.file.quotes and "quotes" not in printed:
            yield own.problem(": the template never asks for its quotes", "quotes")


@check("unshown-answer")
def _answer_unshown(subject: LintSubject) -> Iterator[Problem]:
    """Find modes that need an answer and do not show it."""
    rubric = subject.loaded
    if "output" not in rubric.requires:
        return
    hidden = [mode for mode in rubric.modes if not _shows(subject, "output", mode)]
    if hidden:
        which = f" in mode {hidden[0]!r}" if len(rubric.modes) > 1 else ""
        yield Problem(str(subject.path), f"the judge never sees the answer{which}")


def _shows(subject: LintSubject, field: str, mode: str | None = None) -> bool:
    """Return whether a mode, or any mode, shows a field of the case."""
    modes = [mode] if mode is not None else [*subject.loaded.modes]
    return any(field in _visible(subject, each) for each in modes)


def _visible(subject: LintSubject, mode: str) -> Collection[str]:
    if mode not in subject.visible:
        seen = shown_fields(subject.loaded, mode=mode)
        subject.visible[mode] = subject.printed if seen is None else seen
    return subject.visible[mode]


@check("unshown-requirement")
def _required(subject: LintSubject) -> Iterator[Problem]:
    needed = [(subject.at("requires"), field) for field in subject.file.requires or ()]
    for name, group in subject.file.groups.items():
        needed += [(subject.at("groups", name, "requires"), field) for field in group.requires]
    for where, field in needed:
        if field != "output" and not _shows(subject, field):
            yield Problem(where, f"requires {field!r}, which the template never shows")


@check_each("missing-requirement", english=True)
def _spoken_of(own: OwnCriterion) -> Iterator[Problem]:
    """Find fields in a text that may be missing, or that the template never shows."""
    rubric = own.subject.loaded
    group = rubric.groups.get(own.criterion.group)
    optional = own.file.nullable or own.file.options
    needed = {"history", *rubric.requires, *(group.requires if group else ())}
    for field, names in fields().items():
        if (match := names.search(own.file.text)) is None:
            continue
        if not _shows(own.subject, field):
            message = f" mentions {match[0]!r}, but the template never shows case.{field}"
            yield own.problem(message, "text")
        elif field not in needed and not optional:
            message = f" mentions {match[0]!r}, but `requires` does not list {field!r}"
            yield own.problem(message, "text")


@check("template-fails")
def _renders(subject: LintSubject) -> Iterator[Problem]:
    """Render a case that has every field."""
    if isinstance(fault := _rendered(subject), RubricError):
        yield Problem(fault.where or str(subject.path), without_place(fault))


@check("unguarded-field")
def _unguarded(subject: LintSubject) -> Iterator[Problem]:
    """Render a case that has only the required fields."""
    fault = _rendered(subject, sparse=True)
    if isinstance(fault, RubricError) and not isinstance(_rendered(subject), RubricError):
        message = f"fails on a case with only the required fields: {without_place(fault)}"
        yield Problem(fault.where or str(subject.path), message)


def _rendered(
    subject: LintSubject, mode: str | None = None, *, sparse: bool = False
) -> str | ConfigError:
    """Return the judge's prompt for an invented case, or the error."""
    rubric = subject.loaded
    key = (mode or rubric.default_mode, sparse)
    if key not in subject.rendered:
        needed = needed_fields(rubric, mode=rubric.default_mode) if sparse else JUDGED
        case = invented_case(rubric, only=needed)
        try:
            _, messages = with_invented_parameters(rubric).render(case, mode=key[0])
            subject.rendered[key] = "".join(message.content for message in messages)
        except ConfigError as exc:
            subject.rendered[key] = exc
        except CaseError as exc:  # a text uses a field of the case
            subject.rendered[key] = RubricError(str(exc), where=str(subject.path))
    return subject.rendered[key]


@check("prompt-size")
def _size(subject: LintSubject) -> Iterator[Problem]:
    rubric = subject.loaded
    modes = sorted(rubric.modes, key=lambda mode: mode != rubric.default_mode)[:_MODES]
    for mode in modes:
        text = _rendered(subject, mode)
        if isinstance(text, ConfigError):
            return
        if (tokens := estimated_tokens(text)) > LARGE:
            message = f"every case in mode {mode!r} sends about {tokens:,} tokens besides the case"
            yield Problem(str(subject.path), f"{message}; the limit is {LARGE:,}")
            return


def estimated_tokens(text: str) -> int:
    """Return an estimate of the tokens of a text: a quarter of its ASCII characters, all others.

    Tokenizers differ by model: for English they are within a third of the estimate. For scripts
    without spaces, it is one token per character.
    """
    if all(ord(character) < 0x250 or not character.isalpha() for character in text):
        return len(text) // 4  # in Latin script
    plain = sum(character.isascii() for character in text)
    return plain // 4 + len(text) - plain
