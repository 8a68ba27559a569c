"""The texts of a report, and one result as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import printable
from judgekit.core.display.parts import DisplayLine
from judgekit.core.display.text import Paint, wrap
from judgekit.core.json_document import json_document
from judgekit.core.score import Failure, Part, Row, Score
from judgekit.judges.kinds import kind_of
from judgekit.metrics.quote import FIGURES as QUOTE_FIGURES
from judgekit.report.manifest import entries_in, judges_of, mapping
from judgekit.report.thresholds import FEW, passes
from judgekit.report.verdict import location, run_verdict, verdict_line

if TYPE_CHECKING:
    from judgekit.report.calibration import Agreement, Calibration
    from judgekit.report.report import Report
    from judgekit.report.summary import CriterionSummary, MetricSummary

_NAMED = 3
"""Maximum number of criteria in a line."""
CALIBRATED = "calibrated: "
COMPARED = "compared with people: "
BELOW = "compared with people, below the bar of the suite: "
NOT_COMPARED = "not compared with people: "
CORRECTED = "means are corrected with labels, agreement is not measured: "
OUTCOMES = ("judged", "computed", "fallback", "abstained", "not applicable", "failed", "not run")
_GRADE = "grade_"
"""Before a letter: how many sessions had it."""


def report_json(report: Report) -> str:
    """Return figures, gates, manifest, verdict and the facts of this execution as JSON."""
    page = location(report)
    verdict = {**run_verdict(report).data(), "line": verdict_line(report, page), "page": page}
    facts = {"run": report.run, "verdict": verdict, "exit_code": report.exit_code}
    return json_document("run", {**report.figures.model_dump(mode="json"), **facts})


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


def answer_lines(summaries: Sequence[MetricSummary]) -> Iterator[str]:
    """Yield how many answers are empty, and how many rows a judge did not see whole."""
    if empty := max((s.empty_answers for s in summaries), default=0):
        be = "answer is empty: it was" if empty == 1 else "answers are empty: they were"
        yield f"{empty} {be} scored like any other."
    for s in summaries:
        if s.left_out:
            rows = "row" if s.left_out == 1 else "rows"
            yield (
                f"{s.metric}: in {s.left_out} {rows} the judge was not shown the whole case; "
                "`details.shown` of the row lists what is missing."
            )


def doubt_lines(report: Report) -> Iterator[str]:
    """Yield the limitations of the figures: too few values, judges without comparison to people."""
    yield from few_lines(s for s in report.figures.metrics if s.judged)
    yield from answer_lines(report.figures.metrics)
    yield from report.calibration


def outcome_counts(
    s: MetricSummary | CriterionSummary, words: Iterable[str] = OUTCOMES
) -> list[tuple[str, int]]:
    """Return the number of rows with each outcome."""
    return [(word, getattr(s, word.replace(" ", "_"))) for word in words]


def counts_of(s: MetricSummary) -> str:
    """Return the number of rows with each outcome, in words."""
    return ", ".join(f"{count} {word}" for word, count in outcome_counts(s) if count) or "none"


def unchecked_line(manifest: Mapping[str, Any]) -> str:
    """Return a note on gates that were not checked; empty if all were checked."""
    names = ", ".join(map(str, entries_in(manifest.get("gates_not_checked"))))
    return f"Gates not checked without a judge: {names}." if names else ""


def note_lines(report: Report) -> Iterator[DisplayLine]:
    """Yield notes on the figures and on this execution."""
    notes = [unchecked_line(report.figures.manifest), *doubt_lines(report)]
    if (other := report.run.get("against")) is not None:
        notes.append(f"The baselines are the outputs of the run {other}.")
    yield from (DisplayLine(line, "note") for line in notes if line)
    if isinstance(repeated := report.run.get("repeated_rows"), int):
        rows = "row repeats" if repeated == 1 else "rows repeat"
        line = f"{repeated} {rows} an earlier one without an id; the ids are numbered"
        yield DisplayLine(line, "note")
    if (replies := _replies_line(report)) is not None:
        yield DisplayLine(replies)
    if (savings := savings_line(report.run)) is not None:
        yield DisplayLine(savings)
    for line in _judge_lines(report):
        yield DisplayLine(line, "note")
    for model, several in mapping(report.run.get("mixed")).items():
        origins = f"replies of {model} came from several: {'; '.join(map(str, several))}"
        yield DisplayLine(f"{origins}; give the judge an identity to keep them apart", "bad")
    for line in changed_weights(report.run):
        yield DisplayLine(line, "bad")
    if isinstance(differing := report.run.get("differing_replies"), int):
        yield DisplayLine(_differing(differing), "bad")
    if (selection := _selected(report.run)) is not None:
        yield DisplayLine(selection, "note")


def changed_weights(run: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each model whose server had other weights when replies were recorded."""
    for model, count in mapping(run.get("weights_changed")).items():
        if isinstance(count, int):
            were = "verdict was" if count == 1 else "verdicts were"
            since = f"the weights of {model} have changed since {count:,} of these {were} recorded"
            yield f"{since}; record them again, or give the judge an identity"


