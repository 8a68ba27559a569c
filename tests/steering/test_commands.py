"""`judgekit steer` and `judgekit answer --steering-vector`, as they are typed.

The tape of examples/steering is that of a tiny model, made by tiny_model.py there. Only the last
tests call a model.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import one_line
from tests.tiny_model import write_model

EXAMPLE = Path(__file__).parents[2] / "examples" / "steering"
OPTIMIZE = (
    "steer", "optimize", "--model", "tiny", "--pairs", "british_pairs.json",
    "--trait-description", "British, dry, given to understatement",
)  # fmt: skip
SEARCH = (
    *OPTIMIZE, "--prompts", "prompts.jsonl", "--layers", "0-3", "--strengths", "1,2,3",
    "--max-tokens", 24, "--cassette", "tiny_tape.jsonl",
)  # fmt: skip
STEERED = ("--steering-vector", "out/vector.safetensors", "--layer", 3, "--strength", 2)
HEAVY = ("torch", "transformers", "steering_vectors", "safetensors")


@pytest.fixture
def example(tmp_path, monkeypatch):
    for name in ("british_pairs.json", "prompts.jsonl", "tiny_tape.jsonl"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_command_replays_the_same_files_without_torch(example, judgekit, monkeypatch):
    for name in HEAVY:
        monkeypatch.setitem(sys.modules, name, None)
    first = judgekit(*SEARCH, "--out", "out")
    second = judgekit(*SEARCH, "--out", "again", "--record", "none")

    assert first.code == 0, first.err
    assert first.out.replace("out", "again") == second.out
    assert files(example / "out") == files(example / "again")
    assert set(files(example / "out")) == {
        "steering.json", "steering.html", "vector.safetensors", "cases.jsonl",
    }  # fmt: skip
    assert "Best: layer 3, strength 2, with 0.35." in first.out
    table = json.loads((example / "out" / "steering.json").read_text())
    assert len(table["cells"]) == 12
    assert (table["pairs"], table["prompts"], table["baseline_quality"]) == (15, 12, 1.0)


def test_the_figures_of_a_cell_are_those_of_a_suite_over_its_answers(example, judgekit):
    from judgekit.metrics.registry import create_metric
    from judgekit.runner.evaluation import evaluate_sync

    judgekit(*SEARCH, "--out", "out")
    table = json.loads((example / "out" / "steering.json").read_text())
    pairs = "british_pairs.json"
    metric = create_metric(
        "personalization_rules", positive_examples=pairs, negative_examples=pairs
    )
    summary = evaluate_sync("out/cases.jsonl", [metric]).metrics["personalization_rules"]

    best = next(c for c in table["cells"] if (c["layer"], c["strength"]) == (3, 2))
    assert best["figures"]["overall"] == summary.mean
    assert best["figures"]["alignment"] == summary.figures["alignment_score"]


def test_a_judge_of_quality_is_asked_and_recorded(example, judgekit):
    search = (*SEARCH[:-6], "--strengths", "3", *SEARCH[-4:], "--judge", "fake/judge")
    live = judgekit(*search, "--out", "out")
    replay = judgekit(*search, "--out", "again", "--record", "none")

    assert live.code in (0, 1), live.err
    assert "quality by fake/judge" in live.out
    assert files(example / "out") == files(example / "again")
    assert replay.code == live.code


def test_the_page_has_a_heat_map_and_hostile_text_is_inert(example, judgekit):
    hostile = "<script>alert(1)</script>"
    flags = [hostile if f == OPTIMIZE[-1] else f for f in SEARCH]
    # The trait is no part of any key.
    assert judgekit(*flags, "--out", "out", "--record", "none").code == 0

    page = (example / "out" / "steering.html").read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.count('<table class="heat">') == 5
    assert " best" in page
    assert "Rather grim, I am afraid" in page


def test_answers_that_are_missing_are_no_steering_without_effect(example, judgekit):
    flags = ["5" if f == "1,2,3" else f for f in SEARCH]
    done = judgekit(*flags, "--out", "out", "--record", "none")

    assert done.code == 3
    assert "No best cell can be named: some answers have no score." in done.out
    assert "layer 0, strength 5: 12 failed; no answer: cassette_miss" in done.out
    assert "  low" not in done.out
    assert " low" not in (example / "out" / "steering.html").read_text().partition("<body")[2]


def test_without_a_best_cell_the_files_of_an_earlier_one_go(example, judgekit):
    judgekit(*SEARCH, "--out", "out")
    done = judgekit(*SEARCH, "--out", "out", "--option", "least_difference=1")

    assert done.code == 1, done.err
    assert "No steering had an effect" in done.out
    assert set(files(example / "out")) == {"steering.json", "steering.html"}


def test_both_answers_are_replayed_from_the_tape_of_the_search(example, judgekit):
    judgekit(*SEARCH, "--out", "out")
    done = judgekit(
        "answer", "prompts.jsonl", "--model", "tiny", *STEERED, "--max-tokens", 24,
        "--cassette", "tiny_tape.jsonl", "--record", "none", "--out", "answered.jsonl",
    )  # fmt: skip

    assert done.code == 0, done.err
    assert "24 answered (24 from the tape)" in done.err
    assert (example / "answered.jsonl").read_bytes() == files(example / "out")["cases.jsonl"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--layers", "x"), "--layers x: 'x' is wrong; write such as 8,10-14"),
        (("--layers", "-1"), "--layers -1"),
        (("--layers", "5-3"), "--layers 5-3"),
        (("--layers", "1", "--strengths", "a"), "--strengths a: 'a' is wrong"),
        (("--layers", "1", "--strengths", "nan"), "must be finite and not 0"),
        (("--layers", "1", "--strengths", "0"), "must be finite and not 0"),
        (("--layers", "1", "--pairs", "no.json"), "no.json: --pairs: no such file"),
        (("--layers", "1", "--pairs", "empty.json"), "has no texts"),
        (("--layers", "1", "--pairs", "texts.json"), "entry 1 is no pair of two answers"),
        (("--layers", "1", "--pairs", "two.json"), "has fewer than 5 pairs"),
        (("--layers", "1", "--positive-examples", "empty.json"), "--positive-examples"),
        (("--layers", "1", "--prompts", "no.jsonl"), "no.jsonl: no such file"),
        (("--layers", "1", "--option", "bye=tokens"), "no option 'bye'"),
        (("--layers", "1", "--trait-description", " "), "--trait-description is blank"),
        (("--layers", "1", "--model", "nowhere"), "transformers/nowhere: there is no such folder"),
        (("--layers", "1", "--cassette", "no.jsonl", "--record", "none"), "no such cassette"),
        (
            ("--layers", "1", "--cassette", "tiny_tape.jsonl", "--record", "none"),
            "vector of layer 1: not recorded",
        ),
        (("--layers", "1", "--out", "foreign"), "is not a steering table"),
        (("--layers", "1", "--out", "own"), "cases.jsonl: is there already"),
        (("--layers", "1", "--out", "two.json"), "two.json: is no folder"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(example, judgekit, flags, message):
    pairs = json.loads((example / "british_pairs.json").read_text())["pairs"]
    (example / "empty.json").write_text("[]")
    (example / "texts.json").write_text('["a", "b"]')
    (example / "two.json").write_text(json.dumps(pairs[:2]))
    for name in ("foreign", "own"):
        (example / name).mkdir()
    (example / "own" / "cases.jsonl").write_text("{}")
    (example / "foreign" / "steering.json").write_text("{}")

    assert message in one_line(judgekit(*OPTIMIZE, *flags))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--layer", 3), "add --steering-vector FILE"),
        (("--strength", 3), "add --steering-vector FILE"),
        (("--steering-vector", "v"), "needs --layer N"),
        (("--steering-vector", "v", "--layer", 3), "v: no such file of a steering vector"),
        (("--steering-vector", "prompts.jsonl", "--layer", 3), "is no steering vector"),
        (("--steering-vector", "v", "--layer", 3, "--field", "baseline"), "remove --field"),
        (("--param", "top_k=3"), "takes no 'top_k'; did you mean 'top_p'?"),
    ],
)
def test_a_mistake_of_an_answer_is_one_line(example, judgekit, flags, message):
    done = judgekit("answer", "prompts.jsonl", "--model", "transformers/tiny", *flags)
    assert message in one_line(done)


# -- with the libraries ---------------------------------------------------------------


def test_a_search_is_the_same_live_and_twice(example, judgekit):
    write_model(example / "random")
    search = [*SEARCH[:-2], "--cassette", "new.jsonl"]
    search[search.index("tiny")] = "random"
    search[search.index("0-3")] = "0-2"
    outcomes = []
    for name, record in (("one", "new_episodes"), ("two", "all"), ("three", "none")):
        outcomes.append(judgekit(*search, "--out", name, "--record", record).code)
    assert len(set(outcomes)) == 1
    assert files(example / "one") == files(example / "two") == files(example / "three")


def test_steered_answers_of_a_live_model(example, judgekit):
    from judgekit.steering.vector import vector_bytes

    write_model(example / "random")
    data = vector_bytes([1.0, -1.0] * 8, layer=1, metadata={})
    (example / "v.safetensors").write_bytes(data)
    done = judgekit(
        "answer", "prompts.jsonl", "--model", "random", "--steering-vector", "v.safetensors",
        "--layer", 1, "--strength", 9, "--max-tokens", 12, "--out", "answered.jsonl",
    )  # fmt: skip
    rows = [json.loads(line) for line in (example / "answered.jsonl").read_text().splitlines()]

    assert done.code in (0, 3), done.err
    assert any(row.get("output") != row.get("baseline") for row in rows)
    told = one_line(
        judgekit(
            "answer", "prompts.jsonl", "--model", "random", "--steering-vector", "v.safetensors",
            "--layer", 7, "-o", "x.jsonl",
        )
    )  # fmt: skip
    assert "has no layer 7; it has 0 to 2" in told
