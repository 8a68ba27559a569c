"""The driver of a run in shards, with tasks that run in this process."""

from __future__ import annotations

import sys

import pytest

from judgekit import FakeJudge
from judgekit.cli.app import app
from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.core.synchronous import Flag
from judgekit.ray import cluster
from judgekit.ray import run as driver
from judgekit.ray.run import StoppedRun, run_on_ray, shards_folder
from judgekit.ray.worker import run_shard
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite, run_suite_sync
from tests.metrics.criteria.test_runs import odd, project
from tests.ray.inline import InlineRay, RayError
from tests.ray.suites import assert_same, run_alone, write_suite

JUDGED = {"polite": {"criteria": {"polite": "Is it polite?"}}}
RECORD = Overrides(record="new_episodes")


@pytest.fixture
def ray(monkeypatch) -> InlineRay:
    """A cluster that needs neither Ray nor processes."""
    inline = InlineRay()
    monkeypatch.setattr(driver, "connected", inline.connected)
    return inline


def test_shards_merge_into_the_bytes_of_one_run(tmp_path, ray):
    one = write_suite(tmp_path / "one")
    many = write_suite(tmp_path / "many")
    whole = run_alone(one, tmp_path / "whole")

    seen = []
    report = run_on_ray(
        many,
        RECORD,
        out=tmp_path / "merged",
        workers=3,
        progress=lambda cases, failed: seen.append(cases),
    )

    assert_same(tmp_path / "whole", tmp_path / "merged")
    assert (one.parent / "recorded.jsonl").read_bytes() == (
        many.parent / "recorded.jsonl"
    ).read_bytes()
    assert report.exit_code == whole.exit_code
    assert report.run["shards"] == 3
    assert ray.ran == [1, 2, 3]
    assert 0 < seen[0] <= seen[-1] <= 23
    assert not shards_folder(tmp_path / "merged").exists()


def test_groups_of_criteria_take_the_same_further_requests_on_workers(tmp_path, ray):
    """Recorded replies leave criteria out, are cut, or decline; each leads to further requests."""
    suite = project(tmp_path, cassette="recorded.jsonl")
    whole = run_suite_sync(suite, judge=FakeJudge(odd), out=tmp_path / "whole")

    report = run_on_ray(suite, Overrides(), out=tmp_path / "merged", workers=3)

    assert ray.ran == [1, 2, 3]
    assert report.run["origins"] == {"tape": whole.run["origins"]["live"]}
    assert_same(tmp_path / "whole", tmp_path / "merged")
    assert report.metrics["points"].tags == whole.metrics["points"].tags


def test_a_flag_that_affects_the_exit_code_reaches_the_merge(tmp_path, ray):
    """Six rows fail; the suite allows 1,000."""
    suite = write_suite(tmp_path / "suite", metrics={"exact_match": {}}, judge=None)

    strict = run_on_ray(suite, Overrides(max_failures=5), out=tmp_path / "strict", workers=3)
    lax = run_on_ray(suite, Overrides(max_failures=6), out=tmp_path / "lax", workers=3)

    assert (strict.exit_code, lax.exit_code) == (3, 0)


def test_replies_of_the_private_store_are_not_asked_for_again(tmp_path, ray):
    suite = write_suite(tmp_path / "suite", cassette=None)
    run_alone(suite, tmp_path / "whole")

    report = run_on_ray(suite, RECORD, out=tmp_path / "merged")

    assert report.run["origins"] == {"store": 23}
    assert_same(tmp_path / "whole", tmp_path / "merged")


def test_without_a_tape_the_new_replies_go_to_the_private_store(tmp_path, ray):
    suite = write_suite(tmp_path / "suite", cassette=None)

    assert run_on_ray(suite, RECORD, out=tmp_path / "a").run["origins"] == {"live": 23}
    again = run_alone(suite, tmp_path / "b", record="none")

    assert again.run["origins"] == {"store": 23}
    assert_same(tmp_path / "a", tmp_path / "b")


def test_a_stopped_run_continues_with_the_shards_it_began_with(tmp_path, ray):
    suite = write_suite(tmp_path / "suite", metrics=JUDGED)
    out, stop = tmp_path / "out", Flag()
    ray.before = lambda folder, token, number: stop.set() if number == 3 else None

    with pytest.raises(StoppedRun, match="run the same command again"):
        run_on_ray(suite, RECORD, out=out, workers=4, stop=stop)
    kept = ray.ran[:]
    ray.before, ray.ran = None, []
    report = run_on_ray(suite, RECORD, out=out, workers=2)

    assert len(kept) == 3
    assert ray.ran == [4]
    assert report.run["shards"] == 4
    run_alone(write_suite(tmp_path / "alone", metrics=JUDGED), tmp_path / "whole")
    assert_same(tmp_path / "whole", out)


def test_other_cases_run_all_shards_again_and_keep_their_replies(tmp_path, ray):
    suite = write_suite(tmp_path / "suite", metrics=JUDGED)
    out, stop = tmp_path / "out", Flag()
    ray.before = lambda folder, token, number: stop.set() if number == 2 else None
    with pytest.raises(StoppedRun):
        run_on_ray(suite, RECORD, out=out, workers=3, stop=stop)
    cases = suite.parent / "cases.jsonl"
    first, rest = cases.read_text("utf-8").split("\n", 1)
    cases.write_text(first.replace("Question 0?", "Question zero?") + "\n" + rest, "utf-8")
    ray.before, ray.ran = None, []

    report = run_on_ray(suite, RECORD, out=out, workers=3)

    assert ray.ran == [1, 2, 3]
    # One request is new; the replies of two shards were in their stores.
    assert report.run["origins"]["store"] > 5
    assert sum(report.run["origins"].values()) == 23


