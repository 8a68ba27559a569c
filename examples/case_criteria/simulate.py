"""Write the tape of this example: simulated verdicts, which no model and no person gave.

python examples/case_criteria/simulate.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from judgekit import FakeJudge, load_cases, load_suite
from judgekit.core.request import Request
from judgekit.metrics.criteria.item import leaves_of, read_items
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync

HERE = Path(__file__).parent
MODEL = "manual/simulated"
VERDICTS: dict[str, list[Any]] = json.loads((HERE / "verdicts.json").read_text("utf-8"))
"""Case -> for each criterion: verdict, reason, and, if it differs, the verdict in a group."""


def answer(request: Request) -> dict[str, Any]:
    """Return the simulated answers to the criteria of a request."""
    case, _, span = request.about.case.rpartition("/")
    numbers, verdicts = NUMBERS[case], VERDICTS[case]
    if request.form.questions[0].id == "met":  # the rubric for a single yes/no criterion
        start = int(span) - 1
    else:
        start = numbers.index(span.partition("..")[0])
    grouped = len(request.form.questions) > 1
    answers = {}
    for place, question in enumerate(request.form.questions, start=start):
        verdict, reason, *other = verdicts[place]
        value = other[0] if grouped and other else verdict
        answers[question.id] = {"reason": f"Simulated: {reason}", "quotes": [], "value": value}
    return answers


NUMBERS = {
    case.id: [leaf.number for leaf in leaves_of(read_items(case))]
    for case in load_cases(HERE / "cases.jsonl", fields={
        "id": "prompt_id", "messages": "prompt", "output": "completion",
        "expected.criteria": "rubrics"})
}  # fmt: skip

if __name__ == "__main__":
    (HERE / "tape.jsonl").unlink(missing_ok=True)
    for suite in ("each.yaml", "suite.yaml"):
        judge = FakeJudge(answer, model=MODEL)
        run_suite_sync(load_suite(HERE / suite, Overrides(record="new_episodes"), judge=judge))
