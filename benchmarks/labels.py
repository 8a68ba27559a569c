"""Time of the commands on labels and criteria over many rows, against reading the run folder.

    python benchmarks/labels.py [rows]

Every row has an answer of 120 words and five criteria with a reason of 20 words each. A case
in twenty is labelled by two people. CPU time, medians of five.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from judgekit.analysis.correction.correct import correct_means
from judgekit.analysis.labels.check import check_labels
from judgekit.analysis.labels.importing import import_labels
from judgekit.analysis.labels.plan import plan_labels
from judgekit.analysis.rubric_stats.measure import rubric_stats
from judgekit.report.report import Report
from tests.analysis.labels.made import made_run

CRITERIA = ("polite", "level", "share", "short", "exact")


def main(rows: int) -> None:
    draw = random.Random(1)
    values = [{name: float(draw.random() < 0.5) for name in CRITERIA} for _ in range(rows)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reason = "because of what it says " * 4
        rows_of_run = [{"values": one, "reason": reason} for one in values]
        run = made_run(folder / "run", rows_of_run, text=" The answer says" * 40)
        plan = plan_labels(run, rows // 20)
        (folder / "plan.jsonl").write_text("".join(json.dumps(p) + "\n" for p in plan.lines()))
        people = ["case,labeller,polite,share\n"]
        people += [f"{case},{who},yes,{draw.randrange(2)}\n" for case in plan.chosen
                   for who in ("ann", "bob")]  # fmt: skip
        (folder / "people.csv").write_text("".join(people))
        imported = import_labels(folder / "people.csv", plan=folder / "plan.jsonl")
        labels = folder / "labels.jsonl"
        labels.write_text("".join(f"{line}\n" for line in imported.lines()))
        actions: dict[str, Callable[[], object]] = {
            "read the run folder": lambda: sum(1 for _ in Report.read(run).results),
            "labels plan": lambda: list(plan_labels(run, rows // 20).lines()),
            "labels import --run --plan": lambda: list(
                import_labels(folder / "people.csv", run=run, plan=folder / "plan.jsonl").lines()
            ),
            "labels check": lambda: check_labels(labels, run, plan=folder / "plan.jsonl").text(),
            "rubric stats": lambda: rubric_stats(run).text(),
            "rubric stats LABELS": lambda: rubric_stats(run, labels).text(),
            "correct": lambda: correct_means(run, labels).text(),
        }
        base = 0.0
        print(f"{rows:,} rows                CPU s    ratio")
        for what, action in actions.items():
            seconds = statistics.median(_time(action) for _ in range(5))
            base = base or seconds
            print(f"{what:26} {seconds:7.2f}  {seconds / base:5.2f}")


def _time(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
