"""Hooks of mkdocs for the site: navigation, links to the repository, and checks of what was built.

mkdocs calls the functions that begin with `on_`. A warning stops the build, which is strict.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from docs.generate.index import DOCS, entries, navigation, plain

ROOT = DOCS.parent
log = logging.getLogger("mkdocs.plugins.judgekit")

# The theme would load some helpers from elsewhere. The browser refuses whatever is not of the site.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'self'"
)
_FENCE = re.compile(r"^ *(`{3,})(\w*)\n.*?^ *\1$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^][]*(?:\[[^]]*\][^][]*)*)\]\(([^)\s]+)\)")
# In a search, a page that explains comes before one that lists.
_BOOSTS = {"Start": 2.0, "Reference": 0.5}


class Slugs:
    """Anchors of headings, made by the rule of code hosts, where the pages are read too."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def __call__(self, heading: str, separator: str) -> str:
        """Return the anchor of the next heading of the page."""
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)
        count = self.seen[slug]
        self.seen[slug] += 1
        return f"{slug}{separator}{count}" if count else slug


def on_config(config: Any) -> Any:
    """Take the navigation from the index."""
    config.nav = navigation()
    return config


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Adapt a page to the site; what a code host shows differs in three points."""
    config.mdx_configs["toc"]["slugify"] = Slugs()
    path = page.file.src_path
    boost = {entry.path: _BOOSTS.get(entry.group or entry.level, 1.0) for entry in entries()}
    page.meta["search"] = {"boost": boost[path]} if path in boost else {"exclude": True}
    # A picture would need a script from elsewhere, and the table below it says the same.
    markdown = re.sub(r"^```mermaid\n.*?^```\n", "", markdown, flags=re.DOTALL | re.MULTILINE)
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(markdown):
        parts += [_links(markdown[end : fence.start()], path), fence[0]]
        end = fence.end()
    return "".join([*parts, _links(markdown[end:], path)])


def on_page_content(html: str, *, page: Any, config: Any, files: Any) -> None:
    """Check that every block and every row of a table of a page is one on the site."""
    source = page.markdown
    seen = _Seen()
    seen.feed(html)
    prose = _FENCE.sub("", source)
    rows = len(re.findall(r"^ *\|.*\|$", prose, re.MULTILINE))
    heads = len(re.findall(r"^ *\|[-:| ]*-[-:| ]*\|$", prose, re.MULTILINE))
    for what, expected, shown in (
        ("blocks", len(_FENCE.findall(source)), seen.tags["pre"]),
        ("rows", rows - heads, seen.tags["tr"]),
        ("lines of lists", len(re.findall(r"^ *(?:[-*+]|\d+\.) ", prose, re.M)), seen.tags["li"]),
    ):
        if expected != shown:
            log.warning(f"docs/{page.file.src_path}: {expected} {what}, but {shown} on the site")


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    """Let a page load nothing from elsewhere, and check that it does not try."""
    seen = _Seen()
    seen.feed(output)
    for address in seen.loaded:
        log.warning(f"docs/{page.file.src_path}: the page loads {address}")
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    return output.replace("<head>", f"<head>{policy}", 1)


def on_post_build(*, config: Any) -> None:
    """Put the Markdown of the pages beside them, which docs/llms.txt links, and finish the search.

    A page is found by what the index says about it, and the results of a search say it, too.
    """
    site = Path(config.site_dir)
    index = site / "search" / "search_index.json"
    search = json.loads(index.read_text("utf-8"))
    titles = {page["location"]: page for page in search["docs"]}
    for entry in entries():
        shutil.copyfile(DOCS / entry.path, site / entry.path)
        titles[f"{entry.path.removesuffix('.md')}.html"]["title"] += f": {plain(entry.text)}"
    index.write_text(json.dumps(search, separators=(",", ":")), "utf-8")


class _Seen(HTMLParser):
    """Counts tags, and lists the addresses from which a browser loads something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            loads = name in ("src", "srcset", "poster") or (name == "href" and tag == "link")
            if loads and value and re.match(r"(?:\w+:)?//", value):
                self.loaded.append(value)


def _links(text: str, path: str) -> str:
    """Show what a page links outside docs/ as its path: a site has no address of the repository."""

    def shown(link: re.Match[str]) -> str:
        target = (DOCS / path).parent.joinpath(link[3].partition("#")[0]).resolve()
        if link[3].startswith(("#", "https://")) or target.is_relative_to(DOCS):
            return link[0]
        if not target.exists():
            log.warning(f"docs/{path}: {link[3]} does not exist")
        name = target.relative_to(ROOT).as_posix()
        label = link[2].strip("`")
        return f"`{name}`" if label in name else f"{link[2]} (`{name}`)"

    return _LINK.sub(shown, text)
