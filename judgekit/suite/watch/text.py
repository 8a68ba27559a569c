"""What moved, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.core.canonical import printable
from judgekit.core.score import Failure, Result, round_half_up
from judgekit.report.cells import cells, cut, pad, wrap
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary
from judgekit.report.text import Paint
from judgekit.suite.watch.moves import Move, Moves

SHOWN = 12
"""Rows that are named one by one."""
_LONGEST = 24
"""Columns that a case or a metric may take."""


def moves_text(
    moves: Moves,
    report: Report,
    *,
    command: str,
    width: int = 80,
    colour: bool = False,
) -> str:
    """Return what moved, in lines; nothing where nothing did.

    Args:
        moves: what moved.
        report: the run after it.
        command: records what is not recorded yet.
        width: columns to fit.
        colour: whether to use ANSI colours.
    """
    paint = Paint(colour=colour)
    lines = [
        *_means(moves, width),
        *_rows(moves, report, width, paint),
        *_cases(moves),
        *_gates(moves, width, paint),
        *_missed(moves, command, width, paint),
    ]
    return "".join(f"{line}\n" for line in lines)


def _means(moves: Moves, width: int) -> Iterator[str]:
    for then, now in moves.means:
        figures = f"mean {_mean(then)} -> {_mean(now)}"
        yield f"  {pad(cut(printable(now.metric), width - len(figures) - 4), 12)}  {figures}"


def _mean(summary: MetricSummary) -> str:
    return "none" if summary.mean is None else f"{summary.mean * summary.scale:.3f}"


def _rows(moves: Moves, report: Report, width: int, paint: Paint) -> Iterator[str]:
    shown = moves.rows[:SHOWN]
    changes = [f"{_score(move.old)} -> {_score(move.new)}" for move in shown]
    # Two blanks before each of the three; what is left is for the case.
    room = width - 6 - max(map(len, changes), default=0)
    several = len(report.figures.metrics) > 1
    metrics = [cut(_line(move.metric), min(_LONGEST, room // 2)) for move in shown]
    wide = max(map(cells, metrics), default=0) if several else 0
    cases = [cut(_line(move.case), min(_LONGEST, room - wide)) for move in shown]
    long = max(map(cells, cases), default=0)
    higher = {s.metric: s.higher_is_better for s in report.figures.metrics}
    for move, case, metric, change in zip(shown, cases, metrics, changes, strict=True):
        line = f"  {pad(case, long)}  {pad(metric, wide) + '  ' if several else ''}{change}"
        style = _style(move, higher=higher[move.metric])
        why = _line(move.new.message if isinstance(move.new, Failure) else move.new.reason)
        rest = width - cells(line) - 2
        said = f"  {cut(why, rest)}" if why and rest >= 20 else ""
        yield (paint(line, style) if style else line) + (paint(said, "dim") if said else "")
    if len(moves.rows) > SHOWN:
        yield f"  and {len(moves.rows) - SHOWN:,} more"


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


def _style(move: Move, *, higher: bool) -> str:
    if isinstance(move.new, Failure):
        return "bad"
    fell = move.worse if higher else -move.worse
    if move.old is None or abs(fell) == float("inf") or fell == 0:
        return ""
    return "bad" if fell > 0 else "good"


def _cases(moves: Moves) -> Iterator[str]:
    for count, word in ((moves.added, "new"), (moves.gone, "gone")):
        if count:
            yield f"  {count:,} case{'s' if count != 1 else ''} {word}"
    if moves.recorded:
        yield f"  {_rows_of(moves.recorded)} recorded now"


def _rows_of(count: int) -> str:
    return f"{count:,} row{'s' if count != 1 else ''}"


def _gates(moves: Moves, width: int, paint: Paint) -> Iterator[str]:
    for then, now in moves.gates:
        words = {True: "pass", False: "MISS"}
        before = "" if then is None else f"{words[then.passed]} -> "
        head = f"  {before}{words[now.passed]}  "
        lines = wrap(printable(now.sentence), width, first=" " * len(head), then=" " * len(head))
        yield paint(head, "good" if now.passed else "bad") + lines[0][len(head) :]
        yield from lines[1:]


def _missed(moves: Moves, command: str, width: int, paint: Paint) -> Iterator[str]:
    if not moves.missed:
        return
    by = ", ".join(f"{count:,} of {_line(metric)}" for metric, count in moves.missed.items())
    for line in wrap(f"not recorded yet: {by}; to record:", width, first="  ", then="    "):
        yield paint(line, "bad")
    # On a line of its own and never broken, to be copied.
    yield f"    {command}"


def state_text(report: Report) -> str:
    """Return in a few words how a suite stands."""
    if report.figures.incomplete:
        return f"incomplete: {printable('; '.join(report.figures.incomplete))}"
    gates = len(report.figures.gates)
    missed = sum(not gate.passed for gate in report.figures.gates)
    if not gates:
        return "complete"
    if gates == 1:
        return "its gate is missed" if missed else "its gate passes"
    return f"{missed} of {gates} gates missed" if missed else f"all {gates} gates pass"
