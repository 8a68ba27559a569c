"""Which rubric for what: a page from the table of `judgekit.rubric.guide` and the rubrics."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.metrics.catalogue import BUILTIN
from judgekit.rubric.guide import guide
from judgekit.rubric.load import load_rubric

HEAD = """# Which rubric for what

Every built-in rubric, by what it is for. A suite names one as a metric: `metrics: {summary: {threshold: 0.7}}`. `judgekit rubric show NAME` prints its criteria,
`judgekit rubric render NAME` the text that a judge sees, and `judgekit rubric test NAME` runs its tests. To change a rubric, extend it: see [Rubrics](rubrics.md).

The verdicts of the tests are authored: they were written together with the rubric, and no model gave them. They show how each criterion is meant.
`judgekit rubric test NAME --judge MODEL` and [labels](labels.md) show whether your judge reads it in the same way.
"""
CHOOSING = """
## How to choose

- Take the narrowest rubric that answers your question. A judge agrees with people more often on one described question than on a general one.
- Few described levels are steadier than a number between 0 and 1. The newer rubrics have levels; `minimum` and `maximum` remain where a source defines a scale.
- A rubric that compares with a reference or with passages is more reliable than one that asks a judge what it knows.
- Where rules can decide, a computed metric costs nothing and is always right about what it checks.
"""


def guide_page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_groups(), CHOOSING.lstrip("\n")])


def _groups() -> Iterator[str]:
    groups = dict.fromkeys(purpose.group for purpose in guide().values())
    for group in groups:
        yield f"## {group}\n"
        yield "| rubric | for | reads | metric of the same name | instead | source |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for name, purpose in guide().items():
            if purpose.group == group:
                reads = ", ".join(load_rubric(name).requires)
                metric = "yes" if name in BUILTIN else ""
                cells = (f"`{name}`", purpose.use, reads, metric, purpose.instead, purpose.source)
                yield "| " + " | ".join(cells) + " |"
        yield ""
