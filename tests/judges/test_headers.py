"""Headers of a judge: which are taken, and how variables become values."""

from __future__ import annotations

import pytest

from judgekit.core.errors import ConfigError
from judgekit.judges.headers import check_headers, sent_headers
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.suite.suite import build_suite
from tests.each import each


@each(
    ("name", "value", "message"),
    [
        ("Authorization", "Bearer x", "name its variable in api_key_env"),
        ("AUTHORIZATION", "${KEY}", "api_key_env"),
        ("Transfer-Encoding", "chunked", "belongs to the connection"),
        ("te", "trailers", "belongs to the connection"),
        ("Proxy-Authorization", "${P}", "belongs to the connection"),
        ("Content-Length", "1", "belongs to the connection"),
        ("host", "other.example", "belongs to the connection"),
        ("X Team", "a", "is no name of a header"),
        ("X-Team:", "a", "is no name of a header"),
        ("X-T\u00e9am", "a", "is no name of a header"),
        ("", "a", "is no name of a header"),
        ("X-Team", "a\r\nX-Other: b", "one line of printable ASCII"),
        ("X-Team", "", "one line of printable ASCII"),
        ("X-Team", " a", "one line of printable ASCII"),
        ("X-Team", "\u00e9", "one line of printable ASCII"),
        ("X-Team", "a" * 9000, "one line of printable ASCII"),
        ("X-Team", "${TEAM", "write a variable as ${NAME}"),
        ("X-Team", "${1}", "write a variable as ${NAME}"),
        ("X-Api-Key", "abcdefghijkl", "is a credential"),
    ],
)
def test_a_wrong_header_is_refused_by_name(name, value, message):
    with pytest.raises(ConfigError) as refused:
        check_headers({name: value})

    assert message in str(refused.value)
    assert "abcdefghijkl" not in str(refused.value)


def test_a_name_in_other_capitals_is_the_same_name():
    with pytest.raises(ConfigError, match="is given twice"):
        check_headers({"X-Team": "a", "x-team": "b"})


def test_variables_are_filled_in_and_hidden(monkeypatch):
    monkeypatch.setenv("TEAM", "research")
    headers = {"X-Team": "${TEAM}", "X-Plain": "a $5 {b}", "cf-key": "Bearer ${TEAM}"}

    check_headers(headers)

    assert sent_headers(headers).values == {
        "X-Team": "research",
        "X-Plain": "a $5 {b}",
        "cf-key": "Bearer research",
    }
    assert sent_headers(headers).secrets == ("research", "research")


@pytest.mark.parametrize("value", [None, "", "a\nb", "\u00e9"])
def test_a_variable_without_a_value_is_named_and_not_shown(monkeypatch, value):
    monkeypatch.delenv("TEAM", raising=False)
    if value is not None:
        monkeypatch.setenv("TEAM", value)

    with pytest.raises(ConfigError, match=r"^headers.X-Team: ") as refused:
        sent_headers({"X-Team": "${TEAM}"})

    assert not value or value not in str(refused.value)


def test_a_suite_names_the_line_of_a_wrong_header(tmp_path):
    judge = {"model": "openai/x", "headers": {"Host": "y"}}

    with pytest.raises(ConfigError, match="Host belongs to the connection"):
        build_suite({"cases": "c.jsonl", "judge": judge, "metrics": {"quality": {}}}, base=tmp_path)


@pytest.mark.parametrize("judge", [{"model": "manual/ann"}, {"recorded": "v.jsonl"}])
def test_a_judge_without_a_server_has_no_headers(tmp_path, judge):
    suite = {"cases": "c.jsonl", "judge": {**judge, "headers": {"X-Team": "a"}}}

    with pytest.raises(ConfigError, match="headers"):
        build_suite({**suite, "metrics": {"quality": {}}}, base=tmp_path)


def test_headers_are_no_part_of_what_describes_a_judge():
    plain = LiteLLMJudge("openai/x")
    other = LiteLLMJudge("openai/x", headers={"X-Team": "${TEAM}"})

    assert plain.settings == other.settings
    assert "TEAM" not in repr(other)
