"""The data of the page of a run: every case, its results and its requests."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

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
    shortened,
    with_cases,
)
from judgekit.pages.run.kept import (
    BOUNDS,
    Choice,
    KeptCase,
    KeptFigures,
    PageBounds,
    Room,
)
from judgekit.pages.run.recorded import Origins, TapeIndex, open_tape, records_of_rows
from judgekit.pages.run.tallies import Field, Histograms, Rank, Ranking, Slices
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


Prompts = Literal["all", "some", "none"]


class PageEntry(NamedTuple):
    """One case on a page."""

    data: str
    """As JSON."""
    lead: str
    """The part of it that the list needs, as JSON."""
    cut: bool
    """Whether a text of the case is cut."""
    prompts: bool
    """Whether it has prompts and raw replies."""


Makers = dict[str, tuple[JudgedBy, ...]]
"""Metric -> the judges and rubrics that its results name."""


class RunPayload(NamedTuple):
    """The data of a page, as the text of an inert script element."""

    packed: Packed
    prompts: Prompts
    """Which cases have prompts and raw replies."""
    prompted: int
    """Number of cases that have them, if only some do."""
    makers: Makers
    fields: tuple[Field, ...]
    """Fields of the metadata with few values, and the figures of each value."""
    histograms: Histograms
    ranking: Ranking
    reasons: Reasons
    taped: TapeIndex
    kept: KeptFigures | None
    """What the page keeps of a very large run; `None` if it keeps every case."""


def make_payload(report: Report, *, bounds: PageBounds = BOUNDS, frame: int = 0) -> RunPayload:
    """Return the data of a run for its page.

    Args:
        report: the run.
        bounds: what the page may hold.
        frame: size of the page without the data, in bytes, if it is known.

    Raises:
        CassetteCorrupt: the run's tape was damaged.
        ConfigError: the run folder was changed meanwhile.
    """
    tape = open_tape(report.folder)
    try:
        data = PageData(report, tape, bounds)
        if report.figures.cases <= bounds.cases:
            data.add_all()
        else:
            data.add_kept(frame)
        return data.payload()
    finally:
        if tape is not None:
            tape.close()


class PageData:
    """Collects the data of a page: figures of all cases, and the cases that the page keeps."""

    def __init__(self, report: Report, tape: Tape | None, bounds: PageBounds) -> None:
        figures = report.figures
        self._report, self._tape, self._bounds = report, tape, bounds
        self._taped = TapeIndex(tape, large=figures.cases > bounds.cases)
        self._texts = Texts()
        self._ranking = Ranking(report.metrics)
        self._cases: list[str] = []  # as JSON texts, which need a fifth of the memory
        self._leads: list[str] = []
        self._ranks: list[Rank] = []
        self._makers: dict[str, dict[JudgedBy, None]] = {}
        ranges = {summary.metric: summary.range for summary in figures.metrics}
        self._slices = Slices(ranges, cluster=cluster_field(figures.manifest))
        self._histograms = Histograms()
        self._reasons = Reasons(ranges)
        self._origins = Origins(report.run)
        self._forms = Forms(self._taped, figures.manifest, self._texts.put)
        self._prompts: Prompts = "none" if tape is None else "all"
        self._prompted = figures.cases
        self._kept: KeptFigures | None = None

    def add_all(self) -> None:
        """Take all cases."""
        large = self._tape is not None and self._report.figures.cases > ALL
        prompted = _worst_cases(self._report, self._ranking) if large else None
        if prompted is not None:
            self._prompts, self._prompted = "some", len(prompted)
        for number, scored in enumerate(self._report.results):
            rank = self._count(scored)
            prompts = prompted is None or number in prompted
            self._add(rank, self._entry(number, scored, prompts=prompts))

    def add_kept(self, frame: int) -> None:
        """Take the figures of all cases, and of a very large run the cases that there is room for.

        Args:
            frame: size of the page without the data, in bytes, if it is known.
        """
        choice = Choice(self._bounds.cases)
        for number, (place, scored) in enumerate(self._report.stored.placed()):
            choice.add(KeptCase(number, place, self._count(scored)), scored.case.id)
        chosen = list(choice.finish())
        found = self._report.stored.at(case.place for case in chosen)
        room = Room(self._bounds, frame=frame)
        entries: list[tuple[KeptCase, PageEntry]] = []
        for case, scored in zip(chosen, found, strict=True):
            if room.is_full:
                break
            entry = self._fitting(case, scored, room, prompts=len(entries) < KEPT)
            if entry is not None:
                entries.append((case, entry))
        prompted = sum(entry.prompts for _, entry in entries)
        self._kept = choice.figures([case for case, _ in entries], sum(e.cut for _, e in entries))
        for case, entry in sorted(entries, key=lambda pair: pair[0].number):
            self._add(case.rank, entry)
        if self._tape is not None:
            self._prompts, self._prompted = "some", prompted

    def _fitting(
        self, case: KeptCase, scored: Scored, room: Room, *, prompts: bool
    ) -> PageEntry | None:
        """Return the data of a case if there is room for it, else with shorter texts, or `None`."""
        texts = len(self._texts.all)
        for most in room.lengths():
            entry = self._entry(
                case.number, scored, prompts=prompts and most == self._bounds.text, most=most
            )
            if room.take(entry.data + "".join(self._texts.all[texts:]), entry.lead):
                return entry
            self._texts.forget(texts)
        return None

    def _add(self, rank: Rank, entry: PageEntry) -> None:
        self._ranks.append(rank)
        self._cases.append(entry.data)
        self._leads.append(entry.lead)

    def _count(self, scored: Scored) -> Rank:
        """Add a case to the figures, and return its rank."""
        self._reasons.add(scored)
        self._slices.add(scored)
        self._histograms.add(scored)
        for row in scored.rows:
            if row.result.type == "score" and row.result.source == "judge":
                makers = self._makers.setdefault(row.metric, {})
                makers[JudgedBy.of(row.result.meta)] = None
        return self._ranking.add(scored)

    def _entry(
        self, number: int, scored: Scored, *, prompts: bool, most: int | None = None
    ) -> PageEntry:
        """Return the data of a case.

        Args:
            number: its position in the run.
            scored: the case with its rows.
            prompts: whether to add its prompts and raw replies, if there is a tape.
            most: maximum length of its texts, in characters.
        """
        tape = self._tape if prompts else None
        data, cut = case_data(scored, self._texts, tape, self._origins, most=most)
        if is_derived(scored.case):
            data["place"] = self._report.places.get(scored.case.id, f"case {number + 1}")
        if why := self._reasons.numbers(scored):
            data["why"] = why
        if unusual := self._forms.add(scored):
            data["forms"] = unusual
        lead = _lead(data, first_line(scored.case), line_of(scored.case.output))
        return PageEntry(page_json(data), page_json(lead), cut, tape is not None)

    def payload(self) -> RunPayload:
        """Return the data of the page."""
        figures = self._report.figures
        made_by = {metric: tuple(names) for metric, names in self._makers.items()}
        fields = self._slices.finish()
        head: dict[str, Any] = {
            "dataset": figures.dataset,
            "case_fields": case_fields(),
            "order": sorted(range(len(self._ranks)), key=self._ranks.__getitem__),
            "forms": self._forms.finish(),
            "levels": self._forms.levels(),
            "fields": [field.name for field in fields],
            "origin": self._origins.all_alike,
            "metrics": [_metric(summary) for summary in figures.metrics],
            "reasons": [{"text": one.text, "lacks": one.lacks} for one in self._reasons.finish()],
            "personas": _personas(figures.manifest),
            "prompts": self._prompts,
        }
        if self._kept is not None:
            head["of"] = figures.cases  # the page keeps only some
        packed = pack(with_cases({**head, "texts": self._texts.all}, self._cases))
        if packed.compressed:
            # Two lines, so the list of cases is shown before the texts are unpacked.
            lead = with_cases(head, self._leads)
            packed = pack(f"{lead}\n{with_cases({'texts': self._texts.all}, self._cases)}")
        return RunPayload(
            packed,
            self._prompts,
            self._prompted,
            made_by,
            fields,
            self._histograms,
            self._ranking,
            self._reasons,
            self._taped,
            self._kept,
        )


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


def case_data(
    scored: Scored, texts: Texts, tape: Tape | None, origins: Origins, *, most: int | None = None
) -> tuple[dict[str, Any], bool]:
    """Return the data of a case for a page, and whether a text of it is cut.

    Args:
        scored: the case with its rows.
        texts: the texts that cases share.
        tape: the tape with its prompts and raw replies, if they are on the page.
        origins: the origins of the replies.
        most: maximum length of a text, in characters.
    """
    data = scored.case.model_dump(mode="json", exclude_defaults=True)
    data["rows"] = {row.metric: _result(row.result) for row in scored.rows}
    data, cut = (data, False) if most is None else shortened(data, most)
    rows = data.pop("rows")
    data = texts.numbered(data)
    data["digest"] = output_digest(scored.case.output)  # labels contain it
    data["rows"] = rows
    shown = [row for row in scored.rows if _has_own_criteria(row.result)]
    if shown and "criteria" in data.get("expected", {}):
        # The parts of these rows have them, with what the judge answered.
        data["criteria"] = [len(own_parts(shown[0].result)), *(row.metric for row in shown)]
        data["expected"] = {k: v for k, v in data["expected"].items() if k != "criteria"}
        if not data["expected"]:
            del data["expected"]
    if tape is not None:
        asked = records_of_rows(scored.rows, tape, texts.put)
        if origins.all_alike is None:
            for key, record in asked.items():
                record["origin"] = origins.of(key)
        data["asked"] = asked if most is None else shortened(asked, most)[0]
    return data, cut


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
            forms = {form for key in keys if (form := self._taped.form_of(key)) is not None}
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
