"""Serving runs from a terminal: what is printed, and how it ends."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from judgekit.core.canonical import printable
from judgekit.view.server import Viewer


def serve(folder: Path, *, port: int, open_browser: bool) -> None:
    """Serve a folder until Ctrl-C."""
    with Viewer(folder, port=port) as viewer, suppress(KeyboardInterrupt):
        count = len(viewer.runs.all())
        runs = f"{count} run{'s' if count != 1 else ''}" if count else "no run yet"
        where = printable(str(viewer.runs.root))
        print(f"{runs} in {where}; Ctrl-C ends this", file=sys.stderr)
        print(viewer.address, flush=True)
        if open_browser:
            import webbrowser

            webbrowser.open(viewer.address)
        viewer.serve_forever()
    if sys.stderr.isatty():
        print(file=sys.stderr)  # the terminal has written ^C
