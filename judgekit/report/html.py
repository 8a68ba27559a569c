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
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.output_file import refuse_foreign
from judgekit.report.export.target import written
from judgekit.report.page.facts import Facts
from judgekit.report.page.figures import Axis, number, percent, weight
from judgekit.report.page.histograms import saturated_share, saturation
from judgekit.report.page.makers import judge_cards, rubric_cards
from judgekit.report.page.payload import make_payload
from judgekit.report.report import Report
from judgekit.report.spread import shown_figures

_PAGE = Path(__file__).parent / "page"
_SCRIPTS = (
    "dom", "data", "entries", "quotes", "state", "rows", "facets", "table", "verdict", "drawer",
    "sides", "labels", "answers", "question", "labelling", "print", "main",
)  # fmt: skip
"""Pieces of the script, in the order they are joined."""

# Controls, invisible marks, direction overrides, line separators and tag characters: harmless as
# text, but able to make a text look like another one.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e01ef]"
)


_GENERATOR = b'<meta name="generator" content="judgekit'
"""What the head of every page holds."""
_JOINTS = re.compile(r"(?<=[_.\-/])")


def write_page(report: Report, path: Path) -> Path:
    """Write the page of a run; the same bytes for the same run folder. Returns where it is.

    Raises:
        ConfigError: the file cannot be written, or the folder holds no results.
        CassetteCorrupt: the run's tape was damaged.
    """
    return write_html(render_page(report), path)


def write_html(page: str, path: Path) -> Path:
    """Write a page; returns where it is.

    Raises:
        ConfigError: the file cannot be written, is a link, or is there and no page of judgekit.
    """
    refuse_foreign(path, lambda head: _GENERATOR in head, what="a page of judgekit")
    with written(path) as file:
        file.write(page.encode("utf-8", "replace"))
    return path


class Served(NamedTuple):
    """What a page that is served knows of where it comes from."""

    run: str
    """What the server calls the run."""
    stamp: str
    """Another one for other files."""
    script: Path
    """What asks the server, before the page starts."""


def render_page(report: Report, *, served: Served | None = None) -> str:
    """Return the page of a run.

    Args:
        report: the run.
        served: where a server has what the page leaves out; a page in a file asks nobody.
    """
    figures = report.figures
    payload = make_payload(report)
    scripts = [own(f"script/{name}.js") for name in _SCRIPTS]
    return fill(
        "page.html.jinja",
        styles=[own("style.css")],
        scripts=[*scripts[:-1], *((served.script,) if served else ()), scripts[-1]],
        connect="'none'" if served is None else "'self'",
        served=served,
        facts=Facts(report, makers=payload.makers),
        figures=figures,
        metrics=[(summary, Axis(summary)) for summary in figures.metrics],
        rubrics=rubric_cards(figures.manifest, payload.taped),
        judges=judge_cards(figures.manifest, report.run, payload.taped),
        manifest=json.dumps(figures.manifest, ensure_ascii=False, sort_keys=True, indent=1),
        manifest_digest=digest(canonical_json(figures.manifest)),
        payload=payload,
    )


def own(name: str) -> Path:
    """Return a piece of the page of a run; other pages are made of the same ones."""
    return _PAGE / name


def fill(
    template: str,
    *,
    styles: Sequence[Path],
    scripts: Sequence[Path],
    folder: Path = _PAGE,
    connect: str = "'none'",
    **values: Any,
) -> str:
    """Return a page made of a template, with its style sheet and script in it.

    Args:
        template: name of the template.
        styles: pieces of the style sheet, in order.
        scripts: pieces of the script, in order.
        folder: where the template is; those of the page of a run are found, too.
        connect: whom the script may ask, as a content security policy says it.
        values: what the template shows; whatever is text is escaped.
    """
    style = "".join(map(_read, styles))
    script = f'(() => {{\n"use strict";\n{chr(10).join(map(_read, scripts))}}})();\n'
    return (
        _environment(folder)
        .get_template(template)
        .render(
            csp=_policy(style=style, script=script, connect=connect),
            style=style,
            script=script,
            **values,
        )
    )


def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([folder, _PAGE]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        breakable=breakable,
        number=number,
        percent=percent,
        saturated_share=saturated_share,
        saturation=saturation,
        shown_figures=shown_figures,
        weight=weight,
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


def breakable(name: str) -> Markup:
    """Return a name as markup that may break after its joints, rather than anywhere.

    >>> str(breakable("user.intent<b>"))
    'user.<wbr>intent&lt;b&gt;'
    """
    return Markup("<wbr>").join(_JOINTS.split(shown(name)))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _policy(*, style: str, script: str, connect: str) -> str:
    return (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {_hashed(script)}; "
        f"img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    sha = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{sha}'"
