"""The data of the page of a run: every case, its results and its requests."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from judgekit.cassette.tape import Tape
from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case, output_digest
from judgekit.core.errors import CaseError
from judgekit.core.request import Form, Question
from judgekit.core.score import Part, Result, Score, own_parts
from judgekit.datasets.ids import is_derived
from judgekit.metrics.criteria.item import leaves_of, read_items
from judgekit.metrics.criteria.labels import label_names
from judgekit.metrics.criteria.texts import own_texts
from judgekit.pages.packing import (
    Packed,
    Texts,
    case_fields,
    first_line,
    line_of,
    pack,
    page_json,
    with_cases,
)
from judgekit.pages.run.recorded import Origins, TapeIndex, open_tape, records_of_rows
from judgekit.pages.run.tallies import Field, Histograms, Ranking, Slices
from judgekit.pages.run.unscored import Reasons
from judgekit.report.folder import Scored
from judgekit.report.manifest import cluster_field, dicts_in, entries_in, mapping, rubric_entry
from judgekit.report.own_criteria import has_own_criteria
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary

ALL = 2_000
"""Maximum number of cases for which the page has all prompts and raw replies."""
KEPT = 500
"""Number of the worst cases that keep them on a larger page."""

_LEAD = 120
"""Maximum length of a line in the list before the texts are loaded, in characters."""
_MOST_CRITERIA = 40
"""Maximum number of criteria of a metric that the list offers as columns."""
_SHOWN = ("type", "status", "value", "kind", "fallback")


class JudgedBy(NamedTuple):
    """A judge and its rubric; unknown parts are empty."""

    model: str
    rubric: str
    digest: str

    @classmethod
    def of(cls, made_with: Mapping[str, Any]) -> JudgedBy:
        """Return the maker in a result or a manifest."""
        rubric = made_with.get("rubric")
        return cls(
            model=str(made_with.get("model") or ""),
            rubric=f"{rubric}@{made_with.get('version', '?')}" if rubric else "",
            digest=str(made_with.get("digest") or ""),
        )


Makers = dict[str, tuple[JudgedBy, ...]]
"""Metric -> the judges and rubrics that its results name."""


class RunPayload(NamedTuple):
    """The data of a page, as the text of an inert script element."""

    packed: Packed
    prompts: str
    """`all`, `some` or `none`: which cases have prompts and raw replies."""
    makers: Makers
    fields: tuple[Field, ...]
    """Fields of the metadata with few values, and the figures of each value."""
    histograms: Histograms
    ranking: Ranking
    reasons: Reasons
    taped: TapeIndex


def make_payload(report: Report) -> RunPayload:
    """Return the data of a run for its page.

    Raises:
        CassetteCorrupt: the run's tape was damaged.
    """
    figures = report.figures
    tape = open_tape(report.folder)
    taped = TapeIndex(tape)
    texts = Texts()
    ranking = Ranking(report.metrics)
    large = tape is not None and figures.cases > ALL
    with_prompts = _worst_cases(report, ranking) if large else None
    cases: list[str] = []  # as JSON texts, which need a fifth of the memory
    leads: list[str] = []
    makers: dict[str, dict[JudgedBy, None]] = {}
    ranges = {summary.metric: summary.range for summary in figures.metrics}
    slices = Slices(ranges, cluster=cluster_field(figures.manifest))
    histograms = Histograms()
    reasons = Reasons(ranges)
    origins = Origins(report.run)
    forms = Forms(taped, figures.manifest, texts.put)
    for number, scored in enumerate(report.results):
        prompted = with_prompts is None or number in with_prompts
        data = _case(scored, texts, tape if prompted else None, origins)
        if is_derived(scored.case):
            data["place"] = report.places.get(scored.case.id, f"case {number + 1}")
        ranking.add(scored)
        if why := reasons.add(scored):
            data["why"] = why
        if unusual := forms.add(scored):
            data["forms"] = unusual
        cases.append(page_json(data))
        lines = first_line(scored.case), line_of(scored.case.output)
        leads.append(page_json(_lead(data, *lines)))
        slices.add(scored)
        histograms.add(scored)
        for row in scored.rows:
            if row.result.type == "score" and row.result.source == "judge":
                makers.setdefault(row.metric, {})[JudgedBy.of(row.result.meta)] = None
    if tape is not None:
        tape.close()
    made_by = {metric: tuple(names) for metric, names in makers.items()}
    prompts = "none" if tape is None else "all" if with_prompts is None else "some"
    fields = slices.finish()
    head = {
        "dataset": figures.dataset,
        "case_fields": case_fields(),
        "order": ranking.order(),
        "forms": forms.finish(),
        "levels": forms.levels(),
        "fields": [field.name for field in fields],
        "origin": origins.all_alike,
        "metrics": [_metric(summary) for summary in figures.metrics],
        "reasons": [{"text": one.text, "lacks": one.lacks} for one in reasons.finish()],
        "personas": _personas(figures.manifest),
        "prompts": prompts,
    }
    packed = pack(with_cases({**head, "texts": texts.all}, cases))
    if packed.compressed:
        # Two lines, so the list of cases is shown before the texts are unpacked.
        packed = pack(f"{with_cases(head, leads)}\n{with_cases({'texts': texts.all}, cases)}")
    return RunPayload(packed, prompts, made_by, fields, histograms, ranking, reasons, taped)


def _personas(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return metric -> persona; verdicts on these metrics are labels of the persona."""
    return {
        str(entry.get("name")): str(mapping(entry.get("made_with")).get("persona"))
        for entry in dicts_in(manifest.get("metrics"))
        if entry.get("type") == "Authenticity"
    }


