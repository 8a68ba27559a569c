"""Render every hostile template in a process of bounded memory; print what came of each."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

from judgekit.core.case import Case
from judgekit.core.errors import JudgekitError
from judgekit.rubric import template
from judgekit.rubric.budget import MAX_STEPS, Rendering
from judgekit.rubric.load import load_rubric

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.hostile.conftest import SHOWN
from tests.hostile.corpus.bombs import bombs

CASE = Case(id="1", input="x" * 10_000, output="{{ 7 * 7 }}", reference=("x" * 2_000_000,))
FRONT = '---\nname: hostile\ncriteria:\n  a: {text: Is it right?, details: {why: "Why so?"}}\n---\n'
WHOLE = {
    "a long text many times",
    "a macro that calls itself twice",
    "doubling by join",
    "lists that hold themselves, compared",
    "literal text in a loop",
    "searching two million characters",
    "texts in a list",
}
"""Templates that spend a whole budget; what is not paid does not end with a tenth of it either."""


class Spent(Rendering):
    """A rendering that has spent nine tenths of its steps."""

    def __init__(self, **options):
        super().__init__(**options)
        self.steps = MAX_STEPS * 9 // 10


def entries():
    """Yield the name, body and expectation of every template of the corpus."""
    text = (Path(__file__).parent / "corpus" / "templates.txt").read_text("utf-8")
    found = re.findall(r"^##### (.+)\n((?s:.*?))\n##([>=]) (.*)$", text, re.MULTILINE)
    assert len(found) == text.count("\n##### ")
    for name, body, kind, words in found:
        yield name, body, kind, words
    for name, body, words in bombs():
        yield name, body, ">", words


def main(folder: Path) -> None:
    """Write, load and render each."""
    path = folder / "hostile.jinja"
    for name, body, kind, words in entries():
        path.write_text(
            FRONT + SHOWN + body.replace("MARK", str(folder / "mark")), encoding="utf-8"
        )
        template.Rendering = Rendering if name in WHOLE else Spent
        started = time.process_time()
        try:
            _, messages = load_rubric(path).render(CASE, mode="default")
            said, refused = "|".join(m.content for m in messages), False
        except JudgekitError as exc:
            said, refused = str(exc), True
        print(
            json.dumps(
                {
                    "name": name,
                    "kind": kind,
                    "words": words,
                    "said": said[:400],
                    "refused": refused,
                    "seconds": time.process_time() - started,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
