"""The labels of people for a run, by case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from judgekit.core.errors import ConfigError
from judgekit.core.input_file import sha256_of
from judgekit.datasets.labels import Label, read_labels
from judgekit.report.corrected import By

Combined = Literal["mean", "majority"]
"""How the labels of several people become one."""


@dataclass(frozen=True)
class RunLabels:
    """The labels for a run; each names a metric of the run, or its rubric."""

    path: Path
    cases: Mapping[str, Sequence[Label]]
    """Case -> its labels."""
    digest: str
    """Of the file."""
    by: By = "ppi"
    combine: Combined = "mean"

    @classmethod
    def read(cls, path: Path, *, by: By = "ppi", combine: Combined = "mean") -> RunLabels:
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
        """Return the labels that name the output they are about."""
        named = {
            case: [label for label in own if label.output is not None]
            for case, own in self.cases.items()
        }
        return replace(self, cases=named)
