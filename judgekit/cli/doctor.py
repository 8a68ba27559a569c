"""`judgekit doctor`: check the installation, a suite and its judges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgekit.cli.options import ApiBase, Json, Judges, Param, overrides


def doctor(
    suite: Annotated[
        Path | None, typer.Argument(help="Suite file to check as well.", show_default=False)
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Send a few short questions to each judge.")
    ] = False,
    times: Annotated[
        int, typer.Option("--times", min=2, max=50, help="Questions to time, with --ask.")
    ] = 3,
    judge: Judges = None,
    api_base: ApiBase = None,
    param: Param = None,
    json: Json = False,
) -> None:
    """Check the installation, a suite and its judges.

    Show what is installed, which keys are set, and what a suite would cost. Call a judge only
    with --ask.

    Exit codes: 0 no problem, 2 problems.
    """
    from judgekit.cli.output import print_json
    from judgekit.cli.screen import StatusLine, columns
    from judgekit.suite.doctor.examine import examine
    from judgekit.suite.doctor.text import diagnosis_text

    status = StatusLine(shown=not json)
    chosen = overrides(judge=judge, api_base=api_base, param=param)
    diagnosis = examine(suite, chosen, ask=ask, times=times, say=status.show)
    status.clear()
    if json:
        print_json(diagnosis.model_dump(mode="json"))
    else:
        typer.echo(diagnosis_text(diagnosis, width=min(80, columns())), nl=False)
    raise typer.Exit(diagnosis.exit_code)
