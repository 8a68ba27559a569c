"""The pytest plugin: the tests in rubrics are collected, one item each, and replayed.

Loading it costs pytest nothing: the rest of judgekit is imported when a rubric is collected.
Only rubrics that were asked for are: files named on the command line, and what stands under the
paths of the setting `judgekit_rubrics`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from judgekit.rubrictest.check import Outcome
    from judgekit.rubrictest.run import Tested

_FRONT = re.compile(r"\s*---\s*\n(.*?)\n---", re.DOTALL)
_TESTS = re.compile(r"""^["']?tests["']?\s*:""", re.MULTILINE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings."""
    parser.addini(
        "judgekit_rubrics", "Files and folders of rubrics whose tests are run.", type="paths"
    )
    parser.addini(
        "judgekit_judge", "Whose recorded replies are replayed, where there are several judges'."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a setting that names nothing: tests that silently are not run look like passes."""
    for place in config.getini("judgekit_rubrics"):
        if not place.exists():
            raise pytest.UsageError(f"judgekit_rubrics: {place}: no such file or folder")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a rubric that was asked for and has tests."""
    if file_path.suffix != ".jinja" or not (_asked_for(file_path, parent) and _tested(file_path)):
        return None
    found: RubricFile = RubricFile.from_parent(parent, path=file_path)
    return found


def _asked_for(path: Path, parent: pytest.Collector) -> bool:
    listed: list[Path] = parent.config.getini("judgekit_rubrics")
    return parent.session.isinitpath(path) or any(
        path == place or place in path.parents for place in listed
    )


def _tested(path: Path) -> bool:
    """Return whether a file looks like a rubric with tests, read no further than that takes."""
    front = _FRONT.match(path.read_text(encoding="utf-8", errors="replace"))
    return front is not None and _TESTS.search(front.group(1)) is not None


class RubricFile(pytest.File):
    """A rubric; all of its tests are replayed at once, when the first of them is run."""

    _done: Tested | None = None

    def collect(self) -> Iterable[pytest.Item]:
        """Yield an item for each test and each ordering."""
        from judgekit.errors import JudgekitError
        from judgekit.rubric.load import load_rubric

        try:
            rubric = load_rubric(self.path)
        except JudgekitError as exc:
            raise self.CollectError(str(exc)) from exc
        places = {test.name: test.where for test in rubric.tests}
        places |= {ordering.name: ordering.where for ordering in rubric.orderings}
        for name, where in places.items():
            yield RubricItem.from_parent(self, name=name, where=where)

    def tested(self) -> Tested:
        """Return what came of the tests of this rubric.

        Raises:
            JudgekitError: they cannot be replayed.
        """
        if self._done is None:
            from judgekit.rubric.load import load_rubric
            from judgekit.rubrictest.run import Settings, run_tests
            from judgekit.suitefile import JudgeFile

            name = self.config.getini("judgekit_judge")
            judge = JudgeFile(model=name) if name else None
            self._done = run_tests(load_rubric(self.path), Settings(judge=judge))
        return self._done


class RubricItem(pytest.Item):
    """One test of a rubric."""

    def __init__(self, *, where: str, **known: object) -> None:
        super().__init__(**known)  # type: ignore[arg-type]
        self._line = int(where.rpartition(":")[2]) - 1 if where else None

    def runtest(self) -> None:
        """Replay the test.

        Raises:
            NotAsExpected: it did not pass.
        """
        from judgekit.errors import JudgekitError

        assert isinstance(self.parent, RubricFile)  # noqa: S101 - only those make items
        try:
            tested = self.parent.tested()
        except JudgekitError as exc:
            raise NotAsExpected(str(exc)) from exc
        outcome = next(outcome for outcome in tested.outcomes if outcome.name == self.name)
        if outcome.verdict != "passed":
            raise NotAsExpected("\n".join(_told(outcome, tested)))

    def repr_failure(  # type: ignore[override]
        self, excinfo: pytest.ExceptionInfo[BaseException], style: None = None
    ) -> object:
        """Return what was expected and what was said, without a traceback."""
        if isinstance(excinfo.value, NotAsExpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the test stands."""
        return self.path, self._line, f"{self.path.stem}: {self.name}"


class NotAsExpected(Exception):
    """A test of a rubric did not pass; the message says why."""


def _told(outcome: Outcome, tested: Tested) -> Iterator[str]:
    from judgekit.canonical import printable
    from judgekit.rubrictest.text import outcome_lines, record_hint

    yield from map(printable, outcome_lines(outcome))
    if outcome.verdict == "missed":
        yield record_hint(tested)
    yield outcome.where
