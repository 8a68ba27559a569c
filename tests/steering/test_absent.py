"""Without the folder of the package, and with its entry points left behind."""

from __future__ import annotations

import json
import shutil

import pytest

from judgekit.cli.app import COMMANDS
from tests.agreement.scratch import ROOT, ScratchPackage

DESK = ROOT / "examples" / "support_assistant"
CASES = ROOT / "examples" / "steering" / "prompts.jsonl"
USES = {
    "init": ("new",),
    "run": (DESK / "suite.yaml", "--record", "none"),
    "watch": ("--help",),
    "merge": ("--help",),
    "score": ("--metric", "length", "--output", "four words are here", "--option", "maximum=9"),
    "evaluate": ("--help",),
    "report": ("--help",),
    "compare": ("--help",),
    "rank": ("--help",),
    "batch": ("--help",),
    "view": ("--help",),
    "agree": ("--help",),
    "correct": ("--help",),
    "labels": ("--help",),
    "answer": ("--help",),
    "perturb": (CASES, "--kind", "typos"),
    "cases": ("lint", CASES),
    "schema": ("suite",),
    "metrics": ("show", "personalization"),
    "rubric": ("list",),
    "persona": ("--help",),
    "cassette": ("verify", ROOT / "cassettes" / "steering.jsonl"),
    "doctor": (),
}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    copy = ScratchPackage(tmp_path_factory.mktemp("absent"))
    shutil.rmtree(copy.root / "judgekit" / "steering")
    return copy


def test_every_other_command_is_tried():
    assert sorted(USES) == sorted(COMMANDS)


@pytest.mark.thorough
def test_the_other_commands_work(scratch):
    """In one process: to start one takes longer than most commands."""
    code = """
        import contextlib, io, json, sys
        from judgekit.cli import main
        for arguments in json.loads(sys.stdin.read()):
            out, err = io.StringIO(), io.StringIO()
            sys.argv = ["judgekit", *arguments]
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    code = main()
                except SystemExit as exit:
                    code = exit.code
            print(json.dumps([arguments[0], code, out.getvalue(), err.getvalue()]))
    """
    uses = json.dumps([[command, *map(str, USES[command])] for command in USES])
    done = [json.loads(line) for line in scratch.python(code, stdin=uses).out.splitlines()]

    assert [command for command, *_ in done] == list(USES)
    for command, exit_code, out, err in done:
        assert out, command
        assert "Traceback" not in err, command
        if command == "doctor":
            # An editable installation is a second judgekit on the path of the copy, and the
            # package left its entry points behind: doctor reports both.
            assert "'pairs' of judgekit.commands is not installed" in " ".join(out.split())
        else:
            assert exit_code in (0, None), f"{command}: {err}"
            assert "is not installed" not in out + err


@pytest.mark.parametrize(
    "arguments",
    [("steer",), ("steer", "--help"), ("steer", "optimize", "--model", "x"), ("pairs", "generate")],
)
def test_its_own_commands_are_not_installed(scratch, arguments):
    done = scratch.judgekit(*arguments, exits=2)

    assert done.out == ""
    assert done.err.count("\n") == 1
    assert done.err.startswith(f"judgekit: judgekit {arguments[0]} is not installed: ")
    assert "install judgekit-rubrics again" in done.err


def test_steered_answers_are_not_installed(scratch):
    flags = ("--model", "x", "--steering-vector", "v.pt", "--layer", 1)
    done = scratch.judgekit("answer", CASES, *flags, exits=2)

    assert done.err.startswith("judgekit: --steering-vector is not installed: ")
    assert done.err.count("\n") == 1


def test_help_and_completion_list_what_is_missing(scratch):
    assert "steer     Not installed." in scratch.judgekit("--help").out

    code = """
        import os
        os.environ |= {"_JUDGEKIT_COMPLETE": "complete_bash", "COMP_WORDS": %r, "COMP_CWORD": "%d"}
        from judgekit.cli import main
        main()
    """

    def completed(line):
        return scratch.python(code % (line, line.count(" "))).out.split()

    assert completed("judgekit st") == ["steer"]
    assert completed("judgekit me") == ["merge", "metrics"]
    assert completed("judgekit steer opt") == []


def test_an_unknown_command_still_has_a_suggestion(scratch):
    assert "did you mean 'run'" in scratch.judgekit("rnu", exits=2).err


def test_nothing_imports_the_package(scratch):
    code = """
        import pkgutil, importlib, judgekit
        for module in pkgutil.walk_packages(judgekit.__path__, "judgekit."):
            if "__main__" not in module.name and "sandbox_program" not in module.name:
                importlib.import_module(module.name)
    """
    scratch.python(code)
