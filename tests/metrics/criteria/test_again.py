"""Groups of criteria with settings that run a suite again, and with cases of several turns."""

import json

import pytest

from judgekit import FakeJudge, create_metric
from judgekit.core.errors import JudgeUnavailable
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import replay_suite, run_suite_sync
from judgekit.suite.watch.watch import Watch
from tests.metrics.criteria.test_points import Script, answers, case_of, scored, texts
from tests.metrics.criteria.test_runs import ROWS, project

GROUPS = [["Says {n} or 0", "Says {n} or 1"], ["Says {n} or 2", "Says {n} or 3"], ["Says {n} or 4"]]


def group(case, place):
    return [text.format(n=case) for text in GROUPS[place]]


@pytest.mark.parametrize("samples", [1, 2])
def test_only_groups_that_failed_are_asked_again(tmp_path, samples):
    down = [group(1, 1), group(4, 0), group(4, 2)]

    def partly(request):
        if texts(request) in down:
            raise JudgeUnavailable("down")
        return answers(request)

    suite = project(tmp_path, samples=samples)
    first, second = FakeJudge(partly), FakeJudge(answers)
    before = run_suite_sync(suite, judge=first, out=tmp_path / "run")
    after = run_suite_sync(suite, judge=second, out=tmp_path / "run", retry_failed=tmp_path / "run")

    assert before.metrics["points"].failed == 2
    assert after.metrics["points"].failed == 0
    asked = sorted(texts(request) for request in second.asked)
    assert asked == sorted(down * samples)
    replay = run_suite_sync(suite, judge=FakeJudge(), out=tmp_path / "replay")
    assert [one.rows for one in replay.results] == [one.rows for one in after.results]


def test_a_watched_suite_misses_the_group_that_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suite = project(tmp_path)
    run_suite_sync(suite, judge=FakeJudge(answers), out=tmp_path / "run")
    rows = json.loads(json.dumps(ROWS))
    items = rows[3]["expected"]["criteria"]

    def ask():
        run_suite_sync(suite, judge=later, out=tmp_path / "again")

    def other_text():
        items[2]["criterion"] = "Says something else"
        project(tmp_path, rows)

    def other_points():
        items[0]["points"] = 9
        project(tmp_path, rows)

    later = FakeJudge(answers)
    waits = iter([None] * 100)  # a change that is not noticed ends the test
    watch = Watch(
        suite,
        Overrides(),
        run=lambda suite, reuse: replay_suite(suite, reuse=reuse),
        sleep=lambda _: next(waits),
    )
    rounds = watch.rounds()
    first = next(rounds)
    other_text()
    missed = next(rounds)
    ask()
    recorded = next(rounds)
    other_points()
    counted = next(rounds)

    assert (first.fresh, missed.fresh, recorded.fresh, counted.fresh) == (6, 1, 6, 1)
    assert missed.changes.missed == {"points": 1}
    assert recorded.changes.recorded == 1
    assert [texts(request) for request in later.asked] == [["Says something else", "Says 3 or 3"]]
    # Points are in no request, so the tape has all replies.
    assert counted.changes.missed == {}
    assert counted.report.metrics["points"].failed == 0


TURNS = [
    {"role": "user", "content": "First question"},
    {"role": "assistant", "content": "First answer"},
    {"role": "user", "content": "Second question"},
    {"role": "assistant", "content": "Second answer"},
]


@pytest.mark.parametrize(
    ("calls", "history", "shown"),
    [(2, 10, [True, True]), ("all", 10, [True, True]), (2, 2, [False, True]), (2, 0, [False] * 2)],
)
def test_groups_of_a_case_of_several_turns_share_its_conversation(calls, history, shown):
    judge = Script(answers)
    case = case_of(*({"criterion": f"part {n}", "points": 1} for n in range(4)), history=TURNS)
    score = scored(create_metric("points", judge=judge, calls=calls, history=history), case)

    heads = {request.messages[-1].content.partition("## c1")[0] for request in judge.asked}
    (head,) = heads
    assert [f"{name} answer" in head for name in ("First", "Second")] == shown
    assert len(judge.asked) == {2: 2, "all": 1}[calls]
    assert score.value == 1.0


@pytest.mark.parametrize(
    ("votes", "value"),
    [
        ((None, None, None), 1.0),
        ((False, None, None), 1.0),
        ((True, True, None), 1.0),
        ((False, False, None), 0.5),
    ],
)
def test_an_abstention_is_one_of_the_samples(tmp_path, votes, value):
    def vote(request):
        return {
            question.id: {
                "reason": "r",
                "quotes": [],
                "value": votes[request.sample] if question.text == "May be open" else True,
            }
            for question in request.form.questions
        }

    criteria = [
        {"criterion": "a", "points": 1},
        {"criterion": "May be open", "points": 2, "nullable": True},
        {"criterion": "b", "points": 1},
    ]
    suite = project(tmp_path, [ROWS[0] | {"expected": {"criteria": criteria}}], samples=3)
    judge = FakeJudge(vote)
    report = run_suite_sync(suite, judge=judge, out=tmp_path / "run")
    replay = run_suite_sync(suite, judge=FakeJudge(), out=tmp_path / "replay")

    assert len(judge.asked) == 6
    (scored,) = report.results
    assert scored.rows[0].result.value == value
    assert [one.rows for one in replay.results] == [one.rows for one in report.results]
