"""A new flag of `run` that reaches the runner: `--undecided`, instead of `gate.undecided`.

It is added as docs/architecture.md says. Then each place is forgotten in turn, and the start of the
program or a test of the project must fail.
"""

from __future__ import annotations

import json
import shutil
from typing import NamedTuple

import pytest

from tests.agreement.scratch import ROOT, ScratchPackage


class Place(NamedTuple):
    """A text that the change adds before another one."""

    file: str
    before: str
    added: str


PLACES = {
    "field": Place(
        "suite/overrides.py",
        "    against: Annotated",
        "    undecided: Annotated[str | None, FlagEffect(Affects.EXIT_CODE)] = None\n",
    ),
    "read": Place("suite/resolved.py", "file.gate.undecided", "_undecided(settings) or "),
    "run": Place(
        "cli/run.py", "    against: Path | None = None", "    undecided: str | None = None,\n"
    ),
    "merge": Place(
        "cli/merge.py", "    export: list[str]", "    undecided: str | None = None,\n"
    ),
    "help": Place(
        "cli/options.json", '  "cassette": {"help": "Cassette to replay', '  "undecided": '
        '{"help": "Whether a gate that is undecided passes: pass or fail."},\n',
    ),
}  # fmt: skip
READER = "\n\ndef _undecided(settings: SuiteSettings) -> Any:\n"
READER += "    return settings.overrides.undecided\n"
OPTIONS, OVERRIDES = "tests/cli/test_options.py", "tests/suite/test_overrides.py"


class ChangedPackage(ScratchPackage):
    """A copy with the change, and the tests of the project that must notice what is forgotten."""

    def __init__(self, folder, *, without=None):
        super().__init__(folder)
        for name, place in PLACES.items():
            if name != without:
                self.replace(place.file, place.before, place.added + place.before)
        self.add("suite/resolved.py", READER if without != "field" else READER.replace(
            "settings.overrides.undecided", "None"))  # fmt: skip

    def tests(self, *names):
        """Run tests of the project on the copy; return the names of those that failed."""
        ignored = shutil.ignore_patterns("data", "golden", "__pycache__")
        for folder in ("tests", "docs"):  # tests of flags read the pages
            shutil.copytree(ROOT / folder, self.root / folder, ignore=ignored)
        for file in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / file, self.root)
        values = {OVERRIDES: ('"max_failures": 3,', '"undecided": "fail",')}
        if "undecided" in (self.root / "judgekit/suite/overrides.py").read_text("utf-8"):
            values[OPTIONS] = ("max_failures=0,", 'undecided="fail",')
        for name, (beside, added) in values.items():
            text = (self.root / name).read_text("utf-8")
            assert text.count(beside) == 1
            (self.root / name).write_text(text.replace(beside, f"{beside} {added}"), "utf-8")
        command = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
        words = ["-q", "-p", "no:cacheprovider", "-o", "addopts=", "-p", "no:asyncio", "--tb=short"]
        files = [str(self.root / name) for name in names]
        done = self._run(["-c", command, *words, *files], None, None)
        assert done.code in (0, 1), done.out + done.err  # neither a usage nor a collection error
        lines = [line for line in done.out.splitlines() if line.startswith("FAILED")]
        return {line.partition("::")[2].partition(" ")[0] for line in lines}


@pytest.mark.thorough
def test_the_flag_reaches_the_runner_the_shards_and_the_merge(tmp_path):
    scratch = ChangedPackage(tmp_path)
    rows = [{"id": f"c{n}", "output": "x", "reference": "x" if n else "y"} for n in range(4)]
    suite = {"cases": rows, "metrics": {"exact_match": {"gate": {"mean": 0.6}}}}
    scratch.write("suite.yaml", json.dumps(suite))
    run, merge = ("run", "suite.yaml"), ("merge", "suite.yaml", "1", "2", "--out", "all")

    scratch.judgekit(*run, exits=0)
    scratch.judgekit(*run, "--undecided", "fail", exits=1)
    for number in ("1", "2"):
        shard = ("--shard", f"{number}/2", "--out", number)
        scratch.judgekit(*run, *shard, "--undecided", "fail", exits=0)
    scratch.judgekit(*merge, exits=1)
    scratch.judgekit(*merge, "--undecided", "pass", exits=0)


def test_the_whole_change_passes(tmp_path):
    assert ChangedPackage(tmp_path).tests(OPTIONS, OVERRIDES) == set()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("place", "noticed"),
    [
        ("field", "test_a_parameter_that_a_command_does_not_read_overrides_a_field[run]"),
        ("read", "test_a_flag_has_the_effect_that_it_declares[undecided]"),
        ("run", "test_run_has_a_flag_for_every_field"),
        ("merge", "test_merge_has_the_flags_that_affect_only_the_exit_code"),
    ],
)
def test_a_forgotten_place_fails_a_test(tmp_path, place, noticed):
    scratch = ChangedPackage(tmp_path, without=place)

    assert noticed in scratch.tests(OPTIONS, OVERRIDES)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("help", "KeyError: 'undecided'"),
        ("effect", "Overrides.undecided: declare one FlagEffect"),
    ],
)
def test_a_forgotten_declaration_ends_the_start(tmp_path, place, message):
    scratch = ChangedPackage(tmp_path, without=place)
    if place == "effect":
        declared = "undecided: Annotated[str | None, FlagEffect(Affects.EXIT_CODE)]"
        scratch.replace("suite/overrides.py", declared, "undecided: str | None")

    assert message in scratch.judgekit("run", exits=1).err


@pytest.mark.thorough
def test_a_wrong_effect_fails_a_test(tmp_path):
    """As an occasion, the flag would not reach the merge."""
    scratch = ChangedPackage(tmp_path)
    place = PLACES["field"].added
    scratch.replace("suite/overrides.py", place, place.replace("EXIT_CODE", "OCCASION"))

    noticed = scratch.tests(OVERRIDES)

    assert "test_a_flag_has_the_effect_that_it_declares[undecided]" in noticed
