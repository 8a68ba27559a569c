"""Ask about the criteria of cases with autorubric: `with_autorubric.py FOLDER BASE CALLS`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from autorubric import Criterion, LLMConfig, Rubric  # type: ignore[import-not-found]
from autorubric.graders import CriterionGrader  # type: ignore[import-not-found]


async def main(folder: Path, base: str, calls: str) -> None:
    """Grade every case of a folder; `calls` is `per_criterion` or `per_item`."""
    config = LLMConfig(model="openai/bench", api_base=base, api_key="none", cache_enabled=False)
    grader = CriterionGrader(judge_model_config=config, llm_calls=calls)
    for line in (folder / "cases.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        rubric = Rubric(
            [
                Criterion(name=f"c{n}", weight=1.0, requirement=item["criterion"])
                for n, item in enumerate(case["expected"]["criteria"])
            ]
        )
        report = await rubric.grade(to_grade=case["output"], grader=grader, query=case["input"])
        assert report.score == 1.0, report


asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