def test_failed_rows_are_scored_again_by_a_second_start(tmp_path, ray):
    suite = write_suite(tmp_path / "suite")
    out, stop = tmp_path / "out", Flag()
    ray.before = lambda folder, token, number: stop.set() if number == 2 else None
    with pytest.raises(StoppedRun):
        run_on_ray(suite, RECORD, out=out, workers=3, stop=stop)
    ray.before, ray.ran = None, []

    run_on_ray(suite, RECORD, out=out, workers=3)

    assert ray.ran == [1, 2, 3]


def test_record_all_asks_everything_once(tmp_path, ray):
    suite = write_suite(tmp_path / "suite")
    run_alone(suite, tmp_path / "whole")

    report = run_on_ray(suite, Overrides(record="all"), out=tmp_path / "merged")

    assert report.run["origins"] == {"live": 23}
    assert_same(tmp_path / "whole", tmp_path / "merged")


def test_concurrency_is_divided_among_the_workers(tmp_path, ray, monkeypatch):
    suite = write_suite(tmp_path / "suite", limits={"concurrency": 9, "max_failures": 100})
    limits = []

    async def noted(suite, **options):
        limits.append(suite.file.limits.concurrency)
        return await run_suite(suite, **options)

    monkeypatch.setattr("judgekit.suite.run.run_suite", noted)
    run_on_ray(suite, RECORD, out=tmp_path / "out", workers=2)

    assert limits == [4, 4]
    assert ray.most_waiting == 2


def test_more_workers_than_concurrent_calls_are_refused(tmp_path, ray):
    suite = write_suite(tmp_path / "suite")
    with pytest.raises(ConfigError, match="9 workers: give 1 to 8"):
        run_on_ray(suite, RECORD, out=tmp_path / "out", workers=9)


def test_an_error_of_a_worker_names_its_shard_its_machine_and_the_cause(tmp_path, ray):
    suite = write_suite(tmp_path / "suite")
    ray.before = lambda folder, token, number: suite.unlink()

    with pytest.raises(ConfigError, match=r"^shard 1/2 on \S+: .*suite.yaml: no such suite file"):
        run_on_ray(suite, RECORD, out=tmp_path / "out")


def test_an_error_of_ray_is_one_line(tmp_path, ray):
    def before(*_):
        raise RayError("a long trace\n  back\nModuleNotFoundError: No module named 'judgekit'\n")

    ray.before = before
    suite = write_suite(tmp_path / "suite")
    with pytest.raises(ConfigError) as caught:
        run_on_ray(suite, RECORD, out=tmp_path / "out")
    assert str(caught.value).startswith(
        "shard 1/2: ModuleNotFoundError: No module named 'judgekit'; see that every node has"
    )


def test_a_worker_that_does_not_see_the_folder_says_so(tmp_path):
    outcome = run_shard(str(tmp_path / "nowhere"), "token", 1)

    assert outcome["error"].startswith(f"{tmp_path / 'nowhere'}: is not the folder that the driver")
    assert "\n" not in outcome["error"]


def test_what_several_machines_cannot_do_is_refused_before_ray_starts(tmp_path, monkeypatch):
    suite = write_suite(tmp_path / "suite")
    monkeypatch.setattr(driver, "connected", None)
    for flags, message in (
        ({"cases": "-"}, "standard input"),
        ({"shard": "1/2"}, "leave out --shard"),
    ):
        with pytest.raises(ConfigError, match=message):
            run_on_ray(suite, Overrides(**flags), out=tmp_path / "out")
    person = write_suite(tmp_path / "person", judge="manual/ann")
    with pytest.raises(ConfigError, match="manual/ann answers in a terminal"):
        run_on_ray(person, RECORD, out=tmp_path / "out")


def test_without_ray_one_line_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'judgekit-rubrics\[ray\]'"):
        cluster.load_ray()


@pytest.mark.parametrize(
    ("words", "address"),
    [
        (["suite.yaml", "--ray"], "local"),
        (["--ray", "suite.yaml"], "local"),
        (["suite.yaml", "--ray", "--quiet"], "local"),
        (["suite.yaml", "--ray", "auto"], "auto"),
        (["suite.yaml", "--ray=ray://head:10001"], "ray://head:10001"),
    ],
)
def test_the_address_of_a_cluster_is_optional(tmp_path, monkeypatch, words, address):
    write_suite(tmp_path)
    monkeypatch.chdir(tmp_path)
    addresses = []

    def run(suite, overrides, **options):
        addresses.append(options["address"])
        raise ConfigError("stop here")

    monkeypatch.setattr(driver, "run_on_ray", run)
    with pytest.raises(ConfigError, match="stop here"):
        app(["run", *words], standalone_mode=False)
    assert addresses == [address]


def test_flags_that_do_not_fit_together_are_refused(tmp_path, monkeypatch):
    write_suite(tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in (["--ray", "--no-out"], ["--workers", "2"]):
        with pytest.raises(ConfigError, match=words[0].removeprefix("-")):
            app(["run", *words], standalone_mode=False)