def _metric(summary: MetricSummary) -> dict[str, Any]:
    return {
        "name": summary.metric,
        "range": summary.range,
        "higher": summary.higher_is_better,
        "threshold": summary.threshold,
        "scale": summary.scale,
        "criteria": [criterion.id for criterion in summary.criteria[:_MOST_CRITERIA]],
    }


def _case(scored: Scored, texts: Texts, tape: Tape | None, origins: Origins) -> dict[str, Any]:
    data = texts.case(scored.case)
    data["digest"] = output_digest(scored.case.output)  # labels contain it
    data["rows"] = {row.metric: _result(row.result) for row in scored.rows}
    shown = [row for row in scored.rows if _has_own_criteria(row.result)]
    if shown and "criteria" in data.get("expected", {}):
        # The parts of these rows have them, with what the judge answered.
        data["criteria"] = [len(own_parts(shown[0].result)), *(row.metric for row in shown)]
        data["expected"] = {k: v for k, v in data["expected"].items() if k != "criteria"}
        if not data["expected"]:
            del data["expected"]
    if tape is not None:
        data["asked"] = records_of_rows(scored.rows, tape, texts.put)
        if origins.all_alike is None:
            for key, record in data["asked"].items():
                record["origin"] = origins.of(key)
    return data


def _result(result: Result) -> dict[str, Any]:
    # The judge and rubric are on the cards, not in thousands of rows.
    data = result.model_dump(mode="json", exclude_defaults=True, exclude={"meta"})
    data["type"] = result.type
    if _has_own_criteria(result):
        data.pop("ground_truth", None)  # the texts, which the parts have with their points
    for part in data.get("parts", ()):
        if isinstance(part.get("answer"), float) and part["answer"] == part.get("value"):
            del part["answer"]
    if result.type == "score" and result.parts and len(result.judgments) == 1:
        # The parts repeat the answers of the only judgment.
        for judgment in data["judgments"]:
            judgment.pop("answers", None)
    return data


def _has_own_criteria(result: Result) -> bool:
    return isinstance(result, Score) and own_texts(result) is not None


def _worst_cases(report: Report, ranking: Ranking) -> frozenset[int]:
    """Return the indices of the worst cases of a large run, which keep their prompts."""
    ranked = ((ranking.rank(scored), number) for number, scored in enumerate(report.results))
    return frozenset(number for _, number in heapq.nsmallest(KEPT, ranked))


# -- the lead of a large page: data for the list of cases, read before all texts ----------


def _lead(case: dict[str, Any], line: str, out: str) -> dict[str, Any]:
    """Return the part of a case that the list shows.

    Args:
        case: the case.
        line: its first line of text.
        out: the first line of its answer.
    """
    return {
        "id": case["id"],
        "line": line[:_LEAD].rstrip(),
        "out": out[:_LEAD].rstrip(),
        "metadata": case.get("metadata") or {},
        **{name: case[name] for name in ("place", "why") if name in case},
        "rows": {metric: _lead_row(row) for metric, row in case["rows"].items()},
    }


def _lead_row(row: dict[str, Any]) -> dict[str, Any]:
    lead = {name: row[name] for name in _SHOWN if name in row}
    for name in ("message", "reason"):
        if name in row and "value" not in row:
            lead[name] = row[name][:_LEAD]
    band = (row.get("details") or {}).get("band")
    if isinstance(band, str):
        lead["details"] = {"band": band[:_LEAD]}
    if flags := sorted(_flags(row)):
        lead["flags"] = flags
    return lead


def _flags(row: dict[str, Any]) -> set[str]:
    """Return the values by which the list filters the parts of a result."""
    flags = set()
    for part in row.get("parts") or ():
        if part.get("status") == "abstained":
            flags.add("abstained")
        if any(not quote.get("field") for quote in part.get("quotes") or ()):
            flags.add("unfound")
    return flags


_NOT_SHOWN = ("weight", "levels", "reverse")
"""Keys of a criterion that do not belong to its question."""


