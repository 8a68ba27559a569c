"""`judgekit metrics`: what there is to score by."""

from __future__ import annotations

import typer


def metrics() -> None:
    """List everything there is to score by."""
    from judgekit.registry import BUILTIN, metric_names
    from judgekit.rubric.load import load_rubric, rubric_names

    rubrics = set(rubric_names())
    for name in metric_names():
        if name in BUILTIN:
            entry = BUILTIN[name]
            kind, text = ("judged" if entry.judged else "computed"), entry.summary
        elif name in rubrics:
            kind, text = "judged", load_rubric(name).description
        else:
            kind, text = "plugin", "from an installed package"
        typer.echo(f"{name:<22}{kind:<10}{text}")
