"""Rules about words and characters that were left in a text by mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from judgekit.authoring.lint import words
from judgekit.authoring.lint.finding import Problem
from judgekit.authoring.lint.rule import check
from judgekit.authoring.lint.subject import LintSubject
from judgekit.authoring.lint.wording import texts
from judgekit.core.errors import place

MOST = 10
"""Findings of one kind in one template."""


def _anywhere(
    pattern: re.Pattern[str],
    message: str,
    *,
    templates: bool = True,
    shown: Callable[[str], str] = repr,
) -> Callable[[LintSubject], Iterator[Problem]]:
    """Return a check of every text of the front matter and of the templates."""

    def check_texts(subject: LintSubject) -> Iterator[Problem]:
        for text in texts(subject) if subject.readable else ():
            match = pattern.search(text.text)
            if match is not None:
                yield Problem(text.where, f"{message}: {shown(match[0][:60])}", text.criterion)
        for body in subject.bodies if templates else ():
            for match in islice(pattern.finditer(body.words.text), MOST):
                where = place(body.path, body.words.line_at(match.start()))
                yield Problem(where, f"{message}: {shown(match[0][:60])}")

    return check_texts


def _points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text)


check("placeholder")(_anywhere(words.PLACEHOLDER, "placeholder"))
check("format-placeholder")(_anywhere(words.BRACES, "judgekit does not fill"))
check("template-in-text")(_anywhere(words.TEMPLATE, "not rendered", templates=False))
check("hidden-characters")(_anywhere(words.HIDDEN, "invisible character", shown=_points))
