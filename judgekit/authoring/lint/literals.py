"""Rules about words left in a text, or characters put there, that no judge should get."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from judgekit.authoring.lint import words
from judgekit.authoring.lint.finding import Said
from judgekit.authoring.lint.rule import Rule
from judgekit.authoring.lint.subject import Subject
from judgekit.authoring.lint.wording import texts
from judgekit.core.errors import place

MOST = 10
"""Findings of one kind in one template; more of them tell nothing more."""


def _anywhere(
    pattern: re.Pattern[str],
    message: str,
    *,
    templates: bool = True,
    shown: Callable[[str], str] = repr,
) -> Callable[[Subject], Iterator[Said]]:
    """Return a check of every text, of the front matter and of the templates."""

    def check(subject: Subject) -> Iterator[Said]:
        for text in texts(subject) if subject.readable else ():
            found = pattern.search(text.text)
            if found is not None:
                yield Said(text.where, f"{message}: {shown(found[0][:60])}", text.criterion)
        for body in subject.bodies if templates else ():
            for found in islice(pattern.finditer(body.words.text), MOST):
                where = place(body.path, body.words.line_at(found.start()))
                yield Said(where, f"{message}: {shown(found[0][:60])}")

    return check


def _points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text)


RULES: tuple[Rule, ...] = (
    Rule(
        "placeholder",
        "warning",
        "A note to oneself reaches the judge as an instruction.",
        "Write what was meant to stand there.",
        _anywhere(words.PLACEHOLDER, "something was to be filled in"),
        needs="template",
    ),
    Rule(
        "format-placeholder",
        "warning",
        "Braces of another tool are shown to the judge as they stand; nothing is put there.",
        'Show the field in the template: `{{ case.output | fence("answer") }}`.',
        _anywhere(words.BRACES, "nothing is put into"),
        needs="template",
    ),
    Rule(
        "template-in-text",
        "warning",
        "Texts of the front matter take parameters; any other template in them is shown as it "
        "stands.",
        "Say it in the template below the front matter.",
        _anywhere(words.TEMPLATE, "is not rendered", templates=False),
        needs="template",
    ),
    Rule(
        "hidden-characters",
        "warning",
        "Characters that turn the order of a line or have no width let a text say something else "
        "than is seen.",
        "Remove them.",
        _anywhere(words.HIDDEN, "has a character that is not seen", shown=_points),
        needs="template",
    ),
)
