"""What a judge was not shown is in every judged score, is counted, and can be gated."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

import judgekit
from judgekit.cassette.cassette import Cassette
from judgekit.cli.app import app
from judgekit.core.case import Case, Message
from judgekit.core.errors import JudgeUnavailable
from judgekit.core.jury import Jury
from judgekit.core.left_out import SHOWN
from judgekit.core.protocols import Metric
from judgekit.core.score import Score, checked_score
from judgekit.datasets.ids import derive_id
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.cards import card_of
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.fallback import WithFallback
from judgekit.metrics.registry import create_metric, find

KEPT = {"message 4": {"annotations": [{"url": "https://example.org"}]}}
RUBRIC = """---
name: mine
version: 1
description: Judge the answer.
requires: [output]
criteria:
  good: {text: Is it good?, kind: boolean}
---
{%% role user %%}
%s
{%% for criterion in criteria %%}{{ criterion.text }}{%% endfor %%}
{%% endrole %%}
"""


def talk(count, **fields):
    history = [Message(role="user", content=f"message number {n} of all") for n in range(count)]
    return Case(id="c", **{"input": "And now?", "output": "Yes.", "history": history, **fields})


def shown(metric, case):
    result = judgekit.score_sync(case, metric)
    assert result.type == "score", result
    return result.details.get(SHOWN)


def rubric(tmp_path, body):
    path = tmp_path / "mine.jinja"
    path.write_text(RUBRIC % body, "utf-8")
    return path


JUDGED = sorted(n for n, e in BUILTIN.items() if e.judged and find(n).asks == "verdict")
ONLY_TEXTS = {
    "completeness",
    "facts_covered_judge",
    "context_precision",
    "context_recall",
    "points",
}
"""They give a judge texts of the case, one by one, and never the case."""


@pytest.mark.parametrize("name", [name for name in JUDGED if name not in ONLY_TEXTS])
def test_every_judged_metric_lists_what_its_judge_was_not_shown(name):
    card = card_of(name).example
    row = {"id": "c", **card.case}
    row["metadata"] = {**row.get("metadata", {}), "message_fields": KEPT}
    if "messages" in row:
        pytest.skip("its example has messages")
    (case,) = judgekit.load_cases([row])
    metric = create_metric(name, judge=FakeJudge(), **dict(card.options))

    assert shown(metric, case) == {"metadata.message_fields": "message 4: annotations"}


@pytest.mark.parametrize(
    "jury",
    [
        {"samples": 3},
        {"samples": 2, "order": "balanced"},
        {"calls": "each"},
    ],
)
def test_samples_orders_and_calls_have_the_same_list(jury):
    metric = judgekit.RubricMetric("quality", judge=FakeJudge(), **jury)

    assert shown(metric, talk(12)) == {"history": "2 of 12 earlier messages"}


def test_a_jury_has_the_same_list():
    jury = Jury({"one": FakeJudge(), "two": FakeJudge()})

    assert shown(create_metric("quality", judge=jury), talk(12)) == {
        "history": "2 of 12 earlier messages"
    }


@pytest.mark.parametrize(("most", "left"), [(0, "3 of 3"), (1, "2 of 3"), (3, None), (5, None)])
def test_a_limit_of_the_history_is_listed(most, left):
    found = shown(judgekit.RubricMetric("quality", judge=FakeJudge(), history=most), talk(3))

    assert found == (left and {"history": f"{left} earlier messages"})


IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
BAD_CALL = {"function": {"name": "f", "arguments": "{not json"}}


def seen_before(count, *, at, part=IMAGE, **fields):
    """A case of earlier messages, one of which cannot be read whole."""
    turns = [{"role": "user", "content": f"message number {n} of all"} for n in range(count)]
    if part is BAD_CALL:
        turns[at] = {"role": "assistant", "content": "", "tool_calls": [part]}
    else:
        turns[at]["content"] = [{"type": "text", "text": "Look at this."}, part]
    turns += [{"role": "user", "content": "And now?"}, {"role": "assistant", "content": "Yes."}]
    (case,) = judgekit.load_cases([{"messages": turns, **fields}])
    return case


@pytest.mark.parametrize("part", [IMAGE, {"type": "hologram"}, BAD_CALL])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"samples": 2, "order": "balanced"},
        {"calls": "each"},
        {"judge": Jury({"one": FakeJudge(), "two": FakeJudge()})},
    ],
)
def test_a_message_that_the_history_cuts_off_does_not_fail_the_row(part, options):
    metric = judgekit.RubricMetric("quality", **{"judge": FakeJudge(), "history": 2, **options})

    assert shown(metric, seen_before(4, at=1, part=part)) == {"history": "2 of 4 earlier messages"}
    result = judgekit.score_sync(seen_before(4, at=2, part=part), metric)
    assert (result.type, result.kind) == ("failure", "invalid_case")


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("preference", {"baseline": "No."}),
        ("points", {"expected": {"criteria": [{"criterion": "Is it kind?", "points": 1}]}}),
        ("conversation_completeness", {}),
        ("required_elements", {}),
    ],
)
def test_each_metric_with_a_history_reads_only_the_messages_that_it_shows(name, fields):
    metric = create_metric(name, judge=FakeJudge())

    for at, kind in ((0, "score"), (1, "score"), (2, "failure"), (11, "failure")):
        result = judgekit.score_sync(seen_before(12, at=at, **fields), metric)
        assert result.type == kind, (at, result)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_the_message_that_is_shown_and_cannot_be_read_is_named(most):
    case = seen_before(3, at=0)
    turns = [*case.history[:2], Message(role="user", content="Listen.")]
    unread = {**case.unread, "history.2": "message 3 has audio"}
    case = case.model_copy(update={"history": tuple(turns), "unread": unread})
    metric = judgekit.RubricMetric("quality", judge=FakeJudge(), history=most)

    result = judgekit.score_sync(case, metric)

    if most:
        assert result.message == "message 3 has audio"
    else:
        assert result.details[SHOWN] == {"history": "3 of 3 earlier messages"}


def test_a_message_of_an_unknown_role_may_be_any_message():
    (case,) = judgekit.load_cases([{"messages": [
        {"role": "user", "content": [IMAGE]}, {"role": "wizard", "content": "Hi"},
        {"role": "user", "content": "And now?"}, {"role": "assistant", "content": "Yes."},
    ]}])  # fmt: skip
    metric = judgekit.RubricMetric("quality", judge=FakeJudge(), history=0)

    assert judgekit.score_sync(case, metric).type == "failure"


def test_the_id_of_a_case_does_not_depend_on_which_message_it_is():
    case = seen_before(4, at=1)

    assert set(case.unread) == {"history", "history.1"}
    assert derive_id(case.model_copy(update={"unread": {"history": case.unread["history"]}})) == (
        case.id
    )


def test_a_template_cannot_reach_the_message_that_was_cut_off(tmp_path):
    body = "{% for m in case.history %}{{ m.text }}{% endfor %}{{ case.output }}"
    judge = FakeJudge()
    metric = judgekit.RubricMetric(rubric(tmp_path, body), judge=judge, history=1)

    assert judgekit.score_sync(seen_before(3, at=0), metric).type == "score"
    assert "Look at this." not in judge.asked[0].messages[-1].content


def test_a_pairwise_judge_sees_no_steps():
    case = talk(1, baseline="No.", steps=[Message(role="assistant", content="I look it up.")])

    assert shown(create_metric("preference", judge=FakeJudge()), case) == {
        "steps": "1 messages before the answer"
    }


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("{{ case.output }}", None),
        ("{{ case.output | fence('a') }} {{ case.input | json }}", None),
        ("{{ case.output | truncate(20) }}", {"output": "cut or changed; it has 44 characters"}),
        ("{{ case.output[:9] }}", {"output": "cut or changed; it has 44 characters"}),
        ("{{ case.output }} {{ case.context[0] }}", {"context": "1 of 2 texts"}),
        ("{{ case.output }} {{ case.context | first }}", {"context": "1 of 2 texts"}),
        ("{% for m in case.history[-1:] %}{{ m.text }}{% endfor %}{{ case.output }}",
         {"history": "2 of 3 earlier messages"}),
        ("{{ case.output | wordcount }} {{ case.output }} {{ case.input | wordcount }}", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", ["a long answer " * 3 + "!?", "长" * 44, "1234567 " * 5 + "1234"])
def test_a_field_that_is_printed_in_part_is_listed(tmp_path, body, left, text):
    judge = FakeJudge()
    metric = judgekit.RubricMetric(rubric(tmp_path, body), judge=judge)

    for _ in range(3):  # the third case is rendered by a plan, if there is one
        case = talk(3, output=text, context=["first passage", "second passage"])
        assert shown(metric, case) == left


def test_calls_that_a_template_does_not_print_are_listed(tmp_path):
    call = {"name": "weather", "arguments": {"city": "Rome"}}
    turn = Message(role="assistant", content="One moment.", tool_calls=[call])
    body = "{% for m in case.history %}{{ m.WORD }}{% endfor %}{{ case.output }}"
    case = talk(0, history=[turn])

    parts, whole = (body.replace("WORD", word) for word in ("content", "text"))
    assert shown(judgekit.RubricMetric(rubric(tmp_path, whole), judge=FakeJudge()), case) is None
    assert shown(judgekit.RubricMetric(rubric(tmp_path, parts), judge=FakeJudge()), case) == {
        "history": "1 of 1 earlier messages"
    }


def test_control_characters_and_blank_ends_are_no_loss():
    case = talk(0, output=" a\x00b\x1b[31m \n", context=["\n  x\ty  \n"])

    assert shown(create_metric("quality", judge=FakeJudge()), case) is None


class Own(BaseModel):
    value: float
    shown: str = "x"


def test_a_response_model_keeps_the_list_under_a_name_of_its_own():
    judge = FakeJudge(lambda request: {"value": 0.5, "shown": "x"})
    metric = judgekit.RubricMetric("quality", judge=judge, response_model=Own)
    result = judgekit.score_sync(talk(12), metric)

    assert result.details[SHOWN] == {"history": "2 of 12 earlier messages"}


class Around(Metric):
    """A metric of another package, which makes a score of its own from that of a judge."""

    name = "around"

    def __init__(self):
        self.inner = create_metric("quality", judge=FakeJudge())

    async def score(self, case):
        inner = await checked_score(self.inner, case)
        return Score(value=inner.value, method="around", reason="as the judge says")


def test_a_metric_around_a_judged_one_lists_it_too():
    assert shown(Around(), talk(12)) == {"history": "2 of 12 earlier messages"}


def test_a_failed_judge_leaves_nothing_to_list():
    class Away(FakeJudge):
        async def ask(self, request):
            raise JudgeUnavailable("away")

    metric = WithFallback(
        metric=create_metric("quality", judge=Away()), fallback=create_metric("length", maximum=3)
    )
    assert shown(metric, talk(12)) is None


SUITE = """
cases: cases.jsonl
judge: fake/judge
cassette: recorded.jsonl
redact: [email]
metrics:
  quality:
    gate: [{left_out: 0}, {left_out: "50%"}]
