"""Which key goes where, and what is never shown: passwords in addresses, keys in wrong places."""

from __future__ import annotations

import logging
import ssl
import warnings
from pathlib import Path
from typing import Any

import pytest

import judgekit
from judgekit.cli import main
from judgekit.core.errors import ConfigError, JudgeRejected
from judgekit.core.score import Failure
from judgekit.judges import via_litellm
from judgekit.judges.endpoint import check_address, shown_address, variable_shown
from judgekit.judges.translation import translate

from .asking import judge_of, run, write_suite
from .server import Fault, Server, always, error
from .test_replies import ask, request

pytestmark = pytest.mark.loopback

CANARY = "canary-1234567890"


@pytest.mark.parametrize(
    "address",
    [
        f"http://ann:{CANARY}@127.0.0.1:9/v1",
        f"http://{CANARY}@127.0.0.1:9/v1",
        f"http://127.0.0.1:9/v1?api_key={CANARY}",
        f"http://127.0.0.1:9/v1?x=1&access_token={CANARY}",
        f"ftp://ann:{CANARY}@127.0.0.1/v1",
    ],
)
def test_an_address_with_credentials_is_refused_and_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], address: str, server: Server
) -> None:
    with pytest.raises(ConfigError, match="holds credentials"):
        judgekit.LiteLLMJudge("openai/x", api_base=address)
    suite = write_suite(tmp_path, server, ["case-1"], api_base=address)
    for arguments in (["run", str(suite), "-v"], ["doctor", str(suite)]):
        assert exit_code(arguments) == 2
        out, err = capsys.readouterr()
        assert "api_key_env" in out + err
        assert "canary" not in out + err


def exit_code(arguments: list[str], monkeypatch: Any = None) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["judgekit", *arguments])
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://[", "not an address"),
        ("http://127.0.0.1:port/v1", "not an address"),
        ("ftp://127.0.0.1/v1?tenant=canary", "must begin with http"),
        ("localhost:8000/v1", "must begin with http"),
        ("http://", "must begin with http"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused(address: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        check_address(address)

    assert "canary" not in str(caught.value)


def test_an_address_is_shown_without_what_may_be_secret() -> None:
    assert shown_address("https://a:b@host:8000/v1?key=c#d") == "https://host:8000/v1"
    assert shown_address("http://[") == "an address that cannot be read"


@pytest.mark.parametrize("name", ["MY_KEY", "OPENAI_API_KEY", "KEY", "token"])
def test_a_variable_is_named(name: str) -> None:
    assert variable_shown(name) == name


@pytest.mark.parametrize(
    "key",
    [
        "sk-abcdefgh12345678", "sk_live_1234567890abcdef", "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA1234567890abcdefghijk", "0123456789abcdef0123456789abcdef", "ghp_16C7e42F292c6912",
    ],
)  # fmt: skip
def test_a_key_in_place_of_a_variable_is_not_shown(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    suite = write_suite(tmp_path, server, ["case-1"], api_key_env=key)

    assert exit_code(["run", str(suite), "--record", "new_episodes"]) == 2
    assert exit_code(["doctor", str(suite)]) in (0, 2)

    out, err = capsys.readouterr()
    assert key not in out + err
    assert "is not set in the environment" in out + err


def test_a_key_of_a_server_of_ones_own_is_sent(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", CANARY)
    judge = judgekit.LiteLLMJudge("hosted_vllm/judge", api_base=server.base, mode="json_schema")

    ask(judge, request())

    assert server.seen[0].headers["authorization"] == f"Bearer {CANARY}"


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_sent_is_named_where_one_is_missing(
    server: Server, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    server.plan = {"*": always(error(status, "no key"))}
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(JudgeRejected, match="no key was sent: name the environment variable"):
        ask(judge_of(server), request())
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with pytest.raises(JudgeRejected, match="unless you write `api_key_env: OPENAI_API_KEY`"):
        ask(judge_of(server), request())
    with pytest.raises(JudgeRejected) as caught:
        ask(judge_of(server, api_key=CANARY), request())

    assert "api_key_env" not in str(caught.value)
    assert "authorization" in server.seen[-1].headers
    assert CANARY not in server.seen[0].headers["authorization"]


# -- why no connection came about --------------------------------------------------------


class ClientProxyConnectionError(Exception):
    """Named as aiohttp names it."""


def failed(*links: BaseException) -> BaseException:
    """Return an error that was caused by others, the way libraries wrap theirs."""
    error: BaseException | None = None
    for link in reversed(links):
        link.__context__ = error
        error = link
    assert error is not None
    return error


def test_a_certificate_that_is_not_trusted_is_named() -> None:
    text = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate"
    untrusted = ssl.SSLCertVerificationError(1, f"{text} (_ssl.c:1006)")

    error = translate(failed(Exception("Connection error."), OSError(), untrusted))

    assert isinstance(error, JudgeRejected)
    assert "not trusted (self-signed certificate); set SSL_CERT_FILE" in str(error)


def test_a_certificate_is_named_when_only_the_text_says_so() -> None:
    text = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: expired (_ssl.c:1)"

    assert "not trusted (expired)" in str(
        translate(failed(Exception("Connection error."), OSError(text)))
    )


def test_a_proxy_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", f"http://ann:{CANARY}@proxy.test:3128")

    error = translate(failed(Exception("Connection error."), ClientProxyConnectionError("gone")))

    assert "proxy that HTTP_PROXY (proxy.test:3128) names" in str(error)
    assert CANARY not in str(error)


def test_a_dead_proxy_is_named_in_a_run(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")

    outcome = run(judge_of(server, retries=0), ["case-1"], tmp_path)

    assert outcome.kinds == {"case-1": "unavailable"}
    row = outcome.rows["case-1"]
    assert isinstance(row, Failure)
    assert "HTTP_PROXY (127.0.0.1:9)" in row.message


# -- what the server says a call took ----------------------------------------------------


@pytest.mark.parametrize(
    ("told", "cost"),
    [("0.00125", 0.00125), ("0", 0.0), ("nan", None), ("-1", None), ("free", None), (None, None)],
)
def test_the_cost_a_proxy_tells_is_taken(server: Server, told: str | None, cost: float) -> None:
    headers = {} if told is None else {"x-litellm-response-cost": told}
    server.plan = {"*": always(Fault(headers=headers))}

    assert ask(judge_of(server), request()).cost == cost
    priced = ask(judge_of(server, price=(1.0, 1.0)), request()).cost
    assert priced == pytest.approx(120e-6)


# -- the rest of the process --------------------------------------------------------------


def test_loggers_and_warnings_of_the_program_stay_as_they_are(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    names = ["LiteLLM", "httpx", "openai", "instructor"]
    before = {
        name: (logging.getLogger(name).level, logging.getLogger(name).disabled) for name in names
    }
    server.plan = {"case-bad": always(error(500, "oops"))}

    with caplog.at_level(logging.INFO):
        run(judge_of(server, retries=0), ["case-bad", "case-good"], tmp_path)
        assert [r.name for r in caplog.records if r.name.partition(".")[0] in names] == []
        for name in names:
            logging.getLogger(name).warning("from the program")

    assert [r.name for r in caplog.records if r.getMessage() == "from the program"] == names
    after = {
        name: (logging.getLogger(name).level, logging.getLogger(name).disabled) for name in names
    }
    assert after == before
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        via_litellm.load_litellm()
        warnings.warn("Pydantic serializer warnings: mine", UserWarning, stacklevel=1)
    assert len(caught) == 1
