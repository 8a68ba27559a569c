"""Untrusted text in Markdown."""

from __future__ import annotations

import re

from judgekit.core.canonical import printable

_MARKS = re.compile(r"([\\`*_{}\[\]()#!|~@:$&])")


def escaped(text: str, *, most: int = 1000) -> str:
    r"""Return a text escaped so that Markdown shows it literally.

    >>> print(escaped("<b>@all</b> | [x](http://x)"))
    &lt;b&gt;\@&#8203;all&lt;/b&gt; \| \[x\]\(http\://x\)
    """
    line = " ".join(printable(text).split())
    line = line if len(line) <= most else line[: most - 1] + "…"
    line = _MARKS.sub(r"\\\1", line)
    # Code hosts look for names and numbers when the escapes are gone already.
    line = line.replace("\\@", "\\@&#8203;").replace("\\#", "\\#&#8203;")
    return line.replace("<", "&lt;").replace(">", "&gt;")
