"""The phrases that state, reject or correct answers; numbers; and the mentions that count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from judgekit.metrics.word_data import fill, fill_parts, read_words


class Wording(NamedTuple):
    """The compiled phrases."""

    marker: re.Pattern[str]
    """Matches a phrase before an answer."""
    negation: re.Pattern[str]
    choice_word: str
    """Alternatives for use inside a pattern."""
    ordinal: dict[str, int]
    """Number word -> index, from 0."""
    after_letter: re.Pattern[str]
    rejects_before: re.Pattern[str]
    """Matches the end of the text before a rejected number."""
    rejects_choice_before: re.Pattern[str]
    """The same for choices."""
    rejects_after: re.Pattern[str]
    """Matches the beginning of the text after a rejected mention."""
    affirms_after: re.Pattern[str]
    """Matches the beginning of the text after a mention that is called the answer."""
    correction: re.Pattern[str]
    contrast: re.Pattern[str]
    hedge: re.Pattern[str]
    filler: re.Pattern[str]
    """Words that may occur between a correction and the answer."""
    joint: re.Pattern[str]
    """Matches the whole text between two coordinated mentions: "A or B"."""
    doubt: re.Pattern[str]
    """Finds any word that may reject or take back a mention."""
    yes_no: dict[str, str]
    """Word of a reference -> "yes" or "no"."""
    polarity: Polarity
    digest: str


class Polarity(NamedTuple):
    """The words that mean yes or no."""

    words: dict[str, str]
    """Word -> "yes" or "no"."""
    phrases: dict[str, str]
    texts: dict[str, str]
    assurances: re.Pattern[str]
    """Words that mean yes if the text contains nothing else."""
    boosters: re.Pattern[str]
    """Assurances, and words that change nothing."""
    leads: re.Pattern[str]
    verdict: re.Pattern[str]
    """A word that calls something right or wrong."""
    statement: re.Pattern[str]
    """A sentence that calls something right or wrong."""


@lru_cache(maxsize=1)
def wording() -> Wording:
    """Return the phrases; they are read once."""
    data, digest = read_words("benchmarks/answers.yaml")
    patterns = read_words("benchmarks/patterns.yaml").data
    signs = [word for word in data["copulas"] if not word[0].isalpha()]
    before, after = data["rejects_before"], data["rejects_after"]
    lists = {
        **{name: words for name, words in data.items() if name != "ordinals"},
        "verbs": [word for word in data["copulas"] if word[0].isalpha()],
        "rejecting": before + data["rejects_choice_before"],
        "doubting": before + after + data["corrections"],
        "assuring": data["assurances"] + data["boosters"],
    }
    words = {name: _any(listed) for name, listed in lists.items()}
    parts = fill_parts(patterns["parts"], signs=re.escape("".join(signs)), **words)

    def compiled(group: str) -> dict[str, re.Pattern[str]]:
        return {n: re.compile(fill(p, parts), re.IGNORECASE) for n, p in patterns[group].items()}

    return Wording(
        **compiled("patterns"),
        choice_word=parts["choice_words"],
        ordinal={word: place for place, row in enumerate(data["ordinals"]) for word in row},
        yes_no=_sides(data, "yes", "no"),
        polarity=Polarity(
            words=_sides(data, "says_yes", "says_no"),
            phrases=_sides(data, "yes_phrases", "no_phrases"),
            texts=_sides(data, "yes_texts", "no_texts"),
            **compiled("polarity"),
        ),
        digest=digest,
    )


def _sides(data: dict[str, Any], yes: str, no: str) -> dict[str, str]:
    return {word: answer for key, answer in ((yes, "yes"), (no, "no")) for word in data[key]}


def _any(words: Iterable[str]) -> str:
    return "|".join(
        re.escape(word).replace(r"\ ", r"\s").replace("'", "['’]")
        for word in sorted(words, key=lambda word: (-len(word), word))
    )


MAX_DIGITS = 400
"""Maximum number of characters of a number; reading takes quadratic time."""

_SIGN = r"(?:(?<![\w)\]}])[-+−]|(?<![\w.,)\]}/]))"
_DIGITS = r"(?:\d{1,3}+(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?+|\.\d++"
_NUMBER = re.compile(
    rf"{_SIGN}(?:[$€£¥]\s?[-−]?)?((?:{_DIGITS})(?:[eE][-+]?\d{{1,3}}(?!\w))?+)"
    rf"(?:\s?/\s?((?:{_DIGITS})(?![\w/])))?"
)
_FRACTION = re.compile(r"\\[dt]?frac\s?\{?\s?([-−]?\d+)\s?\}?\s?\{?\s?(\d+)\s?\}?")
_COMMAND = re.compile(r"\\(?:text|mathrm|textbf|mathbf|mbox)\s?\{([^{}]*)\}")
_SPACE = re.compile(r"\\[,!;: ]|\\quad|~|\{,\}")
_ITEM = re.compile(r"^[ \t]*(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)


class AnswerMention(NamedTuple):
    """A letter, choice or number, and its span."""

    start: int
    end: int
    name: str


def plain(text: str) -> str:
    r"""Return the plain text of LaTeX for simple answers.

    >>> plain(r"\frac{3}{4}\text{ cm}"), plain(r"1{,}000")
    ('3/4 cm', '1,000')
    """
    if "\\" not in text and "{" not in text:
        return text
    text = text.replace("{,}", ",")
    text = _SPACE.sub(" ", _COMMAND.sub(r"\1", _FRACTION.sub(r"\1/\2", text)))
    return text.replace("\\$", "$").replace("\\%", "%").replace("\\(", "").replace("\\)", "")


def numbers(text: str) -> list[AnswerMention]:
    """Return every number of a text with its span, without the numbers of list items.

    >>> [number.name for number in numbers("1. From -3 to $1,200.50, or 3/4 of it.")]
    ['-3', '$1,200.50', '3/4']
    """
    listed = list(_ITEM.finditer(text))
    if len(listed) == 1 and listed[0][1] != "1":
        listed = []  # "12. It is not 10." is not a list
    items = {match.start(1) for match in listed}
    return [
        AnswerMention(match.start(), match.end(), match[0])
        for match in _NUMBER.finditer(text)
        if match.start() not in items
    ]


def read_number(text: str) -> Fraction | None:
    """Return the only number in a text, exactly; `None` if there is not exactly one.

    Signs of currency and percent, thousands separators (commas) and a unit after the number are
    ignored: "50 %" is 50. "1.000" is one: a full stop is the decimal point.

    >>> read_number("$1,200.50"), read_number("-3/4"), read_number("fifty")
    (Fraction(2401, 2), Fraction(-3, 4), None)
    """
    match = _NUMBER.search(plain(text))
    if match is None or len(match[0]) > MAX_DIGITS:
        return None
    over = Fraction(match[2].replace(",", "")) if match[2] else Fraction(1)
    if not over:
        return None
    value = Fraction(match[1].replace(",", "")) / over
    before = match[0][: match.start(1) - match.start()]
    return -value if "-" in before or "−" in before else value


def is_number(text: str) -> bool:
    """Return whether a text is only a number, possibly with a sign of currency or percent.

    >>> is_number("$1,200"), is_number("12 apples"), is_number("0/0")
    (True, False, False)
    """
    bare = plain(text).strip().rstrip("%").strip()
    match = _NUMBER.match(bare)
    whole = match is not None and match.end() == len(bare)
    return whole and read_number(bare) is not None


_WINDOW = 60
"""Number of characters before and after a mention that are checked for a rejection."""
_JOINT = 24
"""Maximum number of characters between two coordinated mentions."""


class ResolvedMentions(NamedTuple):
    """The mentions of a text, after rejections."""

    groups: list[list[AnswerMention]]
    """Mentions that are not rejected or taken back, in order; coordinated ones are one group."""
    rejected: set[str]

    @property
    def names(self) -> set[str]:
        """The names that are kept."""
        return {mention.name for group in self.groups for mention in group}


def standing(text: str, mentions: Sequence[AnswerMention], *, choices: bool) -> ResolvedMentions:
    """Return the mentions of a text that are not rejected or taken back.

    The text right before a mention ("not B", "rather than B") or after it ("B is wrong") can reject
    it; this also applies to coordinated mentions ("neither A nor B"). A correction ("B. Sorry, C")
    or a contrast ("A is close, but C fits") takes back earlier choices.

    Args:
        text: a sentence, or a text.
        mentions: in the order of the text, without overlaps.
        choices: whether they are choices, not numbers.
    """
    words = wording()
    before = words.rejects_choice_before if choices else words.rejects_before
    remaining: list[list[AnswerMention]] = []
    affirmed: list[list[AnswerMention]] = []
    rejected: set[str] = set()
    groups = _groups(text, mentions)
    following = [*(group[0].start for group in groups[1:]), len(text)]
    end = 0
    for group, limit in zip(groups, following, strict=False):
        gap = text[end : group[0].start]
        end = group[-1].end
        after = text[end : min(limit, end + _WINDOW)]
        if before.search(gap[-_WINDOW:]) or words.rejects_after.match(after):
            rejected.update(mention.name for mention in group)
        else:
            if words.affirms_after.match(after):
                affirmed.append(group)
            if choices and remaining and _is_taken_back(gap, after):
                remaining.clear()
            remaining.append(group)
    if choices and len(affirmed) == 1 and affirmed[0] in remaining:
        # "B is the answer, A a distractor."
        remaining = affirmed
    if len(remaining) > 1 and len(remaining[-1]) == 1:
        # "Between B and D, D": the last mention decides between the two before it.
        pick = remaining[-1][0].name
        remaining = [g for g in remaining if len(g) == 1 or pick not in {m.name for m in g}]
    return ResolvedMentions(remaining, rejected)


def _groups(text: str, mentions: Sequence[AnswerMention]) -> list[list[AnswerMention]]:
    """Return the mentions in groups; "or", "nor" or "and" joins mentions to a group."""
    groups: list[list[AnswerMention]] = []
    run: list[AnswerMention] = []
    worded = False
    for mention in mentions:
        gap = text[run[-1].end : mention.start] if run else ""
        if not run or len(gap) > _JOINT or not wording().joint.fullmatch(gap):
            groups += _runs(run, worded)
            run, worded = [], False
            gap = ""
        run.append(mention)
        worded = worded or any(char.isalpha() or char in "/&" for char in gap)
    return groups + _runs(run, worded)


def _runs(run: list[AnswerMention], worded: bool) -> list[list[AnswerMention]]:
    """Return a run as one group; mentions with commas alone ("not 10, 12") are separate groups."""
    if worded:
        return [run]
    return [[mention] for mention in run]


def _is_taken_back(gap: str, after: str) -> bool:
    """Return whether a group takes back the mentions before the gap in front of it."""
    words = wording()
    if words.correction.search(gap):
        return True
    return bool(words.contrast.search(gap)) and not words.hedge.search(f"{gap} {after}")
