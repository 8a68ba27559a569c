"""A report as text for a terminal: the figures, the gates, the worst cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import printable
from judgekit.core.cells import cells, cut, pad, wrap
from judgekit.core.score import Failure, Part, Row, Score
from judgekit.report.corrected import corrected_lines
from judgekit.report.manifest import judges_of, mapping
from judgekit.report.spread import telling_figures
from judgekit.report.thresholds import FEW, passes

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.report.summary import MetricSummary

_COLOURS = {"good": "32", "bad": "31", "dim": "2", "bold": "1"}


class Paint:
    """Colours, or none."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, style: str) -> str:
        """Return the text in a style: good, bad, dim or bold, or none."""
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self._colour and style else text


def summary_text(report: Report, *, width: int = 80, colour: bool = False, worst: int = 3) -> str:
    """Return the summary of a run.

    Args:
        report: the run.
        width: columns to fit.
        colour: whether to use ANSI colours.
        worst: cases to name per metric.
    """
    paint = Paint(colour=colour)
    lines = [*_head(report, width, paint), "", *_table(report.figures.metrics, width, paint)]
    for summary in report.figures.metrics:
        lines += _worst(report, summary, worst, width, paint)
    lines += ["", *_tail(report, width, paint)]
    return "\n".join(lines) + "\n"


def _head(report: Report, width: int, paint: Paint) -> Iterator[str]:
    manifest = report.figures.manifest
    for line in wrap(printable(title_of(report)), width, then="  "):
        yield paint(line, "bold")
    if manifest.get("notice"):
        yield from wrap(printable(str(manifest["notice"])), width)


def title_of(report: Report) -> str:
    """Return the suite, the number of cases and the judges."""
    manifest = report.figures.manifest
    judge = mapping(manifest.get("judge"))
    cases = report.figures.cases
    title = mapping(manifest.get("suite")).get("name") or "judgekit"
    others = mapping(manifest.get("judges"))
    named = {role: mapping(other).get("model") for role, other in others.items()}
    by = f"judge {judge['model']}" if judge.get("model") else "" if named else _judges(report)
    by = ", ".join([by] * bool(by) + [f"{r} {m}" for r, m in named.items() if r != "judge"])
    return f"{title}: {cases} case{'s' if cases != 1 else ''}, {by}"


def _judges(report: Report) -> str:
    """Return the judges that the metrics name, for runs without a suite."""
    manifest = report.figures.manifest
    models = {model for name in report.metrics for model in judges_of(manifest, name)}
    names = sorted(models) if "judge" not in manifest else []
    return f"judge {', '.join(names)}" if names else "no judge"


def _table(summaries: Sequence[MetricSummary], width: int, paint: Paint) -> Iterator[str]:
    # The other columns take 33 characters, and a count or two some 20 more.
    longest = max((6, *(cells(printable(s.metric)) for s in summaries)))
    names = min(longest, 24, max(12, width - 54))
    yield paint(f"{'metric':<{names}}   mean  95 % interval   pass  scores", "dim")
    for s in summaries:
        mean = number_of(s.mean, s)
        spread = interval_of(s)
        rate = f"{s.pass_rate:.0%}" if s.pass_rate is not None else "-"
        name = pad(cut(printable(s.metric), names), names)
        yield from _beside(f"{name}  {mean:>5}  {spread:<14}  {rate:>4}  ", counts_of(s), width)


def _beside(head: str, counts: str, width: int) -> Iterator[str]:
    """Yield a line and its counts, broken between two counts."""
    line, *parts = counts.split(", ")
    line = head + line
    for part in parts:
        if cells(f"{line}, {part}") < width:
            line += f", {part}"
        else:
            yield f"{line},"
            line = " " * min(cells(head), max(2, width - 20)) + part
    yield line


def number_of(value: float | None, summary: MetricSummary) -> str:
    """Return a value on the metric's scale, rounded for display."""
    return "-" if value is None else f"{value * summary.scale:.{2 if summary.scale <= 10 else 1}f}"


def interval_of(s: MetricSummary) -> str:
    """Return the interval of a mean for display: `too few`, or a dash if there is none."""
    if s.interval is None:
        return "too few" if s.too_few else "-"
    return "[{}, {}]".format(*(number_of(end, s) for end in s.interval))


