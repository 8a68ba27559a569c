"""The catalogue, the folders of metrics and the files of cards agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit import metrics
from judgekit.core.yaml_file import parse_yaml
from judgekit.metrics.cards import FILE, card_of
from judgekit.metrics.catalogue import BUILTIN, FAMILIES

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
