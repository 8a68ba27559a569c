"""Four judges that are wrong in a known way, and what the commands print about them.

    python benchmarks/stories.py

Each story has a truth, a judge with one flaw, and labels of a random sample. The output is to be
read as a sceptical statistician would: no sentence may claim more than was measured.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import judgekit
from judgekit.report.display import summary_text
from judgekit.report.report import Report
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import build_suite

CASES = 240
_CRITERIA = {"ok": {"text": "Is the answer right?", "kind": "boolean"}}


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def _cases(folder: Path, **more: str) -> None:
    rows = [{"id": f"c{n}", "input": f"question {n}", "output": f"answer {n} " + "x" * (n % 40),
             **{name: f"{text} {n} " + "y" * (n * 7 % 40) for name, text in more.items()}}
            for n in range(CASES)]  # fmt: skip
    _write(folder / "cases.jsonl", rows)


def _verdicts(path: Path, rubric: str, answers: list[Any]) -> None:
    _write(path, [{"case": f"c{n}", "rubric": rubric, "answers": {"ok": answer}}
                  for n, answer in enumerate(answers)])  # fmt: skip


def _labels(folder: Path, truth: list[bool], chosen: list[int], *, errs: float, seed: int) -> None:
    draw = random.Random(seed)
    _write(folder / "labels.jsonl",
           [{"case": f"c{n}", "metric": "right", "labeller": "ann",
             "values": {"ok": truth[n] if draw.random() >= errs else not truth[n]}}
            for n in chosen])  # fmt: skip


def _run(folder: Path, name: str, **suite: Any) -> Report:
    data = {"cases": "cases.jsonl", "record": "new_episodes", **suite}
    return run_suite_sync(build_suite(data, base=folder), out=folder / name)


def biased_judge(folder: Path) -> Iterator[str]:
    """Half of the answers are right; the judge takes 40 % of the wrong ones for right."""
    draw = random.Random(35)
    truth = [draw.random() < 0.5 for _ in range(CASES)]
    _cases(folder)
    judged = [t or draw.random() < 0.4 for t in truth]
    _verdicts(folder / "v.jsonl", "right", judged)
    chosen = draw.sample(range(CASES), 80)
    _labels(folder, truth, chosen, errs=0.0, seed=1)
    gates = [{"mean": 0.65}, {"mean": 0.65, "corrected": True}]
    metrics = {"right": {"criteria": _CRITERIA, "gate": gates}}
    report = _run(folder, "run", judge={"recorded": "v.jsonl"}, labels="labels.jsonl",
                  metrics=metrics)  # fmt: skip
    yield summary_text(report)
    yield judgekit.correct_means(folder / "run", folder / "labels.jsonl").text()
    # The same judge, with labels of what it let pass.
    passed = [n for n in range(CASES) if judged[n]][:80]
    _labels(folder, truth, passed, errs=0.0, seed=1)
    yield judgekit.correct_means(folder / "run", folder / "labels.jsonl").text()


def overconfident_jury(folder: Path) -> Iterator[str]:
    """Three judges are right in four of five cases, and mostly wrong about the same ones."""
    draw = random.Random(36)
    truth = [draw.random() < 0.5 for _ in range(CASES)]
    hard = [draw.random() < 0.18 for _ in range(CASES)]
    _cases(folder)
    names = ("one", "two", "three")
    for name in names:
        answers = [t != (h or draw.random() < 0.03) for t, h in zip(truth, hard, strict=True)]
        _verdicts(folder / f"{name}.jsonl", "right", answers)
    _labels(folder, truth, draw.sample(range(CASES), 100), errs=0.05, seed=2)
    metrics = {"right": {"criteria": _CRITERIA, "jury": list(names)}}
    judges = {name: {"recorded": f"{name}.jsonl"} for name in names}
    yield summary_text(_run(folder, "run", judges=judges, metrics=metrics))
    yield judgekit.agree(folder / "run", folder / "labels.jsonl").text()


def position_bias(folder: Path) -> Iterator[str]:
    """The judge takes the first answer in half of the cases, and the better one otherwise."""
    draw = random.Random(37)
    _cases(folder, baseline="another answer")
    rows = []
    for n in range(CASES):
        better, biased = "AB"[draw.random() < 0.45], draw.random() < 0.5
        # A is the answer shown first, which is the baseline in the swapped order.
        for order, other in (("written", better), ("swapped", "BA"[better == "B"])):
            answer = {"preference": "A" if biased else other}
            rows.append({"case": f"c{n}", "rubric": "preference", "order": order,
                         "answers": answer})  # fmt: skip
    _write(folder / "v.jsonl", rows)
    metrics = {"better": {"pairwise": "preference", "gate": {"mean": 0.5}}}
    yield summary_text(_run(folder, "run", judge={"recorded": "v.jsonl"}, metrics=metrics))


def drifted_judge(folder: Path) -> Iterator[str]:
    """The answers stay the same, and a new version of the judge is stricter."""
    draw = random.Random(38)
    old = [draw.random() < 0.8 for _ in range(CASES)]
    _cases(folder)
    _verdicts(folder / "old.jsonl", "right", old)
    _verdicts(folder / "new.jsonl", "right", [o and draw.random() < 0.85 for o in old])
    metrics = {"right": {"criteria": _CRITERIA, "threshold": 1}}
    for out, name in (("old", "old"), ("old-copy", "old"), ("new", "new")):
        _run(folder, out, judge={"recorded": f"{name}.jsonl"}, metrics=metrics)
    yield judgekit.compare(folder / "old", folder / "new").text(cases=1)
    yield judgekit.compare(folder / "old", folder / "old-copy", allow_same=True).text(cases=1)


STORIES: Mapping[str, Callable[[Path], Iterator[str]]] = {
    "biased_judge": biased_judge,
    "overconfident_jury": overconfident_jury,
    "position_bias": position_bias,
    "drifted_judge": drifted_judge,
}


def told(name: str, folder: Path) -> str:
    """Return what the commands print about a story; the folder is replaced by its name."""
    text = "\n".join(STORIES[name](folder))
    return text.replace(str(folder), "folder")


def main() -> None:
    """Print all stories."""
    for name in STORIES:
        with tempfile.TemporaryDirectory() as folder:
            print(f"# {name}\n\n{told(name, Path(folder))}")


if __name__ == "__main__":
    main()
