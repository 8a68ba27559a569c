from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.score import Part, Score
from judgekit.report.folder import ResultsWriter, read_json, read_results


def folder_of(tmp_path: Path, row: dict[str, Any]) -> Path:
    writer = ResultsWriter(tmp_path / "run", manifest={})
    writer.write(b'{"id":"a","output":"x"}', [json.dumps(row, separators=(",", ":")).encode()])
    writer.close()
    return tmp_path / "run"


def row(**part: Any) -> dict[str, Any]:
    score = Score(value=0.5, method="m", reason="r", parts=(Part(id="p", value=0.5),))
    result = json.loads(score.model_dump_json())
    result["parts"][0] |= part
    return {"case": "a", "metric": "m", "result": result}


def test_a_row_as_it_was_written(tmp_path: Path) -> None:
    given = {"labels": ["x", "y"], "probabilities": [0.25, 0.75], "source": "logprobs"}
    (scored,) = read_results(folder_of(tmp_path, row(distribution=given)))

    assert scored.rows[0].metric == "m"


@pytest.mark.parametrize(
    "changed",
    [
        {**row(), "case": "b"},
        row(value=1e38),
        row(distribution={"labels": ["x"], "probabilities": [0.5, 0.5], "source": "logprobs"}),
        row(
            distribution={"labels": ["x", "y"], "probabilities": [5e-324, 0], "source": "logprobs"}
        ),
        row(distribution={"labels": ["x", "y"], "probabilities": [-1, 2], "source": "logprobs"}),
    ],
)
def test_changed_rows_are_refused_with_their_line(tmp_path: Path, changed: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"results\.jsonl:3: not a result judgekit wrote"):
        list(read_results(folder_of(tmp_path, changed)))


def test_half_a_character_in_a_report_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text('{"a": "\\ud800"}')
    with pytest.raises(ConfigError, match="cannot be read"):
        read_json(path)
    path.write_text('{"a": "\\ud83d\\ude00"}')
    assert read_json(path) == {"a": "\U0001f600"}
