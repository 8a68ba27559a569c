"""Placeholders: stand for the texts of a case while a plan is made (see `plan`)."""

from __future__ import annotations

from typing import Any, NoReturn

MARK = "\ud800"
"""Begins the mark of a printed placeholder: half of a surrogate pair, which no file can have."""
MARK_END = "\udfff"


class Unplanned(Exception):
    """A template does more with a text of the case than print it."""


def _refused(*_: Any, **__: Any) -> NoReturn:
    raise Unplanned


class Placeholder:
    """An existing text. It can be printed, fenced and tested; anything else raises `Unplanned`."""

    __slots__ = ("name", "number", "tag")

    def __init__(self, name: str, number: int = -1, tag: str | None = None) -> None:
        self.name = name
        """The field of the case."""
        self.number = number
        """Its index if the field is a list, else -1."""
        self.tag = tag
        """The tag of its fence, if it has one."""

    def fenced(self, tag: str) -> Placeholder:
        """Return the placeholder inside a fence."""
        if self.tag is not None:
            raise Unplanned
        return Placeholder(self.name, self.number, tag)

    def __bool__(self) -> bool:
        return True

    # Jinja treats ordinary errors as "no", so each of these raises `Unplanned`.
    __getattr__ = __getitem__ = __iter__ = __len__ = __contains__ = _refused
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refused
    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __call__ = _refused
    __str__ = __repr__ = __format__ = __int__ = __float__ = __index__ = __round__ = _refused
