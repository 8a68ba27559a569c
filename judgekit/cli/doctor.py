"""`judgekit doctor`: check the installation, a suite and its judges."""

from pathlib import Path

import typer

from judgekit.cli.options import overrides


def doctor(
    command: typer.Context,
    suite: Path | None = None,
    ask: bool = False,
    times: int = 3,
    judge: list[str] | None = None,
    api_base: str | None = None,
    param: list[str] | None = None,
    json: bool = False,
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
    diagnosis = examine(suite, overrides(command.params), ask=ask, times=times, say=status.show)
    status.clear()
    if json:
        print_json("doctor", diagnosis.model_dump(mode="json"))
    else:
        typer.echo(diagnosis_text(diagnosis, width=min(80, columns())), nl=False)
    raise typer.Exit(diagnosis.exit_code)
