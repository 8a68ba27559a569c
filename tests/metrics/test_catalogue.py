"""The catalogue, the folders of metrics and the files of cards agree."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from judgekit import metrics
from judgekit.core.yaml_file import parse_yaml
from judgekit.metrics.built_in import BuiltIn
from judgekit.metrics.cards import FILE, card_of
from judgekit.metrics.catalogue import BUILTIN, FAMILIES
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.registry import find
from judgekit.metrics.step import Stepped

FOLDER = Path(metrics.__file__).parent


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_a_folder_of_its_name(family):
    folders = {entry.module.split(".")[2] for entry in FAMILIES[family]}

    assert folders == {family.replace(" ", "_")}


def test_every_card_belongs_to_a_metric_of_its_folder():
    cards = {
        (path.parent.name, name)
        for path in FOLDER.glob(f"*/{FILE}")
        for name in parse_yaml(path.read_text("utf-8"), file=FILE)[0]
    }

    assert cards == {(entry.module.split(".")[2], entry.attribute) for entry in BUILTIN.values()}


def test_a_metric_that_is_not_built_in_has_no_card():
    assert card_of("claim_support") is None


@pytest.mark.parametrize("name", BUILTIN)
def test_a_metric_that_needs_a_judge_is_given_one(name):
    judge = inspect.signature(find(name).factory).parameters.get("judge")

    required = judge is not None and judge.default is judge.empty
    assert BUILTIN[name].judged or not required
    assert judge is not None or not BUILTIN[name].judged


def test_every_metric_class_is_in_the_catalogue():
    for path in FOLDER.glob("*/[!_]*.py"):
        import_module(f"judgekit.metrics.{path.parent.name}.{path.stem}")
    classes = {
        kind
        for base in (ComputedMetric, BuiltIn, Stepped)
        for kind in base.__subclasses__()
        # A class for other classes to derive from has no name for suites.
        if kind.__module__.startswith("judgekit.metrics.")
        and isinstance(vars(kind).get("name"), str)
    }

    assert classes
    assert classes <= {entry.load() for entry in BUILTIN.values()}
