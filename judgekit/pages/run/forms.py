"""The form for labelling a case: the reply schema of the judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judgekit.core.canonical import canonical_json
from judgekit.core.request import Form
from judgekit.core.score import Part, own_parts
from judgekit.pages.run.recorded import TapeIndex
from judgekit.report.folder import Scored
from judgekit.report.manifest import dicts_in, entries_in, rubric_entry

_NOT_SHOWN = ("weight", "levels", "reverse")
"""Keys of a criterion that do not belong to its question."""


class Forms:
    """Finds the form of every case and metric.

    A metric with a single request, whose answers are the parts of its score, has one form per case.
    A metric with several steps, or without a judge, has no form; people label its verdict instead.

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

    def add(self, scored: Scored) -> dict[str, int]:
        """Add one case; return its forms that differ from the usual ones, by metric."""
        unusual = {}
        for row in scored.rows:
            result = row.result
            parts = own_parts(result)
            self._parts.setdefault(row.metric, {}).update((part.id, None) for part in parts)
            keys = [judgment.request_key for judgment in result.judgments]
            forms = {form for key in keys if (form := self._taped.forms.get(key)) is not None}
            if not forms or row.metric in self._stepwise:
                continue
            form = forms.pop()
            questions = self._asked(form)
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

    def _asked(self, form: str) -> set[str]:
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
        return form if self._asked(form) else None


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