def _judge_lines(report: Report) -> Iterator[str]:
    """Yield the output mode of each judge and the results of its probe."""
    for role, facts in mapping(report.run.get("judges")).items():
        known = mapping(facts)
        way = {"probe": "probed", "store": "as probed earlier", "use": "fallen to in use"}
        how = way.get(str(known.get("mode_from")), "set in the suite")
        mode = f"asked by {known['mode']} ({how})" if known.get("mode") else "no output mode found"
        if known.get("api"):
            mode = f"asked by api: {known['api']}"
        served = f", served as {known['server']}" if known.get("server") else ""
        yield f"{role} {known.get('model')}: {mode}{served}"
        for step in entries_in(known.get("steps")):
            yield f"  not by {step}"
        for name, reason in mapping(known.get("dropped_params")).items():
            yield f"  {name} not sent: {reason}"
        if reason := known.get("system_in_user"):
            yield f"  system message sent in the first user message: {reason}"


def _replies_line(report: Report) -> str | None:
    run = report.run
    origins = run.get("origins")
    if not isinstance(origins, dict):
        return None
    money = f"spent {_dollars(run.get('spent'))}, avoided {_dollars(run.get('avoided'))}"
    line = f"replies: {origins_text(origins) or 'none'}{_older(run)}; {money}"
    unused = run.get("unused")
    replies = "reply" if unused == 1 else "replies"
    return f"{line}; {unused} recorded {replies} not used" if unused else line


def savings_line(run: Mapping[str, Any]) -> str | None:
    """Return what prompt caches and service tiers did for the live replies; `None` without."""
    tokens = mapping(run.get("cache_tokens"))
    counts = [tokens.get(name) for name in ("read", "written")]
    parts = []
    if all(isinstance(count, int) for count in counts) and any(counts):
        parts.append(f"prompt cache: {counts[0]:,} tokens read, {counts[1]:,} written")
    for tier, replies in mapping(run.get("tiers")).items():
        if isinstance(replies, int):
            parts.append(f"tier {tier}: {replies:,} {'reply' if replies == 1 else 'replies'}")
    if not parts:
        return None
    saved = run.get("saved")
    if isinstance(saved, (int, float)):
        parts.append(saved_words(saved))
    return "; ".join(parts)


def saved_words(dollars: float) -> str:
    """Return what was saved in words; tokens that are written and not read cost more."""
    if dollars < 0:
        return f"${-dollars:.4f} more, for cache writes"
    return f"${dollars:.4f} saved by cache and tier"


def _older(run: Mapping[str, Any]) -> str:
    """Return how many replies are recorded under older forms of their keys; empty if none is."""
    counts = [n for n in mapping(run.get("older")).values() if isinstance(n, int)]
    notes = [f"{sum(counts)} under an older key"] if counts else []
    if several := run.get("superseded"):
        notes.append(f"{several} under an older key, too: the newest counts")
    return f" ({'; '.join(notes)})" if notes else ""


def origins_text(origins: Mapping[str, int]) -> str:
    """Return the origins of replies with their numbers; empty if there are none."""
    words = {"live": "live", "tape": "from the tape", "store": "from the store"}
    return ", ".join(f"{origins[name]} {w}" for name, w in words.items() if origins.get(name))


def _differing(count: int) -> str:
    """Return a note on requests that several shards sent."""
    have = "request has" if count == 1 else "requests have"
    kept = "the tape keeps that of the first shard, so a replay may differ or miss rows of others"
    advice = "record once more from this tape, without shards"
    return f"{count} {have} another reply in another shard: {kept}; {advice}"


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


# -- the figures of a metric itself, with their labels ---------------------------------


def shown_figures(summary: MetricSummary) -> dict[str, str]:
    """Return the figures by label; a bootstrap interval as `0.83 ± 0.04`.

    The interval itself, `[0.79, 0.87]`, the range and the spread over sessions are also included.
    """
    figures = summary.figures
    shown: dict[str, str] = {}
    own: set[str] = set()
    # Imported on use, so a replay loads these modules only if it has such metrics.
    if "bootstrap_margin" in figures:
        from judgekit.metrics.brand_voice.sessions import FIGURES as SESSION_FIGURES

        if SESSION_FIGURES.keys() <= figures.keys():  # or another metric has one of that name
            own |= set(SESSION_FIGURES)
            shown |= _spread(summary)
    if "positional_consistency" in figures:
        from judgekit.metrics.pairwise.figures import FIGURES as PAIR_FIGURES

        own |= set(PAIR_FIGURES)
        shown |= _pairs(figures)
    grades = []
    for name, figure in figures.items():
        if name.startswith(_GRADE):
            grades += [f"{name.removeprefix(_GRADE)} {figure:g}"] if figure else []
        elif name not in own:
            shown[name.replace("_", " ")] = "-" if figure is None else f"{figure:.4g}"
    return {**shown, "grades": ", ".join(grades)} if grades else shown


