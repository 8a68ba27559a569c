"""A browser for tests of pages: fixtures, and texts that would do harm if they came alive.

Needs Chromium and Playwright's Python package, neither of which is a dependency; without them
tests of pages are skipped, and say so.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest

# Not imported before it is used: every test session loads this module.
PLAYWRIGHT = find_spec("playwright") is not None
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def skip_without_a_browser(what: str) -> None:
    """Skip the module that calls this, loudly, where there is no browser."""
    if not PLAYWRIGHT or CHROMIUM is None:
        missing = "chromium" if PLAYWRIGHT else "playwright (Python package)"
        reason = f"{what} was NOT tried in a browser: {missing} is not installed"
        print(reason, file=sys.__stderr__)
        pytest.skip(reason, allow_module_level=True)


class Chromium(NamedTuple):
    """The browser that all tests of a process share: to start one takes a second of CPU."""

    browser: Any
    tab: Any
    tools: Any
    """The tab's session of the DevTools protocol, for what Playwright does to new tabs only."""
    loop: asyncio.AbstractEventLoop
    """Playwright's. It counts as running from the start of the browser to its end."""


@pytest.fixture(scope="session")
def _chromium() -> Iterator[Chromium]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        tab = browser.new_page()
        tools = tab.context.new_cdp_session(tab)
        tools.send("Page.enable")
        yield (started := Chromium(browser, tab, tools, asyncio.get_running_loop()))
        asyncio._set_running_loop(started.loop)
        browser.close()


@pytest.fixture
def _browser(_chromium: Chromium) -> Iterator[Chromium]:
    """The shared browser; other tests run event loops of their own in this thread."""
    asyncio._set_running_loop(_chromium.loop)
    yield _chromium
    asyncio._set_running_loop(None)


@pytest.fixture
def own_site() -> str:
    """The prefix of the addresses that a page may request; a page in a file requests nothing."""
    return "file:///"


@pytest.fixture
def unwatched_tab(_browser: Chromium, own_site: str) -> Iterator[Any]:
    """A tab that tests use one after another: a new one takes longer than most tests.

    The page of the test before may still be in it, if that page came from a file.
    """
    tab = _browser.tab
    tab.set_viewport_size({"width": 1400, "height": 900})
    tab.set_default_timeout(60_000)  # a busy machine took more than 10 s for a click
    yield tab
    if not own_site.startswith("file:"):
        tab.goto("about:blank")  # or the page would go on to ask a server that is gone
    tab.emulate_media(media="null", color_scheme="null")


@pytest.fixture
def tab(unwatched_tab: Any, own_site: str) -> Iterator[Any]:
    """The shared tab; the test fails for a request, a dialog, or anything on the console."""
    events: list[str] = []
    listeners: dict[str, Callable[[Any], object]] = {
        "console": lambda message: events.append(f"console {message.type}: {message.text}"),
        "pageerror": lambda error: events.append(f"error: {error}"),
        "dialog": lambda dialog: (events.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        "request": lambda request: (
            request.url.startswith(own_site) or events.append(f"request: {request.url}")
        ),
    }
    for name, listener in listeners.items():
        unwatched_tab.on(name, listener)
    yield unwatched_tab
    for name, listener in listeners.items():
        unwatched_tab.remove_listener(name, listener)
    assert events == []


@pytest.fixture
def run_first(_browser: Chromium) -> Iterator[Callable[[str], None]]:
    """Have a script run in each new page of this test, before the scripts of the page."""
    added: list[str] = []

    def add(source: str) -> None:
        script = _browser.tools.send("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        added.append(script["identifier"])

    yield add
    for script in added:
        _browser.tools.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})


@pytest.fixture
def without_script(_browser: Chromium) -> Iterator[None]:
    """Let no script run in the pages of this test."""
    _browser.tools.send("Emulation.setScriptExecutionDisabled", {"value": True})
    yield
    _browser.tools.send("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.fixture
def forgotten(_browser: Chromium) -> Iterator[None]:
    """Remove what the pages of this test store, also what they store when they are left."""
    yield
    _browser.tab.goto("about:blank")
    data = {"origin": "file://", "storageTypes": "local_storage"}
    _browser.tools.send("Storage.clearDataForOrigin", data)


def until(tab: Any, expression: str, *, seconds: float = 60.0) -> None:
    """Wait until an expression is true; Playwright's own wait is stopped by the page's policy."""
    for _ in range(round(seconds / 0.02)):
        if tab.evaluate(expression):
            return
        tab.wait_for_timeout(20)
    raise AssertionError(f"never came true: {expression}")


def unfold(tab: Any, within: str) -> None:
    """Open all that is folded in an element; a page fills it after the event of its opening."""
    until(
        tab,
        f"[...document.querySelectorAll({within + ' details'!r})]"
        ".map(each => { each.open = true; return each.childElementCount > 1; }).every(Boolean)",
    )


def filled(tab: Any, within: str) -> None:
    """Wait until the page has filled what is unfolded in an element."""
    opened = f"[...document.querySelectorAll({within + ' details[open]'!r})]"
    until(tab, f"{opened}.every((each) => each.childElementCount > 1)")


KINDS = {
    "script": "<script>pwned()</script>",
    "closing script": "</script><script>pwned()</script>",
    "comment": "<!--<script>",
    "image": "<img src=x onerror=pwned()>",
    "svg": "<svg/onload=pwned()>",
    "frame": "<iframe srcdoc='<script>parent.pwned()</script>'>",
    "attribute": '" onfocus="pwned()" autofocus="',
    "single quotes": "' onclick='pwned()",
    "link": "javascript:pwned()",
    "base": "<base href=https://example.invalid/>",
    "meta": '<meta http-equiv="refresh" content="0;url=https://example.invalid/">',
    "style": "<style>body{background:url(https://example.invalid/)}</style>",
    "template": "{{ ''.__class__ }}{% raw %}${pwned()}`",
    "entities": "&lt;script&gt;pwned()&lt;/script&gt;&#60;img src=x&#62;",
    "json": '"}],"cases":[{"id":"\\u003cscript>',
    "line separators": "a\u2028pwned()\u2029b",
    "controls": "a\x00\x07\x1b[31mred\x1b[0m\x7f\x9b",
    "overrides": "user\u202etxt.exe\u2066\u200b\ufeff",
    "hebrew": "שלום <b>עולם</b> 123",
    "prototype": "__proto__",
    "tags": "x\U000e0041\U000e0042",
    "math": "<math><mtext><style><img src=x onerror=pwned()></style></mtext></math>",
    "data address": "data:text/html,<script>pwned()</script>",
    "formula": "=cmd|' /C calc'!A0",
    "format": "%s%n{0.__class__}{{7*7}}%(x)s",
    "long word": "w" * 900,
    "zero width": "z\u200b\u200c\u200d\u2060\ufeffw",
    "constructor": "constructor",
    "document": '</textarea></title></style><form action="https://example.invalid"><input name=x>',
}
