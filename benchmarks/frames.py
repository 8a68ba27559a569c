"""How long data frames of 100,000 results take, in and out.

python benchmarks/frames.py [RESULTS]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import judgekit
from judgekit.core.score import Part, Score


class Told:
    """A metric with two criteria that fails every fiftieth case."""

    name = "told"
    range = (0.0, 1.0)
    higher_is_better = True

    async def score(self, case):
        number = int(case.id[1:])
        if number % 50 == 0:
            raise judgekit.CaseError("needs an output")
        parts = (
            Part(id="first", value=0.5, answer="yes", reason="fine " * 10, weight=0.5),
            Part(id="second", value=number % 10 / 10, reason="so so", weight=0.5),
        )
        return Score(value=number % 10 / 10, reason="because " * 10, parts=parts, source="judge")


def rows(count):
    for n in range(count):
        yield {
            "id": f"c{n}",
            "input": "question " * 10,
            "output": "answer " * 20,
            "metadata": {"topic": f"t{n % 5}"},
        }


def took(what, work):
    began, busy = time.perf_counter(), time.process_time()
    made = work()
    seconds, cpu = time.perf_counter() - began, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:<42}{seconds:6.2f} s, {cpu:5.2f} of the processor; peak so far {peak:5.0f} MB")
    return made


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    import datasets
    import pandas
    import polars

    print(f"{count:,} results; pandas {pandas.__version__}, polars {polars.__version__}, "
          f"datasets {datasets.__version__}")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        cases = judgekit.load_cases(rows(count))
        judgekit.evaluate_sync(cases, [Told()], thresholds={"told": 0.5}, out=run)
        report = judgekit.Report.read(run)
        took("the results read, nothing made of them", lambda: sum(1 for _ in report.results))
        took("report.to_pandas()", report.to_pandas)
        took("report.to_pandas(per='criterion')", lambda: report.to_pandas(per="criterion"))
        took("report.to_pandas(wide=True)", lambda: report.to_pandas(wide=True))
        took("report.to_polars()", report.to_polars)
        took("report.to_hf()", report.to_hf)
        took("the report in a notebook", report._repr_html_)
        frame = took(
            "to_pandas(cases)", lambda: judgekit.datasets.to_pandas(s.case for s in report.results)
        )
        took("from_pandas(frame)", lambda: sum(1 for _ in judgekit.datasets.from_pandas(frame)))
        table = polars.from_pandas(frame.drop(columns="metadata"))
        took(
            "from_polars(frame.lazy())",
            lambda: sum(1 for _ in judgekit.datasets.from_polars(table.lazy())),
        )
        data = datasets.Dataset(table.to_arrow())
        took("from_hf(data)", lambda: sum(1 for _ in judgekit.datasets.from_hf(data)))
        stream = data.to_iterable_dataset()
        took("from_hf(stream)", lambda: sum(1 for _ in judgekit.datasets.from_hf(stream)))


if __name__ == "__main__":
    main()
