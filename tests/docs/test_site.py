"""The site: its navigation, its links, its search. `make site` builds it, with these hooks."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from docs.generate import site
from docs.generate.index import entries, llms_page, navigation
from tests.browsing import ARGUMENTS, CHROMIUM, PLAYWRIGHT
from tests.docs.page import DOCS, PAGES, ROOT, anchors, links

QUESTIONS = yaml.safe_load((ROOT / "tests/data/site_questions.yaml").read_text("utf-8"))


def flat(navigation):
    for entry in navigation:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from flat(value) if isinstance(value, list) else [value]


def test_the_navigation_has_three_levels_and_every_page():
    assert [next(iter(level)) for level in navigation()] == ["Start", "Tasks", "Background"]
    assert sorted(flat(navigation())) == sorted(
        name.removeprefix("docs/") for name in PAGES if name.startswith("docs/")
    )


def test_measurements_and_source_systems_are_background():
    levels = {entry.path: entry.level for entry in entries()}

    assert {levels[f"{page}.md"] for page in ("intervals", "source-systems", "sentences")} == {
        "Background"
    }


@pytest.mark.parametrize("line", ["- [A](a.md) and [B](b.md): two", "- A page", "- [A](a.md) -"])
def test_a_line_of_the_index_in_another_form_is_refused(line):
    with pytest.raises(ValueError, match="write `- "):
        entries(f"## Start\n{line}\n")
    with pytest.raises(ValueError, match="write `- "):
        entries("- [A](a.md): above any heading\n")


def test_llms_txt_links_every_page():
    text = llms_page()

    assert [link for link in links(text) if not (DOCS / link).exists()] == []
    assert sorted(links(text)) == sorted(entry.path for entry in entries())


def test_questions_name_pages():
    assert len(QUESTIONS) == 30
    assert [page for one in QUESTIONS for page in one["pages"] if not (DOCS / page).exists()] == []


@pytest.mark.parametrize("page", sorted((DOCS / "cookbook").glob("*.md")), ids=lambda p: p.stem)
def test_a_page_of_the_cookbook_is_one_screen(page):
    lines = page.read_text("utf-8").splitlines()

    assert len(lines) <= 64
    assert sum(len(line) // 120 for line in lines) <= 12


def test_anchors_are_those_of_a_code_host():
    headings = ["A `judge` of your own", "From promptfoo, and DeepEval", "Cases", "Cases", "a - b"]
    slug = site.Slugs()

    assert {slug(one.replace("`", ""), "-") for one in headings} == anchors(
        "".join(f"# {one}\n\n" for one in headings)
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[x](gates.md#mean)", "[x](gates.md#mean)"),
        ("[x](#here)", "[x](#here)"),
        ("[x](https://example.com)", "[x](https://example.com)"),
        ("[`core/case.py`](../judgekit/core/case.py)", "`judgekit/core/case.py`"),
        ("[the example](../examples/ci)", "the example (`examples/ci`)"),
        ("![a](page.png)", "![a](page.png)"),
    ],
)
def test_links_to_the_repository_become_paths(written, shown):
    assert site._links(written, "ci.md") == shown


@pytest.fixture
def warnings(monkeypatch):
    """What stops the build."""
    printed: list[str] = []
    monkeypatch.setattr(site, "log", SimpleNamespace(warning=printed.append))
    return printed


def test_a_link_to_nothing_stops_the_build(warnings):
    site._links("[x](../judgekit/nothing.py)", "ci.md")

    assert warnings == ["docs/ci.md: ../judgekit/nothing.py does not exist"]


@pytest.mark.parametrize(
    ("source", "html", "warning"),
    [
        ("text\n- item\n", "<p>text - item</p>", "docs/a.md: 1 lines of lists, but 0 on the site"),
        ("```text\nx\n```\n", "<p>```</p>", "docs/a.md: 1 blocks, but 0 on the site"),
        ("| a |\n| - |\n| 1 |\n", "<tr></tr>", "docs/a.md: 2 rows, but 1 on the site"),
        ("```text\n- x\n```\n", "<pre></pre>", None),
    ],
)
def test_what_a_page_loses_on_the_site_stops_the_build(source, html, warning, warnings):
    page = SimpleNamespace(markdown=source, file=SimpleNamespace(src_path="a.md"))

    site.on_page_content(html, page=page, config=None, files=None)

    assert warnings == ([warning] if warning else [])


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.example/a.js"></script>',
        '<link rel=stylesheet href="//fonts.example/a.css">',
        '<img src="http://pictures.example/a.png">',
    ],
)
def test_a_page_that_loads_from_elsewhere_stops_the_build(html, warnings):
    page = SimpleNamespace(file=SimpleNamespace(src_path="a.md"))

    built = site.on_post_page(f"<head>{html}</head>", page=page, config=None)

    assert len(warnings) == 1
    assert "default-src 'self'" in built


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the site, built from the pages."""
    if find_spec("mkdocs") is None or not PLAYWRIGHT or CHROMIUM is None:
        reason = "the search of the site was NOT tried: run `make site`, and install chromium"
        print(reason, file=sys.__stderr__)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
        capture_output=True,
    )
    yield folder
    shutil.rmtree(folder)


@pytest.mark.thorough
@pytest.mark.loopback
def test_the_search_answers_questions(built):
    """27 of the 30 questions have the right page among the first three, in a real browser."""
    from playwright.sync_api import sync_playwright

    handler = functools.partial(Quiet, directory=str(built))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            tab = browser.new_page()
            asked: list[str] = []
            tab.on("request", lambda request: asked.append(request.url))
            tab.goto(f"http://127.0.0.1:{server.server_port}/index.html")
            tab.locator(".md-search__input").focus()
            tab.locator(".md-search-result__meta", has_text="Type to start").wait_for()
            missed = [one for one in QUESTIONS if not set(one["pages"]) & set(first(tab, one))]
            browser.close()
        server.shutdown()

    assert len(missed) <= 3, missed
    assert {url.split("/")[2].split(":")[0] for url in asked} == {"127.0.0.1"}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


def first(tab, question):
    """Return the first three pages that the search shows."""
    meta = tab.locator(".md-search-result__meta")
    meta.evaluate("node => { node.textContent = 'waiting' }")
    box = tab.locator(".md-search__input")
    box.fill(question["question"])
    box.dispatch_event("keyup")
    tab.locator(".md-search-result__meta", has_not_text="waiting").wait_for()
    links = tab.eval_on_selector_all(
        ".md-search-result__item",
        "items => items.map(item => item.querySelector('a').pathname)",
    )
    return [Path(link).with_suffix(".md").as_posix().lstrip("/") for link in links[:3]]
