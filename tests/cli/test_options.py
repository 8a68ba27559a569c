"""The file of flags and help."""

from __future__ import annotations

import dis
from inspect import unwrap

import pytest
import typer

from judgekit.cli.app import app
from judgekit.cli.installed import installed_names, load_module, options_of
from judgekit.cli.options import option_entries, overrides, settings
from judgekit.core.case_field import CASE_TEXTS
from judgekit.suite.overrides import EFFECTS, Affects, Overrides
from tests.docs.test_named import commands

COMMANDS = {" ".join(path[1:]): command for path, command in commands(typer.main.get_command(app))}


def test_every_entry_is_a_parameter_of_its_command():
    entries = dict(option_entries())
    for name in installed_names():
        entries |= option_entries(options_of(load_module(name)))
    assert {"steer optimize", "pairs generate"} < set(entries)
    known = {name: {p.name for p in command.params} for name, command in COMMANDS.items()}
    known["shared"] = set().union(*known.values())

    unused = {name: set(entry) - known[name] for name, entry in entries.items()}

    assert not any(unused.values()), unused


def test_every_parameter_explains_itself():
    silent = [
        (name, parameter.name)
        for name, command in COMMANDS.items()
        for parameter in command.params
        if not parameter.help and not parameter.hidden
    ]

    assert silent == []


def read_by(command):
    """Return the names that the function of a command loads, also in functions inside it."""
    codes, names = [unwrap(command.callback).__code__], set()
    while codes:
        code = codes.pop()
        codes += [const for const in code.co_consts if hasattr(const, "co_code")]
        loads = (one for one in dis.get_instructions(code) if one.opname.startswith("LOAD"))
        names |= {str(one.argval) for one in loads}
    return names


OF_SUITES = ("run", "watch", "merge")
OF_JUDGES = ("doctor", "score", "evaluate", "rubric test", "cassette explain")


@pytest.mark.parametrize("name", [*OF_SUITES, *OF_JUDGES])
def test_a_parameter_that_a_command_does_not_read_overrides_a_field(name):
    """Otherwise the flag would be accepted and have no effect."""
    command = COMMANDS[name]
    unread = {p.name for p in command.params} - read_by(command) - {"help"}
    if name == "score":
        unread -= {*CASE_TEXTS}  # it takes the texts of a case as one mapping
    used = [effect for effect in EFFECTS.items() if effect[1].of_judge or name in OF_SUITES]

    assert unread - {effect.flag or field for field, effect in used} == set()


def test_run_has_a_flag_for_every_field():
    flags = {parameter.name for parameter in COMMANDS["run"].params}

    assert {effect.flag or field for field, effect in EFFECTS.items()} - flags == set()


def test_merge_has_the_flags_that_affect_only_the_exit_code():
    flags = {parameter.name for parameter in COMMANDS["merge"].params}
    chosen = {name for name, effect in EFFECTS.items() if effect.affects is Affects.EXIT_CODE}

    assert set(EFFECTS) & flags == chosen


GIVEN = Overrides(
    judge="openai/a", judges={"second": "openai/b"}, api_base="http://localhost:1", tier="flex",
    params={"temperature": 0, "stop": ["x"]}, settings={"tone": {"audience": "young children"}},
    record="all", no_judge=True, only=["tone", "safety"], cases="c.jsonl", format="chat",
    where=["topic=a b", "id!=c"], limit=3, shard="1/2", baseline="runs/a", max_failures=0,
    against="runs/b",
)  # fmt: skip


def test_the_words_of_flags_are_parsed_as_the_same_flags():
    context = COMMANDS["run"].make_context("run", GIVEN.words())
    parsed = overrides(context.params, suite=True, settings=settings(context.params["set"]))

    assert parsed == GIVEN
    assert set(EFFECTS) - set(GIVEN.given()) == {"ids", "again"}
