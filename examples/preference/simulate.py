"""Write verdicts.jsonl: a simulated judge that prefers the first answer where the choice is close.

The choices and reasons in opinions.json are those of the author of this example. No model judged
anything. Run it again after a change: python simulate.py
"""

import json
from pathlib import Path

from judgekit.core.case import output_digest

FOLDER = Path(__file__).parent


def verdict(opinion: dict, first: str) -> dict:
    """Return the answer of the simulated judge when it sees this field of the case as Answer A."""
    names = {first: "Answer A", "baseline" if first == "output" else "output": "Answer B"}
    better = first if opinion["close"] else opinion["better"]
    value = {"Answer A": "A", "Answer B": "B"}.get(names.get(better, ""), "tie")
    return {"preference": {"reason": opinion["reason"].format(**names), "value": value}}


def main() -> None:
    """Write a line for each case and order; `output_digest` is that of the answer shown first."""
    opinions = json.loads((FOLDER / "opinions.json").read_text("utf-8"))
    cases = map(json.loads, (FOLDER / "cases.jsonl").read_text("utf-8").splitlines())
    lines = {}
    for case in cases:
        for first in ("output", "baseline"):
            entry = {
                "case": case["id"],
                "rubric": "preference",
                "output_digest": output_digest(case[first]),
                "answers": verdict(opinions[case["id"]], first),
            }
            # Identical answers are one request, which has one verdict.
            lines.setdefault((case["id"], entry["output_digest"]), entry)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines.values())
    (FOLDER / "verdicts.jsonl").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
