"""`judgekit view`: show runs in a browser."""

import sys
from contextlib import suppress
from pathlib import Path

from judgekit.core.canonical import printable


def view(folder: Path = Path(), port: int = 0, open_browser: bool = False) -> None:
    """Show runs in a browser.

    List, open and compare runs, and follow one that is in progress. Listen on 127.0.0.1 only,
    write nothing, and never call a judge. Press Ctrl-C to end.
    """
    from judgekit.view.server import Viewer

    if folder.suffix in (".yaml", ".yml"):
        folder = folder.parent  # its runs are beside it
    with Viewer(folder, port=port) as viewer, suppress(KeyboardInterrupt):
        count = len(viewer.runs.all())
        runs = f"{count} run{'s' if count != 1 else ''}" if count else "no run yet"
        where = printable(str(viewer.runs.root))
        print(f"{runs} in {where}; Ctrl-C ends", file=sys.stderr)
        print(viewer.address, flush=True)
        if open_browser:
            import webbrowser

            webbrowser.open(viewer.address)
        viewer.serve_forever()
    if sys.stderr.isatty():
        print(file=sys.stderr)  # the terminal has printed ^C
