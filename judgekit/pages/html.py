"""Render the templates of pages; each page is an HTML file that works offline.

Texts of cases, judges and rubrics are untrusted. They get into a page in only two ways: through a
template with autoescaping, and as JSON that a script converts to text nodes. The content security
policy has the hashes of this script and of the style sheet, so no other code can run, load or send
data.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from judgekit.core.output_file import check_page, refuse_foreign
from judgekit.core.score import failure_count
from judgekit.pages.figures import number, percent, weight
from judgekit.report.export.target import named, written

ASSETS = Path(__file__).parent / "assets"
_GENERATOR = b'<meta name="generator" content="judgekit'
"""Text in the head of every page."""
_JOINTS = re.compile(r"(?<=[_.\-/])")


def write_html(page: str, path: Path) -> Path:
    """Write a page and return its path.

    Raises:
        ConfigError: the file cannot be written, is a link, exists and is not a judgekit page, or
            has the extension of another kind of file.
    """
    check_page(path)
    refuse_foreign(path, lambda head: _GENERATOR in head, what="a page of judgekit")
    with written(path) as file:
        file.write(page.encode("utf-8", "replace"))
    return path


def fill(
    template: str,
    *,
    scripts: Sequence[str],
    styles: Sequence[str] = (),
    connect: str = "'none'",
    assets: Path = ASSETS,
    **values: Any,
) -> str:
    """Render a template as a page with inline style sheet and script.

    Args:
        template: name of the template, without `.html.jinja`.
        scripts: names of the pieces of the script, in order, without `.js`.
        styles: names of style sheets after the shared one, without `.css`.
        connect: address that the script may connect to, as a content security policy source.
        assets: folder of the template and its own styles and scripts; it may use the shared ones.
        values: variables of the template; every text is escaped.
    """
    style = "".join(_read(f"{name}.css", assets) for name in ("style", *styles))
    pieces = "\n".join(_read(f"script/{name}.js", assets) for name in scripts)
    script = f'(() => {{\n"use strict";\n{pieces}}})();\n' if scripts else ""
    page = _environment(assets).get_template(f"{template}.html.jinja")
    csp = (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; "
        f"img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )
    return page.render(csp=csp, style=style, script=script, **values)


@cache
def _environment(assets: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader((assets, ASSETS)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: named(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        breakable=breakable,
        failure_count=failure_count,
        number=number,
        percent=percent,
        weight=weight,
    )
    return environment


def breakable(name: str) -> Markup:
    """Return a name as markup with possible line breaks only after separators.

    >>> str(breakable("user.intent<b>"))
    'user.<wbr>intent&lt;b&gt;'
    """
    return Markup("<wbr>").join(_JOINTS.split(named(name)))


def _read(name: str, assets: Path) -> str:
    own = assets / name
    return (own if own.exists() else ASSETS / name).read_text(encoding="utf-8")


def _hashed(text: str) -> str:
    sha = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{sha}'"
