"""`judgekit doctor`: is everything there, and does each judge answer."""

from __future__ import annotations

import json as json_
import sys
from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import ApiBase, Judges, Param


def doctor(
    suite: Annotated[
        Path | None, typer.Argument(help="A suite file to look at too.", show_default=False)
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Put a few small questions to each judge.")
    ] = False,
    times: Annotated[
        int, typer.Option("--times", min=2, max=50, help="Questions to time, with --ask.")
    ] = 3,
    judge: Judges = None,
    api_base: ApiBase = None,
    param: Param = None,
    json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Say what is installed, and whether each judge answers.

    And what a suite would cost.

    Nobody is asked without --ask. Exit codes: 0 nothing is wrong, 2 something is.
    """
    from judgekit.cli.options import overrides
    from judgekit.cli.screen import columns
    from judgekit.suite.doctor.examine import examine
    from judgekit.suite.doctor.text import diagnosis_text

    def say(line: str) -> None:
        if sys.stderr.isatty() and not json:
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    chosen = overrides(judge=judge, api_base=api_base, record=None, param=param, no_judge=False)
    found = examine(suite, chosen, ask=ask, times=times, say=say)
    say("")
    if json:
        data = found.model_dump(mode="json")
        typer.echo(json_.dumps(data, ensure_ascii=False, indent=1, sort_keys=True))
    else:
        typer.echo(diagnosis_text(found, width=min(80, columns())), nl=False)
    raise typer.Exit(found.exit_code)
