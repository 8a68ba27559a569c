"""What a notebook asks of a value that is shown by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from judgekit.core.display.html import to_html
from judgekit.core.display.parts import DisplayPart
from judgekit.core.display.text import to_text


def bundle(parts: Iterable[DisplayPart], *, text: str | None = None) -> dict[str, str]:
    """Return what there is to see as HTML and as text, each under its MIME type.

    Args:
        parts: lines and grids.
        text: the text, where a prompt shows something else.
    """
    parts = list(parts)
    return {"text/html": to_html(parts), "text/plain": to_text(parts) if text is None else text}


def pretty(printer: Any, value: Any) -> None:
    """Print a tuple as a prompt shows it by itself; inside something else, its repr.

    A prompt has a way of its own with tuples, which goes before what they say of themselves.
    """
    alone = len(getattr(printer, "stack", ())) <= 1
    printer.text(value._repr_mimebundle_()["text/plain"] if alone else repr(value))
