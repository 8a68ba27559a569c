"""What TAB offers: in a real bash, and by the protocols of zsh and fish."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.authoring.scaffold.project import ProjectPlan, write_project
from tests import forks

from .driver import Terminal


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with a project in it."""
    home = tmp_path_factory.mktemp("home")
    write_project(home / "shop", ProjectPlan("shop"))
    return home


def environment(home):
    # Not a fork: the option that installs looks at the shell that started the program.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"HOME": str(home), "PATH": path, "PS1": "ready> ", "HISTFILE": ""}


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_once_it_is_installed(home):
    with Terminal(("bash", "--norc", "-i"), cwd=home, environment=environment(home)) as shell:
        shell.answer("ready>", "judgekit --install-completion bash; echo done $?")
        shell.expect("done 0")
        shell.send("exit\r")
        shell.finish()
    rc = home / ".bashrc"
    assert rc.exists()

    with Terminal(
        ("bash", "--rcfile", str(rc), "-i"),
        cwd=home / "shop",
        environment={**environment(home), "BASH_SILENCE_DEPRECATION_WARNING": "1"},
    ) as shell:
        shell.send("PS1='ready> '\r")
        shell.expect("ready>")
        shell.send("judgekit rub\t")
        shell.expect("judgekit rubric ")
        shell.send("show helpful_\t")
        shell.expect("show helpful_reply ")
        shell.send("\x15judgekit run suite.yaml --only br\t")
        shell.expect("--only brief ")
        shell.send("--record ne\t")
        shell.expect("--record new_episodes ")
        shell.send("\x15exit\r")
        assert shell.finish() == 0


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_zsh_completes_once_it_is_installed(home):
    settings = {**environment(home), "ZDOTDIR": str(home)}
    with Terminal(("zsh", "-i"), cwd=home, environment=settings) as shell:
        shell.answer("ready>", "judgekit --install-completion; echo done $?")
        shell.expect("done 0")
        shell.send("exit\r")
        shell.finish()
    assert (home / ".zshrc").exists()

    with Terminal(("zsh", "-i"), cwd=home / "shop", environment=settings) as shell:
        shell.expect("ready>")
        # The first TAB of a shell only loads what Typer wrote. Only what is new is drawn.
        shell.send("judgekit rub\t\t")
        shell.expect("ric ")
        shell.send("show helpful_\t")
        shell.expect("pful_reply ")
        shell.send("\x15judgekit run suite.yaml --only br\t")
        shell.expect("ief ")
        shell.send("--record ne\t")
        shell.expect("w_episodes ")
        shell.send("\x15exit\r")
        assert shell.finish() == 0


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish here")
def test_fish_completes_once_it_is_installed(home):
    settings = {**environment(home), "fish_greeting": "", "TERM": "dumb"}
    with Terminal(("fish", "-i"), cwd=home, environment=settings) as shell:
        shell.send("judgekit --install-completion; echo done $status\r")
        shell.expect("done 0")
        shell.send("exit\r")
        shell.finish()

    # What fish itself would offer for a line, its own completions included.
    asked = [
        ("judgekit rub", "rubric"),
        ("judgekit rubric show helpful_", "helpful_reply"),
        ("judgekit run suite.yaml --only br", "brief"),
        ("judgekit run suite.yaml --record ne", "new_episodes"),
    ]
    for line, word in asked:
        found = subprocess.run(
            ["fish", "-c", f"complete -C {line!r}"], cwd=home / "shop",
            env={**os.environ, **settings}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert [said.partition("\t")[0] for said in found.stdout.splitlines()] == [word]


def offered(home, words, shell="bash"):
    """Return what the program offers for the last of some words."""
    typed = words.split(" ")
    settings = {
        "bash": {"COMP_WORDS": words, "COMP_CWORD": str(len(typed) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": words},
        "fish": {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    env = {**os.environ, **settings, "_JUDGEKIT_COMPLETE": f"complete_{shell}"}
    done = forks.run([], cwd=home / "shop", env=env)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("judgekit score --rubric helpful_", ["helpful_reply"]),
        ("judgekit score --metric exact", ["exact_match"]),
        ("judgekit schema ", ["cases", "persona", "results", "rubric", "suite"]),
        ("judgekit run suite.yaml --only ", ["brief", "helpful_reply"]),
        ("judgekit run nothing.yaml --only ", []),
        (
            "judgekit rubric render helpful_reply --cases cases.jsonl --case m",
            ["made-up-discount"],
        ),
        ("judgekit rubric new --kind b", ["boolean"]),
        ("judgekit cassette explain suite.yaml --case f", ["flat-tyre"]),
    ],
)
def test_what_is_there_is_offered_and_nothing_else(home, words, names):
    assert offered(home, words).split() == names


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_the_same(home, shell):
    assert "helpful_reply" in offered(home, "judgekit rubric show helpful_", shell)
    assert "brief" in offered(home, "judgekit run suite.yaml --only br", shell)
