"""Placeholders of other tools in the texts of rubrics, from `foreign.yaml`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.case_field import CASE_FIELDS
from judgekit.core.sourced import checked_tables
from judgekit.core.yaml_file import package_data

_FILE = Path(__file__).with_name("foreign.yaml")


class ForeignForm(NamedTuple):
    """How other tools write a placeholder."""

    form: str
    """An example."""
    pattern: re.Pattern[str]
    unless_closed: bool
    """Whether a text with the closing tag has markup and no placeholder."""


class ForeignPlaceholder(NamedTuple):
    """A placeholder of another tool in a text."""

    offset: int
    text: str


@cache
def foreign_forms() -> tuple[ForeignForm, ...]:
    """Return the forms, in the order of the file."""
    tables = checked_tables(package_data(_FILE), file=_FILE.name)
    named = {alias for field in CASE_FIELDS for alias in (field.name, *field.aliases)} - {"id"}
    fields = "|".join(sorted({*named, *_words(tables["fields"])}, key=len, reverse=True))
    prefixes = "|".join(_words(tables["prefixes"]))
    before = rf"""(?:(?:{prefixes})(?:\.|\[["']?))?"""
    after = r"""["']?\]?(?:[.\[]["']?\w{1,40}["']?\]?)?"""
    field = f"(?i:{before}(?:{fields}){after})"
    return tuple(
        ForeignForm(
            form=row["form"],
            pattern=re.compile(row["pattern"].replace("%field%", field), re.VERBOSE),
            unless_closed=row.get("unless_closed", False),
        )
        for row in tables["forms"]
    )


def _words(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return [word for row in rows for word in row["words"]]


def foreign_placeholders(text: str, *, tags: Collection[str] = ()) -> Iterator[ForeignPlaceholder]:
    """Yield the placeholders of other tools in a text.

    Args:
        text: a text that judgekit does not fill.
        tags: names of tags that the rubric itself puts around material.
    """
    folded = text.casefold()
    for form in foreign_forms():
        for match in form.pattern.finditer(text):
            name = match[0].strip("<> \t\n").casefold()
            if form.unless_closed and (f"</{name}" in folded or name in tags):
                continue
            yield ForeignPlaceholder(match.start(), match[0])
