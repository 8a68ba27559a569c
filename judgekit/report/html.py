"""The page of a run: one HTML file that needs no network and no other file.

What cases, judges and rubrics say is hostile until proved otherwise. It reaches the page in two
ways only: through a template that escapes everything, and as JSON that a script turns into text
nodes. The content security policy names the hashes of that script and of the style sheet, so
nothing else on the page can run, load or send anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from judgekit.canonical import canonical_json, digest
from judgekit.errors import ConfigError
from judgekit.report.page.facts import Facts
from judgekit.report.page.figures import Axis, number, percent, weight
from judgekit.report.page.payload import make_payload
from judgekit.report.report import Report
from judgekit.report.spread import shown_figures

_PAGE = Path(__file__).parent / "page"
_SCRIPTS = ("dom", "data", "quotes", "state", "rows", "table", "verdict", "drawer", "main")
"""Pieces of the script, in the order they are joined."""

# Controls, invisible marks, direction overrides, line separators and tag characters: harmless as
# text, but able to make a text look like another one.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e01ef]"
)


def write_page(report: Report, path: Path) -> Path:
    """Write the page of a run; the same bytes for the same run folder. Returns where it is.

    Raises:
        ConfigError: the file cannot be written, or the folder holds no results.
        CassetteCorrupt: the run's tape was damaged.
    """
    page = render_page(report).encode("utf-8", "replace")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page)
    except OSError as exc:
        raise ConfigError(f"cannot be written: {exc.strerror}", where=str(path)) from exc
    return path


def render_page(report: Report) -> str:
    """Return the page of a run."""
    style = _read("style.css")
    script = _script()
    figures = report.figures
    payload = make_payload(report)
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            csp=_policy(style=style, script=script),
            style=style,
            script=script,
            facts=Facts(report, makers=payload.makers),
            figures=figures,
            metrics=[(summary, Axis(summary)) for summary in figures.metrics],
            manifest=json.dumps(figures.manifest, ensure_ascii=False, sort_keys=True, indent=1),
            manifest_digest=digest(canonical_json(figures.manifest)),
            payload=payload,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number, percent=percent, weight=weight, shown_figures=shown_figures
    )
    return environment


def _finalized(value: Any) -> Any:
    """Show in plain sight what would otherwise be unseen; trusted markup passes as it is."""
    return shown(value) if type(value) is str else value


def shown(text: str) -> str:
    r"""Return a text with unseen characters named.

    >>> shown("safe\u202egnp")
    'safe⟨U+202E⟩gnp'
    """
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def _read(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")


def _script() -> str:
    pieces = "\n".join(_read(f"script/{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{pieces}}})();\n'


def _policy(*, style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    sha = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{sha}'"
