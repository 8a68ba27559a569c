"""Files that a page expects its reader to have."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from judgekit.core.case import Case
from judgekit.core.score import Part, Score
from judgekit.runner.evaluation import evaluate_sync
from tests.docs.page import ROOT

WORTH = {"bad": 0.0, "fair": 0.5, "good": 1.0}


class Tone:
    name = "tone"
    range = (0.0, 1.0)
    higher_is_better = True

    async def score(self, case: Case) -> Score:
        level, polite = (case.output or "").split()
        parts = (
            Part(id="level", value=WORTH[level], answer=level, weight=0.5),
            Part(id="polite", value=1.0, answer=polite == "polite", weight=0.5),
        )
        return Score(value=WORTH[level], parts=parts, source="judge")


def two_runs(folder: Path) -> None:
    """Write runs/main and runs/pr: 36 cases by a metric `tone`, nine of them changed."""
    for name, shift in (("main", 0), ("pr", 1)):
        cases = [
            Case(
                id=f"c{n}",
                output=f"{list(WORTH)[(n + shift * (n % 4 == 2)) % 3]} polite",
                metadata={"user": n % 12, "topic": "refunds"},
            )
            for n in range(36)
        ]
        evaluate_sync(cases, [Tone()], thresholds={"tone": 0.5}, out=str(folder / "runs" / name))


def one_case(folder: Path) -> None:
    """Write cases.jsonl with one case."""
    row = {"id": "a", "input": "What is snow?", "output": "Frozen rain.", "reference": "Ice."}
    (folder / "cases.jsonl").write_text(json.dumps(row) + "\n", "utf-8")


def one_question(folder: Path) -> None:
    """Write cases.jsonl with an unanswered question."""
    row = {"id": "a", "input": "Where is the moon?", "reference": "Up.", "choices": ["Up.", "x"]}
    (folder / "cases.jsonl").write_text(json.dumps(row) + "\n", "utf-8")


def some_questions(folder: Path) -> None:
    """Write cases.jsonl with fourteen unanswered questions."""
    rows = [{"id": f"q{n}", "input": f"Is {n} a prime number?"} for n in range(14)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def the_repository(folder: Path) -> None:
    """Link the parts of the repository that its README names."""
    for name in ("examples", "cassettes"):
        (folder / name).symlink_to(ROOT / name)


def the_ci_example(folder: Path) -> None:
    """Copy examples/ci to desk."""
    left_out = shutil.ignore_patterns("runs", ".judgekit", "base")
    shutil.copytree(ROOT / "examples" / "ci", folder / "desk", ignore=left_out)


def a_model(folder: Path) -> None:
    """Write models/minilm: a sentence model of a few hundred bytes."""
    sys.path.insert(0, str(ROOT / "tests" / "embedders"))
    try:
        import tiny_onnx

        tiny_onnx.write_folder(folder / "models" / "minilm")
    finally:
        sys.path.pop(0)
        sys.modules.pop("tiny_onnx", None)


def something_to_share(folder: Path) -> None:
    """Write cases with addresses, and the folders for the scan."""
    for name in ("cassettes", "runs/support"):
        (folder / name).mkdir(parents=True)
    row = {"id": "c1", "input": "Ask help@shop.example or ann@shop.io."}
    (folder / "cases.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    (folder / "known.txt").write_text("# ours\nann@shop.io\n", "utf-8")


FILES: dict[str, Callable[[Path], None]] = {
    "README.md": the_repository,
    "docs/answers.md": one_question,
    "docs/ci.md": the_ci_example,
    "docs/agree.md": two_runs,
    "docs/compare.md": two_runs,
    "docs/cookbook/labels-from-two-people.md": two_runs,
    "docs/labels.md": two_runs,
    "docs/metrics/embedding.md": a_model,
    "docs/ranking.md": some_questions,
    "docs/redaction.md": something_to_share,
    "docs/rubrics.md": one_case,
    "docs/steering.md": the_repository,
    "docs/trust.md": the_repository,
    "examples/local_judge/README.md": the_repository,
    "examples/trusted_judge/README.md": the_repository,
}
TOY = "http://127.0.0.1:8642/v1"
"""The address of the toy server of examples/local_judge on the pages."""


@contextmanager
def toy_server(text: str) -> Iterator[dict[str, str]]:
    """Start the toy server if the page uses it; yield the replacement of its address."""
    if TOY not in text:
        yield {}
        return
    with subprocess.Popen(
        [sys.executable, str(ROOT / "examples/local_judge/toy_server.py"), "0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield {TOY: process.stdout.readline().split()[-1]}
        finally:
            process.terminate()
