"""`judgekit view`: a folder of runs in a browser of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def view(
    folder: Annotated[
        Path, typer.Argument(help="A run folder, or one that holds some.", metavar="[DIR]")
    ] = Path(),
    port: Annotated[
        int, typer.Option("--port", "-p", help="Port to answer at; any that is free by default.")
    ] = 0,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open it in the browser, too.")
    ] = False,
) -> None:
    """Look at runs in the browser.

    List, open and compare them, follow one that is writing.

    Answers to this machine only (127.0.0.1), writes nothing and never calls a model.
    Ctrl-C ends it.
    """
    from judgekit.cli.viewing import serve

    serve(folder, port=port, open_browser=open_browser)
