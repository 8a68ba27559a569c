"""A hole: stands for a text of a case while a template is being planned (see plan)."""

from __future__ import annotations

from typing import Any, NoReturn

MARK = "\ud800"
"""Begins the mark a hole is printed as: half a character, which no file can hold."""
MARK_END = "\udfff"


class Unplanned(Exception):
    """A template does more with a text of the case than print it."""


def _refused(*_: Any, **__: Any) -> NoReturn:
    raise Unplanned


class Hole:
    """A text that is there. It can be printed, fenced and found true; all else is refused."""

    __slots__ = ("name", "number", "tag")

    def __init__(self, name: str, number: int = -1, tag: str | None = None) -> None:
        self.name = name
        """The field of the case."""
        self.number = number
        """Its place, where the field is a list; -1 where it is one text."""
        self.tag = tag
        """What it is fenced in, if it is."""

    def fenced(self, tag: str) -> Hole:
        """Return the hole inside a fence."""
        if self.tag is not None:
            raise Unplanned
        return Hole(self.name, self.number, tag)

    def __bool__(self) -> bool:
        return True

    # Jinja's own code would take an ordinary error for a "no", so each of these ends the planning.
    __getattr__ = __getitem__ = __iter__ = __len__ = __contains__ = _refused
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refused
    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __call__ = _refused
    __str__ = __repr__ = __format__ = __int__ = __float__ = __index__ = __round__ = _refused
