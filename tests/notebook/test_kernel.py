"""judgekit in the cells of a real kernel, which has an event loop running."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.loopback

SETUP = """
import asyncio, judgekit
from judgekit.core.score import Score
assert asyncio.get_running_loop().is_running()

class Slow:
    name, range, higher_is_better = "slow", (0.0, 1.0), True
    def __init__(self, seconds): self.seconds = seconds
    async def score(self, case):
        if case.id in ("c3", "c9"): print("at", case.id, flush=True)
        await asyncio.sleep(self.seconds)
        return Score(value=int(case.id[1:]) % 10 / 10, reason="because")

def cases(count):
    return [judgekit.Case(id=f"c{n}", input=f"q{n}", output=f"a{n}") for n in range(count)]

class SlowJudge(judgekit.FakeJudge):
    async def ask(self, request):
        await asyncio.sleep(0.2)
        print("asked", flush=True)
        return await super().ask(request)
"""


@pytest.fixture(scope="module", autouse=True)
def ready(cells):
    assert cells.run(SETUP).error is None


def test_a_report_is_a_table_and_text(cells):
    said = cells.run("judgekit.evaluate_sync(cases(20), [Slow(0)])")

    assert said.error is None
    assert "<table" in said.result["text/html"]
    assert "5 worst results, of 20 cases" in said.result["text/html"]
    assert said.result["text/plain"].startswith("judgekit: 20 cases")


@pytest.mark.parametrize(
    "code",
    [
        "judgekit.score_sync(cases(5)[4], Slow(0))",
        "next(judgekit.evaluate_sync(cases(2), [Slow(0)]).results)",
        "await judgekit.evaluate(cases(3), [Slow(0)])",
        "judgekit.answer_cases_sync([judgekit.Case(id='a', input='q')], judgekit.FakeJudge())",
        "await judgekit.answer_cases([judgekit.Case(id='a', input='q')], judgekit.FakeJudge())",
        "judgekit.compare(judgekit.evaluate_sync(cases(9), [Slow(0)]), "
        "judgekit.evaluate_sync(cases(9), [Slow(0)]), allow_same=True)",
        "judgekit.load_suite('examples/support_assistant/suite.yaml')",
        "judgekit.run_suite_sync(judgekit.load_suite('examples/support_assistant/suite.yaml'))",
        "await judgekit.run_suite(judgekit.load_suite('examples/support_assistant/suite.yaml'))",
        "judgekit.load_rubric('rubrics/safety.jinja')",
        "cases(1)[0]",
    ],
)
def test_every_door_works_and_what_it_returns_is_shown(cells, code):
    said = cells.run(code)

    assert said.error is None
    assert set(said.result) == {"text/html", "text/plain"}
    assert said.stderr == ""


@pytest.mark.parametrize(
    "code",
    [
        "judgekit.lint_rubrics",
        "judgekit.metric_names()",
        "list(judgekit.load_cases('examples/support_assistant/cases.jsonl'))[:2]",
        "judgekit.create_metric('exact_match')",
        "judgekit.metrics.brand_voice.load_persona('examples/brand_voice/tamarind.yaml')",
        "judgekit.agree",
    ],
)
def test_the_other_sync_functions_know_nothing_of_loops(cells, code):
    assert cells.run(code).error is None


def test_values_inside_a_list_stay_one_line_each(cells):
    said = cells.run("cases(2)")

    assert "text/html" not in said.result
    assert said.result["text/plain"].splitlines() == [
        "[Case(id='c0', input='q0', output='a0'),",
        " Case(id='c1', input='q1', output='a1')]",
    ]


def test_one_judge_serves_both_loops(cells):
    said = cells.run(
        """
judge = judgekit.LimitedJudge(judgekit.FakeJudge(), concurrency=2)
metric = judgekit.RubricMetric("quality", judge=judge)
a = judgekit.evaluate_sync(cases(4), [metric])
b = await judgekit.evaluate(cases(4), [metric])
c = judgekit.evaluate_sync(cases(4), [metric])
print(a.metrics["quality"].mean == b.metrics["quality"].mean == c.metrics["quality"].mean)
"""
    )

    assert (said.error, said.stdout) == (None, "True\n")


def test_an_interrupt_ends_a_run_with_what_there_is(cells):
    said = cells.run(
        """