"""


def written(tmp_path):
    rows = [talk(count).model_copy(update={"id": f"c{count}"}) for count in (1, 3, 12)]
    text = "".join(f"{row.model_dump_json(exclude_defaults=True)}\n" for row in rows)
    (tmp_path / "cases.jsonl").write_text(text.replace("number 2", "mail a.b@example.org"), "utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")


def test_a_gate_counts_the_rows_alone_in_shards_and_on_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path)

    def judged(*arguments):
        return CliRunner().invoke(app, [*arguments], env={"COLUMNS": "200"})

    record = ("--record", "new_episodes")
    whole = judged("run", "suite.yaml", *record, "--out", "run", "--export", "junit=junit.xml")
    shards = [judged("run", "suite.yaml", "--shard", f"{n}/2", "--out", f"s{n}") for n in (1, 2)]
    merged = judged("merge", "suite.yaml", "s1", "s2", "--out", "merged")

    assert [whole.exit_code, *(s.exit_code for s in shards), merged.exit_code] == [1, 0, 0, 1]
    sentence = "quality: left out 1 of 3 rows misses at most 0"
    for output in (whole.output, merged.output):
        assert sentence in output
        assert "quality: in 1 row the judge was not shown the whole case" in output
    assert 'name="quality: left_out 0"' in (tmp_path / "junit.xml").read_text("utf-8")
    for folder in ("run", "merged"):
        report = json.loads((tmp_path / folder / "report.json").read_text("utf-8"))
        assert report["metrics"][0]["left_out"] == 1
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "was not shown the whole case" in page


@pytest.mark.parametrize(
    "body",
    ["{% if false %}{{ case.output }}{% endif %}{{ case.input }}", "{{ case.input }}"],
)
def test_a_rubric_that_never_shows_a_required_field_says_so(tmp_path, body):
    metric = judgekit.RubricMetric(rubric(tmp_path, body), judge=FakeJudge())

    for _ in range(3):
        left = {"output": "never shown, although the rubric requires it"}
        assert shown(metric, talk(1, output="an answer that nobody sees")) == left


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"steps": [{"role": "assistant", "content": "I look."}]}, "steps (shown after the input)"),
        ({"metadata": {"thoughts": ["hm"]}}, "thoughts (no part of a text)"),
        ({"history": [{"role": "tool", "content": "24"}]}, "tool calls (read from parts"),
        ({"metadata": {"context_fields": [{"id": 1}]}}, "documents (shown as their texts)"),
        ({"output": " "}, "an empty answer (judged)"),
        ({}, None),
    ],
)
def test_a_miss_names_the_rule_that_moved_the_request(tmp_path, fields, rule):
    (tmp_path / "tape.jsonl").touch()
    with Cassette.open(tmp_path / "tape.jsonl", FakeJudge()) as cassette:
        metric = create_metric("quality", judge=cassette)
        case = talk(0, **fields)
        result = judgekit.score_sync(case, metric)

    assert result.kind == "cassette_miss"
    assert (
        (f"the row has {rule}" in result.message) if rule else "the row has" not in result.message
    )
    assert result.message.endswith("`--record new_episodes` asks the judge")
