"""A metric is a class, an entry of the catalogue and a card; the rest follows from them."""

from __future__ import annotations

import json

import pytest

from tests.agreement.places import run_test
from tests.agreement.scratch import ROOT, ScratchPackage

CODE = '''"""Shouting: capital letters."""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.metrics._options import Positive, needed_text
from judgekit.metrics.computed import ComputedMetric


class Shouting(ComputedMetric):
    """Share of capital letters. Range 0..1, lower is better."""

    name: str = "shouting"
    least: Positive = 1
    """Number of letters that a text needs."""

    synchronous = True
    needs = ("output",)
    higher_is_better = False

    async def score(self, case: Case) -> Score:
        """Score one case."""
        letters = [letter for letter in needed_text(case, "output") if letter.isalpha()]
        if len(letters) < self.least:
            return Score(status="not_applicable", value=None, method="capitals", reason="few")
        share = sum(letter.isupper() for letter in letters) / len(letters)
        return Score(value=share, method="capitals", reason=f"{share:.2f} of the letters.")
'''
ENTRY = """
    {"name": "shouting", "path": "text.shouting:Shouting",
     "summary": "share of capital letters"},"""
CARD = """
Shouting:
  about: Share of capital letters. Range 0..1, lower is better.
  options:
    least: Number of letters that a text needs.
  formula: capital letters / letters
  source: judgekit
  empty: 'no output: invalid_case'
  example:
    case:
      output: ABcd
    value: 0.5
"""
SUITE = """
    cases: [{id: a, output: ABcd}, {id: b, output: A}]
    metrics: {shouting: {least: 2, threshold: 0.5}}
    """
FIRST = '"text": ['


def with_code(scratch):
    scratch.add("metrics/text/shouting.py", CODE)


def with_entry(scratch):
    scratch.replace("metrics/data/catalogue.json", FIRST, f"{FIRST}{ENTRY}")


def with_card(scratch):
    scratch.add("metrics/text/cards.yaml", CARD)


@pytest.fixture
def scratch(tmp_path):
    scratch = ScratchPackage(tmp_path)
    for add in (with_code, with_entry, with_card):
        add(scratch)
    return scratch


@pytest.mark.thorough
def test_a_metric_is_listed_shown_and_in_the_schema_and_the_reference(scratch):
    assert "shouting" in scratch.judgekit("metrics").out
    card = scratch.judgekit("metrics", "show", "shouting").out
    for text in ("lower is better", "Number of letters", "capital letters / letters", "gives"):
        assert text in card
    schema = json.loads(scratch.judgekit("schema", "suite").out)
    assert '"least"' in json.dumps(schema)
    assert any("shouting" in name for name in schema["$defs"])
    code = f"""
        import sys
        sys.path.append({str(ROOT)!r})
        from docs.generate.metrics import metrics_page
        print(metrics_page())
    """
    reference = scratch.python(code).out
    assert "[`shouting`](#shouting) | share of capital letters" in reference
    assert "Number of letters that a text needs." in reference


def test_a_metric_is_planned_run_and_replayed(scratch):
    scratch.write("suite.yaml", SUITE)

    scratch.judgekit("run", "suite.yaml", "--plan")
    for folder in ("first", "again"):
        scratch.judgekit("run", "suite.yaml", "--out", folder)

    first, again = (
        (scratch.work / folder / "results.jsonl").read_text("utf-8")
        for folder in ("first", "again")
    )
    assert first == again
    results = [json.loads(line).get("result") for line in first.splitlines()]
    assert [one.get("value") for one in results if one] == [0.5, None]
    manifest = json.loads((scratch.work / "first" / "report.json").read_text("utf-8"))["manifest"]
    assert manifest["metrics"] == [
        {"name": "shouting", "type": "Shouting", "options": {"least": 2}}
    ]
    scratch.write("wrong.yaml", SUITE.replace("least", "leest"))
    assert "did you mean 'least'" in scratch.judgekit("run", "wrong.yaml", exits=2).err


CATALOGUE = "metrics.test_catalogue"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("places", "test"),
    [
        ([with_code], f"{CATALOGUE}:test_every_metric_class_is_in_the_catalogue"),
        ([with_code, with_card], f"{CATALOGUE}:test_every_card_belongs_to_a_metric_of_its_folder"),
        ([with_code, with_entry], f"{CATALOGUE}:test_every_card_belongs_to_a_metric_of_its_folder"),
        (
            [with_code, with_entry, with_card],
            "metrics.test_contract:test_manifests_call_every_metric_what_they_always_did",
        ),
    ],
)
def test_a_place_that_is_forgotten_fails_a_test(places, test, tmp_path):
    scratch = ScratchPackage(tmp_path)
    assert run_test(scratch, test).code == 0

    for add in places:
        add(scratch)
    assert "AssertionError" in run_test(scratch, test).err


@pytest.mark.thorough
def test_a_metric_that_is_not_in_the_reference_fails_a_test(scratch):
    page = f"""
        from pathlib import Path
        import sys
        sys.path.append({str(ROOT)!r})
        from tests.docs.test_generated import test_a_page_is_as_the_code_has_it as test
        test("metrics/reference.md")
    """

    assert "AssertionError" in scratch.python(page, exits=1).err
