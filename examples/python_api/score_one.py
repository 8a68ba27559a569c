"""Score one answer and print the reasons.

python examples/python_api/score_one.py
"""

from pathlib import Path

import judgekit

here = Path(__file__).parent
tape = here.parents[1] / "cassettes" / "python_api.jsonl"

case = next(judgekit.load_cases(here / "answers_v2.jsonl"))
judge = judgekit.ManualJudge("example", here / "verdicts.jsonl")
with judgekit.Cassette.open(tape, judge) as recorded:
    metric = judgekit.RubricMetric(here / "rubrics/kitchen_answer.jinja", judge=recorded, name="v2")
    score = judgekit.score_sync(case, metric)

if score.type == "failure":
    raise SystemExit(f"no score: {score.kind}: {score.message}")
print(f"{case.id}: {score.shown} by {score.source}")
for part in score.parts:
    print(f"  {part.id}: {part.answer} (weight {part.weight:.1f}) {part.reason}")
