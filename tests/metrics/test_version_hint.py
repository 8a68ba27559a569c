"""A miss names the other version of a rubric that is recorded."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.store import Store
from judgekit.core.case import Case
from judgekit.core.jury import Jury
from judgekit.core.miss import NOT_OLDER
from judgekit.core.score import Failure, guarded
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.pairwise.preference import PairwiseMetric
from judgekit.metrics.rubric import RubricMetric
from judgekit.metrics.safety_and_quality.harm import Toxicity
from judgekit.metrics.safety_and_quality.points import Points
from judgekit.rubric.versions import VERSIONS
from tests.agreement.scratch import first_generation, with_quality_2, with_version_2

CASE = Case(id="a", input="Which day?", output="Monday", baseline="Tuesday")
TONE = """\
---
name: tone
version: {version}
extends: base
parameters: {{style: {{default: plain, description: The style.}}}}
criteria:
  kind: {{text: {text}}}
  short: {{text: Is it short?, levels: {{yes: 1, no: 0}}}}
  plain: {{text: "Is it {{{{ parameters.style }}}}?"}}
---
"""
OTHER = "---\nname: {name}\nversion: {version}\nextends: {parent}\n{more}description: {text}\n---\n"


def versions(folder, name, text):
    """Write versions 1 and 2 of a rubric, which differ in a text."""
    (folder / VERSIONS).mkdir(exist_ok=True)
    (folder / VERSIONS / f"{name}@1.jinja").write_text(text(1, "Is it nice?"))
    (folder / f"{name}.jinja").write_text(text(2, "Is it kind?"))
    return str(folder / f"{name}@1.jinja"), folder / f"{name}.jinja"


def tone(version, text):
    return TONE.format(version=version, text=text)


def child(name, parent, more=""):
    def text(version, words):
        return OTHER.format(name=name, version=version, parent=parent, text=words, more=more)

    return text


def record(tape, store, make, case=CASE):
    """Record what a metric asks about a case; `make` creates it for a judge."""
    with Cassette(FakeJudge(), tape=tape, store=store, record="new_episodes") as cassette:
        return asyncio.run(guarded(case, make(cassette)))


def missed(tape, make, case=CASE, **options):
    """Return the sentence of the miss of a metric, and the misses that the cassette keeps."""
    with Cassette(FakeJudge(), tape=tape, **options) as cassette:
        failure = asyncio.run(guarded(case, make(cassette)))
        assert isinstance(failure, Failure)
        assert failure.kind == "cassette_miss"
        return failure.message, cassette.misses


@pytest.fixture
def store(own_store):
    with closing(Store(own_store)) as opened:
        yield opened


@pytest.fixture
def tape(tmp_path):
    return tmp_path / "tape.jsonl"


def jury(cassette):
    judges = {"one": cassette, "two": cassette.for_judge(FakeJudge(model="fake/two"))}
    return Jury(judges, samples=2, calls="each")


@pytest.mark.parametrize(
    ("options", "misses"),
    [
        ({}, 1),
        ({"samples": 3}, 3),
        # With several calls, that for the criterion `kind` differs.
        ({"calls": "each"}, 1),
        ({"calls": 2, "samples": 2}, 2),
        ({"samples": 2, "order": "balanced"}, 2),
        ({"max_reason": 40}, 1),
        ({"history": 0, "scale": 10}, 1),
        ({"parameters": {"style": "formal"}}, 1),
    ],
)
def test_a_version_that_is_recorded_is_named(tmp_path, store, tape, options, misses):
    first, newest = versions(tmp_path, "tone", tone)
    record(tape, store, lambda judge: RubricMetric(first, judge=judge, **options))

    message, every = missed(tape, lambda judge: RubricMetric(newest, judge=judge, **options))

    hint = 'tone@1 would hit: write `rubric: tone@1`, or rubric="tone@1" in Python'
    assert message.endswith(f"; {hint}; `--record new_episodes` asks the judge")
    assert [miss.older for miss in every] == [hint] * misses


def test_a_jury(tmp_path, store, tape):
    first, newest = versions(tmp_path, "tone", tone)
    record(tape, store, lambda judge: RubricMetric(first, judge=jury(judge)))

    _, every = missed(tape, lambda judge: RubricMetric(newest, judge=jury(judge)))

    assert len(every) == 4
    assert all("tone@1 would hit" in miss.older for miss in every)


def test_a_pair_in_both_orders(tmp_path, store, tape):
    first, newest = versions(tmp_path, "better", child("better", "preference"))
    record(tape, store, lambda judge: PairwiseMetric(first, judge=judge))

    _, every = missed(tape, lambda judge: PairwiseMetric(newest, judge=judge))

    assert ["better@1 would hit" in miss.older for miss in every] == [True, True]


def test_criteria_that_a_metric_adds(tmp_path, store, tape):
    first, newest = versions(tmp_path, "toxic", child("toxic", "toxicity"))
    more = {"spam": "The text is an advertisement."}
    record(tape, store, lambda judge: Toxicity(rubric=first, categories=more, judge=judge))

    message, _ = missed(
        tape, lambda judge: Toxicity(rubric=str(newest), categories=more, judge=judge)
    )

    assert "toxic@1 would hit" in message


def test_a_step_of_a_metric(tmp_path, store, tape):
    first, newest = versions(tmp_path, "met", child("met", "criterion_met"))
    case = CASE.model_copy(
        update={"expected": {"criteria": [{"criterion": "It is kind.", "points": 1}]}}
    )
    record(tape, store, lambda judge: Points(rubric=first, judge=judge), case)

    message, _ = missed(tape, lambda judge: Points(rubric=str(newest), judge=judge), case)

    assert "met@1 would hit: write `rubric: met@1`" in message


def row_of(*criteria):
    listed = [{"criterion": text, "points": 1, **more} for text, more in criteria]
    return CASE.model_copy(update={"expected": {"criteria": listed}})


PLAIN = row_of(*((f"It names {n}.", {}) for n in range(5)))
LEVELS = row_of(("It is kind.", {"levels": ["no", "yes"]}), ("It is short.", {}), ("a", {}))


@pytest.mark.parametrize(
    ("case", "recorded", "replayed", "hint"),
    [
        (PLAIN, {"calls": "each"}, {"calls": 2}, "calls: each"),
        (PLAIN, {"calls": 2}, {"calls": 3}, "calls: 2"),
        (PLAIN, {"calls": 3}, {"calls": "all"}, "calls: 3"),
        (PLAIN, {"calls": "all"}, {"calls": 2}, "calls: all"),
        (PLAIN, {"calls": 2}, {}, "calls: 2"),
        (PLAIN, {"calls": "all"}, {}, "calls: all"),
        (LEVELS, {}, {"calls": 2}, "calls: each"),
        (LEVELS, {"calls": 2}, {}, "calls: 2"),
    ],
)
def test_other_calls_that_are_recorded_are_named(store, tape, case, recorded, replayed, hint):
    record(tape, store, lambda judge: Points(judge=judge, **recorded), case)

    message, _ = missed(tape, lambda judge: Points(judge=judge, **replayed), case)

    assert f"the requests of other `calls` would hit: write `{hint}`" in message


def test_another_version_of_a_frame(tmp_path, store, tape):
    first, newest = versions(tmp_path, "met", child("met", "criterion_met@2"))
    record(tape, store, lambda judge: Points(rubric=first, judge=judge, calls=2), LEVELS)

    message, every = missed(
        tape, lambda judge: Points(rubric=str(newest), judge=judge, calls=2), LEVELS
    )

    assert "met@1 would hit: write `rubric: met@1`" in message
    assert ["met@1" in miss.older for miss in every] == [True, True]


def test_criteria_that_are_not_recorded_at_all(store, tape):
    record(tape, store, lambda judge: Points(judge=judge, calls=2), PLAIN)
    other = row_of(*((f"It shows {n}.", {}) for n in range(5)))

    for calls in ("each", 3):
        message, _ = missed(tape, lambda judge, n=calls: Points(judge=judge, calls=n), other)
        assert f"; {NOT_OLDER}; " in message


@pytest.mark.parametrize("case", [CASE, CASE.model_copy(update={"output": "Friday"})])
def test_a_version_that_is_not_recorded_is_not_named(tmp_path, store, tape, case):
    first, newest = versions(tmp_path, "tone", tone)
    samples = 1 if case is CASE else 2
    record(tape, store, lambda judge: RubricMetric(first, judge=judge, name="x"), case)
    changed = case.model_copy(update={"input": "Which year?"})

    message, _ = missed(
        tape, lambda judge: RubricMetric(newest, judge=judge, samples=samples), changed
    )

    assert f"; {NOT_OLDER}; " in message


def test_a_version_that_needs_another_field_or_parameter_is_left_out(tmp_path, store, tape):
    (tmp_path / VERSIONS).mkdir()
    for version, needs in ((1, "context"), (3, "output")):
        text = tone(version, "Is it nice?").replace("criteria:", f"requires: [{needs}]\ncriteria:")
        (tmp_path / VERSIONS / f"tone@{version}.jinja").write_text(text)
    (tmp_path / VERSIONS / "tone@2.jinja").write_text("---\nname: tone\nversion: 2\n---\n")
    (tmp_path / "tone.jinja").write_text(tone(4, "Is it kind?"))
    record(tape, store, lambda judge: RubricMetric(tmp_path / "tone@3.jinja", judge=judge))

    message, _ = missed(tape, lambda judge: RubricMetric(tmp_path / "tone.jinja", judge=judge))

    assert "tone@3 would hit" in message


def test_a_redacted_request_and_the_store(tmp_path, store, own_store, tape):
    first, newest = versions(tmp_path, "tone", tone)

    def redact(text):
        return text.replace("Monday", "[day]")

    with Cassette(
        FakeJudge(), tape=tape, store=store, record="new_episodes", redact=redact
    ) as cassette:
        asyncio.run(guarded(CASE, RubricMetric(first, judge=cassette)))
    make = lambda judge: RubricMetric(newest, judge=judge)  # noqa: E731
    message, _ = missed(tape, make, redact=redact)
    assert "tone@1 would hit" in message
    message, _ = missed(tape, make)
    assert NOT_OLDER in message
    message, _ = missed(None, make, store=store, redact=redact)
    assert "not recorded in the store; tone@1 would hit" in message


BUILTIN = """
    import asyncio
    from judgekit import Case, RubricMetric, create_metric
    from judgekit.cassette.cassette import Cassette
    from judgekit.core.score import guarded
    from judgekit.judges.fake import FakeJudge
    case = Case(id="a", input="Which day?", output="Monday is the day.", context=("It is Monday.",))
    makes = {{
        "quality": lambda judge: create_metric("quality", judge=judge, samples=2),
        "tone": lambda judge: RubricMetric("./tone", judge=judge),
        "inline": lambda judge: RubricMetric(criteria={{"kind": "Is it kind?"}}, judge=judge),
        "faithfulness": lambda judge: create_metric("faithfulness", judge=judge),
    }}
    with Cassette.open("tape.jsonl", FakeJudge(), record={record!r}) as judge:
        for name, make in makes.items():
            row = asyncio.run(guarded(case, make(judge)))
            print(row.message if {missing} else row.status)
"""


@pytest.mark.thorough
def test_builtin_rubrics_criteria_and_rubrics_that_extend_them(tmp_path):
    scratch = first_generation(tmp_path)
    scratch.write("tone.jinja", "---\nname: tone\nextends: quality\ndescription: Tone.\n---\n")
    scratch.python(BUILTIN.format(record="new_episodes", missing=False))
    with_quality_2(scratch)
    with_version_2(scratch, "statements")

    hints = scratch.python(BUILTIN.format(record="none", missing=True)).out.splitlines()

    assert 'quality@1 would hit: write `rubric: quality@1`, or rubric="quality@1"' in hints[0]
    assert "tone would hit with `extends: quality@1`" in hints[1]
    assert "a rubric file with these criteria and `extends: base@1` would hit" in hints[2]
    assert "statements@1 would hit: write `metric: faithfulness@1`" in hints[3]
