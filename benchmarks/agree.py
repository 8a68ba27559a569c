"""The time of `judgekit agree`, beside the time of reading the run folder.

    python benchmarks/agree.py [cases]

A run of 10,000 cases with answers of 200 words, judged by a rubric of five criteria with reasons
and quotes: two of yes/no, two of three levels, one of numbers. One person labelled every case on 1,
3 or 5 criteria (10,000 to 50,000 labels), or three people every third case; with and without
clusters, groups, systems and the alternative test. CPU seconds of this process, the least of three;
the bar is 3 times the reading, for up to 30,000 labels and no further options.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.page import Writer
from judgekit import agree, evaluate_sync
from judgekit.core.case import Case
from judgekit.core.judgment import Judgment, Quote
from judgekit.core.score import Part, Score
from judgekit.report.report import Report

BAR = 3.0
LEVELS = ("bad", "fair", "good")
KINDS = {"polite": "yes", "safe": "yes", "tone": "level", "depth": "level", "share": "number"}
ALL, SOME = tuple(KINDS), ("polite", "tone", "share")
SETTINGS = [
    ("1 criterion", ("tone",), ("ann",), 1),
    ("3 criteria", SOME, ("ann",), 1),
    ("5 criteria", ALL, ("ann",), 1),
    ("3 criteria, 3 people", SOME, ("ann", "bob", "cyd"), 3),
]
"""Name, criteria, people, and every which case has labels."""


class WrittenMetric:
    """Scores with answers, reasons and quotes of random words."""

    name = "quality"
    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.writer = Writer()
        self.answers: dict[str, dict[str, Any]] = {}

    async def score(self, case: Case) -> Score:
        own = self.answers[case.id] = {
            name: answer(self.writer, kind) for name, kind in KINDS.items()
        }
        quote = " ".join((case.output or "").split()[9:17])
        parts = tuple(
            Part(id=name, value=LEVELS.index(value) / 2 if isinstance(value, str) else float(value),
                 weight=0.2, answer=value, reason=self.writer.words(22),
                 quotes=(Quote(text=quote, field="output"),))
            for name, value in own.items()
        )  # fmt: skip
        return Score(value=0.5, parts=parts, source="judge", method="bench/judge by bench@1",
                     judgments=(Judgment(request_key="0" * 64),))  # fmt: skip


def answer(writer: Writer, kind: str) -> Any:
    share = writer.share()
    return {"yes": share > 0.6, "level": LEVELS[min(2, int(share * 3))], "number": share}[kind]


def label(writer: Writer, judged: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the answers of a person, three in four of them the judge's."""
    return {
        name: judged[name] if writer.share() > 0.58 else answer(writer, KINDS[name])
        for name in names
    }


def least(what: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        start = time.process_time()
        what()
        seconds.append(time.process_time() - start)
    return min(seconds)


def write(folder: Path, count: int) -> None:
    """Write the run and the labels; nothing of them stays in memory."""
    metric = WrittenMetric()
    cases = [
        Case(id=f"case-{n:05}", input=metric.writer.words(40), output=metric.writer.words(200),
             metadata={"user": f"u{n % 500}", "prompt": f"p{n // 10}", "bot": f"m{n % 10}"})
        for n in range(count)
    ]  # fmt: skip
    evaluate_sync(cases, [metric], out=folder / "run")
    for labels, kinds, people, every in SETTINGS:
        rows = [
            {"case": case.id, "metric": "quality", "labeller": who,
             "values": label(metric.writer, metric.answers[case.id], kinds)}
            for case in cases[::every] for who in people
        ]  # fmt: skip
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{labels}.jsonl").write_text(text, "utf-8")


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, count)

        def reading() -> None:
            for _ in Report.read(folder / "run").results:
                pass

        run = folder / "run"
        agree(run, folder / "1 criterion.jsonl", write=False)  # loads numpy
        read = least(reading)
        print(f"{count:,} cases; reading the run folder: {read:.2f} s of CPU")
        more = {"cluster": "user", "group": "prompt", "system": "bot", "alt_test": 0.15}
        worst = 0.0
        for labels, kinds, *_ in SETTINGS:
            for what, options in (("", {}), (", all options", more)):
                path = folder / f"{labels}.jsonl"
                took = least(lambda: agree(run, path, write=False, **options))  # noqa: B023
                print(f"{labels}{what}: {took:.2f} s, {took / read:.2f} x reading", flush=True)
                if not options and len(kinds) <= 3:
                    worst = max(worst, took / read)
    return int(worst > BAR)


if __name__ == "__main__":
    sys.exit(main())
