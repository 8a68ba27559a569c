"""`judgekit agree`: compare a judge with human labels."""

from pathlib import Path

import typer


def agree(
    folder: Path,
    labels: Path,
    combine: str = "each",
    failures: str = "wrong",
    weights: str | None = None,
    cluster: str | None = None,
    group: str | None = None,
    system: str | None = None,
    alt_test: float | None = None,
    all: bool = False,
    html: Path | None = None,
    json: bool = False,
    markdown: bool = False,
) -> None:
    """Measure how well a judge agrees with human labels.

    Compare criterion by criterion, and write agree.json into the run folder: reports and pages of
    the run then show the agreement. Never call a judge.

    Exit codes: 0 compared, 2 the run or the labels are wrong.
    """
    from judgekit.analysis.agreement.agree import agree as measure
    from judgekit.cli.screen import columns
    from judgekit.core.display.markdown import to_markdown
    from judgekit.core.display.text import to_text
    from judgekit.report.agreement_words import agreement_parts

    calibration = measure(
        folder, labels, combine=combine, failures=failures, weights=weights,  # type: ignore[arg-type]
        cluster=cluster, group=group, system=system, alt_test=alt_test,
    )  # fmt: skip
    parts = agreement_parts(calibration, everything=all)
    if json:
        typer.echo(calibration.model_dump_json(indent=1))
    elif markdown:
        typer.echo(to_markdown(parts), nl=False)
    else:
        typer.echo(to_text(parts, width=columns()))
    if html is not None:
        page = calibration.to_html(html)
        typer.echo(f"page: {page}", err=json or markdown)
