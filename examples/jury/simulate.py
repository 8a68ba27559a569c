"""Write the verdicts of three simulated judges and the labels of a simulated person.

The truth follows from the kind of each answer in the cases. The judges `fluent` and `quick` share
most of their errors; `careful` errs seldom and alone. No model and no person judged anything.
Run it again after a change: python simulate.py
"""

import json
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent
CASES = FOLDER.parent / "support_assistant" / "cases.jsonl"
GOOD = {"good", "conflict", "other_language"}
ERRORS = {
    "careful": {"careful": 0.1},
    "fluent": {"shared": 0.25, "fluent": 0.1},
    "quick": {"shared": 0.25, "quick": 0.15},
}
"""Judge -> the draws that make it err, each with its rate. Judges share the errors of a draw."""


def draw(*names: str) -> float:
    """Return a number from 0 to 1 that depends on the names alone."""
    return int.from_bytes(sha256("/".join(names).encode()).digest()[:6], "big") / 2**48


def main() -> None:
    """Write a file for each judge, and the labels."""
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    truth = {case["id"]: case["metadata"]["kind"] in GOOD for case in cases}
    for judge, draws in ERRORS.items():
        lines = []
        for case, good in truth.items():
            value = good != any(draw(name, case) < rate for name, rate in draws.items())
            reason = f"Simulated: {judge} {'accepts' if value else 'rejects'} the answer."
            answers = {"solved": {"reason": reason, "value": value}}
            lines.append({"case": case, "rubric": "solved", "answers": answers})
        _write(f"{judge}.jsonl", lines)
    labels = [
        {"case": case, "metric": "solved", "labeller": "simulated", "values": {"solved": good}}
        for case, good in truth.items()
    ]
    _write("labels.jsonl", labels)


def _write(name: str, lines: list[dict]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
