"""The file of flags and help."""

from __future__ import annotations

import dis
from collections import defaultdict
from inspect import unwrap

import pytest
import typer

from judgekit.cli.app import app
from judgekit.cli.installed import installed_names, load_module, options_of
from judgekit.cli.options import LETTERS, option_entries, overrides, settings
from judgekit.core.case_field import CASE_TEXTS
from judgekit.suite.overrides import EFFECTS, Affects, Overrides
from tests.docs.page import ROOT
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
    cache="auto",
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


def test_a_text_of_a_case_is_no_path():
    context = COMMANDS["score"].make_context("score", ["--baseline", "~/x", "--output", "~/y"])

    assert (context.params["baseline"], context.params["output"]) == ("~/x", "~/y")


# -- one meaning for one flag ------------------------------------------------------

OPTIONS_OF = {
    name: [p for p in command.params if p.opts[0].startswith("-") and not p.hidden]
    for name, command in COMMANDS.items()
}
TWO_KINDS = {
    "--against": "what to compare with: a run folder, or for `rank` also a judge or a file",
    "--baseline": "what to compare with: a run folder, or for `score` the text of an answer",
    "--case": "the case: its id, or for `score` its JSON",
    "--model": "the model: its name, or for `steer` its folder",
    "--set": "a parameter of a rubric: `rubric render` has only one",
}
"""Flags whose values differ in kind, and the meaning that they share."""


def long_flags(parameter):
    return [flag for flag in parameter.opts if flag.startswith("--")]


def test_a_letter_has_one_meaning_and_a_flag_always_has_its_letter():
    for name, options in OPTIONS_OF.items():
        for option in options:
            letters = [flag for flag in option.opts if not flag.startswith("--")]
            expected = [LETTERS[flag] for flag in long_flags(option) if flag in LETTERS]
            assert letters == expected, (name, option.opts)
    assert len(set(LETTERS.values())) == len(LETTERS)


def test_a_flag_takes_one_kind_of_value():
    kinds = defaultdict(set)
    for options in OPTIONS_OF.values():
        for option in options:
            for flag in long_flags(option):
                kinds[flag].add("none" if option.is_flag else option.metavar)

    assert {flag for flag, values in kinds.items() if len(values) > 1} == set(TWO_KINDS)


def test_the_page_lists_the_letters():
    page = (ROOT / "docs" / "terminal.md").read_text("utf-8")

    assert all(f"`{letter}`" in page and f"`{flag}`" in page for flag, letter in LETTERS.items())


FORMER = {
    "score": ["-o"],
    "run": ["--metric", "-m"],
    "watch": ["--metric", "-m"],
    "compare": ["--cases"],
    "rank": ["--judge"],
    "agree": ["--labels", "--system", "--html"],
    "correct": ["--by", "--labels"],
    "labels plan": ["--page"],
    "labels import": ["--plan"],
    "labels check": ["--plan"],
    "rubric lint": ["--results"],
    "rubric diff": ["--results"],
    "cases lint": ["--rows"],
    "cases criteria": ["--rows"],
    "evaluate": [
        "--benchmark", "-b", "--evaluator", "-e", "--num-samples", "-n", "--judge-model",
        "--reference", "--batch-size",
    ],
    "answer": ["-m"],
    "persona calibrate": ["--output"],
    "pairs generate": ["--output", "--num-pairs", "--judge"],
    "steer optimize": ["-m"],
}  # fmt: skip
"""Command -> spellings of earlier versions and of other tools, which work for ever."""


def test_former_spellings_are_those_of_the_file():
    aliases = {
        name: [flag for flags in command.aliases.values() for flag in flags]
        for name, command in COMMANDS.items()
        if hasattr(command, "aliases")
    }

    used = {p.name for command in COMMANDS.values() for p in command.params}
    assert {name: sorted(flags) for name, flags in aliases.items() if flags} == {
        name: sorted(flags) for name, flags in FORMER.items()
    }
    assert {name for c in COMMANDS.values() for name in getattr(c, "aliases", ())} <= used


@pytest.mark.parametrize(("name", "flag"), [(n, f) for n, flags in FORMER.items() for f in flags])
def test_a_former_spelling_works_and_is_not_shown(name, flag):
    command = COMMANDS[name]
    (target,) = (p for p, flags in command.aliases.items() if flag in flags)
    (parameter,) = (p for p in command.params if p.name == target)
    value = "3" if (parameter.metavar or "") == "<n>" else "x"

    def parsed(spelling):
        required = [p for p in command.params if p.required and p.name != target]
        given = [w for p in required if p.opts[0].startswith("-") for w in (p.opts[0], "1")]
        places = ["1" for p in required if not p.opts[0].startswith("-")]
        return command.make_context(name, [*given, *places, spelling, value]).params

    assert parsed(flag) == parsed(parameter.opts[0])
    assert str(parsed(flag)[target]).strip("[]()',") == value
    shown = [part for line in command.get_help(command.make_context(name, [],
             resilient_parsing=True)).splitlines() for part in line.split()]  # fmt: skip
    assert flag not in {part.rstrip(",") for part in shown}
