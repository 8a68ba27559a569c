"""pytest-asyncio: its modes, its loops, and a conftest that has ideas of its own about them."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import pytest

from tests.testing.conftest import RECORD, records, spoil, tape

pytestmark = pytest.mark.skipif(
    find_spec("pytest_asyncio") is None, reason="pytest-asyncio is not installed"
)

MODULE = """
import asyncio
import pytest
import judgekit as jk

class Own:
    name = "own"
    range = (0.0, 1.0)
    higher_is_better = True

    async def score(self, case):
        await asyncio.sleep(0)
        return jk.Score(value=1.0, details={{"loop": id(asyncio.get_running_loop())}})

{mark}async def test_kind(judgekit):
    found = await judgekit.acheck({{"output": "Hello there."}}, "kind", threshold=1.0)
    assert found.value == 1.0

{mark}async def test_many_at_a_time(judgekit):
    cases = [{{"id": str(n), "output": f"Hello {{n}}."}} for n in range(20)]
    found = await asyncio.gather(*(judgekit.ascore(case, "kind") for case in cases))
    assert [score.type for score in found] == ["score"] * 20

{mark}async def test_a_metric_of_one_s_own_waits_in_the_loop_of_the_test(judgekit):
    found = await judgekit.acheck({{"output": "x"}}, Own(), threshold=1.0)
    assert found.details["loop"] == id(asyncio.get_running_loop())
    report = await judgekit.aevaluate([{{"output": "x"}}], Own())
    (row,) = next(report.results).rows
    assert row.result.details["loop"] == id(asyncio.get_running_loop())

{mark}async def test_others_get_their_turn_meanwhile(judgekit):
    turns = []

    class Waiting(Own):
        async def score(self, case):
            for _ in range(1000):
                await asyncio.sleep(0)
            return jk.Score(value=float(bool(turns)))

    async def other():
        turns.append(1)

    check = judgekit.acheck({{"output": "x"}}, Waiting(), threshold=1.0)
    await asyncio.gather(check, other())

{mark}async def test_without_await(judgekit):
    judgekit.check({{"output": "Hello there."}}, "kind")
    judgekit.check({{"output": "aab"}}, "regex", pattern="(a+)+b", threshold=1.0)
    await judgekit.acheck({{"output": "aab"}}, "regex", pattern="(a+)+b", threshold=1.0)
    assert judgekit.evaluate([{{"output": "Hello"}}], "kind").metrics["kind"].judged == 1

def test_plain(judgekit):
    judgekit.check({{"output": "Hello there."}}, "kind")
"""
TESTS = 6
CONFTEST = """
import asyncio
import pytest

class Loop(asyncio.SelectorEventLoop):
    pass

class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        return Loop()

@pytest.fixture
def case():
    return {"output": "Hello there."}

@pytest.fixture
def judgekit(judgekit, case):
    judgekit.usual = case
    return judgekit

@pytest.fixture(autouse=True)
def unrelated(monkeypatch):
    monkeypatch.setenv("UNRELATED", "1")
"""
LOOPS = {
    "by_policy": """
@pytest.fixture(scope="session")
def event_loop_policy():
    return Policy()
""",
    "by_factory": """
def pytest_asyncio_loop_factories(config, item):
    return {"own": Loop}
