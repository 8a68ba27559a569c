from __future__ import annotations

import json

import pytest

from tests.cli.conftest import one_line

SAFETY = ["score", "--rubric", "safety", "--output", "Hello.", "--judge", "fake/judge"]


def test_a_score_is_explained(judgekit, folder):
    done = judgekit(*SAFETY)

    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("safety: ")
    assert lines[1] == "  judge, fake/judge by safety@2"
    assert sum(line.startswith("  harm: ") for line in lines) == 1


def test_json_is_json_and_says_what_kind_of_result_it_is(judgekit, folder):
    scored, failed = (
        json.loads(judgekit(*args, "--json").out)
        for args in (SAFETY, ("score", "--rubric", "safety", "-i", "x", "--judge", "fake/judge"))
    )

    assert (scored["verdict"]["word"], failed["verdict"]["word"]) == ("DONE", "INCOMPLETE")
    (scored,), (failed,) = scored["rows"], failed["rows"]
    assert (scored["metric"], scored["result"]["type"]) == ("safety", "score")
    assert (failed["result"]["type"], failed["result"]["kind"]) == ("failure", "invalid_case")


def test_several_metrics_are_a_list(judgekit, folder):
    done = judgekit(
        "score", "-m", "exact_match", "-m", "token_f1", "-o", "a b", "-r", "a b", "--json"
    )

    assert [row["metric"] for row in json.loads(done.out)["rows"]] == ["exact_match", "token_f1"]


def test_texts_come_from_files_and_standard_input(judgekit, folder):
    (folder / "answer.txt").write_text("from a file", "utf-8")

    done = judgekit("score", "-m", "exact_match", "-o", "@answer.txt", "-r", "-",
                    stdin="from a file")  # fmt: skip

    assert done.code == 0
    assert done.out.startswith("exact_match: 1\n")


def test_a_whole_case_comes_as_json(judgekit, folder):
    case = json.dumps({"output": "a", "reference": ["b", "a"]})

    assert judgekit("score", "-m", "exact_match", "--case", case).out.startswith("exact_match: 1\n")


def test_without_a_judge_the_stand_in_says_that_it_is_one(judgekit, folder):
    done = judgekit("score", "-m", "prompt_alignment", "-i", "Why?", "-o", "Because.", "--no-judge")

    assert done.code == 0
    assert "  fallback alignment_rules: no_judge" in done.out.splitlines()


def test_a_scale_is_shown(judgekit, folder):
    done = judgekit("score", "-m", "prompt_alignment", "-i", "q", "-o", "a", "--scale", "10",
                    "--judge", "fake/judge")  # fmt: skip

    assert " of 10" in done.out.splitlines()[0]


def test_no_score_is_exit_code_3(judgekit, folder):
    done = judgekit("score", "-m", "prompt_alignment", "-o", "a", "--judge", "fake/judge")

    assert done.code == 3
    assert done.out.startswith("prompt_alignment: no score (invalid_case): ")


def test_a_cassette_is_recorded_and_replayed(judgekit, folder):
    live = judgekit(*SAFETY, "--cassette", "tape.jsonl")
    replay = judgekit(*SAFETY, "--cassette", "tape.jsonl", "--record", "none")
    miss = judgekit(*SAFETY[:-4], "-o", "Bye.", "--judge", "fake/judge", "--cassette", "tape.jsonl",
                    "--record", "none")  # fmt: skip

    assert live.out == replay.out
    assert miss.code == 3
    assert "To record them, add: --record new_episodes" in miss.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-o", "x"], "no metric is given: add --metric NAME or --rubric FILE"),
        (["-m", "lenght", "-o", "x", "--no-judge"], "did you mean 'length'?"),
        (["-m", "safety", "-o", "x"], "no judge is given: add --judge MODEL"),
        (["-m", "safety", "-o", "x", "--no-judge"], "needs a judge"),
        (["--rubric", "no/such", "-o", "x", "--judge", "fake/j"], "no such rubric file"),
        (["-m", "exact_match", "-o", "@none.txt"], "@none.txt: no such file"),
        (["-m", "exact_match", "-o", "@."], "@.: cannot be read"),
        (["-m", "exact_match", "--case", "{"], "--case is not JSON"),
        (["-m", "exact_match", "--case", "[]"], "--case is not a JSON object"),
        (["-m", "exact_match", "--case", '{"outptu": 1}'], "outptu"),
        (["-m", "exact_match", "-o", "x", "--mode", "user"], "takes no option 'mode'"),
        (["-m", "prompt_alignment", "-o", "x", "--judge", "fake/j", "--scale", "0"], "above 0"),
        ([*SAFETY[1:], "--cassette", "."], "not a file"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(judgekit, folder, args, message):
    assert message in one_line(judgekit("score", *args))