def few_lines(summaries: Iterable[MetricSummary]) -> Iterator[str]:
    """Yield the metrics with too few values for an interval, or for a narrow one."""
    little: dict[str, list[str]] = {}
    for s in summaries:
        if s.too_few:
            yield f"Too few for an interval: {s.metric} ({s.too_few})."
        elif s.few:
            what = "scores" if s.clusters is None else "clusters"
            little.setdefault(what, []).append(s.metric)
    for what, names in little.items():
        yield f"Fewer than {FEW} {what} of {', '.join(names)}: the intervals say little."


def outcome_counts(s: MetricSummary) -> list[tuple[str, int]]:
    """Return the number of rows with each outcome."""
    return [
        ("judged", s.judged),
        ("computed", s.computed),
        ("fallback", s.fallback),
        ("abstained", s.abstained),
        ("not applicable", s.not_applicable),
        ("failed", s.failed),
        ("not run", s.not_run),
    ]


def counts_of(s: MetricSummary) -> str:
    """Return the number of rows with each outcome, in words."""
    return ", ".join(f"{count} {word}" for word, count in outcome_counts(s) if count) or "none"


def _worst(report: Report, s: MetricSummary, count: int, width: int, paint: Paint) -> Iterator[str]:
    for line in corrected_lines(s):
        yield from wrap(printable(f"{s.metric}: {line}"), width, first="  ", then="    ")
    if s.fallback and s.mean_with_fallback is not None:
        yield f"  {printable(s.metric)}: mean with fallbacks {number_of(s.mean_with_fallback, s)}"
    if figures := [f"{name} {figure}" for name, figure in telling_figures(s).items()]:
        line = printable(f"{s.metric}: {', '.join(figures)}")
        yield from wrap(line, width, first="  ", then="    ")
    for line in s.opinions.lines if s.opinions is not None else ():
        yield from wrap(printable(f"{s.metric}: {line}"), width, first="  ", then="    ")
    if s.first_failure is not None:
        yield from wrapped(f"{s.metric}: first failure: {s.first_failure}", width, paint, "bad")
    shown = s.flawed[:count]
    if not shown:
        return
    yield ""
    yield paint(f"{'lowest' if s.higher_is_better else 'highest'} {printable(s.metric)}", "dim")
    for worst in shown:
        head = f"  {number_of(worst.value, s):>5}  "
        case = " ".join(printable(report.label(worst.case)).split())
        reason = " ".join(printable(worst.reason).split())
        room = max(20, 2 * width - cells(head + case) - 2)
        yield from wrap(f"{case}  {cut(reason, room)}", width, first=head, then=" " * 9)


def _tail(report: Report, width: int, paint: Paint) -> Iterator[str]:
    for gate in report.figures.gates:
        mark = paint("pass", "good") if gate.passed else paint("MISS", "bad")
        lines = wrap(printable(gate.sentence), width - 6, then="      ")
        yield f"{mark}  {lines[0]}"
        yield from lines[1:]
    for text, style in _notes(report):
        yield from wrapped(text, width, paint, style)
    for reason in report.figures.incomplete:
        yield paint(f"incomplete: {printable(reason)}", "bad")


def _notes(report: Report) -> Iterator[tuple[str, str]]:
    """Yield notes on the figures and on this execution, each with its style."""
    unchecked = report.figures.manifest.get("gates_not_checked")
    if isinstance(unchecked, list) and unchecked:
        yield f"Gates not checked without a judge: {', '.join(map(str, unchecked))}.", "dim"
    for line in few_lines(s for s in report.figures.metrics if s.judged):
        yield line, "dim"
    for line in report.calibration:
        yield line, "dim"
    if (other := report.run.get("against")) is not None:
        yield f"The baselines are the outputs of the run {other}.", "dim"
    if (replies := _replies_line(report)) is not None:
        yield replies, ""
    for line in _judge_lines(report):
        yield line, "dim"
    for model, several in mapping(report.run.get("mixed")).items():
        origins = f"replies of {model} came from several: {'; '.join(map(str, several))}"
        yield f"{origins}; give the judge an identity to keep them apart", "bad"
    if (selection := _selected(report.run)) is not None:
        yield selection, "dim"


def _judge_lines(report: Report) -> Iterator[str]:
    """Yield the output mode of each judge and the results of its probe."""
    for role, facts in mapping(report.run.get("judges")).items():
        known = mapping(facts)
        way = {"probe": "probed", "store": "as probed earlier", "use": "fallen to in use"}
        how = way.get(str(known.get("mode_from")), "set in the suite")
        mode = f"asked by {known['mode']} ({how})" if known.get("mode") else "no way to ask found"
        line = f"{role} {known.get('model')}: {mode}"
        if known.get("server"):
            line += f", served as {known['server']}"
        yield line
        steps = known.get("steps")
        for step in steps if isinstance(steps, list) else ():
            yield f"  not by {step}"
        for name, reason in mapping(known.get("dropped_params")).items():
            yield f"  {name} not sent: {reason}"


