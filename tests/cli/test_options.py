"""The file of flags and help."""

from __future__ import annotations

import typer

from judgekit.cli.app import app
from judgekit.cli.options import option_entries
from tests.docs.test_named import commands

COMMANDS = {" ".join(path[1:]): command for path, command in commands(typer.main.get_command(app))}


def test_every_entry_is_a_parameter_of_its_command():
    entries = option_entries()
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
