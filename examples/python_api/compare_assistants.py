"""Compare two assistants side by side, each pair in both orders.

A judge may prefer the first or the second place, so a win counts only if the judge gives
it in both orders. Otherwise the pair is undecided.

python examples/python_api/compare_assistants.py
"""

from collections import Counter
from pathlib import Path

import judgekit

here = Path(__file__).parent
tape = here.parents[1] / "cassettes" / "python_api.jsonl"
names = {"saffron": "answers_v1.jsonl", "thyme": "answers_v2.jsonl"}
answers = {
    name: {case.id: case for case in judgekit.load_cases(here / file)}
    for name, file in names.items()
}


def pairs():
    """Yield every question twice: saffron's answer first, then thyme's first."""
    for id, one in answers["saffron"].items():
        other = answers["thyme"][id]
        yield judgekit.Case(id=id, input=one.input, baseline=one.output, output=other.output)
        yield judgekit.Case(
            id=f"{id}/swapped", input=one.input, baseline=other.output, output=one.output
        )


judge = judgekit.ManualJudge("example", here / "verdicts.jsonl")
with judgekit.Cassette.open(tape, judge) as recorded:
    rubric = here / "rubrics/better_answer.jinja"
    metric = judgekit.RubricMetric(rubric, judge=recorded, name="better")
    report = judgekit.evaluate_sync(pairs(), [metric])
if report.figures.incomplete:
    raise SystemExit("; ".join(report.figures.incomplete))

said = {
    case.id: rows[0].result.parts[0].answer
    for case, rows in report.results
    if rows[0].result.type == "score"
}
verdicts = {}
for id in answers["saffron"]:
    forward, backward = said[id], said[f"{id}/swapped"]
    if (forward, backward) == ("first", "second"):
        verdicts[id] = "saffron"
    elif (forward, backward) == ("second", "first"):
        verdicts[id] = "thyme"
    else:
        verdicts[id] = "tie" if forward == backward == "tie" else "undecided"

for name, count in Counter(verdicts.values()).most_common():
    print(f"{name}: {count} of {len(verdicts)}")
for id, name in verdicts.items():
    if name == "undecided":
        print(f"  {id}: the judge goes by the order of the answers")