class Forms:
    """Finds the form of every case and metric.

    A metric with a single request, whose answers are the parts of its score, has one form per case.
    A metric with several steps, or without a judge, has no form; people label its verdict instead.
    Where cases have their own criteria, each case has its own form with all of them.

    Args:
        taped: the requests on the tape.
        manifest: the questions of the run's rubrics, for cases without a known reply.
        put: stores a text of the page, and returns its number.
    """

    def __init__(
        self, taped: TapeIndex, manifest: Mapping[str, Any], put: Callable[[str], int]
    ) -> None:
        self._taped = taped
        self._put = put
        self._manifest = manifest
        self._ids: dict[str, set[str]] = {}
        """Form -> the ids of its questions."""
        self._first: dict[str, str] = {}
        """Metric -> the first form."""
        self._stepwise: set[str] = set()
        self._parts: dict[str, dict[str, None]] = {}
        """Metric -> the criteria of its scores."""
        metrics = (str(entry.get("name")) for entry in dicts_in(manifest.get("metrics")))
        self._own = {name for name in metrics if has_own_criteria(manifest, name)}

    def add(self, scored: Scored) -> dict[str, int]:
        """Add one case; return its forms that differ from the usual ones, by metric."""
        unusual = {}
        for row in scored.rows:
            result = row.result
            if row.metric in self._own:
                if (form := case_form(scored.case)) is not None:
                    unusual[row.metric] = self._put(form)
                continue
            parts = own_parts(result)
            self._parts.setdefault(row.metric, {}).update((part.id, None) for part in parts)
            keys = [judgment.request_key for judgment in result.judgments]
            forms = {form for key in keys if (form := self._taped.forms.get(key)) is not None}
            if not forms or row.metric in self._stepwise:
                continue
            form = forms.pop()
            questions = self._questions(form)
            if forms or not questions or (parts and not _metrics_by_criteria(parts, questions)):
                self._stepwise.add(row.metric)
            elif self._first.setdefault(row.metric, form) != form:
                unusual[row.metric] = self._put(form)
        return unusual

    def finish(self) -> dict[str, int]:
        """Return the usual form of every metric that has one, by its number."""
        forms = {}
        for metric, parts in self._parts.items():
            form = self._first.get(metric) or self._from_manifest(metric, set(parts))
            if form is not None and metric not in self._stepwise:
                forms[metric] = self._put(form)
        return forms

    def levels(self) -> dict[str, dict[str, dict[str, str]]]:
        """Return the meanings of levels: metric -> criterion -> word -> meaning."""
        rubrics = dicts_in(self._manifest.get("rubrics"))
        named = [str(name) for one in rubrics for name in entries_in(one.get("metrics"))]
        means = {name: _meanings(rubric_entry(self._manifest, name)) for name in named}
        return {metric: of for metric, of in means.items() if of}

    def _questions(self, form: str) -> set[str]:
        """Return the ids of the questions of a form; empty for any other value."""
        if form not in self._ids:
            try:
                read = Form.model_validate_json(form)
            except ValueError:
                read = Form()
            self._ids[form] = {question.id for question in read.questions}
        return self._ids[form]

    def _from_manifest(self, metric: str, parts: set[str]) -> str | None:
        """Return the form of a metric without requests on the tape."""
        rubric = rubric_entry(self._manifest, metric)
        criteria = dicts_in(rubric.get("criteria"))
        if not criteria or (parts and not parts <= {str(c.get("id")) for c in criteria}):
            return None
        questions = [
            {name: value for name, value in criterion.items() if name not in _NOT_SHOWN}
            for criterion in criteria
            if not parts or criterion.get("id") in parts
        ]
        details = dicts_in(rubric.get("details"))
        form = canonical_json({"questions": questions, **({"details": details} if details else {})})
        return form if self._questions(form) else None


def case_form(case: Case) -> str | None:
    """Return the form with the criteria of a case, as JSON; `None` if they cannot be read.

    The id of a question is the name that a label has for the criterion.
    """
    try:
        leaves = leaves_of(read_items(case))
    except CaseError:
        return None
    questions = []
    for name, leaf in label_names(leaves).items():
        question = leaf.question(name, Question(id="", kind="boolean", text=""))
        means = {level.label: level.text for level in leaf.levels if level.text}
        entry = question.model_dump(mode="json", exclude_defaults=True)
        further = {"name": leaf.part, "means": means, "reference": leaf.reference}
        questions.append({**entry, **{key: value for key, value in further.items() if value}})
    return page_json({"questions": questions})


def _metrics_by_criteria(parts: Sequence[Part], ids: set[str]) -> bool:
    """Return whether the parts of a score match the questions exactly."""
    applied = {part.id for part in parts if part.status != "not_applicable"}
    return applied <= ids <= {part.id for part in parts}


def _meanings(rubric: dict[str, Any]) -> dict[str, dict[str, str]]:
    meanings: dict[str, dict[str, str]] = {}
    for criterion in dicts_in(rubric.get("criteria")):
        for level in dicts_in(criterion.get("levels")):
            if level.get("text"):
                means = meanings.setdefault(str(criterion.get("id")), {})
                means[str(level.get("label"))] = str(level["text"])
    return meanings