report = judgekit.evaluate_sync(cases(4000), [Slow(0.2)], window=4)
print(report.exit_code, 0 < report.figures.cases < 200, report.figures.incomplete)
report
""",
        interrupt_when="at c9",
    )

    assert said.error is None
    assert said.stderr.startswith("stopping; what is done is kept")
    assert said.stdout.splitlines()[-1].startswith("3 True ('stopped early, with")
    assert "incomplete: stopped early" in said.result["text/html"]


def test_an_interrupt_ends_answering_with_what_there_is(cells):
    said = cells.run(
        "answers = judgekit.answer_cases_sync(cases(300), SlowJudge(), window=2, replace=True)\n"
        "print(len(answers.cases), 0 < answers.states['answered'] < 300, answers.exit_code)",
        interrupt_when="asked",
    )

    assert said.error is None
    assert said.stdout.splitlines()[-1] == "300 True 3"


def test_an_interrupt_ends_a_suite_with_what_there_is(cells, tmp_path):
    said = cells.run(
        "suite = judgekit.load_suite('examples/support_assistant/suite.yaml')\n"
        "suite.thresholds = {}; suite.gates = {}\n"
        "class Told(Slow):\n"
        "    async def score(self, case):\n"
        "        print('asked', flush=True)\n"
        "        await asyncio.sleep(0.3)\n"
        "        return Score(value=0.5)\n"
        "suite.metrics = [Told(0)]\n"
        f"report = judgekit.run_suite_sync(suite, out={str(tmp_path / 'run')!r})\n"
        "print(report.exit_code)",
        interrupt_when="asked",
    )

    assert said.error is None
    assert said.stdout.splitlines()[-1] == "3"
    assert (tmp_path / "run" / "report.json").exists()


def test_an_interrupt_of_a_single_score_raises(cells):
    said = cells.run("judgekit.score_sync(cases(4)[3], Slow(30))", interrupt_when="at c3")

    assert said.error.startswith("KeyboardInterrupt")


def test_the_kernel_is_as_good_as_before(cells):
    said = cells.run("judgekit.evaluate_sync(cases(4), [Slow(0)]).figures.incomplete")

    assert said.result["text/plain"] == "()"


def test_progress_is_one_output_that_is_replaced(cells):
    said = cells.run(
        "r = judgekit.evaluate_sync(cases(300), [Slow(0.02)], window=4, progress=True)"
    )

    assert said.error is None
    assert len(said.shown) == 1
    assert 2 <= len(said.updates) <= 12
    assert said.updates[-1]["text/plain"].startswith("300 cases in ")
    assert (said.stdout, said.stderr) == ("at c3\nat c9\n", "")


def test_progress_of_what_is_run_inline_is_nothing(cells):
    cells.run("judgekit.evaluate_sync(cases(9), [Slow(0)])")  # imports take their time, too
    said = cells.run("r = judgekit.evaluate_sync(cases(9), [Slow(0)], progress=True)")

    assert (said.shown, said.updates, said.stderr) == ([], [], "")


def test_progress_of_the_awaited_door(cells):
    said = cells.run(
        "r = await judgekit.evaluate(cases(200), [Slow(0.02)], window=4, progress=True)"
    )

    assert said.error is None
    assert len(said.shown) == 1
    assert said.updates[-1]["text/plain"].startswith("200 cases in ")


def test_what_a_callback_prints_stands_under_its_own_cell(cells):
    said = cells.run(
        "r = judgekit.evaluate_sync(cases(9), [Slow(0)], progress=lambda p: print('done', p.cases))"
    )

    assert said.stdout.count("done") == 9


def test_a_callback_that_fails_ends_the_run(cells):
    said = cells.run("judgekit.evaluate_sync(cases(99), [Slow(0.01)], progress=lambda p: 1 / 0)")

    assert said.error.startswith("ZeroDivisionError")


def test_a_metric_that_waits_for_itself_is_told_so(cells):
    said = cells.run(
        """
class Nested(Slow):
    async def score(self, case):
        return judgekit.score_sync(case, Slow(0))
judgekit.evaluate_sync(cases(1), [Nested(0)])
"""
    )

    assert said.error.startswith("ConfigError: a metric or judge calls a function that ends in")


def test_data_frames_in_and_out(cells):
    said = cells.run(
        """
import pandas
frame = pandas.DataFrame({"id": ["a", "b"], "input": ["q", "r"], "output": ["x", None]})
report = judgekit.evaluate_sync(frame, [judgekit.create_metric("length", maximum=5)])
report.to_pandas()[["case", "status", "failure"]]
"""
    )

    assert said.error is None
    assert "<table" in said.result["text/html"]
    assert "invalid_case" in said.result["text/plain"]


def test_a_mistake_is_one_line_at_the_end(cells):
    said = cells.run("judgekit.evaluate_sync(pandas.DataFrame({'x': [1]}), [Slow(0)])")

    assert said.error.startswith("DatasetError: row 0: field 'x': unknown key")
