"""`judgekit report`: write the page of a run."""

from pathlib import Path

from judgekit.core.canonical import printable


def report(
    folder: Path, out: Path | None = None, export: list[str] | None = None, github: bool = False
) -> None:
    """Write the page of a run: one HTML file that works offline.

    With --export or --github, write those instead; add --out to write the page as well.
    """
    from judgekit.cli.output import outputs_of, print_summary
    from judgekit.report.report import Report

    outputs = outputs_of(export, github=github)
    run = Report.read(folder)
    page = run.to_html(out) if out is not None or not (export or github) else None
    with outputs.plain(as_json=False):
        print_summary(run)
        if page is not None:
            print(f"page: {printable(str(page))}")
    outputs.write(run, find=lambda _: {})