def _replies_line(report: Report) -> str | None:
    run = report.run
    origins = run.get("origins")
    if not isinstance(origins, dict):
        return None
    words = {"live": "live", "tape": "from the tape", "store": "from the store"}
    came = ", ".join(f"{origins[o]} {word}" for o, word in words.items() if origins.get(o))
    money = f"spent {_dollars(run.get('spent'))}, avoided {_dollars(run.get('avoided'))}"
    line = f"replies: {came or 'none'}; {money}"
    unused = run.get("unused")
    replies = "reply" if unused == 1 else "replies"
    return f"{line}; {unused} recorded {replies} not used" if unused else line


def _selected(run: Mapping[str, Any]) -> str | None:
    """Return the selection of a run in words; `None` if it covers all cases."""
    selected = mapping(run.get("selected"))
    where, limit = selected.get("where"), selected.get("limit")
    words = [f"with {' and '.join(map(str, where))}"] if isinstance(where, list) else []
    words += ["that failed before"] if "ids" in selected else []
    if limit is not None:
        words.insert(0, "the first case" if limit == 1 else f"the first {limit} cases")
    elif words:
        words.insert(0, "cases")
    lines = [f"only {' '.join(words)}"] if words else []
    if "shard" in selected:
        lines.append(f"shard {selected['shard']}; `judgekit merge` checks the gates")
    return "; ".join(lines) or None


def _dollars(value: object) -> str:
    return f"${value:.2f}" if isinstance(value, (int, float)) else "an unknown amount"


def wrapped(text: str, width: int, paint: Paint, style: str, *, then: str = "  ") -> Iterator[str]:
    """Yield a text in lines that fit, in a style."""
    for line in wrap(printable(text), width, then=then):
        yield paint(line, style)


# -- one result -------------------------------------------------------------------


def row_text(
    row: Row, *, threshold: float | None = None, width: int = 80, colour: bool = False
) -> str:
    """Return one result with everything that explains it."""
    paint = Paint(colour=colour)
    result = row.result
    if isinstance(result, Failure):
        text = f"{row.metric}: no score ({result.kind}): {result.message}"
        return "\n".join(wrapped(text, width, paint, "bad")) + "\n"
    return "\n".join(_explained(row.metric, result, threshold, width, paint)) + "\n"


def _explained(
    metric: str, score: Score, threshold: float | None, width: int, paint: Paint
) -> Iterator[str]:
    shown = "none" if score.shown is None else f"{score.shown:g}"
    verdict = {True: ", passes", False: ", does not pass", None: ""}
    passed = verdict[None if score.value is None else passes(score.value, threshold, True)]
    of = f" of {score.scale:g}" if score.scale != 1 else ""
    state = "" if score.status == "scored" else f" ({score.status.replace('_', ' ')})"
    yield paint(f"{printable(metric)}: {shown}{of}{state}{passed}", "bold")
    yield from wrap(f"{score.source}, {printable(score.method)}", width, first="  ", then="    ")
    if score.fallback is not None:
        fallback = f"  fallback {score.fallback.substitute}: {score.fallback.cause}"
        yield paint(printable(fallback), "bad")
    yield from wrap(printable(score.reason), width, first="  ", then="  ")
    for part in score.parts:
        yield from _part(part, width)


def _part(part: Part, width: int) -> Iterator[str]:
    value = part.status.replace("_", " ") if part.value is None else f"{part.value:.2f}"
    # What was found of one text, such as a claim: its verdict in a word, before the text itself.
    verdict = f"{printable(part.answer)}, " if part.items and isinstance(part.answer, str) else ""
    head = f"{part.id}: {verdict}{value} (weight {part.weight:.2f})"
    reason = " ".join(printable(part.reason).split())
    yield from wrap(f"{head} {reason}".rstrip(), width, first="  ", then="      ")
    for item in part.items:
        if isinstance(item, dict):
            mark = "met    " if item.get("met") else "not met"
            text = printable(f"{item.get('item')}: {item.get('reason')}")
            yield from wrap(f"{mark}  {text}", width, first=" " * 6, then=" " * 15)
    for quote in part.quotes:
        where = f"in {quote.field}" if quote.field else "NOT FOUND in the case"
        text = f'"{printable(quote.text)}" ({where})'
        yield from wrap(text, width, first=" " * 6, then=" " * 7)