""",
}


@pytest.fixture
def run(run_beside):
    return partial(run_beside, ("asyncio",))


@pytest.fixture
def written(project):
    """Write a module and its pytest.ini."""

    def write(module, **settings):
        settings = {"asyncio_default_fixture_loop_scope": "function", **settings}
        lines = [f"{name} = {value}" for name, value in settings.items()]
        (project / "pytest.ini").write_text("\n".join(["[pytest]", *lines, ""]), "utf-8")
        (project / "test_tone.py").write_text(module, "utf-8")

    return write


def recorded_and_replayed(run, *words, tests):
    for flags in (RECORD, (), ("--judgekit-record", "all", *RECORD)):
        code, out = run(*words, *flags)
        assert code == 0, out
        assert f"{tests} passed" in out


@pytest.mark.parametrize(
    ("mode", "mark"), [("strict", "@pytest.mark.asyncio\n"), ("auto", "")], ids=["strict", "auto"]
)
def test_async_tests_await_their_checks(project, run, written, mode, mark):
    written(MODULE.format(mark=mark), asyncio_mode=mode)

    recorded_and_replayed(run, tests=TESTS)
    assert len(records(tape(project))) == 22


@pytest.mark.thorough
@pytest.mark.parametrize("scope", ["module", "session"])
def test_a_loop_may_be_shared_by_many_tests(run, written, scope):
    written(
        MODULE.format(mark=""),
        asyncio_mode="auto",
        asyncio_default_test_loop_scope=scope,
        asyncio_default_fixture_loop_scope=scope,
    )

    recorded_and_replayed(run, tests=TESTS)


@pytest.mark.parametrize("loops", LOOPS.values(), ids=LOOPS)
def test_a_project_has_a_conftest_and_a_loop_of_its_own(project, run, written, loops):
    written(
        """
import asyncio
from conftest import Loop

used = []

async def test_async(judgekit, case):
    used.append(asyncio.get_running_loop())
    assert type(used[0]) is Loop
    assert judgekit.usual is case
    await judgekit.acheck(judgekit.usual, "kind", threshold=1.0)
    judgekit.check(case, "kind", threshold=1.0)

def test_sync(judgekit, case):
    judgekit.check(case, "kind", threshold=1.0)

def test_its_loop_is_closed():
    assert used[0].is_closed()
""",
        asyncio_mode="auto",
    )
    (project / "conftest.py").write_text(CONFTEST + loops, "utf-8")
    # pytest-asyncio's own word on policies, which are on their way out.
    policies = ("-W", "ignore::pytest.PytestDeprecationWarning")

    recorded_and_replayed(run, *policies, tests=3)


def test_a_failed_check_says_what_a_failed_check_says(project, run, written):
    written(
        """
async def test_rude(judgekit):
    await judgekit.acheck({"output": "What now?"}, "kind", threshold=0.5)

async def test_soft(judgekit):
    await judgekit.acheck({"output": "What now?"}, "kind", threshold=0.5, soft=True)
""",
        asyncio_mode="auto",
    )
    run(*RECORD)
    spoil(project, "What now?")

    code, out = run()

    assert code == 1
    assert "1 failed, 1 passed" in out
    assert "kind of case 'test_rude': 0 is below the threshold 0.5" in out
    assert "kind 0.00: No greeting at all." in out
    assert ">       await judgekit.acheck(" in out
    assert "judgekit/testkit" not in out  # the user's own line is shown, not ours
    assert "judgekit: 1 soft checks do not hold" in out
    assert "kind of case 'test_soft': 0 is below the threshold 0.5" in out


def test_a_miss_names_the_command_that_records_it(run, written):
    written(
        """
async def test_new(judgekit):
    await judgekit.acheck({"output": "Hello there."}, "kind")
""",
        asyncio_mode="auto",
    )

    code, out = run()

    assert code == 1
    assert "to record it: pytest test_tone.py::test_new --judgekit-record new_episodes" in out


def test_what_is_set_up_wrongly_is_raised(run, written):
    written(
        """
import pytest
from judgekit.core.errors import ConfigError

async def test_wrong(judgekit):
    with pytest.raises(ConfigError, match="lenght"):
        await judgekit.acheck({"output": "x"}, "lenght")
    with pytest.raises(ConfigError, match="maxmum"):
        await judgekit.ascore({"output": "x"}, "length", maxmum=1)
    assert (await judgekit.ascore({}, "length", maximum=1)).kind == "invalid_case"
""",
        asyncio_mode="auto",
    )

    code, out = run()

    assert code == 0, out
