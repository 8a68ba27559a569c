"""The changes between two runs, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.core.canonical import printable
from judgekit.core.display.parts import Style, counted
from judgekit.core.display.text import Paint, cells, cut, pad, wrap
from judgekit.core.score import Failure, Result, round_half_up
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary
from judgekit.suite.watch.changes import RowChange, RunChanges

SHOWN = 12
"""Maximum number of rows to list."""
_LONGEST = 24
"""Maximum width of the name of a case or metric, in columns."""


def changes_text(
    changes: RunChanges, report: Report, *, command: str, width: int = 80, colour: bool = False
) -> str:
    """Return the changes as lines; empty without changes.

    Args:
        changes: the changes.
        report: the later run.
        command: the command that records the missing replies.
        width: maximum width in columns.
        colour: whether to use ANSI colours.
    """
    paint = Paint(colour=colour)
    lines = [
        *_means(changes, width),
        *_rows(changes, report, width, paint),
        *_cases(changes),
        *_gates(changes, width, paint),
        *_missed(changes, command, width, paint),
    ]
    return "".join(f"{line}\n" for line in lines)


def _means(changes: RunChanges, width: int) -> Iterator[str]:
    for then, now in changes.means:
        figures = f"mean {_mean(then)} -> {_mean(now)}"
        yield f"  {pad(cut(printable(now.metric), width - len(figures) - 4), 12)}  {figures}"


def _mean(summary: MetricSummary) -> str:
    return "none" if summary.mean is None else f"{summary.mean * summary.scale:.3f}"


def _rows(changes: RunChanges, report: Report, width: int, paint: Paint) -> Iterator[str]:
    shown = changes.rows[:SHOWN]
    scores = [f"{_score(row.old)} -> {_score(row.new)}" for row in shown]
    # Three columns with two spaces before each; the case has the remaining width.
    room = width - 6 - max(map(len, scores), default=0)
    several = len(report.figures.metrics) > 1
    metrics = [cut(_line(row.metric), min(_LONGEST, room // 2)) for row in shown]
    wide = max(map(cells, metrics), default=0) if several else 0
    cases = [cut(_line(report.label(row.case)), min(_LONGEST, room - wide)) for row in shown]
    long = max(map(cells, cases), default=0)
    for row, case, metric, score in zip(shown, cases, metrics, scores, strict=True):
        line = f"  {pad(case, long)}  {pad(metric, wide) + '  ' if several else ''}{score}"
        style = _style(row)
        why = _line(row.new.message if isinstance(row.new, Failure) else row.new.reason)
        rest = width - cells(line) - 2
        reason = f"  {cut(why, rest)}" if why and rest >= 20 else ""
        yield paint(line, style) + (paint(reason, "note") if reason else "")
    if len(changes.rows) > SHOWN:
        yield f"  and {len(changes.rows) - SHOWN:,} more"


def _line(text: str) -> str:
    return " ".join(printable(text).split())


def _score(result: Result | None) -> str:
    if result is None:
        return "new"
    if isinstance(result, Failure):
        return f"no score ({result.kind})"
    if result.value is None:
        return result.status.replace("_", " ")
    mark = " (fallback)" if result.fallback is not None else ""
    return f"{round_half_up(result.value * result.scale):.2f}{mark}"


def _style(change: RowChange) -> Style:
    if isinstance(change.new, Failure):
        return "bad"
    if change.old is None or abs(change.worse) == float("inf") or change.worse == 0:
        return "plain"
    return "bad" if change.worse > 0 else "good"


def _cases(changes: RunChanges) -> Iterator[str]:
    for count, word in ((changes.added, "new"), (changes.gone, "gone")):
        if count:
            yield f"  {counted(count, 'case')} {word}"
    if changes.recorded:
        yield f"  {counted(changes.recorded, 'row')} recorded now"


def _gates(changes: RunChanges, width: int, paint: Paint) -> Iterator[str]:
    for then, now in changes.gates:
        words = {True: "pass", False: "MISS"}
        before = "" if then is None else f"{words[then.passed]} -> "
        head = f"  {before}{words[now.passed]}  "
        lines = wrap(printable(now.sentence), width, first=" " * len(head), then=" " * len(head))
        yield paint(head, "good" if now.passed else "bad") + lines[0][len(head) :]
        yield from lines[1:]


def _missed(changes: RunChanges, command: str, width: int, paint: Paint) -> Iterator[str]:
    if not changes.missed:
        return
    by = ", ".join(f"{count:,} of {_line(metric)}" for metric, count in changes.missed.items())
    for line in wrap(f"not recorded yet: {by}; to record:", width, first="  ", then="    "):
        yield paint(line, "bad")
    # On one line, so it can be copied.
    yield f"    {command}"
