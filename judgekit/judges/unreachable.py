"""Explain failed connections: certificates, proxies, servers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

from judgekit.core.errors import JudgekitError, JudgeRejected

_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy")
_MOST_LINKS = 12


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, the last first, up to a limit."""
    link: BaseException | None = error
    for _ in range(_MOST_LINKS):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def certificate_error(error: BaseException) -> JudgekitError | None:
    """Return the error for an untrusted certificate; `None` if that is not the cause."""
    for link in chain(error):
        # By its text: the errors of HTTP clients quote the one of `ssl`, in classes of their own.
        _, failed, rest = str(link).partition("CERTIFICATE_VERIFY_FAILED")
        if not failed:
            continue
        reason = rest.partition("certificate verify failed: ")[2].partition(" (")[0]
        return JudgeRejected(
            f"the certificate of the server is not trusted ({reason[:100] or 'no reason given'}); "
            "set SSL_CERT_FILE to a file with the certificate of its authority"
        )
    return None


def no_connection(error: BaseException) -> str:
    """Return the message for a failed connection, to a proxy or to the server."""
    proxied = any("Proxy" in type(link).__name__ for link in chain(error))
    proxy = next(
        (f"{name} ({_host(os.environ[name])})" for name in _PROXIES if os.environ.get(name)), None
    )
    if proxied:
        return (
            f"no connection through the proxy that {proxy or 'the environment'} names; "
            "check it, or name the server in NO_PROXY"
        )
    return "no connection; check that the server runs, and its address"


def _host(url: str) -> str:
    """Return host and port of a proxy, without a password."""
    try:
        return urlsplit(url if "//" in url else f"//{url}").netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be read"
