"""Compare two system prompts case by case, with the same questions and the same judge.

python examples/python_api/compare_prompts.py
"""

from math import sqrt
from pathlib import Path
from statistics import mean, stdev

import judgekit

here = Path(__file__).parent
tape = here.parents[1] / "cassettes" / "python_api.jsonl"
judge = judgekit.ManualJudge("example", here / "verdicts.jsonl")


def scores(version: str) -> dict[str, float]:
    """Return the value of every answer to one prompt."""
    cases = judgekit.load_cases(here / f"answers_{version}.jsonl")
    with judgekit.Cassette.open(tape, judge) as recorded:
        rubric = here / "rubrics/kitchen_answer.jinja"
        metric = judgekit.RubricMetric(rubric, judge=recorded, name=version)
        report = judgekit.evaluate_sync(cases, [metric])
    if report.figures.incomplete:  # a missing score is not a zero, so do not compare
        raise SystemExit(f"{version}: {'; '.join(report.figures.incomplete)}")
    values = {}
    for case, rows in report.results:
        result = rows[0].result
        if result.type == "score" and result.value is not None:
            values[case.id] = result.value
    return values


old, new = scores("v1"), scores("v2")
differences = {case: new[case] - old[case] for case in old if case in new}
average = mean(differences.values())
error = stdev(differences.values()) / sqrt(len(differences))

print(f"v1 {mean(old.values()):.2f}, v2 {mean(new.values()):.2f}")
print(f"difference {average:+.2f} (standard error {error:.2f}) over {len(differences)} cases")
for case, difference in sorted(differences.items(), key=lambda item: item[1]):
    print(f"  {difference:+.2f}  {case}")
