"""Human labels for a run, and their values by the rubric in its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from judgekit.core.errors import ConfigError
from judgekit.core.input_file import sha256_of
from judgekit.core.suggest import suggest
from judgekit.datasets.labels import Label, read_answer, read_labels
from judgekit.report.corrected import By
from judgekit.report.manifest import (
    dicts_in,
    entries_in,
    mapping,
    metric_entry,
    rubric_entry,
)
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import DEFAULT, Fold, Outcome, way_of

CaseLabelRule = Literal["mean", "majority"]
"""How to combine the labels of several people."""
_OF_CRITERION = ("weight", "reverse", "levels")
"""Keys of a criterion in a manifest that do not belong to its question."""


@dataclass(frozen=True)
class RunLabels:
    """The labels for a run; each refers to a metric of the run or to its rubric."""

    path: Path
    cases: Mapping[str, Sequence[Label]]
    """Case -> its labels."""
    digest: str
    """Digest of the file."""
    by: By = "ppi"
    combine: CaseLabelRule = "mean"

    @classmethod
    def read(cls, path: Path, *, by: By = "ppi", combine: CaseLabelRule = "mean") -> RunLabels:
        """Read a file of labels.

        Raises:
            ConfigError: it cannot be read, it has no label, only some labels of a metric have a
                probability, or a case has two probabilities.
        """
        cases: dict[str, list[Label]] = {}
        first: dict[str, Label] = {}
        chances: dict[tuple[str, str], float | None] = {}
        for label in read_labels(path):
            cases.setdefault(label.case, []).append(label)
            case, metric, own = label.case, label.metric, label.probability
            other = first.setdefault(metric, label)
            if (other.probability is None) != (own is None):
                with_one, without = (other.case, case) if own is None else (case, other.case)
                why = f"{metric}: case {with_one!r} has a probability and {without!r} has none; "
                why += "add the probabilities of the sampling plan to all labels, or remove them"
                raise ConfigError(why, where=str(path))
            if own is not None and (chance := chances.setdefault((metric, case), own)) != own:
                why = f"{metric}: case {case!r} has the probabilities {chance:g} and {own:g}; "
                raise ConfigError(f"{why}give it that of the sampling plan", where=str(path))
        if not cases:
            raise ConfigError("the file has no labels", where=str(path))
        return cls(path, cases, sha256_of(path), by, combine)

    def __iter__(self) -> Iterator[Label]:
        return (label for own in self.cases.values() for label in own)

    def described(self) -> dict[str, str]:
        """Return the file and its digest, for a manifest."""
        return {"file": self.path.name, "digest": self.digest}

    def of_outputs(self) -> RunLabels:
        """Return the labels with the digest of their output."""
        named = {
            case: [label for label in own if label.output is not None]
            for case, own in self.cases.items()
        }
        return replace(self, cases=named)

    def named_for(self, manifest: Mapping[str, Any]) -> RunLabels:
        """Return the labels with the criteria of the run's rubrics, which may be newer."""
        renames = label_renames(manifest)
        cases = {
            case: [renamed(label, renames.get(label.metric, {})) for label in own]
            for case, own in self.cases.items()
        }
        return replace(self, cases=cases)


def label_renames(manifest: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
    """Return metric or rubric of a run -> the present names of criteria of earlier versions."""
    renames: dict[str, dict[str, str]] = {}
    rubrics = list(dicts_in(manifest.get("rubrics")))
    names = [(str(one.get("name")), *map(str, entries_in(one.get("metrics")))) for one in rubrics]
    for one, own in zip(rubrics, names, strict=True):
        for name in own:
            renames.setdefault(name, {}).update(mapping(one.get("renamed")))
    for one, own in zip(rubrics, names, strict=True):
        # The run may also use the older version, which still has the criterion.
        for criterion, name in product(dicts_in(one.get("criteria")), own):
            renames[name].pop(str(criterion.get("id")), None)
    return renames


def renames_of(manifest: Mapping[str, Any], metric: str) -> Mapping[str, str]:
    """Return old name -> name of the criteria that the rubric of a metric renames."""
    return mapping(rubric_entry(manifest, metric).get("renamed"))


def renamed(label: Label, names: Mapping[str, str]) -> Label:
    """Return a label with the present name of its criterion."""
    new = names.get(label.criterion or "")
    return label if not isinstance(new, str) else label._replace(criterion=new)


class DescribedRubric:
    """The rubric of a metric in a manifest, which is untrusted."""

    def __init__(self, manifest: Mapping[str, Any], metric: str) -> None:
        one = rubric_entry(manifest, metric)
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
        self._combine: Any = one.get("combine", DEFAULT)
        chosen = mapping(metric_entry(manifest, metric).get("options")).get("mode")
        groups = mapping(mapping(one.get("modes")).get(str(chosen or one.get("default_mode"))))
        weights = {k: float(v) for k, v in groups.items() if isinstance(v, (int, float))}
        self._fold = Fold([criterion.weighted for criterion in self.criteria.values()], weights)

    def outcome(self, label: Label) -> Outcome | None:
        """Return the outcome of a person's answer to a criterion; `None` without an answer.

        A person may abstain if a judge may.

        Raises:
            ValueError: it is not a valid answer to the criterion; the message lists the valid ones.
        """
        criterion = self.criteria.get(label.criterion or "")
        if criterion is None:
            # Manifests of older runs do not have the values of words.
            number = isinstance(label.value, (int, float)) and 0 <= label.value <= 1
            return ("scored", float(label.value or 0)) if number else None
        answer = read_answer(label.value, criterion.question)
        if answer is None:
            return ("abstained", None) if criterion.question.nullable else None
        if criterion.question.kind == "checklist":  # a share of its items
            return "scored", 1 - float(answer) if criterion.reverse else float(answer)
        try:
            return criterion.outcome(answer, ())
        except (KeyError, ValueError, ZeroDivisionError):  # a manifest that judgekit did not write
            return None

    def value(self, label: Label) -> float | bool | None:
        """Return the value of a label: for a criterion on 0..1, or for the metric.

        `None` if there is no value; yes or no for a metric is its verdict.

        Raises:
            ValueError: it is not a valid answer to the criterion, or a word for a metric.
        """
        if label.criterion is not None:
            outcome = self.outcome(label)
            return None if outcome is None else outcome[1]
        answer = read_answer(label.value, None)
        if isinstance(answer, str):
            raise ValueError(f"{answer!r} is no number, pass or fail")
        return answer

    def fold(self, outcomes: Mapping[str, Outcome]) -> float | None:
        """Return the combined value of the outcomes of criteria; `None` if there is none."""
        if way_of(self._combine) is None:
            return None
        try:
            asked = [outcomes.get(id, ("not_applicable", None)) for id in self.criteria]
            return self._fold(asked, combine=self._combine).value
        except ArithmeticError:  # weights that judgekit did not write
            return None


def check_word(name: str, word: object, known: Sequence[str]) -> None:
    """Check the value of an option.

    Raises:
        ConfigError: it is not a known word.
    """
    if word not in known:
        words = f"{', '.join(known[:-1])} or {known[-1]}"
        raise ConfigError(f"{name} must be {words}, not {word!r}{suggest(word, known)}")
