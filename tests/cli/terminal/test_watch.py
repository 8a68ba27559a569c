"""`judgekit watch` with a person at the terminal who saves files, and leaves by Ctrl-C."""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import ExitStack

import pytest

from judgekit.authoring.scaffold.project import ProjectPlan, write_project
from tests import forks

from .driver import JUDGEKIT, Terminal

CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
WATCH = (*JUDGEKIT, "watch", "suite.yaml")
WATCHING = "watching suite.yaml and 5 files it uses; Ctrl-C ends"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project") / "shop"
    write_project(folder, ProjectPlan("shop"))
    return folder


@pytest.fixture
def project(shop, tmp_path):
    return shutil.copytree(shop, tmp_path / "shop")


def save(path, old, new):
    """Save a file as editors do: beside it, then put in its place."""
    text = path.read_text("utf-8")
    assert old in text
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text.replace(old, new, 1), "utf-8")
    beside.replace(path)


def test_saved_files_show_what_they_move(shop, tmp_path):
    # Two terminals at once: their tests are as long as they wait for saved files.
    columns = (60, 80)
    projects = [shutil.copytree(shop, tmp_path / str(width)) for width in columns]
    with ExitStack() as stack:
        terminals = [
            stack.enter_context(Terminal(WATCH, cwd=project, columns=width))
            for project, width in zip(projects, columns, strict=True)
        ]

        def save_in_all(name, old, new):
            for project in projects:
                save(project / name, old, new)

        def expect(*words):
            for terminal in terminals:
                for shown in words:
                    terminal.expect(shown)

        expect("lowest score 0.600 over 3 meets at least 0.5", WATCHING)

        save_in_all("suite.yaml", "gate: {min: 0.5}", "gate: {min: 0.95}")
        expect("suite.yaml: no row to score again", "pass -> MISS", "FAIL: 1 of 1 gate,")

        save_in_all("suite.yaml", "metrics:", "metricks:")
        expect("judgekit: suite.yaml:13: unknown key 'metricks'; did you mean 'metrics'?")
        save_in_all("suite.yaml", "metricks:", "metrics:")
        expect("suite.yaml: no row to score again", "FAIL: 1 of 1 gate,")

        rubric = "rubrics/helpful_reply.jinja"
        text = (shop / rubric).read_text("utf-8")
        save_in_all(rubric, "text:", "text: Really,")
        expect(
            "3 of 6 rows scored again",
            "not recorded yet: 3 of helpful_reply; to record:",
            "judgekit run suite.yaml --record new_episodes",
            "INCOMPLETE: 3 rows failed (0 allowed)",
        )
        save_in_all(rubric, (projects[0] / rubric).read_text("utf-8"), text)
        expect("3 rows recorded now")

        save_in_all("cases.jsonl", '"output": "', '"output": "Sorry! ')
        expect("cases.jsonl: 2 of 6 rows scored again")
        for terminal in terminals:
            terminal.send("\x03")
        assert [terminal.finish() for terminal in terminals] == [0, 0]

    for terminal, width in zip(terminals, columns, strict=True):
        assert "Traceback" not in terminal.text
        for line in left_on(terminal):
            # A message and a verdict are one line each, at any width.
            whole = line.startswith(("FAIL", "INCOMPLETE")) or "judgekit: suite.yaml" in line
            assert len(line) <= width or whole, line


def left_on(terminal):
    """Return the lines that stay: what says how far it is, is taken away."""
    lines = terminal.raw.replace("\r\n", "\n").split("\n")
    return [CONTROL.sub("", line.rpartition("\r\x1b[K")[2]) for line in lines]


def test_ctrl_c_while_a_case_is_scored_ends_it_too(project):
    slow = (
        "import time; from judgekit.metrics.text.length import Length; score = Length.score\n"
        "async def slowly(self, case):\n    time.sleep(0.3); return await score(self, case)\n"
        "Length.score = slowly\n"
        "import sys; from judgekit.cli import main\n"
        "sys.argv = ['judgekit', 'watch', 'suite.yaml']; main()\n"
    )
    with Terminal((sys.executable, "-c", slow), cwd=project) as terminal:
        terminal.expect("/3 cases")
        terminal.send("\x03")
        terminal.expect("stopping; what is done is kept")
        assert terminal.finish() == 0

    assert "Traceback" not in terminal.text


def test_a_suite_that_is_not_there_is_not_waited_for(project):
    with Terminal((*JUDGEKIT, "watch", "suit.yaml"), cwd=project) as terminal:
        assert terminal.finish() == 2
    assert "no such suite file; did you mean 'suite.yaml'?" in terminal.text

    with Terminal((*WATCH, "--cases", "-"), cwd=project) as terminal:
        assert terminal.finish() == 2
    assert "standard input can be read once" in terminal.text


def test_a_suite_that_is_wrong_at_first_is_waited_for(project):
    save(project / "suite.yaml", "metrics:", "metricks:")
    with Terminal((*WATCH, "--no-judge", "--only", "brief"), cwd=project) as terminal:
        terminal.expect("unknown key 'metricks'")
        terminal.expect("Ctrl-C ends")
        save(project / "suite.yaml", "metricks:", "metrics:")
        terminal.expect("3 computed")
        terminal.send("\x03")
        assert terminal.finish() == 0


@pytest.mark.thorough
@pytest.mark.parametrize("verb", [("metrics",), ("rubric", "list")])
def test_lists_fit_the_terminal_and_are_whole_in_a_pipe(project, verb):
    with Terminal((*JUDGEKIT, *verb), cwd=project) as terminal:
        assert terminal.finish() == 0
    whole = forks.run(verb, cwd=project).stdout.splitlines()
    shown = [line for line in terminal.text.split("\n") if line or whole]

    assert max(map(len, shown)) <= 80 < max(map(len, whole))
    assert sum(map(bool, shown)) == sum(map(bool, whole))
