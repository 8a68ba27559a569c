"""Commands, flags, modules, files and models that pages name exist."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import typer

from judgekit import pytest_plugin
from judgekit.cli.app import app
from judgekit.core.example_model import EXAMPLE_MODEL
from tests.docs.page import PAGES, ROOT, prose
from tests.each import each

THEIRS = {
    "docs/how-it-differs.md": {"--output", "--repeat", "--watch", "--model-role", "--log-format"},
    "docs/metrics/personalization.md": {"--benchmark", "--num-pairs"},
    # `judgekit evaluate` accepts these, too.
    "docs/source-systems.md": {
        "--batch-size",
        "--benchmark",
        "--evaluator",
        "--judge-model",
        "--num-samples",
    },
}
"""Flags of other programs."""
NO_COMMANDS = {"judgekit gates"}
"""A name in JUnit, not a command."""
PYTEST = set(re.findall(r"--judgekit-[\w-]+", Path(pytest_plugin.__file__).read_text("utf-8")))


def commands(group, path=("judgekit",)):
    """Yield every command with the words that call it."""
    yield path, group
    if hasattr(group, "list_commands"):
        context = group.make_context(path[-1], [], resilient_parsing=True)
        for name in group.list_commands(context):
            yield from commands(group.get_command(context, name), (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))
FLAGS = (
    {
        flag
        for command in COMMANDS.values()
        for parameter in command.params
        for flag in (*parameter.opts, *parameter.secondary_opts)
        if flag.startswith("--")
    }
    | PYTEST
    | {"--help"}
)


@each("name", PAGES)
def test_every_flag_is_one(name):
    text = PAGES[name].read_text("utf-8")
    spans = " ".join(re.findall(r"`([^`\n]+)`", prose(text)))
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", spans))

    assert named - FLAGS - THEIRS.get(name, set()) == set()


@each("name", PAGES)
def test_every_command_is_one(name):
    text = PAGES[name].read_text("utf-8")
    for name_of in NO_COMMANDS:
        text = text.replace(f"`{name_of}`", "")
    for words in re.findall(r"(?:`|\$ )judgekit ([a-z]+(?: [a-z]+)?)", text):
        path = ("judgekit", *words.split())
        group = COMMANDS.get(path[:2])
        assert group is not None, words
        if hasattr(group, "list_commands") and len(path) > 2:
            assert path in COMMANDS, words


EXAMPLES = [
    path
    for pattern in ("docs/**/*.md", "docs/**/*.py", "examples/**/*", "cassettes/**/*.md", "*.md")
    for path in ROOT.glob(pattern)
    if path.suffix in (".md", ".py", ".yaml", ".yml", ".ipynb") and path.name != "CHANGELOG.md"
]


def test_examples_name_one_hosted_model():
    hosted = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in EXAMPLES
        for name in re.findall(r"\bopenai/gpt-[\w.-]*\w", path.read_text("utf-8"))
    }

    # Requests of newer names go through LiteLLM, and batch jobs do not hold them.
    hosted.discard(("docs/batch.md", "openai/gpt-4.1-mini"))
    assert {name for _, name in hosted} == {EXAMPLE_MODEL}, hosted


@each("path", EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_example_sets_the_temperature_to_zero(path):
    """Newer models refuse it, and it does not make a judge repeatable.

    The local judge was recorded with it, and what was sent is part of the keys.
    """
    text = path.read_text("utf-8")

    assert path.parent.name == "local_judge" or not re.search(
        r"""params[^\n]*temperature["']?\s*[:=]\s*0""", text
    )


def resolves(name):
    """Return whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@each("name", PAGES)
def test_every_module_is_one(name):
    """A name with one dot may be the pytest fixture: `judgekit.check`."""
    text = PAGES[name].read_text("utf-8")
    named = set(re.findall(r"(?<![\w/.\"-])judgekit(?:\.[a-zA-Z_]\w*){2,}", text))

    assert [one for one in sorted(named) if not resolves(one)] == []


@each("name", PAGES)
def test_every_file_of_the_repository_exists(name):
    text = PAGES[name].read_text("utf-8")
    named = set(re.findall(r"`((?:judgekit|tests|benchmarks|docs)/[\w/.-]+\.\w+)`", prose(text)))

    assert [one for one in sorted(named) if not (ROOT / one).exists()] == []


@each("path", COMMANDS, ids=" ".join)
def test_a_page_that_a_help_names_exists(path):
    command = COMMANDS[path]
    texts = [command.help or "", getattr(command, "epilog", None) or ""]
    texts += [getattr(parameter, "help", None) or "" for parameter in command.params]
    named = re.findall(r"docs/[\w/.-]+\w", " ".join(texts))

    assert [page for page in named if not (ROOT / page).exists()] == []
