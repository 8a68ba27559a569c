"""The base class of values that can be printed in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from judgekit.core.arguments import checked
from judgekit.core.value import Displayed

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart as Shown


class Document(Displayed):
    """A displayed value that can also be rendered as terminal text and Markdown."""

    def _all_parts(self) -> Iterable[Shown]:
        """Return the parts of the full text, if a notebook shows fewer."""
        return self._parts_shown()

    @checked
    def text(self, *, width: int = 88) -> str:
        """Return the value as text for a terminal with `width` columns."""
        from judgekit.core.display.text import to_text

        return f"{to_text(self._all_parts(), width=width)}\n"

    def markdown(self) -> str:
        """Return the value as Markdown, with all names escaped."""
        from judgekit.core.display.markdown import to_markdown

        return to_markdown(self._all_parts())
