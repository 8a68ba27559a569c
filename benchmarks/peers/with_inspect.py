"""Ask about the criteria of cases with Inspect: `python with_inspect.py FOLDER BASE`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

folder, base = Path(sys.argv[1]), sys.argv[2]
os.environ |= {"OPENAI_BASE_URL": base, "OPENAI_API_KEY": "none", "INSPECT_DISPLAY": "none"}

from inspect_ai import Task, eval  # type: ignore[import-not-found]  # noqa: E402
from inspect_ai.dataset import Sample  # type: ignore[import-not-found]  # noqa: E402
from inspect_ai.model import get_model  # type: ignore[import-not-found]  # noqa: E402
from inspect_ai.scorer import model_graded_qa  # type: ignore[import-not-found]  # noqa: E402
from inspect_ai.solver import Generate, TaskState, solver  # type: ignore[import-not-found]  # noqa: E402


@solver
def given() -> Any:
    """Take the answer of the case instead of asking a model for one."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output.completion = state.metadata["given"]
        return state

    return solve


rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
samples = [
    Sample(input=row["input"], target=item["criterion"], metadata={"given": row["output"]})
    for row in rows
    for item in row["expected"]["criteria"]
]
grader = get_model("openai/bench", responses_api=False)
task = Task(dataset=samples, solver=given(), scorer=model_graded_qa(model=grader))
(log,) = eval(task, model=grader, log_dir=str(folder / "logs"))
assert log.status == "success", log.error
assert log.results is not None
assert log.results.scores[0].metrics["accuracy"].value == 1.0
