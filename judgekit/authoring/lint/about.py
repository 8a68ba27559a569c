"""Rules about a rubric as a file others find, read and trust."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.authoring.lint.finding import Said
from judgekit.authoring.lint.rule import Rule
from judgekit.authoring.lint.subject import Subject
from judgekit.rubric.shelf import SUFFIX


def _undescribed(subject: Subject) -> Iterator[Said]:
    inherited = (layer.file for layer in subject.parents if not layer.file.abstract)
    if not any((file.description or "").strip() for file in (subject.file, *inherited)):
        yield Said(subject.at("name"), "has no description")


def _misnamed(subject: Subject) -> Iterator[Said]:
    stem = subject.path.name.removesuffix(SUFFIX)
    if subject.file.name != stem:
        yield Said(
            subject.at("name"),
            f"is named {subject.file.name!r}, but found under {stem!r}, the name of its file",
        )


def _untested(subject: Subject) -> Iterator[Said]:
    if not subject.file.tests and not subject.file.abstract:
        yield Said(subject.at("name"), "has no tests")


RULES: tuple[Rule, ...] = (
    Rule(
        "missing-description",
        "warning",
        "`base` tells the judge its task in the words of the description; people find the rubric "
        "by them.",
        "Say in a sentence what is judged: `description: ...`.",
        _undescribed,
    ),
    Rule(
        "name-mismatch",
        "warning",
        "Suites find a rubric by its file, results carry its name: two names for one thing.",
        "Give the file and the rubric the same name.",
        _misnamed,
    ),
    Rule(
        "missing-tests",
        "note",
        "Without a case whose verdict is known, nobody notices when a change of words changes "
        "verdicts.",
        "Add `tests:` with a case that must score high and one that must score low.",
        _untested,
    ),
)
