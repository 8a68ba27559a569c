"""Words and patterns that ship as data files of this package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from judgekit.core.canonical import digest
from judgekit.core.yaml_file import parse_yaml


class WordData(NamedTuple):
    """The content of a data file."""

    data: Any
    digest: str
    """SHA-256 of the text."""


def read_words(name: str) -> WordData:
    """Return a YAML file of `judgekit/metrics/data` by its path there."""
    text = files("judgekit.metrics").joinpath("data", name).read_text("utf-8")
    return WordData(parse_yaml(text, file=f"data/{name}")[0], digest(text))


def fill(pattern: str, parts: Mapping[str, str]) -> str:
    """Return a pattern with `{name}` replaced by the part of that name."""
    for name, part in parts.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern


def fill_parts(parts: Mapping[str, str], **given: str) -> dict[str, str]:
    """Return parts of patterns, each filled with `given` and the parts before it."""
    filled = dict(given)
    for name, pattern in parts.items():
        filled[name] = fill(pattern, filled)
    return filled
