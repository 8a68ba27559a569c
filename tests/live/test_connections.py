"""Connections over TLS and through a proxy, both ways to a model."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgekit.core.errors import JudgeRejected
from judgekit.core.score import Failure
from judgekit.judges.transport import Via

from .asking import judge_of, run
from .server import Server

pytestmark = [pytest.mark.loopback, pytest.mark.parametrize("via", ["direct", "litellm"])]

PASSWORD = "canary-1234567890"
OPENSSL = shutil.which("openssl")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new certificate for this machine that nobody trusts, beside its key."""
    if OPENSSL is None:
        reason = "TLS was NOT tried: openssl is not installed"
        print(reason, file=sys.__stderr__)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("certificate")
    command = [
        OPENSSL, "req", "-x509", "-nodes", "-days", "2", "-newkey", "ec",
        "-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=127.0.0.1",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem",
    ]  # fmt: skip
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    return folder / "cert.pem"


@pytest.fixture
def secure(certificate: Path) -> Iterator[Server]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with Server(certificate=context) as running:
        yield running


def test_an_untrusted_certificate_is_named_and_no_request_arrives(
    secure: Server, tmp_path: Path, via: Via
) -> None:
    with pytest.raises(JudgeRejected, match=r"not trusted \(self-signed.*; set SSL_CERT_FILE"):
        run(judge_of(secure, via=via), ["case-1"], tmp_path)
    assert secure.calls() == 0


def test_a_certificate_of_the_environment_is_trusted(
    secure: Server, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, via: Via
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))

    outcome = run(judge_of(secure, via=via), ["case-1"], tmp_path)

    assert outcome.kinds == {"case-1": "scored"}
    assert secure.calls("case-1") == 1
    assert secure.listed == 1


@pytest.fixture
def proxy(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server that the environment names as a proxy, with a password."""
    monkeypatch.setenv("HTTP_PROXY", f"http://ann:{PASSWORD}@127.0.0.1:{server.port}")
    for name in ("http_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return server


def test_a_proxy_gets_the_request_and_its_own_password(
    proxy: Server, tmp_path: Path, via: Via
) -> None:
    judge = judge_of(proxy, via=via, api_base="http://judge.test/v1")

    outcome = run(judge, ["case-1"], tmp_path)

    assert outcome.kinds == {"case-1": "scored"}
    assert [seen.path for seen in proxy.seen] == ["http://judge.test/v1/chat/completions"]
    assert proxy.listed == 1
    # Base64 of ann:canary-1234567890.
    assert proxy.seen[0].headers["proxy-authorization"] == "Basic YW5uOmNhbmFyeS0xMjM0NTY3ODkw"
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"canary" not in written


def test_a_proxy_that_is_gone_is_named_without_its_password(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, via: Via
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://ann:{PASSWORD}@127.0.0.1:9")
    for name in ("http_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    judge = judge_of(server, via=via, retries=0, api_base="http://judge.test/v1")

    outcome = run(judge, ["case-1"], tmp_path)

    assert outcome.kinds == {"case-1": "unavailable"}
    row = outcome.rows["case-1"]
    assert isinstance(row, Failure)
    assert "HTTP_PROXY (127.0.0.1:9)" in row.message
    assert PASSWORD not in row.message
