"""Pairwise comparisons of models, from files and from runs over the same cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.analysis.comparison.differences import EPSILON
from judgekit.analysis.comparison.pairs import CaseEntry, entry_of
from judgekit.core.case import answerer_of
from judgekit.core.errors import ConfigError
from judgekit.core.input_file import nearby
from judgekit.core.score import Failure, Row, own_value
from judgekit.core.suggest import closest, suggest
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.load import read_file
from judgekit.datasets.row_builder import RowBuilder, RowFault
from judgekit.datasets.stream import STDIN
from judgekit.report.answerers import model_of, names_by_model
from judgekit.report.manifest import judges_of, mapping, rubrics_of
from judgekit.report.report import Report

LONGEST = 200
"""Maximum length of the name of a model, a judge or a prompt, in characters."""
KEYS = ("prompt", "a", "b", "winner")
TIE = "tie"
_UNKNOWN = "no such case in the other run"
_OTHER = "another question under the same id"
RankSource = str | Path | Report | Iterable[Mapping[str, Any]]
"""A run folder or a report, a file of comparisons, or comparisons as Python objects."""


class PairwiseRecord(NamedTuple):
    """One comparison of two models on one prompt."""

    prompt: str
    a: str
    b: str
    share: float | None
    """1 if `a` wins, 0 if `b` wins, 0.5 for a tie; `None` if there is no verdict."""
    judge: str | None = None


class ComparisonRows(RowBuilder):
    """Converts rows `{prompt, a, b, winner, judge?}` to comparisons; other keys are ignored."""

    def read(self, row: Any) -> PairwiseRecord:
        """Return the comparison of a row.

        Raises:
            RowFault: the row is not a comparison.
        """
        if not isinstance(row, dict):
            raise RowFault(f"expected an object with {', '.join(KEYS)}, found {kind(row)}")
        for key in KEYS:
            if key not in row:
                near = closest(key, map(str, row))
                hint = f"; rename {near[0]!r}" if near else f"; a row has {', '.join(KEYS)}"
                raise RowFault(f"missing{hint}", key)
        prompt, a, b = (_name(row[key], key) for key in KEYS[:3])
        if a == b:
            raise RowFault(f"{quoted(b)} is compared with itself; a and b are two models", "b")
        judge = None if row.get("judge") in (None, "") else _name(row["judge"], "judge")
        return PairwiseRecord(prompt, a, b, _share(row["winner"], a, b), judge)


def _name(value: Any, field: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise RowFault(f"expected a name, found {quoted(value) if value else kind(value)}", field)
    name = " ".join(value.split())
    if len(name) > LONGEST:
        what = "an id" if field == "prompt" else "a name"
        raise RowFault(f"longer than {LONGEST} characters; give {what}, not a text", field)
    return name


def _share(winner: Any, a: str, b: str) -> float | None:
    if winner is None or winner == "":
        return None
    word = _name(winner, "winner")
    meanings = [("a", 1.0), (a, 1.0), ("b", 0.0), (b, 0.0), (TIE, 0.5)]
    shares = {share for name, share in meanings if name == word}
    if len(shares) == 1:
        return shares.pop()
    if shares:
        raise RowFault(f"{word!r} is ambiguous with models {a!r} and {b!r}; rename them", "winner")
    near = closest(word, [a, b, TIE])
    hint = f"; did you mean {near[0]!r}?" if near else f"; use a, b, {TIE}, {a!r} or {b!r}"
    raise RowFault(f"{quoted(word)} is neither of the models{hint}", "winner")


def _read_comparisons(path: Path) -> Iterator[PairwiseRecord]:
    """Yield the comparisons of a file of rows, such as JSON Lines or CSV; `-` is standard input.

    Raises:
        DatasetError: the file cannot be read, or a row is not a comparison; with `file:line`.
    """
    source, name = (None, STDIN) if str(path) == "-" else (path, str(path))
    rows: Any = read_file(source, name, wrap=lambda _: ComparisonRows())
    yield from (record for _, record in rows())


def comparisons_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[PairwiseRecord]:
    """Yield the comparisons of Python objects.

    Raises:
        DatasetError: a row is not a comparison.
    """
    builder = ComparisonRows()
    for number, row in enumerate(rows, start=1):
        yield builder.build_python(row, where=f"row {number}", advice="give texts")


class RunRecords(NamedTuple):
    """The comparisons of several runs, or of files, which have no metric."""

    records: list[PairwiseRecord]
    metric: str | None
    left_out: Counter[str]
    """Reason -> number of results, or pairs of results, without a comparison."""


def records_of(sources: Sequence[RankSource], metric: str | None) -> RunRecords:
    """Return the comparisons of runs, files and Python objects.

    Args:
        sources: runs, files and Python objects.
        metric: the metric of the runs; `None` if there is only one.

    Raises:
        ConfigError: a source cannot be read, or the runs cannot be compared.
        DatasetError: a row is not a comparison.
    """
    runs: list[Report] = []
    records: list[PairwiseRecord] = []
    for source in sources:
        if isinstance(source, Report):
            runs.append(source)
        elif not isinstance(source, str | Path):
            records += comparisons_of(source)
        elif Path(source).is_dir():
            runs.append(Report.read(source))
        elif str(source) == "-" or Path(source).exists():
            records += _read_comparisons(Path(source))
        else:
            hint = nearby(Path(source)) or "; check the path"
            raise ConfigError(f"no such run folder or file of comparisons{hint}", where=str(source))
    folders = Counter(run.folder.resolve() for run in runs if run.folder is not None)
    if folders and max(folders.values()) > 1:
        raise ConfigError(f"{folders.most_common(1)[0][0].name}: is named twice; name it once")
    if not runs:
        if metric is not None:
            raise ConfigError("--metric belongs to runs; a file of comparisons has no metric")
        return RunRecords(records, None, Counter())
    of_runs = _records_of_runs(runs, metric)
    return of_runs._replace(records=records + of_runs.records)


class _RunCases(NamedTuple):
    """The data of one run for a ranking."""

    report: Report
    entries: dict[str, CaseEntry]
    pairwise: dict[str, list[PairwiseRecord]]
    """Metric -> comparisons in its rows."""
    model: str | None


def _records_of_runs(runs: Sequence[Report], metric: str | None) -> RunRecords:
    """Return the comparisons of runs by one metric.

    Rows of a pairwise metric are comparisons. For any other metric, the values of each pair of runs
    are compared case by case; the better value by the direction of the metric wins.

    Args:
        runs: the runs.
        metric: the metric; `None` if there is only one.

    Raises:
        ConfigError: a run cannot be read, no metric can be chosen, or the runs judge it
            differently.
    """
    read = [_read(run) for run in runs]
    pairwise = {name for run in read for name in run.pairwise}
    name = _metric(read, metric, pairwise)
    results = (entry.rows.get(name) for run in read for entry in run.entries.values())
    left_out = Counter(one.state for one in results if one is not None and one.value is None)
    if name in pairwise:
        rows = (record for run in read for record in run.pairwise.get(name, []))
        return RunRecords([one for one in rows if one.share is not None], name, left_out)
    if len(read) == 1:
        raise ConfigError(
            f"{name} is not a pairwise metric; name two or more runs over the same cases, or a "
            "file of comparisons"
        )
    _check_same_judging(runs, name)
    return RunRecords(list(_compared(read, name, left_out)), name, left_out)


def _share_of_step(step: float) -> float:
    return 0.5 if abs(step) < EPSILON else float(step > 0)


def _read(report: Report) -> _RunCases:
    entries: dict[str, CaseEntry] = {}
    pairwise: dict[str, list[PairwiseRecord]] = {}
    models: set[str | None] = set()
    for scored in report.results:
        entries[scored.case.id] = entry_of(scored)
        models.add(answerer_of(scored.case.metadata))
        for row in scored.rows:
            if (record := _record_of(row, report)) is not None:
                pairwise.setdefault(row.metric, []).append(record)
    return _RunCases(report, entries, pairwise, model_of(report, models))


def _record_of(row: Row, report: Report) -> PairwiseRecord | None:
    """Return the comparison in a row of a pairwise metric; `None` for other rows.

    Above 0.5 the first model wins, below 0.5 the second. A fallback, or a row without a value, has
    no share.
    """
    sides = {} if isinstance(row.result, Failure) else mapping(row.result.details.get("pairwise"))
    a, b = sides.get("a"), sides.get("b")
    if not (isinstance(a, str) and isinstance(b, str) and a and b and a != b):
        return None
    value = own_value(row.result)
    share = None if value is None else _share_of_step(value - 0.5)
    return PairwiseRecord(row.case, a, b, share, _judge(report, row.metric))


def _judge(report: Report, metric: str) -> str | None:
    return ", ".join(sorted(judges_of(report.figures.manifest, metric))) or None


def _metric(runs: Sequence[_RunCases], metric: str | None, pairwise: set[str]) -> str:
    """Return the metric to compare by."""
    common = set.intersection(*(set(run.report.metrics) for run in runs))
    if metric is not None:
        if metric not in common | pairwise:
            hint = suggest(metric, common | pairwise)
            raise ConfigError(f"metric {metric!r} is not in all runs{hint}")
        return metric
    if not (names := sorted(pairwise or common)):
        raise ConfigError("no metric is in all runs; score the same cases with the same suite")
    if len(names) > 1:
        raise ConfigError(f"name the metric to rank by: --metric {' or '.join(names)}")
    return names[0]


def _check_same_judging(runs: Sequence[Report], metric: str) -> None:
    first, *others = runs
    judging = _judging(first, metric)
    for other in others:
        for what, value in _judging(other, metric).items():
            if judging[what] != value:
                where = f"{first.folder or 'the first run'} and {other.folder or 'another'}"
                message = f"the {what} of {metric} differs between {where}"
                raise ConfigError(f"{message}; score both with one suite")


def _judging(run: Report, metric: str) -> dict[str, Any]:
    summary, manifest = run.metrics[metric], run.figures.manifest
    return {
        "range or direction": (summary.range, summary.higher_is_better),
        "rubric": rubrics_of(manifest, metric),
        "judge": judges_of(manifest, metric),
    }


def _compared(
    runs: Sequence[_RunCases], metric: str, left_out: Counter[str]
) -> Iterator[PairwiseRecord]:
    """Yield the comparisons of the values of every two runs."""
    reports = [run.report for run in runs]
    names = names_by_model(reports, [run.model for run in runs])
    higher = reports[0].metrics[metric].higher_is_better
    judge = _judge(reports[0], metric)
    for (a, one), (b, two) in combinations(zip(names, runs, strict=True), 2):
        left_out[_UNKNOWN] += len(one.entries.keys() ^ two.entries.keys())
        for case, left in one.entries.items():
            if (right := two.entries.get(case)) is None:
                continue
            if left.question != right.question:
                left_out[_OTHER] += 1
                continue
            rows = left.rows.get(metric), right.rows.get(metric)
            values = [row.value for row in rows if row is not None and row.value is not None]
            if len(values) == 2:
                step = values[0] - values[1]
                yield PairwiseRecord(case, a, b, _share_of_step(step if higher else -step), judge)
