"""`judgekit report`: write the page of a run."""

from pathlib import Path


def report(
    folder: Path | None = None,
    out: Path | None = None,
    export: list[str] | None = None,
    github: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Write the page of a run: one HTML file that works offline.

    FOLDER may be a suite or the folder of one; by default, the latest run under runs.
    With --export or --github, write those instead; add --out to write the page as well.
    """
    from judgekit.cli.output import outputs_of, print_run
    from judgekit.report.report import Report
    from judgekit.suite.run import find_run

    outputs = outputs_of(export, github=github)
    run = Report.read(find_run(folder))
    page = run.to_html(out) if out is not None or not (export or github) else None
    print_run(run, outputs=outputs, as_json=json, quiet=quiet, page=page)
