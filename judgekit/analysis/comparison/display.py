"""Show a comparison as lines, tables and sentences; regressions come first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayTable, Style, cut, more
from judgekit.report.thresholds import FEW

if TYPE_CHECKING:
    from judgekit.analysis.comparison import comparison as results

MOST_SHOWN = 20
"""Maximum number of metrics, criteria, warnings, notes, changes and prompts in a notebook."""
_MOST = 1000
"""Maximum length of a line, in characters."""
_BETTER = 2
"""Maximum number of improved cases per metric."""
_DIFF_LINES = 24
_STYLES: dict[results.Verdict, Style] = {
    "worse": "bad", "better": "good", "judged lower": "note", "judged higher": "note"
}  # fmt: skip


def comparison_parts(
    comparison: results.Comparison, *, cases: int = 5, most: int | None = None
) -> Iterator[DisplayLine | DisplayTable]:
    """Yield the parts of a comparison.

    Args:
        comparison: the comparison.
        cases: maximum number of cases to show per metric.
        most: maximum number of metrics, and of changed criteria, warnings, notes, changes and
            prompts; `None` for all.
    """
    base, new = (cut(side, 2 * MOST_NAME) for side in comparison.sides)
    yield DisplayLine(f"base {base}, new {new}", "title")
    cases_line = f"{comparison.pairs} case{'s' if comparison.pairs != 1 else ''} in both"
    words = f"{cases_line}; {cut(verdict_line(comparison), _MOST)}"
    yield DisplayLine(words, "bad" if comparison.regressions else "plain")
    warnings = [f"warning: {text}" for text in comparison.warnings]
    yield from _lines(warnings, "warning", ".warnings", most, "bad")
    yield from _figures(comparison, most)
    shown = comparison.metrics[:most]
    got = "were judged" if comparison.pairs == comparison.same_answers else "got"
    for metric in shown:
        yield from _moves(metric, f"{got} worse", metric.worst[:cases], metric.difference.worse)
    for metric in shown:
        best = metric.best[: min(cases, _BETTER)]
        yield from _moves(metric, f"{got} better", best, metric.difference.better)
    yield DisplayLine("")
    yield from _lines(list(all_notes(comparison)), "note", ".metrics", most, "note")
    yield DisplayLine("")
    changes = [
        f"changed: {one.what}: {f'{one.base} -> ' if one.base else ''}{one.new}"
        for one in comparison.changes
    ]
    none = ["changed between the runs: nothing the manifests know of"]
    yield from _lines(changes or none, "change", ".changes", most, "plain")
    yield from map(_prompt, comparison.prompts[:most])


def _lines(
    texts: Sequence[str], what: str, where: str, most: int | None, style: Style
) -> Iterator[DisplayLine]:
    shown = texts[:most]
    for text in shown:
        yield DisplayLine(cut(text, _MOST), style)
    if left := more(len(texts) - len(shown), what, where):
        yield DisplayLine(left, "note")


def _figures(
    comparison: results.Comparison, most: int | None
) -> Iterator[DisplayLine | DisplayTable]:
    rows: list[tuple[str, ...]] = []
    styles: list[Style] = []
    shown = comparison.metrics[:most]
    moved = hidden = 0
    for metric in shown:
        if metric.refused is not None:
            yield DisplayLine(cut(f"{metric.metric}: not compared: {metric.refused}", _MOST), "bad")
            continue
        parts = [part for part in metric.criteria if part.worse or part.better]
        room = None if most is None else max(0, most - moved)
        moved += len(parts)
        hidden += len(parts[room:]) if room is not None else 0
        rows += [_row(metric.metric, metric.difference), *_verdicts(metric)]
        rows += [_row(part.name, part, indent="  ") for part in parts[:room]]
        rows += [_sliced(f"{comparison.by} {one.name}", one) for one in metric.slices]
        if metric.over_slices is not None:
            rows.append(_sliced(f"mean over {comparison.by}", metric.over_slices))
        styles.append(_STYLES.get(metric.verdict, "title"))
        styles += ["plain"] * (len(rows) - len(styles))
    left = (
        more(len(comparison.metrics) - len(shown), "metric", "to_pandas()"),
        more(hidden, "moved criterion", "to_pandas(per='criterion')"),
    )
    if rows:
        yield DisplayTable(
            ("metric", "base", "new", "change", "95 % interval", "p", ""),
            rows,
            numbers=(1, 2, 3, 4, 5),
            left="; ".join(filter(None, left)).replace("criterions", "criteria"),
            styles=styles,
        )


def _verdicts(metric: results.MetricComparison) -> Iterator[tuple[str, ...]]:
    """Yield rows for the verdicts of a metric and for its corrected means."""
    if (flips := metric.flips) is not None:
        passed = (f"{n}/{metric.difference.pairs}" for n in (flips.base_passed, flips.new_passed))
        moved = f"{flips.to_fail} lost, {flips.to_pass} won"
        tested = (flips.to_fail or flips.to_pass) and not metric.pass_fail
        test = (p_text(flips.adjusted), _word(flips.verdict)) if tested else ("", "")
        yield ("  passed", *passed, "", moved, *test)
    if (one := metric.corrected) is not None and one.mean is not None:
        means = (number(one.base.value), number(one.new.value), f"{one.mean:+.3f}")
        yield ("  corrected with labels", *means, one.spread, "", "")


def _row(name: str, difference: results.MeanDifference, *, indent: str = "") -> tuple[str, ...]:
    return (
        f"{indent}{cut(name, MOST_NAME)}",
        number(difference.base),
        number(difference.new),
        "-" if difference.mean is None else f"{difference.mean:+.3f}",
        interval_text(difference),
        p_text(difference.adjusted),
        _word(difference.verdict),
    )


def _sliced(name: str, difference: results.MeanDifference) -> tuple[str, ...]:
    return (*_row(name, difference, indent="  ")[:5], "", f"{difference.pairs:,} pairs")


def _word(verdict: results.Verdict) -> str:
    return verdict if verdict in _STYLES else ""


def _moves(
    metric: results.MetricComparison, word: str, moves: Sequence[results.CaseMove], count: int
) -> Iterator[DisplayTable]:
    """Yield the cases that moved, with two rows for each: base and new run."""
    rows = []
    for move in moves:
        notes = (move.flip, "same answer" if move.same_answer else None)
        under = ", ".join(filter(None, notes))
        texts = list(move.reasons)
        if (part := move.part) is not None:
            name = cut(part.id, MOST_NAME)
            texts = [f"{name} {part.base:.2f}: {texts[0]}", f"{name} {part.new:.2f}: {texts[1]}"]
        rows.append((cut(move.case, MOST_NAME), "base", f"{move.base:.2f}", cut(texts[0])))
        rows.append((under, "new", f"{move.new:.2f}", cut(texts[1])))
    if rows:
        name, pairs = cut(metric.metric, MOST_NAME), metric.difference.pairs
        yield DisplayTable(
            ("case", "run", "score", "reason"),
            rows,
            title=f"{name}: {count} of {pairs} cases {word}",
            numbers=(2,),
            left=more(count - len(moves), "case", "to_pandas(per='case'), --json"),
        )


def _prompt(prompt: results.PromptChange) -> DisplayTable:
    lines = prompt.diff.splitlines()[2:]  # without the names of the runs
    signs: dict[str, Style] = {"-": "bad", "+": "good"}
    rows = [
        (line[0], cut(line[1:])) if line[:1] in signs else ("", cut(line))
        for line in lines[:_DIFF_LINES]
    ]
    asked = f"what the judge of {cut(prompt.metric, MOST_NAME)} was asked"
    return DisplayTable(
        ("", "prompt"),
        rows,
        title=f"{asked} ({cut(prompt.case, MOST_NAME)})",
        left=more(len(lines) - len(rows), "line", "to_json(), --json"),
        styles=[signs.get(sign, "plain") for sign, _ in rows],
    )


def interval_text(difference: results.MeanDifference) -> str:
    """Return the text of the interval, or a note that there are too few pairs.

    >>> from judgekit.analysis.comparison.comparison import MeanDifference
    >>> interval_text(MeanDifference(name="m", pairs=1, base=1, new=1, mean=0, low=None,
    ...                              high=None, worse=0, better=0))
    'too few'
    """
    if difference.mean is None:
        return "-"
    if difference.low is None or difference.high is None:
        return "too few"
    if difference.low == difference.high == 0:
        return "identical"
    return f"[{difference.low:+.3f}, {difference.high:+.3f}]"


def p_text(p: float | None) -> str:
    """Return a p value as short text.

    >>> p_text(0.0412), p_text(0.00001), p_text(None)
    ('0.041', '<0.001', '-')
    """
    return "-" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def number(value: float | None) -> str:
    """Return a mean as short text."""
    return "-" if value is None else f"{value:.3f}" if abs(value) < 1000 else f"{value:.4g}"


def verdict_line(comparison: results.Comparison) -> str:
    """Return the outcome in one line."""
    compared = [m for m in comparison.metrics if m.refused is None]
    moved = {word: [m.metric for m in compared if m.verdict == word] for word in _STYLES}
    if any(moved.values()):
        return "; ".join(f"{word}: {', '.join(names)}" for word, names in moved.items() if names)
    if all(m.verdict == "same" for m in compared):
        return "no difference"
    if any(m.verdict == "unclear" for m in compared):
        return "no difference beyond chance"
    return "differences cannot be tested"


def family_line(comparison: results.Comparison) -> str:
    """Return the family of tests that p values are adjusted for."""
    tests = f"{comparison.tests} test{'s' if comparison.tests != 1 else ''}"
    by = f", by clusters of {comparison.cluster}" if comparison.cluster else ""
    criteria = "criteria are adjusted among themselves"
    return f"p is adjusted (Holm) for {tests} of metrics{by}; {criteria}."


def all_notes(comparison: results.Comparison) -> Iterator[str]:
    """Yield notes on the tests and intervals of a comparison."""
    if comparison.tests:
        yield family_line(comparison)
    if comparison.by is not None:
        yield slices_line(comparison.by)
    for metric in comparison.metrics:
        yield from notes(metric)
    yield from filter(None, [little_known(comparison)])
    if 0 < comparison.same_answers < comparison.pairs:
        yield f"{comparison.same_answers} of {comparison.pairs} answers are the same in both runs."


def slices_line(by: str) -> str:
    """Return what the figures of slices are."""
    return (
        f"Slices by {by} are not tested: each interval is 95 % for itself. The mean over {by} "
        "counts every slice alike, whatever its number of cases."
    )


def notes(metric: results.MetricComparison) -> Iterator[str]:
    """Yield notes on the figures of a metric."""
    yield from filter(None, (clustered_line(metric), reach_line(metric), untested_line(metric)))
    if (over := metric.over_slices) is not None and over.too_few is not None:
        yield f"{metric.metric}: no interval of the mean over {over.name}: {over.too_few}."
    if metric.own_criteria is not None:
        yield f"{metric.metric}: {metric.own_criteria.line}"
    for change in metric.distributions:
        yield f"{metric.metric}, {change.line}"
    if metric.corrected is not None:
        yield f"{metric.metric}: {metric.corrected.line}"
    for why, count in metric.unpaired.items():
        yield f"{metric.metric}: {count} case{'s' if count != 1 else ''} left out: {why}"


def error_text(difference: results.MeanDifference) -> str | None:
    """Return the standard error of a mean difference, where its test is a t test.

    >>> from judgekit.analysis.comparison.comparison import MeanDifference
    >>> error_text(MeanDifference(name="m", pairs=9, base=1, new=1, mean=.1, low=None, high=None,
    ...     worse=0, better=0, standard_error=.04, df=8.0, test="paired t"))
    'standard error 0.040, t +2.50 with 8 degrees of freedom'
    """
    error, df = difference.standard_error, difference.df
    if not difference.test.startswith("paired t") or not error or df is None:
        return None
    t = (difference.mean or 0.0) / error
    return f"standard error {number(error)}, t {t:+.2f} with {df:.4g} degrees of freedom"


def clustered_line(metric: results.MetricComparison) -> str | None:
    """Return the standard error of a test by cluster: its degrees of freedom are not obvious."""
    error = error_text(metric.difference) if metric.difference.clusters is not None else None
    return error and f"{metric.metric}: {metric.difference.test}: {error}."


def reach_line(metric: results.MetricComparison) -> str | None:
    """Return the detectable difference, and the number of cases for a smaller one."""
    reach = metric.difference
    if reach.detectable is None:
        return None
    by = "cases" if reach.clusters is None else f"cases in {reach.clusters} clusters"
    line = (
        f"{metric.metric}: {reach.pairs} {by} detect a true difference of {reach.detectable:.3f} "
        "with 80 % power"
    )
    if reach.more_high == 0:
        return f"{line}; for a difference of {reach.wanted:g}, these cases are enough."
    if reach.more is None:
        return f"{line}."
    what = "cases" if reach.clusters is None else "clusters"
    most = "or many more" if reach.more_high is None else f"to {reach.more_high:,}"
    return (
        f"{line}; a difference of {reach.wanted:g} needs {reach.more:,} {most} more {what}, if "
        "differences spread as they do here. Fix the number before you run them."
    )


def untested_line(metric: results.MetricComparison) -> str | None:
    """Return why the difference of a metric has no test; empty if it has one or is 0."""
    difference = metric.difference
    if metric.refused is not None or difference.p is not None or not difference.mean:
        return None
    if difference.too_few is not None:
        return f"{metric.metric}: not tested: {difference.too_few}."
    return (
        f"{metric.metric}: not tested: all {difference.pairs} pairs differ by "
        f"{difference.mean:+.3f}, so nothing shows how far other cases would differ."
    )


def little_known(comparison: results.Comparison) -> str | None:
    """Return a note if there are few pairs."""
    few = [m for m in comparison.metrics if m.refused is None and 0 < m.difference.pairs < FEW]
    if not few:
        return None
    pairs = sorted({m.difference.pairs for m in few})
    count = str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
    plural = "s" if pairs[-1] != 1 else ""
    return (
        f"{count} pair{plural} of {', '.join(m.metric for m in few)}: too few to say much. Below "
        f"{FEW}, an interval of a mean assumes that the differences spread evenly."
    )
