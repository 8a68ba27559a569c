"""`judgekit report`: write the page of a run."""

from pathlib import Path

from judgekit.core.errors import ConfigError

_NO_PAGES = {".csv", ".docx", ".json", ".md", ".parquet", ".pdf", ".png", ".xlsx", ".xml"}
"""Extensions of files that a browser does not show as a page."""


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

    if out is not None and out.suffix.lower() in _NO_PAGES:
        html = out.with_suffix(".html")
        advice = f"write --out {html}; other formats: --export FORMAT=FILE"
        raise ConfigError(f"the page is HTML; {advice}", where=f"--out {out}")
    outputs = outputs_of(export, github=github)
    run = Report.read(find_run(folder))
    page = run.to_html(out) if out is not None or not (export or github) else None
    print_run(run, outputs=outputs, as_json=json, quiet=quiet, page=page)
