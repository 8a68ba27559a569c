"""The rubric of a metric as a manifest describes it, to fold other answers with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from judgekit.report.manifest import dicts_in, mapping, metric_entry
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Outcome, Worth, fold_values, shares_of

_OF_CRITERION = ("weight", "reverse", "levels")
"""Keys of a question in a manifest that are not the question's own."""


class DescribedRubric:
    """What a manifest, which is untrusted, says of the rubric of a metric."""

    def __init__(self, manifest: Mapping[str, Any], metric: str) -> None:
        known = dicts_in(manifest.get("rubrics"))
        entries = [
            one
            for one in known
            if isinstance(one.get("metrics"), list) and metric in one["metrics"]
        ]
        one = entries[0] if len(entries) == 1 else {}
        try:
            criteria = [
                Criterion.model_validate(
                    {k: v for k, v in entry.items() if k in _OF_CRITERION}
                    | {"question": {k: v for k, v in entry.items() if k not in _OF_CRITERION}}
                )
                for entry in dicts_in(one.get("criteria"))
            ]
        except ValidationError:
            criteria = []
        self.criteria = {criterion.id: criterion for criterion in criteria}
        self._combine: Any = one.get("combine")
        chosen = mapping(metric_entry(manifest, metric).get("options")).get("mode")
        groups = mapping(mapping(one.get("modes")).get(str(chosen or one.get("default_mode"))))
        self._groups = {k: float(v) for k, v in groups.items() if isinstance(v, (int, float))}

    def outcome(self, criterion: str, answers: Mapping[str | None, Any]) -> Outcome | None:
        """Return a person's outcome of a criterion; `None` without an answer.

        Where a judge may abstain, a person may, too.
        """
        answer: Outcome | None = answers.get(criterion)
        nullable = criterion in answers and self.criteria[criterion].question.nullable
        return ("abstained", None) if answer is None and nullable else answer

    def fold(self, outcomes: Mapping[str, Outcome]) -> float | None:
        """Return the value that outcomes of criteria come to; `None` without one."""
        criteria = [self.criteria[id] for id in outcomes]
        worths = [Worth(c.id, c.group, c.weight, *outcomes[c.id]) for c in criteria]
        asked = {worth.group for worth in worths}
        groups = {name: weight for name, weight in self._groups.items() if name in asked}
        values = [worth.value for worth in worths]
        try:
            return fold_values(
                values, shares=shares_of(worths, groups), combine=self._combine
            ).value
        except ArithmeticError:  # weights that judgekit did not write
            return None
