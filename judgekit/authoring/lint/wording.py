"""Rules about how a criterion is put. Those about English words look at English texts only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from judgekit.authoring.lint import words
from judgekit.authoring.lint.finding import Said
from judgekit.authoring.lint.rule import Rule
from judgekit.authoring.lint.scales import anchored_in
from judgekit.authoring.lint.subject import Spoken, Subject

LONG = 120
"""Words a criterion may have; longer ones hold several."""
_NAMELESS = re.compile(
    r"(?:[a-z]|(?:criterion|criteria|crit|question|item|metric|c|q)[-_]?\d*)", re.I
)


class Text(NamedTuple):
    """A text of the front matter."""

    where: str
    text: str
    criterion: str | None


def texts(subject: Subject) -> Iterator[Text]:
    """Yield every text this file puts to a judge from its front matter."""
    if subject.file.description:
        yield Text(subject.at("description"), subject.file.description, None)
    for spoken in subject.own:
        id = spoken.id
        yield Text(subject.at("criteria", id, "text"), spoken.file.text, id)
        for key in ("levels", "options"):
            for label, level in (getattr(spoken.file, key) or {}).items():
                yield Text(subject.at("criteria", id, key, label), f"{label} {level.text}", id)
        for number, item in enumerate(spoken.file.items or ()):
            yield Text(subject.at("criteria", id, "items", number), item, id)
        for name, detail in spoken.file.details.items():
            yield Text(subject.at("criteria", id, "details", name), detail.text, id)
    for name, detail in subject.file.details.items():
        yield Text(subject.at("details", name), detail.text, None)


def _questions(subject: Subject) -> Iterator[tuple[Spoken, str]]:
    """Yield the criteria whose text is English, and where it stands."""
    for spoken in subject.own:
        if subject.english(spoken.file.text):
            yield spoken, subject.at("criteria", spoken.id, "text")


def _double(subject: Subject) -> Iterator[Said]:
    for spoken, where in _questions(subject):
        text = spoken.file.text
        found = words.two_judgments(text)
        if found is None and text.count("?") > 1:
            found = "two questions"
        if found is not None and spoken.file.chosen_kind != "checklist":
            yield Said(where, f"{spoken.id!r} asks for two judgments: {found!r}", spoken.id)
        for number, item in enumerate(spoken.file.items or ()):
            found = words.two_judgments(item)
            if found is not None:
                at = subject.at("criteria", spoken.id, "items", number)
                yield Said(at, f"an item asks for two judgments: {found!r}", spoken.id)


def _vague(subject: Subject) -> Iterator[Said]:
    for spoken, where in _questions(subject):
        text = spoken.file.text
        described = any(level.text for level in spoken.criterion.levels)
        found = words.VAGUE.search(text)
        if found is None or described or spoken.file.items or spoken.file.details:
            continue
        if len(text.split()) > 14 or words.ANCHORED.search(text) or anchored_in(subject, spoken):
            continue
        yield Said(where, f"{spoken.id!r} does not say what {found[0].lower()!r} means", spoken.id)


def _terse(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        text = spoken.file.text.strip()
        spaced = text.isascii() or not re.search("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u9fff]", text)
        described = spoken.file.items or any(level.text for level in spoken.criterion.levels)
        short = len(text.split()) < 3 if spaced else len(text) < 4
        if short and not described:
            yield Said(
                subject.at("criteria", spoken.id, "text"),
                f"{spoken.id!r} names a quality ({_short(text)!r}) and asks nothing",
                spoken.id,
            )


def _matching(pattern: re.Pattern[str], message: str) -> Callable[[Subject], Iterator[Said]]:
    """Return a check of every English text against a pattern."""

    def check(subject: Subject) -> Iterator[Said]:
        for spoken, where in _questions(subject):
            found = pattern.search(spoken.file.text)
            if found is not None:
                shown = _short(found[0].strip())
                yield Said(where, f"{spoken.id!r} {message}: {shown!r}", spoken.id)

    return check


def _position(subject: Subject) -> Iterator[Said]:
    for text in texts(subject):
        pattern = words.POSITION if subject.english(text.text) else words.POSITION_ELSEWHERE
        found = pattern.search(text.text)
        if found is not None and text.criterion is not None:
            yield Said(
                text.where,
                f"{text.criterion!r} points to a place: {found[0]!r}",
                text.criterion,
            )


def _negated(subject: Subject) -> Iterator[Said]:
    for spoken, where in _questions(subject):
        found = words.NEGATED.search(spoken.file.text)
        if found is not None and spoken.file.chosen_kind in ("boolean", "score"):
            yield Said(where, f"{spoken.id!r} asks whether something is not so", spoken.id)


def _duplicate(subject: Subject) -> Iterator[Said]:
    seen: dict[str, str] = {}
    for criterion in subject.criteria:
        key = _folded(criterion.question.text)
        first = seen.setdefault(key, criterion.id)
        own = any(spoken.id == criterion.id for spoken in subject.own)
        if first != criterion.id and own:
            where = subject.at("criteria", criterion.id, "text")
            yield Said(where, f"{criterion.id!r} asks what {first!r} asks", criterion.id)
    for spoken in subject.own:
        items: dict[str, str] = {}
        for number, item in enumerate(spoken.file.items or ()):
            if items.setdefault(_folded(item), item) is not item:
                where = subject.at("criteria", spoken.id, "items", number)
                yield Said(where, f"{spoken.id!r} has the item {_short(item)!r} twice", spoken.id)


def _alike(subject: Subject) -> Iterator[Said]:
    seen: dict[str, str] = {}
    for criterion in subject.criteria:
        key = re.sub(r"[-_]", "", criterion.id).casefold()
        first = seen.setdefault(key, criterion.id)
        if first != criterion.id:
            where = subject.at("criteria", criterion.id)
            yield Said(where, f"{criterion.id!r} and {first!r} differ in spelling only")


def _nameless(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        name = spoken.id.rpartition(".")[2]
        if _NAMELESS.fullmatch(name):
            where = subject.at("criteria", spoken.id)
            yield Said(where, f"{spoken.id!r} says nothing about what it asks", spoken.id)


def _long(subject: Subject) -> Iterator[Said]:
    for spoken in subject.own:
        count = len(spoken.file.text.split())
        if count > LONG:
            where = subject.at("criteria", spoken.id, "text")
            yield Said(where, f"{spoken.id!r} has {count} words, of {LONG} at most", spoken.id)


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"


RULES: tuple[Rule, ...] = (
    Rule(
        "double-barrelled",
        "warning",
        "Asked two things at once, a judge answers one of them and nobody knows which.",
        "Make two criteria of it, or a checklist.",
        _double,
        "English",
    ),
    Rule(
        "vague-criterion",
        "warning",
        "Words such as good or appropriate mean to each judge what it likes.",
        "Say what is seen in the text when it holds: a condition, an example, levels with texts.",
        _vague,
        "English",
    ),
    Rule(
        "terse-criterion",
        "warning",
        "One or two words name a quality; what the judge looks for is left to it.",
        "Ask a question that the text of the case answers.",
        _terse,
    ),
    Rule(
        "leading-wording",
        "warning",
        "A text that lets its author's wish be seen gets the answer wished for.",
        "Ask for what is there, without a verdict in the question.",
        _matching(words.LEADING, "leads the judge"),
        "English",
    ),
    Rule(
        "asks-opinion",
        "warning",
        "What a model likes is not a measure of your text, and changes with the model.",
        "Ask what a named reader would see, find or do.",
        _matching(words.OPINION, "asks for the judge's own taste"),
        "English",
    ),
    Rule(
        "position-reference",
        "warning",
        "Modes, groups and heirs put criteria in another order or leave some out: what was above "
        "is gone.",
        "Say it again in full, or name what is meant.",
        _position,
        "English, and set phrases of some others",
    ),
    Rule(
        "negated-question",
        "warning",
        "True then means that something is absent; judges and readers mix the two up.",
        "Ask for what is there, and use `reverse: true` if it is bad.",
        _negated,
        "English",
    ),
    Rule(
        "rewards-length",
        "warning",
        "Judges favour long answers unasked; a criterion that says so doubles it.",
        "Ask for the points that must be there.",
        _matching(words.REWARDS_LENGTH, "rewards length"),
        "English",
    ),
    Rule(
        "unobservable",
        "warning",
        "A judge sees the texts of a case, not clocks, bills or what people did next.",
        "Measure it with a metric of another kind.",
        _matching(words.UNOBSERVABLE, "asks for what no text shows"),
        "English",
    ),
    Rule(
        "duplicate-text",
        "warning",
        "The same question twice counts twice, and costs twice.",
        "Remove one, or say how they differ.",
        _duplicate,
    ),
    Rule(
        "similar-names",
        "warning",
        "Names that differ in case, `-` or `_` alone are mixed up by judges and readers.",
        "Rename one.",
        _alike,
    ),
    Rule(
        "nameless-criterion",
        "note",
        "Reports, tables and reasons name criteria; `c1` tells their reader nothing.",
        "Name it for what it asks.",
        _nameless,
    ),
    Rule(
        "long-criterion",
        "warning",
        f"A criterion of more than {LONG} words holds several; a judge keeps to one of them.",
        "Split it, or move what holds for all criteria into the template.",
        _long,
    ),
)
