from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.case import Case
from judgekit.runner.evaluation import evaluate_sync
from tests.analysis.comparison.marked import Marked

Make = Callable[..., Path]


@pytest.fixture
def run(tmp_path: Path) -> Make:
    """Make a run folder out of answers that say what they are worth."""

    def make(
        name: str,
        answers: Mapping[str, Any] | Sequence[Any],
        *,
        metrics: Sequence[Any] = (),
        inputs: Mapping[str, str] | None = None,
        given: Mapping[str, Mapping[str, Any]] | None = None,
        metadata: Callable[[str], Mapping[str, Any]] = lambda _: {},
        **options: Any,
    ) -> Path:
        if not isinstance(answers, Mapping):
            answers = {f"c{number:03}": answer for number, answer in enumerate(answers)}
        cases = [
            Case(
                id=id,
                input=(inputs or {}).get(id, f"question {id}"),
                output=json.dumps(answer),
                metadata=dict(metadata(id)),
                **(given or {}).get(id, {}),
            )
            for id, answer in answers.items()
        ]
        folder = tmp_path / name
        evaluate_sync(cases, list(metrics) or [Marked()], out=folder, **options)
        return folder

    return make
