"""What a judge sees, as text files: a change of wording shows in review.

JUDGEKIT_UPDATE_GOLDEN=1 writes the files anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from judgekit.core.case import Case, Message, ToolCall
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.library import rubric_names
from judgekit.rubric.load import load_rubric

GOLDEN = Path(__file__).parents[1] / "golden"
UPDATE = bool(os.environ.get("JUDGEKIT_UPDATE_GOLDEN"))
CASE = Case(
    id="golden",
    system="You are a travel agent. Answer in one sentence.",
    history=(
        Message(role="user", content="Hello"),
        Message(
            role="assistant",
            content="Hello! Where to?",
            tool_calls=(ToolCall(name="trips", arguments={"from": "Ulm"}),),
        ),
    ),
    input="A weekend in Rome, please.\nWithout flying.",
    output="Take the night train; it reaches Roma Termini at 9:22.",
    reference=("The night train from Munich.", "Any train."),
    context=("Night trains leave Munich at 20:09.",),
    baseline="Fly.",
    labels={"human": 1.0},
    metadata={"topic": "trains"},
)
AGENT_CASE = CASE.model_copy(
    update={
        "steps": (
            Message(
                role="assistant",
                tool_calls=(ToolCall(name="trips", arguments={"to": "Rome", "by": "train"}),),
            ),
            Message(role="tool", content="night train, Munich 20:09, Rome 9:22"),
        )
    }
)


@pytest.fixture(scope="module")
def variants():
    names = [name for name in rubric_names() if name != "base"]
    return [(name, mode) for name in names for mode in load_rubric(name).modes]


def rendered(name, mode):
    metric = RubricMetric(name, judge=FakeJudge(model="fake/golden"), mode=mode)
    needs_steps = "steps" in load_rubric(name).requires
    _, (request,) = metric.requests(AGENT_CASE if needs_steps else CASE)
    return shown(request)


def shown(request):
    lines = []
    for message in request.messages:
        lines += [f"--- {message.role}", message.content]
    return "\n".join([*lines, "--- form", request.form.canonical, "--- key", request.key]) + "\n"


def test_a_judge_sees_exactly_this(variants):
    texts = {f"{name}-{mode}": rendered(name, mode) for name, mode in variants}
    if UPDATE:
        for name, text in texts.items():
            (GOLDEN / f"{name}.txt").write_text(text, encoding="utf-8")

    assert texts == {file.stem: file.read_text("utf-8") for file in GOLDEN.glob("*.txt")}


def test_labels_and_identity_of_a_case_never_reach_the_judge(variants):
    for name, mode in variants:
        shown = rendered(name, mode)

        assert "human" not in shown, name
        assert "golden" not in shown.replace("fake/golden", ""), name


def test_only_the_wanted_half_is_shown():
    assert "travel agent" not in rendered("prompt_alignment", "user")
    assert "Rome, please" not in rendered("prompt_alignment", "system")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("reversed", {"samples": 2, "order": "balanced"}),
        ("shuffled", {"samples": 3, "order": "balanced"}),
        ("part", {"calls": 2}),
    ],
)
def test_a_judge_sees_exactly_this_in_another_arrangement(name, options):
    """The last request of `quality`: in another order, or with the last of its criteria."""
    file = GOLDEN / "arrangements" / f"{name}.txt"
    metric = RubricMetric("quality", judge=FakeJudge(model="fake/golden"), **options)
    text = shown(metric.requests(CASE)[1][-1])
    if UPDATE:
        file.write_text(text, encoding="utf-8")

    assert text == file.read_text(encoding="utf-8")
