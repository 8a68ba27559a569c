"""Find the answer that a text states, by rules."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from judgekit.metrics.benchmarks.choice import Choices
from judgekit.metrics.benchmarks.wording import is_number, numbers, plain, standing, wording
from judgekit.metrics.tokens import split_sentences

Kind = Literal["choice", "number", "text", "yes_no"]
MAX_CHARACTERS = 200_000
"""Maximum number of characters to search at the end of an output."""

_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")
_STATEMENT = 400
"""Maximum length of a statement, in characters."""
_STATEMENTS = 32
"""Maximum number of statements of one kind to read; the last ones are used."""
_DECORATION = " \t*_`\"'“”‘’«»$:="


class StatedAnswer(NamedTuple):
    """The answer that a text states."""

    text: str
    """The answer: a letter in upper case, a number as written, `yes`, `no`, or words."""
    rule: str
    """The rule that found it."""
    quote: str
    """The words of the text that state the answer."""


class Statement(NamedTuple):
    """Text after a marker or in a box."""

    rule: str
    quote: str
    text: str
    span: tuple[int, int]
    """Span of the marker; the answer begins at its end."""


def find_answer(text: str, *, kind: Kind, choices: Choices) -> StatedAnswer | None:
    r"""Return the answer that a text states; `None` if no rule finds one.

    Marked answers have priority: `\boxed{...}`, `####`, and phrases such as "the answer is". The
    last readable one counts. Otherwise it depends on the kind:

    - `choice`: a letter alone on a line, the letter of an only option, a letter in parentheses,
      "option B", the text of a choice, a bare letter in upper case. If the last sentence that names
      any choice names several, that rule finds nothing.
    - `number`: the last number; nothing if it is one of two alternatives.
    - `yes_no`: the last yes or no that punctuation separates from other text (see `polarity`).
    - `text`: the whole text if it is one line, else its last line.

    A choice or number that the text rejects or takes back does not count (see `standing`). A
    correction replaces a marked answer before it: "The answer is B. Sorry, I meant A."

    >>> find_answer("So the answer is (b).", kind="choice", choices=Choices())
    StatedAnswer(text='B', rule='marked', quote='answer is (b).')
    """
    text = text[-MAX_CHARACTERS:]
    for statement in reversed(_statements(text)):
        if answer := _read(statement.text, kind, choices):
            correction = _corrected(text[statement.span[1] :], kind, choices)
            return correction or _stated(answer, statement.rule, statement.quote)
    return _unmarked(text, kind, choices)


def _corrected(after: str, kind: Kind, choices: Choices) -> StatedAnswer | None:
    """Return the answer of a correction right after a marked answer."""
    if kind == "text":
        return None
    words = wording()
    for correction in reversed(deque(words.correction.finditer(after), _STATEMENTS)):
        start = correction.end()
        while (filler := words.filler.match(after, start)) and filler.end() > start:
            start = filler.end()
        rest = after[start : start + _STATEMENT]
        answer = _read(rest, kind, choices)
        if answer and (kind != "number" or numbers(plain(rest))[0].start == 0):
            return _stated(answer, "correction", f"{correction[0].strip()} {rest[:80]}")
    return None


def _statements(text: str) -> list[Statement]:
    """Return marked answers, in the order of the text."""
    words = wording()
    statements = []
    for mark in deque(words.marker.finditer(text), _STATEMENTS):
        after = text[mark.end() : mark.end() + _STATEMENT]
        lines = after.strip().splitlines()
        if not lines or words.negation.match(after):
            continue
        marker = mark[0].strip()
        rule = "####" if marker.startswith("#") else "marked"
        statements.append(Statement(rule, f"{marker} {lines[0]}", lines[0], mark.span()))
    for box in deque(_BOX.finditer(text), _STATEMENTS):
        inner = _boxed(text, box.end())
        if inner is not None:
            statements.append(Statement("boxed", f"{box[0]}{inner}}}", inner, box.span()))
    return sorted(statements, key=attrgetter("span"))


def _boxed(text: str, start: int) -> str | None:
    """Return the text up to the closing brace of the box."""
    depth = 1
    for place in range(start, min(len(text), start + _STATEMENT)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[start:place]
    return None


def _read(text: str, kind: Kind, choices: Choices) -> str | None:
    """Return the answer at the beginning of a statement."""
    if kind == "choice":
        return choices.stated(plain(text))
    if kind == "number":
        sentence = next(split_sentences(plain(text)), "")
        after = sentence.rpartition("=")[2]
        candidates = numbers(after) or numbers(sentence)
        return candidates[0].name if candidates else None
    if kind == "yes_no":
        return leading_polarity(text)
    return _words(plain(text))


def _unmarked(text: str, kind: Kind, choices: Choices) -> StatedAnswer | None:
    if kind == "choice":
        choice = choices.named(text)
        return _stated(*choice) if choice else None
    if kind == "number":
        return _last_number(plain(text))
    if kind == "yes_no":
        return polarity(text)
    lines = [line for line in text.splitlines() if line.strip()]
    words = _words(lines[-1]) if lines else None
    if not words:
        return None
    if len(lines) == 1:
        return _stated(text.strip(), "whole text", words)
    return _stated(words, "last line", words)


def _last_number(text: str) -> StatedAnswer | None:
    """Return the last number that is not rejected; `None` if it is one of alternatives."""
    groups = standing(text, numbers(text), choices=False).groups
    if not groups:
        return None
    group = groups[-1]
    if len({mention.name for mention in group}) > 1:
        before = text[max(0, group[0].start - 20) : group[0].start].casefold().split()
        between = text[group[-2].end : group[-1].start].casefold()
        if "or" in between or before[-1:] in (["between"], ["either"]):
            return None
    return StatedAnswer(group[-1].name, "last number", group[-1].name)


def _words(text: str) -> str | None:
    """Return the first sentence of a line, without the marks around it."""
    sentence = next(split_sentences(text.replace("**", "").strip(_DECORATION)), "")
    return sentence.strip(_DECORATION).rstrip(".!。").strip(_DECORATION) or None


def _stated(text: str, rule: str, quote: str) -> StatedAnswer:
    quote = " ".join(quote.split())
    return StatedAnswer(text, rule, quote if len(quote) <= 160 else quote[:159] + "…")


def kind_of(references: Sequence[str], choices: Sequence[str]) -> Kind:
    """Return the kind of answer, from the references and choices of a case."""
    if choices:
        return "choice"
    if all(is_number(text) for text in references):
        return "number"
    forms = {text.strip().casefold().rstrip(".") for text in references}
    if forms <= set(wording().yes_no):
        return "yes_no"
    letters = all(re.fullmatch(r"\(?[A-J]\)?\.?", text.strip()) for text in references)
    return "choice" if letters else "text"


_BREAK = re.compile(r"[.,;:!?…\n\"“”()\[\]<>–—]|(?<!\w)-|-(?!\w)")
_DISCOURSE = ("right", "so")
"""Words at the beginning of a sentence that are seldom an answer."""
_MOST = 60
"""Maximum length of a clause that is only yes or no, in characters."""


def polarity(text: str) -> StatedAnswer | None:
    """Return the "yes" or "no" of a text: the last one that punctuation separates from other text.

    Without one, the function takes the last clause that calls something right or wrong ("that is
    not true") or agrees as a whole ("I think so"). Without such a clause, it takes a text that
    consists only of an assurance.

    >>> polarity("It isn't true."), polarity("I have no idea.")
    (StatedAnswer(text='no', rule='set off', quote="It isn't true"), None)
    """
    clauses = list(_clauses(text))
    for read in (_worded, _judged):
        for clause in reversed(clauses):
            if len(clause) <= _MOST and (answer := read(_plain(clause))):
                return _stated(answer, "set off", clause)
    if len(clauses) != 1 or len(clauses[0]) > _MOST:
        return None
    words, plain = wording().polarity, _plain(clauses[0])
    bare = " ".join(words.boosters.sub("", plain).split())
    answer = words.texts.get(plain) or _called(bare)
    if not answer and not bare and words.assurances.search(plain):
        answer = "yes"
    return _stated(answer, "set off", clauses[0]) if answer else None


def leading_polarity(text: str) -> str | None:
    """Return the yes or no at the beginning of a statement."""
    clause = next(_clauses(text), "")
    if len(clause) <= _MOST and (answer := _worded(_plain(clause)) or _judged(_plain(clause))):
        return answer
    first = _plain(clause[:_MOST]).partition(" ")[0]
    return wording().polarity.words.get(first)


def _clauses(text: str) -> Iterator[str]:
    for part in _BREAK.split(text):
        if clause := part.strip(" \t\r*_`'‘’"):
            yield clause


def _plain(clause: str) -> str:
    return " ".join(clause.casefold().replace("’", "'").split())


def _worded(clause: str) -> str | None:
    """Return the answer of a clause of yes, no and assurances: "definitely not"."""
    words = wording().polarity
    rest = words.leads.sub("", clause, count=1) if words.leads.match(clause) else clause
    left = words.boosters.sub(" ", rest).split()
    negated = "not" in left
    answers = {words.words.get(word) for word in left if word != "not"}
    if negated:
        # "Definitely not" is an answer; "not yes" is not.
        return None if answers else "no"
    return answers.pop() if len(answers) == 1 else None


def _judged(clause: str) -> str | None:
    """Return the answer of a clause that agrees, or calls something right or wrong."""
    words = wording().polarity
    if clause in words.phrases:
        return words.phrases[clause]
    match = words.statement.fullmatch(clause)
    if match is not None:
        right = (match["right"] is not None) != bool(match["not"] or match["also"])
        return "yes" if right else "no"
    return None if clause in _DISCOURSE else _called(clause)


def _called(clause: str) -> str | None:
    """Return the answer of a verdict without a subject: "not correct"."""
    match = wording().polarity.verdict.fullmatch(clause)
    if match is None:
        return None
    return "yes" if (match["right"] is not None) != bool(match["not"]) else "no"
