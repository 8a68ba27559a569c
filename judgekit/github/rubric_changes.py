"""What a changed rubric changes: verdicts that flip, or requests that are not recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.rubric_diff.text import changes
from judgekit.core.display.markdown import escaped
from judgekit.core.errors import JudgekitError
from judgekit.core.score import Failure, Result
from judgekit.report.export.target import named
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary
from judgekit.report.thresholds import passes
from judgekit.rubric.load import load_rubric

_MOST_FLIPS = 20
_MOST_CHANGES = 10
_REASON = 300


class _Verdict(NamedTuple):
    value: float | None
    passed: bool | None
    reason: str
    failed: bool = False


def changed_rubrics(base: Report, head: Report) -> dict[str, str]:
    """Return the metrics of two runs whose rubric differs: metric -> name of the rubric."""
    before, after = _rubrics(base), _rubrics(head)
    return {
        metric: rubric
        for metric, (rubric, digest) in after.items()
        if metric in before and before[metric][1] != digest
    }


def _rubrics(report: Report) -> dict[str, tuple[str, str]]:
    """Return metric -> the name and the digest of its rubric."""
    return {
        entry["name"]: (str(made["rubric"]), str(made["digest"]))
        for entry in report.figures.manifest.get("metrics") or ()
        if {"rubric", "digest"} <= set(made := entry.get("made_with") or {})
    }


def rubric_lines(
    base: Report, head: Report, *, folders: tuple[Path, Path], plan: Callable[[], Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the lines of Markdown on the rubrics that differ; none if all are the same.

    Args:
        base: the run of the base branch.
        head: the run of the pull request.
        folders: the folders of the two suites, with their rubrics.
        plan: returns the output of `judgekit run --plan --json` for the pull request.
    """
    changed = changed_rubrics(base, head)
    if not changed:
        return
    verdicts = [_verdicts(report, changed) for report in (base, head)]
    missing = 0
    for metric, rubric in changed.items():
        yield from (f"### {_safe(metric)}: the rubric {_safe(rubric)} changed", "")
        yield from _texts(rubric, folders)
        before, after = (found[metric] for found in verdicts)
        missing += sum(verdict.failed for verdict in after.values())
        yield from _flips(before, after)
    if missing:
        yield from _missing_requests(plan())


def _verdicts(report: Report, metrics: Mapping[str, str]) -> dict[str, dict[str, _Verdict]]:
    """Return metric -> case -> its verdict; a row that failed has none."""
    found: dict[str, dict[str, _Verdict]] = {metric: {} for metric in metrics}
    summaries = report.metrics
    for scored in report.results:
        for row in scored.rows:
            if row.metric in found:
                verdict = _verdict(row.result, summaries[row.metric])
                found[row.metric][row.case] = verdict
    return found


def _verdict(result: Result, summary: MetricSummary) -> _Verdict:
    if isinstance(result, Failure):
        return _Verdict(None, None, result.message, failed=True)
    passed = passes(result.value, summary.threshold, summary.higher_is_better)
    return _Verdict(result.value, passed, result.reason)


def _flips(before: Mapping[str, _Verdict], after: Mapping[str, _Verdict]) -> Iterator[str]:
    pairs = [(case, before[case], now) for case, now in after.items() if case in before]
    both = [pair for pair in pairs if pair[1].value is not None and pair[2].value is not None]
    flips = [pair for pair in both if pair[1].passed != pair[2].passed]
    if both:
        old = sum(was.value or 0.0 for _, was, _ in both) / len(both)
        new = sum(now.value or 0.0 for _, _, now in both) / len(both)
        means = f"their mean was {old:.3f} and is {new:.3f}"
        yield f"{len(flips)} of {len(both)} verdicts flipped; {means}."
    if failed := sum(now.failed for now in after.values()):
        yield f"{failed} of {len(after)} cases have no verdict by the new rubric."
    yield ""
    if flips:
        yield from ("| case | before | now |", "| --- | --- | --- |")
        for case, *verdicts in flips[:_MOST_FLIPS]:
            yield f"| {_safe(case)} | {' | '.join(map(_cell, verdicts))} |"
        yield ""
    if len(flips) > _MOST_FLIPS:
        yield from (f"and {len(flips) - _MOST_FLIPS:,} more.", "")


def _cell(verdict: _Verdict) -> str:
    word = "pass" if verdict.passed else "**fail**"
    return f"{verdict.value:.2f} {word}: {_safe(verdict.reason, _REASON)}"


def _texts(rubric: str, folders: tuple[Path, Path]) -> Iterator[str]:
    """Yield what changed in the texts, if both folders have the rubric."""
    files = [folder / "rubrics" / f"{rubric.partition('@')[0]}.jinja" for folder in folders]
    try:
        found = changes(*(load_rubric(file) for file in files))
    except (JudgekitError, OSError):
        return
    for change in found[:_MOST_CHANGES]:
        what = _safe(f"{change.what} {change.field}".strip())
        old, new = (_safe(text or "none", _REASON) for text in (change.old, change.new))
        yield f"- {what}: {old} → {new}"
    if len(found) > _MOST_CHANGES:
        yield f"- and {len(found) - _MOST_CHANGES} more changes"
    yield ""


def _missing_requests(plan: Mapping[str, Any]) -> Iterator[str]:
    for model in plan.get("models") or ():
        low, high = model["requests"]
        if not high:
            continue
        requests = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        yield (
            f"Not recorded: {requests} requests to {_safe(model['model'])}, about "
            f"{model['tokens_in'][1]:,} tokens in and {model['tokens_out'][0]:,} to "
            f"{model['tokens_out'][1]:,} out, {_dollars(model.get('dollars'))}."
        )
    yield from (
        "Record them with `judgekit run SUITE --record new_episodes`, and commit the tape.",
        "",
    )


def _dollars(dollars: Any) -> str:
    if not dollars or None in dollars:
        return "at an unknown price"
    low, high = dollars
    if high < 0.01:
        return "less than $0.01" if high else "$0.00"
    return f"${high:,.2f} at most" if low < 0.01 else f"${low:,.2f} to ${high:,.2f}"


def _safe(text: str, most: int = 200) -> str:
    return escaped(named(text), most=most)
