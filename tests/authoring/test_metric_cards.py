"""What `judgekit metrics` says of each metric is what the metric does."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import shutil
import subprocess
import sys
from importlib import import_module

import pytest
from typer.testing import CliRunner

from judgekit.authoring.metric_cards import list_text, metric_text, run_example
from judgekit.cli.app import app
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Card
from judgekit.core.score import Score
from judgekit.metrics.adapter import class_facts
from judgekit.metrics.cards import card_of, options_of
from judgekit.metrics.catalogue import BUILTIN, FAMILIES
from judgekit.metrics.registry import metric_names
from tests.each import each


def made(name):
    return getattr(import_module(BUILTIN[name].module), BUILTIN[name].attribute)


COMPUTED = sorted(name for name, entry in BUILTIN.items() if not entry.judged)


@each("name", sorted(BUILTIN))
def test_every_metric_has_a_card_of_its_own(name):
    card = card_of(name)

    assert isinstance(card, Card)
    assert all((card.formula, card.source, made(name).needs, card.empty))


@pytest.mark.parametrize("name", COMPUTED)
def test_the_example_of_a_computed_metric_gives_what_its_card_says(name):
    example = card_of(name).example
    if name == "code" and not shutil.which("bwrap"):
        pytest.skip("NOT TESTED: the sandbox needs bubblewrap (apt-get install bubblewrap)")

    result = run_example(name, example.case, example.options)

    assert isinstance(result, Score), result
    assert (result.value if result.value is None else round(result.value, 4)) == example.value


@each("name", sorted(metric_names()))
def test_every_metric_can_be_shown(name):
    text = metric_text(name)

    assert name in text
    if name in BUILTIN:
        shown = [line for line in text.splitlines() if not line.startswith("  judgekit score")]
        assert max(len(line) for line in shown) <= 80


@each("name", sorted(BUILTIN))
def test_a_shown_metric_says_formula_range_needs_and_every_option(name):
    text = " ".join(metric_text(name).split())

    card = card_of(name)
    for said in (card.formula, card.source, card.empty, *made(name).needs, "is better"):
        assert " ".join(said.split()) in text
    assert card.about
    for option in options_of(made(name), card.options):
        assert f"{option.name}: " in text
        assert option.says, option


def test_an_example_that_cannot_run_here_says_why(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)

    assert "not computed here: code cannot be isolated here" in " ".join(
        metric_text("code").split()
    )


ASKED = [
    name for name, entry in sorted(BUILTIN.items())
    if entry.judged and class_facts(made(name)).asks != "logprobs"
]  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_the_command_a_judged_metric_shows_can_be_run(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (line,) = [x for x in metric_text(name).splitlines() if x.startswith("  judgekit score")]
    words = shlex.split(line.replace("MODEL", "fake/judge"))[1:]

    done = CliRunner().invoke(app, [*words, "--json"])

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"][0]["metric"] == name


def test_the_list_has_every_metric_once_under_its_family():
    lines = [line for line in list_text().splitlines() if line and not line.startswith("#")]

    assert sorted(line.split()[0] for line in lines) == metric_names()
    families = dict(part.split("\n", 1) for part in f"\n{list_text()}".split("\n# ")[1:])
    for family, group in FAMILIES.items():
        names = [line.split()[0] for line in families[family].splitlines() if line]
        assert names == [entry.name for entry in group]


def test_an_unknown_metric_is_said_with_its_neighbour():
    with pytest.raises(ConfigError, match="no metric named 'lenght'; did you mean 'length'"):
        metric_text("lenght")


STRIPPED = """
import json
from judgekit.authoring.metric_cards import metric_text
from judgekit.core.score import Score
from judgekit.metrics.registry import create_metric
names = ["similarity", "length", "faithfulness", "prompt_alignment", "brand_voice", "points"]
said = Score(value=1.0, confidence=0.5).explain(create_metric("token_f1"))
print(json.dumps([*map(metric_text, names), said]))
"""


@pytest.mark.thorough
def test_python_without_docstrings_says_the_same():
    """-OO removes docstrings and asserts; no message may be made of them."""
    here = io.StringIO()
    with contextlib.redirect_stdout(here):
        exec(STRIPPED, {})

    stripped = subprocess.run(
        [sys.executable, "-OO", "-c", STRIPPED], capture_output=True, text=True, check=True
    ).stdout

    assert here.getvalue() == stripped
    assert "which is always 1" in stripped
