"""`judgekit report`: write the page of a run."""

from pathlib import Path


def report(
    folder: Path,
    out: Path | None = None,
    export: list[str] | None = None,
    github: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Write the page of a run: one HTML file that works offline.

    With --export or --github, write those instead; add --out to write the page as well.
    """
    from judgekit.cli.output import outputs_of, print_run
    from judgekit.report.report import Report

    outputs = outputs_of(export, github=github)
    run = Report.read(folder)
    page = run.to_html(out) if out is not None or not (export or github) else None
    print_run(run, outputs=outputs, as_json=json, quiet=quiet, page=page)
