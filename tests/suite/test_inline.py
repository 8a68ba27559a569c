"""Criteria and cases written in the suite itself."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from judgekit.core.errors import ConfigError, DatasetError
from judgekit.rubric.load import load_rubric
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import build_suite, load_suite

GOLDEN = Path(__file__).parents[1] / "golden" / "inline" / "criteria.txt"
SUITE = """\
judge: fake/judge
record: new_episodes
cases:
  - input: Where is my parcel?
    output: On its way, thank you for waiting.
    metadata: {topic: delivery}
  - id: b
    messages: [{role: user, content: Hello}, {role: assistant, content: Go away.}]
metrics:
  kind:
    description: Whether a customer feels well treated.
    criteria:
      polite: Is the answer polite?
      brief: {text: Is it brief?, kind: boolean}
      tone: {text: How does it sound?, levels: {warm: 1, cold: 0}}
    threshold: 0.5
    gate: {mean: 0.1}
"""


@pytest.fixture
def suite(tmp_path):
    def write(text=SUITE, **overrides):
        path = tmp_path / "suite.yaml"
        path.write_text(text, "utf-8")
        return load_suite(path, Overrides(**overrides))

    return write


def asked(suite):
    """Return the requests of the first case."""
    case = next(suite.cases())
    _, requests = suite.metrics[0].requests(case)
    return requests


def test_criteria_and_cases_of_the_suite_are_run(suite, tmp_path):
    report = run_suite_sync(suite(), out=tmp_path / "run")

    assert report.figures.cases == 2
    assert report.metrics["kind"].judged == 2
    parts = next(report.results).rows[0].result.parts
    assert [part.id for part in parts] == ["polite", "brief", "tone"]
    assert [part.weight for part in parts] == [pytest.approx(1 / 3)] * 3
    described = report.figures.manifest["metrics"][0]
    assert described["type"] == "RubricMetric"
    assert described["made_with"]["rubric"] == "kind"
    assert report.figures.manifest["cases"] == {"inline": 2}


def test_the_judge_reads_the_same_text_for_ever(suite):
    (request,) = asked(suite())
    text = "".join(f"[{m.role}]\n{m.content}\n" for m in request.messages)
    text += f"[form]\n{json.dumps(json.loads(request.form.canonical), indent=1)}\n"
    text += f"[key]\n{request.key}\n"

    if os.environ.get("JUDGEKIT_UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")


def test_a_file_with_the_same_front_matter_asks_the_same(suite, tmp_path):
    wired = suite()
    front = {"name": "kind", "extends": "base@2", "weights": "relative", **written(wired)}
    (tmp_path / "kind.jinja").write_text(f"---\n{json.dumps(front)}\n---\n", "utf-8")
    other = build_suite(
        {"judge": "fake/judge", "metrics": {"kind": {"rubric": str(tmp_path / "kind.jinja")}}},
        base=Path(),
    )
    case = next(wired.cases())

    assert asked(wired)[0].key == other.metrics[0].requests(case)[1][0].key


def written(wired):
    entry = wired.file.metrics["kind"]
    return {
        "description": entry.description,
        "criteria": {id: c.model_dump(exclude_unset=True) for id, c in entry.criteria.items()},
    }


def test_the_digest_is_that_of_the_questions(suite):
    digest = suite().metrics[0].rubric.digest

    question = "Is the answer polite?"
    spelled = SUITE.replace(f"polite: {question}", f"polite: {{text: {question}}}")
    assert suite(spelled).metrics[0].rubric.digest == digest
    other = SUITE.replace(question, "Is the answer kind?")
    assert suite(other).metrics[0].rubric.digest != digest


def test_a_base_beside_the_suite_does_not_change_the_text(suite, tmp_path):
    key = asked(suite())[0].key
    mine = Path(load_rubric("coherence").path).parent / "base.jinja"
    text = mine.read_text("utf-8").replace("You judge", "You never judge")
    (tmp_path / "base.jinja").write_text(text, "utf-8")

    assert asked(suite())[0].key == key


@pytest.mark.parametrize("name", ["base", "quality", "Ärger 1", "1st"])
def test_any_name_of_a_metric_will_do(suite, name):
    wired = suite(SUITE.replace("  kind:", f"  {name!r}:"))

    assert wired.metrics[0].name == name
    assert len(asked(wired)) == 1


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("polite: Is the answer polite?", "polite: {txt: a}",
         "13: unknown key 'metrics.kind.criteria.polite.txt'; did you mean 'text'?"),
        ("polite: Is the answer polite?", "po.li.te: a",
         "13: 'po.li.te' is not a valid name for a criterion: "
         "letters, digits, _ and -, at most one dot"),
        ("polite: Is the answer polite?", "polite: {text: a, weight: 2}",
         "14: 'brief': give every criterion of a group a weight, or none"),
        ("    threshold", "    requires: [outptu]\n    threshold",
         "16: requires: 'outptu' is not a field of a case; did you mean 'output'?"),
        ("    threshold", "    rubric: quality\n    threshold",
         "10: metric 'kind': `rubric` and `criteria` are both given; remove one"),
        ("  - id: b", "  - some text",
         "7: cases.1: must be keys and values (it is 'some text'); write each case as "
         "{input: ..., output: ...}, or name one file: cases: cases.jsonl"),
        ("metrics:\n  kind:", "criteria: {a: b}\nmetrics:\n  kind:",
         "9: unknown key 'criteria'; it belongs here: metrics: {NAME: {criteria: ...}}"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_line(suite, tmp_path, before, after, message):
    text = SUITE.replace(before, after)
    if "some text" in after:
        text = text.replace("    messages", "  # messages")

    with pytest.raises(ConfigError) as caught:
        suite(text)

    assert str(caught.value) == f"{tmp_path / 'suite.yaml'}:{message}"


def test_a_wrong_case_is_named_with_its_line(suite, tmp_path):
    wired = suite(SUITE.replace("metadata: {topic: delivery}", "metadata: 3"))

    with pytest.raises(DatasetError) as caught:
        list(wired.cases())

    assert str(caught.value).startswith(f"{tmp_path / 'suite.yaml'}:4: field 'metadata': ")


def test_description_without_criteria_is_refused(suite):
    text = SUITE.replace("  kind:\n", "  quality: {description: x}\n  kind:\n")

    with pytest.raises(ConfigError, match="description and requires need criteria"):
        suite(text)


def test_limit_shard_and_condition_choose_among_cases_of_the_suite(suite):
    assert len(list(suite(limit=1).cases())) == 1
    assert [case.id for case in suite(where=["topic=delivery"]).cases()] != ["b"]
    shards = [list(suite(shard=f"{n}/2").cases()) for n in (1, 2)]
    assert sum(map(len, shards)) == 2


def test_cases_of_a_flag_go_before_those_of_the_suite(suite, tmp_path):
    (tmp_path / "other.jsonl").write_text('{"output": "x"}\n', "utf-8")

    assert len(list(suite(cases=str(tmp_path / "other.jsonl")).cases())) == 1


def test_cases_of_the_suite_stand_on_lines(suite, tmp_path):
    places = suite().data.places({"b"})

    assert places == {"b": (str(tmp_path / "suite.yaml"), 7)}


def test_a_replay_of_inline_criteria_needs_no_judge(suite, tmp_path):
    taped = SUITE.replace("record: new_episodes", "cassette: tape.jsonl\nrecord: new_episodes")
    first = run_suite_sync(suite(taped), out=tmp_path / "a")
    again = suite(taped, record="none")

    assert again.at_once
    second = asyncio.run(replayed(again, tmp_path / "b"))
    assert second.metrics["kind"].mean == first.metrics["kind"].mean
    assert second.run["origins"]["tape"] == 2


async def replayed(suite, out):
    from judgekit.suite.run import run_suite

    return await run_suite(suite, out=out)
