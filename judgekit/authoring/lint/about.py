"""Rules about the rubric as a file that others find, read and trust."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.authoring.lint.rule import Problem, check
from judgekit.authoring.lint.subject import LintSubject
from judgekit.rubric.library import SUFFIX


@check("missing-description")
def _undescribed(subject: LintSubject) -> Iterator[Problem]:
    inherited = (layer.file for layer in subject.parents if not layer.file.abstract)
    if not any((file.description or "").strip() for file in (subject.file, *inherited)):
        yield Problem(subject.at("name"), "has no description")


@check("name-mismatch")
def _misnamed(subject: LintSubject) -> Iterator[Problem]:
    stem = subject.path.name.removesuffix(SUFFIX)
    if subject.file.name != stem:
        message = f"is named {subject.file.name!r}, but its file is named {stem!r}"
        yield Problem(subject.at("name"), message)


@check("missing-tests")
def _untested(subject: LintSubject) -> Iterator[Problem]:
    if not subject.file.tests and not subject.file.abstract:
        yield Problem(subject.at("name"), "has no tests")
