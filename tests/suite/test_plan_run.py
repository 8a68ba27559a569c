"""What a run would ask: requests of combinations, samples and steps, tokens, dollars, minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.cassette.store import Store, store_folder
from judgekit.cli.plan import plan_text
from judgekit.core.judge_wrapper import JudgeWrapper
from judgekit.core.request import Reply, Request, Usage
from judgekit.judges.fake import FakeJudge
from judgekit.suite.doctor.examine import examine
from judgekit.suite.estimate import RunPlan, plan_run
from judgekit.suite.measured import MeasuredSpeed
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import load_suite

CASES = [
    {"id": "a", "input": "What is a tide?", "output": "The sea.", "context": ["The sea rises."]},
    {"id": "b", "input": "What is rain?", "output": "Water.", "context": ["Rain is water."]},
]
PRICE = {"input": 1000.0, "output": 1000.0}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGEKIT_HOME", raising=False)


def write(folder: Path, metrics: Any, **settings: Any) -> Path:
    path = folder / "suite.yaml"
    judge = {"model": "openai/gpt-none", "price": PRICE}
    data = {"cases": CASES, "judge": judge, "metrics": metrics, **settings}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def plan(path: Path, **flags: Any) -> RunPlan:
    return plan_run(resolve(path, Overrides(**flags)))


def test_parts_of_a_combination_and_samples_are_counted(tmp_path: Path) -> None:
    both = {"combine": "mean", "of": ["coherence", "safety"]}
    path = write(tmp_path, {"coherence": {"samples": 3}, "safety": {}, "both": both})

    (alone,) = plan(path).models
    (combined,) = plan(path, only=["both"]).models

    assert alone.requests == combined.requests == (8, 8)
    assert alone.tokens_in[0] == alone.tokens_in[1] > 100


def test_steps_have_a_lower_and_an_upper_bound(tmp_path: Path) -> None:
    path = write(tmp_path, {"faithfulness": {}})

    done = plan(path)

    assert done.further == ("faithfulness",)
    assert done.models[0].requests == (2, 22)
    assert done.models[0].tokens_out[0] < done.models[0].tokens_out[1] / 11


def test_given_rates_bound_the_minutes(tmp_path: Path) -> None:
    path = write(tmp_path, {"safety": {}}, limits={"rpm": 4})

    assert plan(path).models[0].minutes == (0.5, 0.5)


def test_plan_writes_nothing_and_needs_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path = write(tmp_path, {"safety": {}}, cassette="tape.jsonl")

    plan(path)

    assert [entry.name for entry in tmp_path.iterdir()] == ["suite.yaml"]


def test_recorded_requests_are_not_asked_again(tmp_path: Path) -> None:
    path = write(tmp_path, {"safety": {}}, judge="fake/x", cassette="tape.jsonl")
    run_suite_sync(load_suite(path, Overrides(record="new_episodes", limit=1)))

    (model,) = plan(path).models
    (again,) = plan(path, record="all").models

    assert (model.recorded, model.requests, model.dollars) == (1, (1, 1), (0, 0))
    assert (again.recorded, again.requests) == (0, (2, 2))


def test_reply_that_only_the_store_has_is_recorded(tmp_path: Path) -> None:
    path = write(tmp_path, {"safety": {}}, judge="fake/x", cassette="tape.jsonl")
    run_suite_sync(load_suite(path, Overrides(record="new_episodes")))
    (tmp_path / "tape.jsonl").unlink()

    (model,) = plan(path).models

    assert (model.recorded, model.requests) == (2, (0, 0))
    assert not (tmp_path / "tape.jsonl").exists()


def test_doctor_has_the_same_figures(tmp_path: Path) -> None:
    path = write(tmp_path, {"faithfulness": {}, "safety": {}})

    diagnosis = examine(path)
    done = plan(path)

    (missing,) = diagnosis.missing
    assert missing.calls == done.models[0].requests[0] == 4
    assert missing.tokens_in == done.models[0].tokens_in[0]
    low, high = done.models[0].dollars or (0, 0)
    assert low <= (missing.dollars or 0) <= high
    assert diagnosis.further == done.further


TEXT = """\
model            recorded   to ask     tokens in    tokens out       dollars     minutes
openai/gpt-none         0  2 to 22  500 to 5,500  120 to 2,640  0.62 to 8.14  0.0 to 0.2
manual/ann              4        0             0             0      a person           -
2 cases; no judge was called. Assumed: 4 characters a token; 30 to 120 tokens an answer.
"""


def test_text_is_a_table_and_a_sentence() -> None:
    asked = {
        "model": "openai/gpt-none",
        "recorded": 0,
        "requests": (2, 22),
        "tokens_in": (500, 5500),
        "tokens_out": (120, 2640),
        "dollars": (0.62, 8.14),
        "minutes": (0.0, 0.23),
        "lengths": "assumed",
    }
    nothing = {**dict.fromkeys(("requests", "tokens_in", "tokens_out", "minutes"), (0, 0))}
    person = {**asked, **nothing, "model": "manual/ann", "recorded": 4}
    assumed = ("4 characters a token", "30 to 120 tokens an answer")
    done = RunPlan.model_validate({"cases": 2, "models": (asked, person), "assumptions": assumed})

    assert plan_text(done) == TEXT
    names = {"cases", "models", "rounds", "budget", "further", "assumptions"}
    assert set(done.model_dump(mode="json")) == names


def test_nothing_to_ask_is_said() -> None:
    assert plan_text(RunPlan(cases=1)) == "1 case; a run would call no judge.\n"


class LongReplies(JudgeWrapper):
    """Replies that take 500 tokens each."""

    async def ask(self, request: Request) -> Reply:
        reply = await self.judge.ask(request)
        usage = Usage(input_tokens=100, output_tokens=500)
        return reply.model_copy(update={"usage": usage})


def test_lengths_are_those_of_the_tape_even_if_no_record_is_replayed(tmp_path: Path) -> None:
    path = write(tmp_path, {"refusal": {}}, cassette="tape.jsonl")
    assumed = plan(path).models[0]
    run_suite_sync(load_suite(path, judge=LongReplies(FakeJudge(model="openai/gpt-none"))))

    other = [{**case, "output": f"{case['output']} Again."} for case in CASES]
    write(tmp_path, {"refusal": {}}, cassette="tape.jsonl", cases=other)
    known = plan(path)

    (model,) = known.models
    assert (model.recorded, model.requests, model.lengths) == (0, (2, 2), "recorded")
    assert model.tokens_out == (800, 1250)
    assert assumed.lengths == "assumed"
    assert "replies as long as the recorded ones" in known.assumptions


def keep_speed(folder: Path, **figures: Any) -> None:
    store = Store(store_folder(folder))
    MeasuredSpeed(**figures).keep(store, model="openai/gpt-none", api_base=None)
    store.close()


def test_speed_and_length_are_those_that_doctor_measured(tmp_path: Path) -> None:
    path = write(tmp_path, {"refusal": {}}, limits={"concurrency": 1})
    keep_speed(tmp_path, seconds=300.0, tokens_out=773.0)

    found = plan(path)

    (model,) = found.models
    assert model.lengths == "measured"
    assert model.minutes == (5.0, 20.0)
    questions = model.tokens_out[0] * 2 / 773
    assert questions == pytest.approx(round(questions), abs=0.01)
    assert "replies as long as those of doctor --ask" in found.assumptions
    assert any("1.5e+02 to 6e+02 seconds a call of openai/gpt-none" in a for a in found.assumptions)


def test_another_server_has_another_speed(tmp_path: Path) -> None:
    path = write(tmp_path, {"refusal": {}})
    store = Store(store_folder(tmp_path))
    speed = MeasuredSpeed(seconds=300.0)
    speed.keep(store, model="openai/gpt-none", api_base="http://localhost:1/v1")
    store.close()

    assert "0.5 to 5 seconds a call, 8 calls at a time" in plan(path).assumptions


@pytest.mark.parametrize("text", ["", "{", '{"seconds": -1}', '{"seconds": 1e999}', "[]"])
def test_a_foreign_row_of_the_store_is_ignored(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, {"refusal": {}})
    keep_speed(tmp_path, seconds=300.0)
    store = Store(store_folder(tmp_path))
    names = list(store.keys())
    (name,) = (key for key in names if key.startswith("speed:"))
    store.put(name, text)
    store.close()

    assert plan(path).models[0].lengths == "assumed"


def test_max_reason_bounds_the_length_of_replies(tmp_path: Path) -> None:
    judge = {"model": "openai/gpt-none", "price": PRICE, "max_reason": 20}
    loose = plan(write(tmp_path, {"refusal": {}})).models[0]
    tight = plan(write(tmp_path, {"refusal": {}}, judge=judge))
    long = plan(write(tmp_path, {"refusal": {}}, judge={**judge, "max_reason": 2000}))

    (model,) = tight.models
    questions = round(loose.tokens_out[1] / 120)
    assert model.tokens_out[1] == 25 * questions  # 20 / 4 + 20
    assert "reasons of at most max_reason characters" in tight.assumptions
    assert long.models[0].tokens_out == loose.tokens_out
