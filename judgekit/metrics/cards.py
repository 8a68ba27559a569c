"""The cards of built-in metrics: one file for each family, read when documentation is shown."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from judgekit.core.protocols import Card, CardExample
from judgekit.core.yaml_file import parse_yaml
from judgekit.metrics.catalogue import BUILTIN

FILE = "cards.yaml"


def card_of(name: str) -> Card | None:
    """Return the card of a built-in metric; `None` for any other name."""
    entry = BUILTIN.get(name)
    return None if entry is None else _cards(entry.module.rpartition(".")[0])[entry.attribute]


@cache
def _cards(package: str) -> dict[str, Card]:
    data, _ = parse_yaml(files(package).joinpath(FILE).read_text("utf-8"), file=FILE)
    return {
        name: Card(**{**card, "example": CardExample(**card["example"])})
        for name, card in data.items()
    }
