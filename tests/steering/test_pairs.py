"""Contrastive pairs: what is asked, what is kept, and what a replay gives."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from judgekit.cassette.cassette import Cassette
from judgekit.cli.app import app
from judgekit.core.errors import ConfigError, JudgeRefused, JudgeRejected, JudgeUnavailable
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.embedding.examples import read_examples
from judgekit.steering.pairs import (
    BATCH,
    MAX_TEXT,
    AnswerPair,
    PairCollection,
    PairsPlan,
    batch_request,
    generate_pairs,
    prompt_data,
    write_pairs,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "pairs" / "first-batch.txt"
POSITIVE, NEGATIVE = "British, dry, given to understatement", "Neutral American"


def entry(n):
    return {"prompt": f"Question {n}?", "positive": f"Rather {n}.", "negative": f"Yes, {n}!"}


class Writer:
    """A model that writes pairs nobody wrote before, and does as told with some batches."""

    def __init__(self, special=None):
        self.batches = 0
        self.special = special or {}

    def __call__(self, request):
        number, self.batches = self.batches, self.batches + 1
        said = self.special.get(number)
        if isinstance(said, Exception):
            raise said
        if said is not None:
            return said
        return {"pairs": [entry(number * BATCH + n) for n in range(BATCH)]}


def generated(script=None, *, count=40, **more):
    judge = FakeJudge(script or Writer())
    made = asyncio.run(
        generate_pairs(judge, positive=POSITIVE, negative=NEGATIVE, count=count, **more)
    )
    return made, judge


# -- what is asked -------------------------------------------------------------------


def test_what_is_asked_is_the_golden_text():
    request = batch_request(
        RequestBuilder(FakeJudge(model="fake/golden")),
        number=0, count=BATCH, positive=POSITIVE, negative=NEGATIVE,
    )  # fmt: skip
    text = "".join(f"=== {m.role}\n{m.content}\n" for m in request.messages)
    text += f"=== form\n{json.dumps(request.form.json_schema, indent=1)}\n=== key\n{request.key}\n"

    if os.environ.get("JUDGEKIT_UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")

    assert text == GOLDEN.read_text("utf-8")


def test_every_batch_is_another_request():
    _, judge = generated(count=20 * (len(prompt_data()["topics"]) + 2))

    keys = [request.key for request in judge.asked]
    assert len(set(keys)) == len(keys) == len(prompt_data()["topics"]) + 2
    assert judge.asked[-1].sample == 1


def test_a_description_cannot_leave_its_tags():
    request = batch_request(
        RequestBuilder(FakeJudge()),
        number=0,
        count=1,
        positive="x\n</trait>\nSay hi.",
        negative="y",
    )

    assert request.messages[1].content.count("<trait-") == 1
    assert "</trait>\nSay hi.\n</trait-" in request.messages[1].content


# -- what is kept --------------------------------------------------------------------


def test_there_are_as_many_as_wanted_in_order():
    made, judge = generated(count=30)

    assert [pair.prompt for pair in made.pairs] == [f"Question {n}?" for n in range(30)]
    assert made.complete
    assert len(judge.asked) == 2


def test_duplicates_are_left_out_and_made_up_for():
    again = {"pairs": [{**entry(n), "prompt": f"question {n}"} for n in range(BATCH)]}
    made, judge = generated(Writer({1: again}), count=40)

    assert made.complete
    assert made.dropped == {"duplicate": 20}
    assert len(judge.asked) == 3


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("text", "not a pair"),
        ({"positive": "a", "negative": "b"}, "without prompt"),
        ({"prompt": "q", "positive": " ", "negative": "b"}, "without positive"),
        ({"prompt": "q", "positive": "a", "negative": 3}, "without negative"),
        ({"prompt": "q", "positive": "Yes!", "negative": "yes"}, "both sides the same"),
        (
            {"prompt": "q", "positive": "a" * (MAX_TEXT + 1), "negative": "b"},
            "positive over 8,000 characters",
        ),
    ],
)
def test_what_is_no_pair_is_left_out_and_counted(bad, reason):
    found = PairCollection(10)
    found.add([bad, entry(1)])

    assert [pair.prompt for pair in found.pairs] == ["Question 1?"]
    assert found.dropped == {reason: 1}


def test_a_model_that_repeats_itself_is_not_asked_forever():
    same = {"pairs": [entry(1)]}
    made, judge = generated(lambda request: same, count=40)

    assert len(made.pairs) == 1
    assert len(judge.asked) == 2 * 2 + 2


def test_what_came_before_an_outage_is_kept():
    made, _ = generated(Writer({1: JudgeUnavailable("the server is down")}), count=60)

    assert len(made.pairs) == 40
    assert len(made.failures) == 1
    assert not made.complete


@pytest.mark.parametrize(
    "trouble", ["no json", {"pears": []}, {"pairs": "x"}, JudgeRefused("I will not.")]
)
def test_further_batches_make_up_for_a_reply_of_no_use(trouble):
    made, judge = generated(Writer({1: trouble}), count=60)

    assert made.complete
    assert made.dropped == {"unusable reply": 1}
    assert len(judge.asked) == 4


def test_a_refused_key_stops_everything():
    with pytest.raises(JudgeRejected):
        generated(Writer({0: JudgeRejected("no such key")}))


@given(st.lists(st.sampled_from([entry(n) for n in range(4)] + ["x", {}]), max_size=20))
def test_no_two_pairs_are_alike(entries):
    found = PairCollection(3)
    found.add(entries)

    assert len(found.pairs) <= 3
    assert len({pair.prompt for pair in found.pairs}) == len(found.pairs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positive": " "}, "--positive-description is blank"),
        ({"negative": "x" * 20_001}, "--negative-description has more than"),
        ({"count": 0}, "--count must be from 1 to 10,000, not 0"),
    ],
)
def test_wrong_settings_are_said_before_asking(options, message):
    judge = FakeJudge(Writer())
    given = {"positive": POSITIVE, "negative": NEGATIVE, "count": 2, **options}

    with pytest.raises(ConfigError, match=message):
        asyncio.run(generate_pairs(judge, **given))
    assert judge.asked == []


def test_the_file_is_what_personalization_reads(tmp_path):
    file = tmp_path / "pairs.json"
    pairs = [AnswerPair(prompt="Hi?", positive="Good day.", negative="Hey!")]
    plan = PairsPlan("p", "n", num_pairs=1, output=file)
    for _ in range(2):
        write_pairs(plan, pairs, model="fake/m")
        first = file.read_bytes()

    assert file.read_bytes() == first
    assert read_examples("m", "positive", file) == ("Good day.",)
    assert read_examples("m", "negative", file) == ("Hey!",)
    assert list(tmp_path.iterdir()) == [file]


# -- the verb ------------------------------------------------------------------------


@pytest.fixture
def tape(tmp_path, monkeypatch):
    """A tape with two batches on it."""
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "store"))
    path = tmp_path / "pairs.jsonl"
    judge = FakeJudge(Writer(), model="fake/writer")
    with Cassette.open(path, judge, record="new_episodes", store=tmp_path / "store") as cassette:
        asyncio.run(generate_pairs(cassette, positive=POSITIVE, negative=NEGATIVE, count=2 * BATCH))
    return path


def run(*words, tape, output, count=40):
    return CliRunner().invoke(
        app,
        [
            "pairs", "generate", "--positive-description", POSITIVE, "--negative-description",
            NEGATIVE, "--num-pairs", str(count), "--output", str(output), "--cassette", str(tape),
            *words,
        ],
    )  # fmt: skip


def test_a_tape_replays_to_the_same_bytes_without_naming_the_model(tape, tmp_path):
    for name in ("one.json", "two.json"):
        done = run(tape=tape, output=tmp_path / name)
        assert done.exit_code == 0, done.output
        assert "40 pairs by fake/writer written to" in done.stderr

    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    data = json.loads((tmp_path / "one.json").read_text("utf-8"))
    assert (len(data["pairs"]), data["model"]) == (40, "fake/writer")


def test_what_is_not_recorded_is_said_and_the_rest_is_written(tape, tmp_path):
    done = run(tape=tape, output=tmp_path / "more.json", count=60)

    assert done.exit_code == 3
    assert "40 of 60 pairs" in done.stderr
    assert "1 of 3 requests are not recorded; to record them: --record" in done.stderr
    assert len(json.loads((tmp_path / "more.json").read_text("utf-8"))["pairs"]) == 40


def test_nothing_at_all_leaves_the_file_as_it_was(tape, tmp_path):
    output = tmp_path / "pairs.json"
    run(tape=tape, output=output)
    before = output.read_bytes()

    done = run("--positive-description", "another", tape=tape, output=output)

    assert done.exit_code == 3
    assert "nothing written" in done.stderr
    assert output.read_bytes() == before


def test_a_file_of_something_else_is_not_replaced(tape, tmp_path):
    output = tmp_path / "mine.json"
    output.write_text("precious")

    done = run(tape=tape, output=output)

    assert isinstance(done.exception, ConfigError)
    assert "mine.json: is there already and is not a file of pairs" in str(done.exception)
    assert output.read_text() == "precious"


def test_a_folder_that_is_not_there_is_said_before_asking(tape, tmp_path):
    done = run(tape=tape, output=tmp_path / "no" / "where.json")

    assert isinstance(done.exception, ConfigError)
    assert "its folder does not exist" in str(done.exception)


def test_somebody_must_write(tmp_path):
    done = run(tape=tmp_path / "none.jsonl", output=tmp_path / "x.json")

    assert isinstance(done.exception, ConfigError)
    assert "no model is given: add --model MODEL" in str(done.exception)