def telling_figures(summary: MetricSummary) -> dict[str, str]:
    """Return the figures of `shown_figures`; quote counts only if a quote was not verified."""
    quiet = () if summary.figures.get("unverified_quotes") else QUOTE_FIGURES
    hidden = {name.replace("_", " ") for name in quiet}
    return {name: text for name, text in shown_figures(summary).items() if name not in hidden}


def _pairs(figures: Mapping[str, float | None]) -> dict[str, str]:
    """Return the figures of a pairwise metric; the labels differ from those of `shown_figures`."""
    if figures["positional_consistency"] is figures["tie_rate"] is None:
        return {}

    def text(name: str, ends: str = "") -> str:
        """Return a figure and its interval; the ends are missing in older reports."""
        value, low, high = (figures.get(n) for n in (name, f"{ends}_low", f"{ends}_high"))
        interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
        return "-" if value is None else f"{value:.2f}{interval}"

    controlled = text("length_controlled_win_rate", "length_controlled")
    if figures["length_separated"]:
        controlled = "none (length alone would explain every outcome)"
    elif figures.get("length_one_sided"):
        controlled = "none (too few cases where the other side is longer)"
    disagreeing = {}
    if figures.get("disagreeing_first_rate") is not None:  # missing in older reports
        shown = text("disagreeing_first_rate", "disagreeing_first")
        shown += " [too few]" if figures["disagreeing_first_low"] is None else ""
        disagreeing = {"answer shown first preferred where the orders disagree": shown}
    return {
        "both orders agree": text("positional_consistency"),
        "answer shown first preferred (pairs that agree: 0.5)": text(
            "first_position_rate", "first_position"
        ),
        **disagreeing,
        "no winner (ties, or the orders disagree)": text("tie_rate"),
        "win rate at equal length": controlled,
    }


def _spread(summary: MetricSummary) -> dict[str, str]:
    """Return the figures over sessions."""
    figures, mean, scale = summary.figures, summary.mean, summary.scale
    least, most = figures["lowest"], figures["highest"]
    if least is None or most is None:
        return {}
    spread = {"range": f"{least * scale:.2f} to {most * scale:.2f}"}
    if mean is None or least == most:
        return spread
    low, high, margin = (figures[f"bootstrap_{name}"] for name in ("low", "high", "margin"))
    if low is None or high is None or margin is None:
        interval = f"{mean * scale:.2f}, too few sessions for an interval"
    else:
        interval = f"{mean * scale:.2f} ± {margin * scale:.2f}, "
        interval += f"[{low * scale:.2f}, {high * scale:.2f}]"
    sd, variance = figures["sd_ddof_1"], figures["variance_ddof_1"]
    if sd is not None and variance is not None:
        spread["sd (ddof 1)"] = f"{sd * scale:.3f}"
        spread["variance (ddof 1)"] = f"{variance * scale**2:.4f}"
    return {"by session": interval, **spread}


# -- agreement of the judges with people ---------------------------------------------


def calibration_lines(
    metrics: Sequence[MetricSummary], manifest: Mapping[str, Any], known: Calibration | None
) -> list[str]:
    """Return lines about the agreement of judges with people.

    A judge with labels is compared with people. It is calibrated if the suite sets `calibration`
    and the lower end of every coefficient reaches it.

    Args:
        metrics: the metrics of a run.
        manifest: the manifest of the run.
        known: the outcome of `agree`.
    """
    agreements = known.criteria if known is not None else ()
    bar = _bar(manifest)
    corrected = {one.metric for one in metrics if one.corrected and one.corrected.labels.n}
    judged = [one.metric for one in metrics if one.judged and not _by_people(manifest, one.metric)]
    lines, alone = [], []
    for name in judged:
        if own := [one for one in agreements if one.metric == name]:
            problems = known.problems_of(name) if known is not None else {}
            standing = BELOW if bar and problems else _standing(own, bar)
            lines.append(f"{standing}{name}: {_agreement_figures(own)}{_stated(bar)}")
            lines += [f"jury of {one.name}: {one.jury.votes}" for one in own if one.jury]
            lines += [f"{about}: not compared: {why}" for about, why in problems.items()]
        else:
            alone.append(name)
    for start, names in (
        (NOT_COMPARED, [name for name in alone if name not in corrected]),
        (CORRECTED, [name for name in alone if name in corrected]),
    ):
        if names:
            lines.append(f"{start}the judge of {', '.join(names)} (judgekit agree)")
    return lines


