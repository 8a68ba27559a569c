"""The pytest plugin: the fixture `judgekit`, cases as tests, and the tests in rubrics.

Loading the plugin is cheap: the rest of judgekit is imported when a test uses the fixture or a file
of cases, or when a rubric is collected. Rubrics are collected only if they are named on the command
line or are under the paths in `judgekit_rubrics`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from judgekit.authoring.rubric_test.check import TestOutcome
    from judgekit.authoring.rubric_test.run import RubricTestRun
    from judgekit.core.case import Case
    from judgekit.testing.kit import Kit
    from judgekit.testing.session import Session

_FRONT = re.compile(r"\s*+---[^\S\n]*+\n(.*?)\n---", re.DOTALL)
_TESTS = re.compile(r"""^["']?tests["']?\s*:""", re.MULTILINE)


_ALLOWED = {
    "judgekit_record": ("none", "new_episodes", "all"),
    "judgekit_unused": ("fail", "warn", "ignore", "remove"),
    "judgekit_cassette": ("module", "test"),
}
"""Setting -> its valid words."""
_SESSION: pytest.StashKey[Session] = pytest.StashKey()
_HANDED_OVER = "judgekit"
"""Key for the results that a pytest-xdist worker sends when it ends."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flags and settings."""
    group = parser.getgroup("judgekit", "judged tests")
    group.addoption(
        "--judgekit-record",
        choices=_ALLOWED["judgekit_record"],
        help="Replay only (none), ask what is missing (new_episodes), or ask again (all).",
    )
    group.addoption("--judgekit-judge", metavar="MODEL", help="Model to replay or to ask.")
    group.addoption("--judgekit-api-base", metavar="URL", help="Address of a server of your own.")
    group.addoption(
        "--judgekit-unused",
        choices=_ALLOWED["judgekit_unused"],
        help="What to do about recorded replies that no test used (default: fail).",
    )
    parser.addini(
        "judgekit_rubrics", "Files and folders of rubrics whose tests are run.", type="paths"
    )
    parser.addini(
        "judgekit_judge", "Whose recorded replies are replayed, where there are several judges'."
    )
    parser.addini("judgekit_record", "As --judgekit-record; none by default.", default="none")
    parser.addini("judgekit_unused", "As --judgekit-unused; fail by default.", default="fail")
    parser.addini(
        "judgekit_cassette",
        "One cassette for a test module (module, the default) or for each test (test).",
        default="module",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Reject a setting without matches: tests that are silently skipped would look like passes."""
    for marker in (
        "judgekit(cassette): file of the recorded replies, beside the test.",
        "judgekit_cases(path, **options): run the test once for each case of a file, "
        "as its argument `case`.",
    ):
        config.addinivalue_line("markers", marker)
    for place in config.getini("judgekit_rubrics"):
        if not place.exists():
            raise pytest.UsageError(f"judgekit_rubrics: {place}: no such file or folder")
    for setting, words in _ALLOWED.items():
        if (word := config.getini(setting)) not in words:
            raise pytest.UsageError(f"{setting}: {word!r} is none of {', '.join(words)}")


# -- the fixture ------------------------------------------------------------------------


@pytest.fixture
def judgekit(request: pytest.FixtureRequest) -> Iterator[Kit]:
    """Score, evaluate and check with recorded verdicts; see `judgekit.testing.kit.Kit`."""
    from judgekit.core.errors import JudgekitError

    session = _session(request.config)
    try:
        kit = session.kit(request.node)
    except JudgekitError as exc:
        pytest.fail(str(exc), pytrace=False)
    yield kit
    session.soft += [(request.node.nodeid, message) for message in kit.soft]


def _session(config: pytest.Config) -> Session:
    session = config.stash.get(_SESSION, None)
    if session is None:
        from judgekit.testing.session import Session

        session = config.stash[_SESSION] = Session(config)
    return session


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Create a test for each case in the files that a test names."""
    marks = list(metafunc.definition.iter_markers("judgekit_cases"))
    if not marks:
        return
    if "case" not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(
            f"{metafunc.definition.nodeid}: judgekit_cases gives the argument `case`; take it"
        )
    from judgekit.core.errors import JudgekitError
    from judgekit.datasets import load_cases

    cases: list[Case] = []
    for mark in marks:
        folder = metafunc.definition.path.parent
        try:
            for path in mark.args:
                cases += load_cases(folder / path, **mark.kwargs)
        except (JudgekitError, TypeError) as exc:
            raise pytest.Collector.CollectError(str(exc)) from exc
    metafunc.parametrize("case", cases, ids=[case.id for case in cases])


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Note deselected tests: their recordings do not count as unused."""
    for item in items:
        item.config.stash.setdefault(_LEFT_OUT, set()).add(str(item.path))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note tests that did not pass: they may have ended before all their requests."""
    outcome: Any = yield
    if not outcome.get_result().passed:
        item.config.stash.setdefault(_LEFT_OUT, set()).add(str(item.path))


_LEFT_OUT: pytest.StashKey[set[str]] = pytest.StashKey()
"""Test files in which a test was not run or did not pass."""


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the recorded replies; fail if a cassette contains replies that no test used."""
    config = session.config
    ours = config.stash.get(_SESSION, None)
    if ours is None:
        return
    ours.finish(left_out=config.stash.get(_LEFT_OUT, set()))
    workeroutput = getattr(config, "workeroutput", None)
    if workeroutput is not None:
        workeroutput[_HANDED_OVER] = ours.hand_over()
        return
    if exitstatus in (0, 1) and not any("::" in word for word in config.args):
        ours.find_unused()
    if ours.unused and ours.unused_word == "fail" and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object, error: object) -> None:
    """Add the results of a pytest-xdist worker."""
    handed = getattr(node, "workeroutput", {}).get(_HANDED_OVER)
    if handed is not None:
        _session(node.config).take_over(handed)  # type: ignore[attr-defined]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print failed soft checks, recorded requests and unused records."""
    session = terminalreporter.config.stash.get(_SESSION, None)
    if session is None:
        return
    for title, lines in session.summary():
        terminalreporter.section(title, sep="-")
        for line in lines:
            terminalreporter.line(line)


# -- rubrics ----------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a requested rubric that has tests."""
    if file_path.suffix != ".jinja" or not (_requested(file_path, parent) and _tested(file_path)):
        return None
    file: RubricTestFile = RubricTestFile.from_parent(parent, path=file_path)
    return file


def _requested(path: Path, parent: pytest.Collector) -> bool:
    listed: list[Path] = parent.config.getini("judgekit_rubrics")
    return parent.session.isinitpath(path) or any(map(path.is_relative_to, listed))


def _tested(path: Path) -> bool:
    """Return whether a file looks like a rubric with tests; read only as much as needed."""
    if path.with_suffix(".tests.yaml").is_file():
        return True
    front = _FRONT.match(path.read_text(encoding="utf-8", errors="replace"))
    return front is not None and _TESTS.search(front.group(1)) is not None


class RubricTestFile(pytest.File):
    """A rubric; its first test replays all of its tests."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield an item for each test and each ordering."""
        from judgekit.core.errors import JudgekitError
        from judgekit.rubric.load import load_rubric

        try:
            rubric = load_rubric(self.path)
        except JudgekitError as exc:
            raise self.CollectError(str(exc)) from exc
        places = {test.name: test.where for test in rubric.tests}
        places |= {ordering.name: ordering.where for ordering in rubric.orderings}
        for name, where in places.items():
            yield RubricTestItem.from_parent(self, name=name, where=where)

    @cached_property
    def tested(self) -> RubricTestRun:
        """The results of the tests of this rubric.

        Raises:
            JudgekitError: they cannot be replayed.
        """
        from judgekit.authoring.rubric_test.run import RubricTestSettings, run_tests
        from judgekit.rubric.load import load_rubric
        from judgekit.suite.judge_file import JudgeFile

        name = self.config.getini("judgekit_judge")
        judge = JudgeFile(model=name) if name else None
        return run_tests(load_rubric(self.path), RubricTestSettings(judge=judge))


class RubricTestItem(pytest.Item):
    """One test of a rubric."""

    def __init__(self, *, where: str, **known: object) -> None:
        super().__init__(**known)  # type: ignore[arg-type]
        self._line = int(where.rpartition(":")[2]) - 1 if where else None

    def runtest(self) -> None:
        """Replay the test.

        Raises:
            RubricTestFailed: it did not pass.
        """
        from judgekit.core.errors import JudgekitError

        assert isinstance(self.parent, RubricTestFile)  # noqa: S101 - only those make items
        try:
            tested = self.parent.tested
        except JudgekitError as exc:
            raise RubricTestFailed(str(exc)) from exc
        outcome = next(outcome for outcome in tested.outcomes if outcome.name == self.name)
        if outcome.verdict != "passed":
            raise RubricTestFailed("\n".join(_message(outcome, tested)))

    def repr_failure(  # type: ignore[override]
        self, excinfo: pytest.ExceptionInfo[BaseException], style: None = None
    ) -> object:
        """Return the expected and the actual answer, without a traceback."""
        if isinstance(excinfo.value, RubricTestFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the location of the test."""
        return self.path, self._line, f"{self.path.stem}: {self.name}"


class RubricTestFailed(Exception):
    """A test of a rubric did not pass; the message says why."""


def _message(outcome: TestOutcome, tested: RubricTestRun) -> Iterator[str]:
    from judgekit.authoring.rubric_test.text import outcome_lines, record_hint
    from judgekit.core.canonical import printable

    yield from map(printable, outcome_lines(outcome))
    if outcome.verdict == "missed":
        yield record_hint(tested)
    yield outcome.where
