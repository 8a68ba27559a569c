"""Find the choice that a text names, by letter, number or words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from judgekit.metrics.benchmarks.wording import AnswerMention, standing, wording
from judgekit.metrics.tokens import answer_form, split_sentences

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
UNKNOWN = 10
"""Maximum number of choices if the case does not list them."""

_LEAD = r"[ \t*_\"'“”‘’\[{$:>]*+"
_ALONE = re.compile(rf"^{_LEAD}\(?([A-Za-z])\)?[.:)\]*_\"'”’$ \t]*$", re.MULTILINE)
_LINE = re.compile(rf"^{_LEAD}(?:\(([A-Za-z])\)|([A-Z])[.):])(?=\s|\*)", re.MULTILINE)
_ROUND = re.compile(r"(?<!\w)\(([A-Za-z])\)")
_BARE = re.compile(r"(?<![\w'’.-])([A-Z])(?![\w'’-]|\.\w)")


class Choices(NamedTuple):
    """The choices of a question; without texts, the letters A to J."""

    texts: tuple[str, ...] = ()

    def letter(self, place: int) -> str | None:
        """Return the letter of a choice by its index, from 0."""
        count = min(len(self.texts) or UNKNOWN, len(LETTERS))
        return LETTERS[place] if 0 <= place < count else None

    def of_letter(self, letter: str) -> str | None:
        """Return the letter in upper case, if there is such a choice."""
        return self.letter(LETTERS.find(letter.upper()))

    def accepted(self, reference: str) -> str | None:
        """Return the letter of a reference, which is a letter or the text of a choice."""
        bare = reference.strip().strip("().:")
        by_text = [n for n, text in enumerate(self.texts) if _form(text) == _form(reference)]
        if by_text:
            return self.letter(by_text[0])
        return self.of_letter(bare) if len(bare) == 1 else None

    def stated(self, statement: str) -> str | None:
        """Return the choice at the beginning of a statement; `None` for none, or for two.

        >>> Choices().stated(" (b), because"), Choices().stated("A or B"), Choices().stated("a cat")
        ('B', None, None)
        """
        words = wording()
        lead = re.match(
            rf"{_LEAD}(?:(?:the|my)\s+)?(?:(?:{words.choice_word})\b[\s:]*)?[(\[*_\"'“]*",
            statement,
            re.IGNORECASE,
        )
        rest = statement[lead.end() if lead else 0 :]
        by_text = self._begins(rest)
        if by_text is not None:
            return by_text
        match = re.match(r"([A-Za-z])(?![\w'’])|(\d{1,2})(?![\w/]|[.,]\d)|([A-Za-z]+)", rest)
        if match is None:
            return None
        after = rest[match.end() :]
        if match[1]:
            letter = self.of_letter(match[1])
            if letter is None or not _is_letter(match[1], after) or self._another(letter, after):
                return None
            return letter
        if match[2]:
            return self.letter(int(match[2]) - 1)
        return self.letter(words.ordinal.get(match[3].casefold(), -1))

    def _begins(self, rest: str) -> str | None:
        form = _form(rest)
        fits = [
            (len(known), -place)
            for place, text in enumerate(self.texts)
            if (known := _form(text)) and (form == known or form.startswith(known + " "))
        ]
        return self.letter(-max(fits)[1]) if fits else None

    def _another(self, letter: str, after: str) -> bool:
        """Return whether a second choice follows the first: "A or B"."""
        match = re.match(
            r"[)\]*_\"'”]*\s*(?:,|/|&|\bor\b|\band\b)+\s*(?:(?:or|and)\s+)?[(\[*_]*([A-Za-z])(?![\w'’])",
            after,
        )
        if match is None or self.of_letter(match[1]) in (None, letter):
            return False
        return _is_letter(match[1], after[match.end() :])

    def named(self, text: str) -> tuple[str, str, str] | None:
        """Return the unmarked choice that a text names: letter, rule, and sentence."""
        words = wording()
        word = _worded(words.choice_word, "|".join(words.ordinal))
        rules: Sequence[tuple[str, Callable[[str], Iterator[AnswerMention]]]] = (
            ("alone", lambda sentence: _letters(_ALONE, sentence)),
            ("only option", lambda sentence: _letters(_LINE, sentence)),
            ("in parentheses", lambda sentence: _letters(_ROUND, sentence)),
            ("option word", lambda sentence: self._by_word(word, sentence)),
            ("text of a choice", self._by_text),
            ("bare letter", _bare),
        )
        whole = text.strip()
        is_short = len(whole) <= 20 and "\n" not in whole and not words.doubt.search(whole)
        if is_short and (only := self.stated(text)):
            return only, "whole text", whole
        lines = text.splitlines()
        if len({mention.name for mention in _letters(_LINE, text)}) > 1:
            # These lines repeat the options; the answer is in the other lines.
            lines = [line for line in lines if not _LINE.match(line) or _ALONE.match(line)]
        sentences = [part for line in lines for part in split_sentences(line)]
        for rule, named in rules:
            choice = self._last(named, [text] if rule == "only option" else sentences)
            if choice and not (rule == "only option" and words.correction.search(text)):
                return choice[0], rule, choice[1]
        return None

    def _last(
        self, named: Callable[[str], Iterator[AnswerMention]], sentences: Sequence[str]
    ) -> tuple[str, str] | None:
        """Return the choice in the last sentence that names any; `None` if it names several."""
        rejected: set[str] = set()
        for sentence in reversed(sentences):
            mentions = [
                mention._replace(name=letter)
                for mention in named(sentence)
                if (letter := self.of_letter(mention.name))
            ]
            if not mentions:
                continue
            resolved = standing(sentence, mentions, choices=True)
            if letters := resolved.names - rejected:
                return (letters.pop(), sentence) if len(letters) == 1 else None
            rejected |= resolved.rejected
        return None

    def _by_word(self, pattern: re.Pattern[str], text: str) -> Iterator[AnswerMention]:
        for match in pattern.finditer(text):
            written = match[1] or match[2]
            by_number = int(written) - 1 if written.isdigit() else None
            place = wording().ordinal.get(written.casefold(), by_number)
            letter = written if place is None else self.letter(place)
            if letter:
                yield AnswerMention(match.start(), match.end(), letter)

    def _by_text(self, text: str) -> Iterator[AnswerMention]:
        """Yield the mentions of the texts of choices: as written, else in normalised form."""
        lowered = text.lower()
        mentions = [
            AnswerMention(at, at + len(choice), letter)
            for place, choice in enumerate(self.texts)
            if (letter := self.letter(place))
            for at in _places(choice.strip().lower(), lowered)
        ]
        if not mentions:
            mentions = [
                AnswerMention(0, 0, letter)
                for place, choice in enumerate(self.texts)
                if (known := _form(choice))
                and f" {known} " in f" {_form(text)} "
                and (letter := self.letter(place))
            ]
        end = -1
        for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
            # "York" inside "New York" is not a mention.
            if mention.end > end or mention.start == mention.end:
                yield mention
                end = max(end, mention.end)


def _is_letter(letter: str, after: str) -> bool:
    """Return whether a letter names a choice: "a" is usually an article, "I" a pronoun."""
    stops = re.match(r"\s*(?:$|[).:;,\]}*_\"'”’$\n!?/-])", after) is not None
    if letter.islower():
        return stops
    return (
        stops
        or letter not in "AI"
        or wording().after_letter.match(after) is not None
        or not re.match(r"\s+[a-z]", after)
    )


def _letters(pattern: re.Pattern[str], text: str) -> Iterator[AnswerMention]:
    for match in pattern.finditer(text):
        name = next(group for group in match.groups() if group)
        yield AnswerMention(match.start(), match.end(), name)


def _bare(text: str) -> Iterator[AnswerMention]:
    for match in _BARE.finditer(text):
        if _is_letter(match[1], text[match.end() : match.end() + 20]):
            yield AnswerMention(match.start(), match.end(), match[1])


def _places(choice: str, text: str) -> Iterator[int]:
    """Yield the positions where a text occurs in another as whole words."""
    at = text.find(choice) if choice else -1
    while at >= 0:
        end = at + len(choice)
        if not (text[max(0, at - 1) : at].isalnum() or text[end : end + 1].isalnum()):
            yield at
        at = text.find(choice, end)


@lru_cache(maxsize=1)
def _worded(choice_word: str, ordinals: str) -> re.Pattern[str]:
    named = rf"\(?([A-Z]|\d{{1,2}}|{ordinals})(?![\w'’])"
    return re.compile(
        rf"\b(?:{choice_word})s?[ :]+{named}|\b(?:the\s)?({ordinals})\s(?:{choice_word}|one)\b",
        re.IGNORECASE,
    )


def _form(text: str) -> str:
    return answer_form(text[:2000])