def _bar(manifest: Mapping[str, Any]) -> dict[str, float]:
    """Return the minimum of each coefficient's lower end that the suite requires."""
    stated = mapping(manifest.get("calibration"))
    return {
        name: float(stated[name])
        for name in ("kappa", "spearman")
        if isinstance(stated.get(name), (int, float))
    }


def _standing(agreements: Sequence[Agreement], bar: Mapping[str, float]) -> str:
    if not bar:
        return COMPARED
    for one in agreements:
        figures = {"kappa": one.kappa, "spearman": one.rank}
        stated = [(figure, least) for name, least in bar.items() if (figure := figures[name])]
        if not stated or any(f.low is None or f.low < least for f, least in stated):
            return BELOW
    return CALIBRATED


def _stated(bar: Mapping[str, float]) -> str:
    words = {"kappa": "kappa", "spearman": "Spearman"}
    least = ", ".join(f"{words[name]} {least:g}" for name, least in bar.items())
    return f"; bar at the lower end: {least}" if bar else ""


def _by_people(manifest: Mapping[str, Any], metric: str) -> bool:
    models = judges_of(manifest, metric)
    return bool(models) and all(kind_of(model).person for model in models)


def _agreement_figures(agreements: Sequence[Agreement]) -> str:
    parts = []
    for one in agreements[:_NAMED]:
        figure, word = (one.kappa, "kappa") if one.kappa is not None else (one.rank, "Spearman")
        name = one.criterion or "its verdict"
        if figure is None or figure.value is None:
            parts.append(f"{name} undefined")
        else:
            parts.append(f"{name} {word} {figure.text}")
    more = f", and {len(agreements) - _NAMED} more" if len(agreements) > _NAMED else ""
    cases = max(one.cases for one in agreements)
    return f"{', '.join(parts)}{more}, over {cases} case{'s' if cases != 1 else ''} people labelled"


# -- one result -------------------------------------------------------------------


def row_text(
    row: Row, *, threshold: float | None = None, width: int = 80, colour: bool = False
) -> str:
    """Return the text of one result with its full explanation."""
    result = row.result
    if isinstance(result, Failure):
        text = printable(f"{row.metric}: no score ({result.kind}): {result.message}")
        lines: Iterable[DisplayLine] = (
            DisplayLine(line, "bad") for line in wrap(text, width, then="  ")
        )
    else:
        lines = _explained(row.metric, result, threshold, width)
    paint = Paint(colour=colour)
    return "".join(f"{paint(text, style)}\n" for text, style in lines)


def _explained(
    metric: str, score: Score, threshold: float | None, width: int
) -> Iterator[DisplayLine]:
    shown = "none" if score.shown is None else f"{score.shown:g}"
    verdict = {True: ", passes", False: ", does not pass", None: ""}
    passed = verdict[passes(score.value, threshold, True)]
    of = f" of {score.scale:g}" if score.scale != 1 else ""
    state = "" if score.status == "scored" else f" ({score.status.replace('_', ' ')})"
    yield DisplayLine(f"{printable(metric)}: {shown}{of}{state}{passed}", "title")
    origin = f"{score.source}, {printable(score.method)}"
    yield from map(DisplayLine, wrap(origin, width, first="  ", then="    "))
    if score.fallback is not None:
        fallback = f"  fallback {score.fallback.substitute}: {score.fallback.cause}"
        yield DisplayLine(printable(fallback), "bad")
    yield from map(DisplayLine, wrap(printable(score.reason), width, first="  ", then="  "))
    for part in score.parts:
        yield from map(DisplayLine, _part(part, width))


def _part(part: Part, width: int) -> Iterator[str]:
    value = part.status.replace("_", " ") if part.value is None else f"{part.value:.2f}"
    # For one text, such as a claim: its verdict as a word, before the text.
    verdict = f"{printable(part.answer)}, " if part.items and isinstance(part.answer, str) else ""
    head = f"{part.id}: {verdict}{value} (weight {part.weight:.2f})"
    reason = " ".join(printable(part.reason).split())
    yield from wrap(f"{head} {reason}".rstrip(), width, first="  ", then="      ")
    for item in part.items:
        if isinstance(item, dict):
            mark = f"{part.verdict_on(item):<7}"
            text = printable(f"{item.get('item')}: {item.get('reason')}")
            yield from wrap(f"{mark}  {text}", width, first=" " * 6, then=" " * 15)
    for quote in part.quotes:
        where = f"in {quote.field}" if quote.field else "NOT FOUND in the case"
        yield from wrap(f'"{printable(quote.text)}" ({where})', width, first=" " * 6, then=" " * 7)
