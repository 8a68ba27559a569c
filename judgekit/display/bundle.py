"""What a notebook asks of a value that is shown by itself."""

from __future__ import annotations

from collections.abc import Iterable

from judgekit.display.html import to_html
from judgekit.display.parts import Part
from judgekit.display.text import to_text


def bundle(parts: Iterable[Part], *, text: str | None = None) -> dict[str, str]:
    """Return what there is to see as HTML and as text, each under its MIME type.

    Args:
        parts: lines and grids.
        text: the text, where a prompt shows something else.
    """
    parts = list(parts)
    return {"text/html": to_html(parts), "text/plain": to_text(parts) if text is None else text}
