"""Runs with a prompt cache: what the provider bills is what the run reports."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import JudgeRejected
from judgekit.core.request import ChatMessage, Request
from judgekit.judges.connections import closing_connections
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.report.report import Report
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import open_suite

from .asking import judge_of
from .billing import Provider
from .server import Fault, Server, error
from .test_replies import FORM, ask, request

pytestmark = pytest.mark.loopback

CLAUDE, NEW, OLD = "litellm_proxy/claude-sonnet-4-5", "openai/gpt-5.6", "openai/gpt-5"
PROVIDERS = {
    CLAUDE: Provider(),
    NEW: Provider(mark="prompt_cache_breakpoint"),
    OLD: Provider(mark=None, charges_writes=False),
}
thorough = pytest.mark.thorough
PRICE = {"input": 1, "output": 2, "cache_read": 0.1, "cache_write": 1.25}
CASES, CRITERIA = 3, 4


class Project:
    """A suite with several requests about each case, and what the provider billed for it."""

    def __init__(self, folder: Path, server: Server, model: str = CLAUDE, **settings: Any) -> None:
        self.folder, self.server = folder, server
        folder.mkdir()
        self.provider = replace(PROVIDERS[model], bodies=[], _kept={}, delay=0.005)
        metrics = settings.pop("metrics", {"points": {"calls": 1}})
        more = settings.pop("more", {})
        judge: dict[str, Any] = {
            "model": model,
            "api_base": server.base,
            "mode": "json_schema",
            "price": PRICE,
        }
        judge |= {"retries": 2, "max_wait": 0.01, **settings.pop("judge", {})}
        limits = settings.pop("limits", {})
        assert not settings
        suite = {"judge": judge, "cassette": "tape.jsonl", "cases": "cases.jsonl"}
        suite |= {"metrics": metrics, "limits": limits, **more}
        (folder / "suite.yaml").write_text(json.dumps(suite), "utf-8")
        criteria = [{"criterion": f"Names {n}", "points": 1} for n in range(CRITERIA)]
        rows = [
            {"id": f"c{n}", "input": "Why, ann@shop.example?", "output": f"Because of {n}. " * 300}
            for n in range(CASES)
        ]
        lines = (json.dumps({**row, "expected": {"criteria": criteria}}) for row in rows)
        (folder / "cases.jsonl").write_text("\n".join(lines), "utf-8")

    def run(self, record: str = "new_episodes", **flags: Any) -> Report:
        self.server.rule = self.provider
        suite = resolve(self.folder / "suite.yaml", Overrides(record=record, **flags))
        return run_suite_sync(open_suite(suite), out=self.folder / "out")

    def rows(self) -> str:
        return (self.folder / "out" / "results.jsonl").read_text("utf-8")

    def check_bill(self, report: Report) -> None:
        """Compare what the run reports with the bill."""
        bill = self.provider
        assert report.run["spent"] == pytest.approx(bill.dollars, abs=1e-6)
        saved = report.run.get("saved", 0.0)
        assert saved == pytest.approx(bill.plain - bill.dollars, abs=1e-6)
        tokens = {"read": bill.read, "written": bill.written}
        assert report.run.get("cache_tokens", {"read": 0, "written": 0}) == tokens


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("model", "limits"),
    [
        (CLAUDE, {"concurrency": 1}),
        (CLAUDE, {"concurrency": "auto"}),
        pytest.param(CLAUDE, {"concurrency": 8, "rpm": 60_000}, marks=thorough),
        (NEW, {"concurrency": 8, "max_cost": 5}),
        (OLD, {"concurrency": 8}),
    ],
)
def test_the_reported_cost_and_savings_are_those_of_the_bill(
    server: Server, tmp_path: Path, model: str, limits: dict[str, Any]
) -> None:
    plain = Project(tmp_path / "none", server, model, limits=limits)
    report = plain.run()
    plain.check_bill(report)
    cached = Project(tmp_path / "auto", server, model, limits=limits, judge={"cache": "auto"})
    shutil.rmtree(tmp_path / "home")  # the private store has the replies of the first run
    report = cached.run()
    cached.check_bill(report)

    assert report.exit_code == 0
    assert plain.provider.calls == cached.provider.calls == CASES * CRITERIA
    assert cached.provider.dollars < 0.6 * cached.provider.plain
    if model != OLD:  # one request of each case writes, and the others read
        prefixes = cached.provider.prefixes
        assert len(prefixes) == CASES
        assert cached.provider.written == sum(prefixes)
        assert cached.provider.read == (CRITERIA - 1) * sum(prefixes)
    assert cached.rows() == plain.rows()


def test_any_run_replays_any_other_and_a_replay_waits_for_nothing(
    server: Server, tmp_path: Path
) -> None:
    plain = Project(tmp_path / "none", server)
    cached = Project(tmp_path / "auto", server, judge={"cache": "auto"})
    plain.run()
    shutil.rmtree(tmp_path / "home")
    cached.run()
    calls = plain.provider.calls + cached.provider.calls
    for one, other in ((plain, cached), (cached, plain)):
        shutil.copy(other.folder / "tape.jsonl", one.folder / "tape.jsonl")
        assert one.run(record="none").exit_code == 0

    assert plain.rows() == cached.rows()
    assert plain.provider.calls + cached.provider.calls == calls


def test_a_flag_turns_the_cache_on_and_off(server: Server, tmp_path: Path) -> None:
    project = Project(tmp_path / "p", server)
    assert "cache_tokens" in project.run(cache="auto").run
    project = Project(tmp_path / "q", server, judge={"cache": "auto"})
    shutil.rmtree(tmp_path / "home")
    assert "cache_tokens" not in project.run(cache="none").run


@pytest.mark.parametrize("status", [500, pytest.param(429, marks=thorough)])
def test_a_first_request_that_fails_is_followed_by_the_next(
    server: Server, tmp_path: Path, status: int
) -> None:
    project = Project(tmp_path / "p", server, judge={"cache": "auto"})
    project.provider.answer = lambda body, n: error(status, "later") if n in (1, 2) else None
    report = project.run()

    assert report.exit_code == 0
    project.check_bill(report)
    assert project.provider.written == sum(project.provider.prefixes)  # none is written twice
    assert len(project.provider.prefixes) == CASES


def test_a_rejection_of_all_ends_the_run_at_once(server: Server, tmp_path: Path) -> None:
    project = Project(tmp_path / "p", server, judge={"cache": "auto"})
    project.provider.answer = lambda body, n: error(401, "no such key", code="invalid_api_key")
    with pytest.raises(JudgeRejected, match="no such key"):
        project.run()

    assert project.provider.calls <= CASES  # the first request about each


@pytest.mark.parametrize("via", ["direct", pytest.param("litellm", marks=thorough)])
def test_a_server_that_takes_nothing_for_the_cache_gets_nothing(
    server: Server, tmp_path: Path, via: str, caplog: pytest.LogCaptureFixture
) -> None:
    project = Project(tmp_path / "p", server, OLD, judge={"cache": "auto", "via": via})
    unknown = error(400, "Unknown parameter: 'prompt_cache_key'.", param="prompt_cache_key")
    project.provider.answer = lambda body, n: unknown if "prompt_cache_key" in body else None
    report = project.run()

    assert report.exit_code == 0
    assert caplog.text.count("cache: auto has no effect") == 1


def test_redacted_cases_share_what_is_left_of_them(server: Server, tmp_path: Path) -> None:
    more = {"redact": [{"find": "email"}]}
    project = Project(tmp_path / "p", server, judge={"cache": "auto"}, more=more)
    report = project.run()

    project.check_bill(report)
    assert "ann@shop.example" not in str(project.provider.bodies)
    assert project.provider.read == (CRITERIA - 1) * project.provider.written > 0


def test_each_member_of_a_jury_has_its_prefixes(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    project = Project(folder, server, metrics={"points": {"calls": 1, "jury": ["judge", "other"]}})
    suite = json.loads((folder / "suite.yaml").read_text("utf-8"))
    judge = suite.pop("judge")
    judge["cache"] = "auto"
    suite["judges"] = {"judge": judge, "other": {**judge, "model": "litellm_proxy/claude-opus-5"}}
    (folder / "suite.yaml").write_text(json.dumps(suite), "utf-8")
    project.run()

    # The test's provider has one cache for both, so that the other member may only read.
    assert project.provider.calls == 2 * CASES * CRITERIA
    first: dict[str, Any] = {}
    for body in project.provider.bodies:
        assert "cache_control" in str(body)
        first.setdefault(body["model"], body)
    assert len(first) == 2


def test_samples_read_the_whole_prompt(server: Server, tmp_path: Path) -> None:
    metrics = {"clear": {"criteria": {"clear": "Is it clear?"}, "samples": 3}}
    project = Project(tmp_path / "p", server, judge={"cache": "auto"}, metrics=metrics)
    report = project.run()

    project.check_bill(report)
    assert project.provider.read == 2 * project.provider.written > 0


HOSTILE: list[Any] = [-5, *(pytest.param(n, marks=thorough) for n in (10**15, "many", [1], True))]


@pytest.mark.parametrize("count", HOSTILE)
def test_impossible_counts_save_nothing(server: Server, tmp_path: Path, count: Any) -> None:
    project = Project(tmp_path / "p", server, judge={"cache": "auto"})

    def lying(body: dict[str, Any], number: int) -> Fault:
        details = {"cached_tokens": count, "cache_write_tokens": count}
        return Fault(change=lambda r: r["usage"].update(prompt_tokens_details=details))

    project.provider.answer = lying
    report = project.run()

    assert report.exit_code == 0
    assert "saved" not in report.run
    assert "cache_tokens" not in report.run
    # 100 and 20 tokens in each reply, at the price of plain ones
    assert report.run["spent"] == pytest.approx(CASES * CRITERIA * 140e-6, abs=1e-6)


def test_more_read_than_sent_is_no_saving_beyond_the_prompt(server: Server) -> None:
    def lying(body: dict[str, Any]) -> Fault:
        details = {"cached_tokens": 10**9}
        return Fault(change=lambda r: r["usage"].update(prompt_tokens_details=details))

    server.rule = lying
    reply = ask(judge_of(server, price=(1.0, 2.0)), request())

    assert reply.cost is not None
    assert reply.cost >= 0
    assert (reply.saved or 0.0) <= 140e-6


def test_an_anthropic_request_has_the_marks_of_its_protocol(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """litellm builds the body; no reply of this protocol is needed to see it."""
    server.rule = lambda body: error(400, "that is all")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    judge = LiteLLMJudge(
        "anthropic/claude-opus-5",
        api_base=server.base.removesuffix("/v1"),
        cache="auto",
        mode="tools",
        retries=0,
        reasks=0,
    )
    system = ChatMessage(role="system", content="You judge. " * 300)
    asked = [
        Request(messages=(system, user), form=FORM, model=judge.model)
        for user in (ChatMessage(role="user", content=text) for text in ("One?", "Two?"))
    ]

    async def both() -> None:
        async with closing_connections():
            await asyncio.gather(*map(judge.ask, asked), return_exceptions=True)

    asyncio.run(both())

    body = next(seen.body for seen in server.seen if "One?" in str(seen.body))
    assert server.seen[0].path == "/v1/messages"
    (part,) = body["system"]
    assert part["cache_control"] == {"type": "ephemeral"}
    assert str(body).count("cache_control") == 1


@pytest.mark.parametrize(
    ("tier", "cache"),
    [
        ("flex", "auto"),
        *(pytest.param(*one, marks=thorough) for one in (("flex", "none"), (None, "auto"))),
    ],
)
def test_listed_prices_of_tier_and_cache_are_those_of_the_bill(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tier: str | None, cache: str
) -> None:
    """No address and no price: litellm's table has both, and half of the requests find no room."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.base)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    judge = {"api_base": None, "price": None, "cache": cache}
    project = Project(tmp_path / "p", server, NEW, judge=judge, limits={"max_cost": 1})
    project.provider.price = (4.0, 20.0, 0.4, 5.0)
    full = error(429, "Resource unavailable", code="resource_unavailable")
    project.provider.answer = lambda body, n: (
        full if "service_tier" in body and "Because of 1" in str(body) else None
    )
    report = project.run(tier=tier)

    assert report.exit_code == 0
    project.check_bill(report)
    assert report.run.get("tiers") == ({"flex": (CASES - 1) * CRITERIA} if tier else None)


def test_a_run_that_stops_sends_nothing_that_waits(server: Server, tmp_path: Path) -> None:
    project = Project(tmp_path / "p", server, judge={"cache": "auto"})
    project.provider.delay = 0.3

    def stop(body: dict[str, Any], number: int) -> None:
        if number == 1:
            signal.raise_signal(signal.SIGINT)

    project.provider.answer = stop
    report = project.run()

    assert report.exit_code == 3
    assert 1 <= project.provider.calls <= CASES  # the first request about each case
    tape = (project.folder / "tape.jsonl").read_text("utf-8")
    assert tape.count('"tries"') == project.provider.calls
