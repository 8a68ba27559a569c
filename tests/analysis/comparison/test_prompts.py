"""What changed between two versions of a rubric, as the tapes of two runs hold it."""

from __future__ import annotations

import json
import re

import pytest

from judgekit.analysis.comparison.compare import compare
from judgekit.suite.run import replay_suite, run_suite
from judgekit.suite.suite import build_suite

RUBRIC = """\
---
name: tone
version: 1
criteria:
  polite: {{kind: boolean, text: "{text}"}}
---
{{% role system %}}{system} polite{{% endrole %}}
{{% role user %}}{{{{ case.output | fence("answer") }}}}{{% endrole %}}
"""


@pytest.fixture
def judged(tmp_path):
    """Run a suite that a person judges by a rubric of so many words."""

    def run(name, output, **words):
        folder = tmp_path / name
        (folder / "rubrics").mkdir(parents=True)
        (folder / "rubrics" / "tone.jinja").write_text(RUBRIC.format(**words), encoding="utf-8")
        rows = [{"id": f"c{n}", "output": f"{output} {n}"} for n in range(3)]
        (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        answers = [
            {"case": f"c{n}", "metric": "tone",
             "answers": {"polite": {"reason": "so", "value": n > 0}}}
            for n in range(3)
        ]  # fmt: skip
        (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)), "utf-8")
        data = {
            "cases": "cases.jsonl",
            "judge": {"model": "manual/ann", "answers": "answers.jsonl"},
            "rubrics": "rubrics",
            "cassette": "tape.jsonl",
            "record": "new_episodes",
            "metrics": {"tone": None},
        }
        suite = build_suite(data, base=folder)
        if suite.at_once:
            replay_suite(suite, out=folder / "run")
        else:
            import asyncio

            asyncio.run(run_suite(suite, out=folder / "run"))
        return folder / "run"

    return run


def test_the_words_that_changed_are_shown_and_those_of_the_case_are_not(judged):
    base = judged("a", "Hello there", text="Is it polite?", system="Judge what is")
    new = judged("b", "Goodbye now", text="Is it polite and short?", system="Judge what is")

    found = compare(base, new, across_rubrics=True)
    (prompt,) = found.prompts

    assert (prompt.metric, prompt.case) == ("tone", "c0")
    changed = [line for line in prompt.diff.splitlines()[2:] if line[0] in "+-"]
    assert changed == [
        "-[criterion polite] Is it polite? (boolean)",
        "+[criterion polite] Is it polite and short? (boolean)",
    ]
    assert "Is it polite and short?" in found.text()
    assert "Goodbye" not in prompt.diff


def test_a_run_without_a_tape_has_no_diff(judged):
    base = judged("a", "Hello", text="Polite?", system="One")
    new = judged("b", "Hello", text="Polite?", system="Two")
    (base / "tape.jsonl").unlink()

    assert compare(base, new, across_rubrics=True).prompts == ()


def test_a_damaged_tape_costs_only_the_diff(judged):
    base = judged("a", "Hello", text="Polite?", system="One")
    new = judged("b", "Hello", text="Polite?", system="Two")
    tape = new / "tape.jsonl"
    tape.write_bytes(tape.read_bytes().replace(b"Two polite", b"Ten polite"))

    found = compare(base, new, across_rubrics=True)

    assert found.prompts == ()
    assert any("no diff of its prompts" in said for said in found.warnings)


def test_the_words_of_a_rubric_that_changed_are_marked_on_the_page(judged, tmp_path):
    base = judged("a", "Thanks", text="Is it polite?", system="Be")
    new = judged("b", "Thanks", text="Is it warm?", system="Be very")

    page = compare(base, new, across_rubrics=True).to_html(tmp_path / "page.html").read_text()

    prompt = page[page.index('<figure class="prompt">') : page.index("</figure>")]
    taken, put = re.findall(r"<del>.*?</del>", prompt), re.findall(r"<ins>.*?</ins>", prompt)
    assert [re.sub(r"<[^>]+>|\[taken out: |\]", "", piece) for piece in taken] == ["polite"]
    assert [re.sub(r"<[^>]+>|\[put in: |\]", "", piece) for piece in put] == ["very ", "warm"]
