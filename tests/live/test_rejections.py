"""Errors that no other attempt can mend: the run stops at the first and says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.core.errors import JudgeRejected
from judgekit.core.score import Failure
from judgekit.judges.litellm import LiteLLMJudge

from .asking import judge_of, run, tokens
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback

REJECTIONS = {
    "401": (error(401, "Incorrect API key provided", type="invalid_request_error"), "HTTP 401"),
    "402": (error(402, "payment required"), "HTTP 402"),
    "403": (error(403, "your region is not supported"), "HTTP 403"),
    "404": (error(404, "The model `judge` does not exist", code="model_not_found"), "not exist"),
    "405": (error(405, "method not allowed"), "HTTP 405"),
    "parameter": (error(400, "temperature must be <= 2", param="temperature"), "temperature"),
    "422": (error(422, "extra fields not permitted"), "extra fields"),
    "format": (
        error(400, "response_format json_schema is not supported"),
        "forces judge.mode json_schema",
    ),
    "format_500": (
        error(500, "'response_format' of type 'json_schema' is..."),
        "forces judge.mode",
    ),
    "quota": (
        error(
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            type="insufficient_quota",
            code="insufficient_quota",
        ),
        "quota is used up",
    ),
}


@pytest.mark.parametrize("name", REJECTIONS)
def test_rejection_of_all_stops_the_run_at_the_first(
    server: Server, tmp_path: Path, name: str
) -> None:
    fault, words = REJECTIONS[name]
    server.plan = {"*": always(fault)}

    with pytest.raises(JudgeRejected, match=words) as caught:
        run(judge_of(server, retries=3), tokens(50), tmp_path, concurrency=1)

    # Only a probe shows that a rejection is not about its case.
    sure = name in ("401", "402", "404", "quota")
    assert server.calls() == (1 if sure else 2)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("(case case-000)")


def test_first_request_that_is_wrong_in_itself_costs_its_row_only(
    server: Server, tmp_path: Path
) -> None:
    server.plan = {"case-1": always(error(400, "messages hold an unsupported character"))}

    outcome = run(judge_of(server), ["case-1"], tmp_path)

    assert outcome.kinds == {"case-1": "unavailable"}
    assert "other requests are taken" in outcome.rows["case-1"].message  # type: ignore[union-attr]
    assert server.calls() == 2


def test_rejection_keeps_what_was_recorded_before(server: Server, tmp_path: Path) -> None:
    server.plan = {"case-005": always(REJECTIONS["401"][0])}

    with pytest.raises(JudgeRejected):
        run(judge_of(server), tokens(10), tmp_path, concurrency=1, window=1)
    server.forget()
    server.plan = {}
    outcome = run(judge_of(server), tokens(10), tmp_path)

    assert set(outcome.kinds.values()) == {"scored"}
    assert {seen.token for seen in server.seen} == set(tokens(10)[5:])


def test_bad_request_after_good_ones_is_about_its_case(server: Server, tmp_path: Path) -> None:
    server.plan = {"case-005": always(error(400, "messages hold an unsupported character"))}

    outcome = run(judge_of(server), tokens(10), tmp_path, concurrency=1, window=1)

    assert outcome.kinds == {**dict.fromkeys(tokens(10), "scored"), "case-005": "unavailable"}
    assert server.calls("case-005") == 1


def test_missing_key_is_said_before_any_call(tmp_path: Path) -> None:
    judge = LiteLLMJudge("openai/gpt-6-luna")

    with pytest.raises(JudgeRejected, match="set OPENAI_API_KEY in the environment"):
        run(judge, ["case-1"], tmp_path)


def test_unknown_provider_is_said_before_any_call(server: Server, tmp_path: Path) -> None:
    judge = LiteLLMJudge("nobody/knows", api_base=server.base)

    with pytest.raises(JudgeRejected, match="lacks its provider"):
        run(judge, ["case-1"], tmp_path)

    assert server.calls() == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(server: Server, tmp_path: Path, status: int) -> None:
    with Server() as other:
        target = f"{other.base}/chat/completions?api_key=sk-canary-1234567890"
        there = Fault(status, body=b"", headers={"Location": target})
        here = Fault(status, body=b"", headers={"Location": "/v1/chat/completions"})
        server.plan = {"case-away": always(there), "case-self": always(here)}

        judge = judge_of(server, api_key="sk-canary-1234567890", retries=2)
        outcome = run(judge, ["case-away", "case-self", "case-good"], tmp_path)

        assert other.seen == []
    assert outcome.kinds == {
        "case-away": "unavailable",
        "case-self": "unavailable",
        "case-good": "scored",
    }
    assert (server.calls("case-away"), server.calls("case-self")) == (3, 3)
    row = outcome.rows["case-away"]
    assert isinstance(row, Failure)
    assert f"redirects to 127.0.0.1:{other.port}, and redirects are not followed" in row.message
    assert "canary" not in row.message


def test_nothing_in_a_case_changes_who_is_asked(server: Server, tmp_path: Path) -> None:
    from judgekit.datasets import load_cases
    from judgekit.metrics.rubric import RubricMetric
    from judgekit.rubric.load import load_rubric
    from judgekit.runner.evaluation import evaluate_sync

    from .asking import write_rubric

    with Server() as other:
        row = f'"api_base": "{other.base}", "base_url": "{other.base}", "model": "openai/other"'
        path = tmp_path / "cases.jsonl"
        path.write_text(f'{{"id": "case-1", "output": "Yes.", "metadata": {{{row}}}}}\n')
        metric = RubricMetric(load_rubric(write_rubric(tmp_path)), judge=judge_of(server))

        report = evaluate_sync(load_cases(path), [metric])

        assert report.figures.metrics[0].scored == 1
        assert other.calls() == 0
        assert server.seen[0].body["model"] == "judge"
