"""Translate errors of providers, servers and connections to judgekit's errors, without keys."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from judgekit.core.canonical import json_value, visible
from judgekit.core.errors import (
    CaseError,
    JudgekitError,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
)
from judgekit.core.example_model import EXAMPLE_MODEL
from judgekit.core.open_files import ADVICE, is_out_of_files
from judgekit.core.sanitiser import Sanitiser
from judgekit.judges.outcomes import Meaning, meaning_of_status
from judgekit.judges.rate_headers import read_retry_after

_SECRET = re.compile(
    r"\b(sk|pk|rk|xai|gsk|key|ghp|hf)[-_][A-Za-z0-9*_-]{6,}|\bAIza[0-9A-Za-z_-]{20,}"
    r"|(?i:bearer)\s+[A-Za-z0-9._~+/=-]{8,}"
)
_USERINFO = re.compile(r"(\b[a-z]{2,10}://)[^\s/@:]{0,100}:[^\s/@]{1,200}@")
"""A password in an address."""
_PLAIN = Sanitiser()
_MISSING_KEY = re.compile(
    r"api[_ ]?key.{0,200}(must be set|missing|not (set|found|provided))|missing credentials", re.I
)
CONNECT_SECONDS = 10.0
"""Limit of a connection with its TLS handshake: a plain http server never answers the latter."""
_NO_ANSWER = re.compile(r"connection error\.?\Z", re.I)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing", re.I)
_POLICY = re.compile(r"content[ _](management[ _])?(policy|filter)|safety system", re.I)
_CONTEXT = re.compile(
    r"exceed context limit|this model's maximum context length is|model's maximum context limit"
    r"|string too long\. expected a string with maximum length"
    r"|is longer than the model's context length|input tokens exceed the configured limit"
    r"|`inputs` tokens \+ `max_new_tokens` must be|exceeds the available context size"
    r"|exceeds the maximum number of tokens allowed",
    re.I,
)
_NOT_CONTEXT = re.compile(r"string_above_max_length|invalid 'user'", re.I)
_DECLINED = re.compile(
    r"content_policy_violation|violating our usage policy"
    r"|request was rejected as a result of the safety system",
    re.I,
)
_WORDING = re.compile(
    r"\A(litellm\.\w+: |\w+(Error|Exception|Timeout): |(Timeout Error|LiteLLM): |\w+Exception - )+"
)
_TRACEBACK = re.compile(r"(?<!\s)\s*+Traceback \(most recent call last\).*", re.DOTALL)
_NO_RESPONSE = ("Timeout", "APIConnectionError", "TimeoutError")
"""Errors without a status that are worth a retry."""
_ABOUT_THE_REQUEST = frozenset({400, 404, 422})
"""Statuses that may concern the format or a parameter."""
MAX_DETAIL = 4_000
"""Maximum number of characters of an error to search."""


class Outage(JudgeUnavailable):
    """A temporary outage, with its status and the seconds that the server asks to wait."""

    def __init__(
        self, message: str, *, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.status = status


class Doubtful(Outage):
    """A response with a success status that is neither an answer nor an error that is known.

    It may be an outage, or a firewall that does not let the request through.
    """


class BadRequest(JudgeRejected):
    """A rejection that does not say whether it is about one request or about all.

    Args:
        message: the message.
        detail: more of the provider's message than the error shows.
        status: the status of the response; `None` if a library rejected the request.
        again: whether to ask again, unless all requests are rejected.
    """

    def __init__(
        self, message: str, *, detail: str = "", status: int | None = None, again: bool = False
    ) -> None:
        super().__init__(message)
        self.detail = detail or message
        self.status = status
        self.again = again

    @property
    def about_form(self) -> bool:
        """Whether the status allows that the format or a parameter is the cause."""
        return self.status is None or self.status in _ABOUT_THE_REQUEST or self.status >= 500

    @property
    def doubtful(self) -> bool:
        """Whether the response has a success status; see `Doubtful`."""
        return self.status is not None and 200 <= self.status < 300

    def advised(self, advice: str) -> BadRequest:
        """Return the same rejection with some advice after its message."""
        text = f"{self}{advice}"
        return BadRequest(text, detail=self.detail, status=self.status, again=self.again)


class ServerError(Exception):
    """An error of a server that speaks OpenAI's protocol, or a failed connection to it.

    Args:
        message: the server's message.
        status: the HTTP status; `None` if there was no response.
        headers: headers of the response.
        detail: the body, which may have a code besides the message.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}
        self.detail = detail or message
        self.kind = "APIConnectionError" if status is None else _kind_of(detail)


def _kind_of(detail: str) -> str:
    """Return litellm's class for an error, if the class matters here."""
    if _CONTEXT.search(detail) and not _NOT_CONTEXT.search(detail):
        return "ContextWindowExceededError"
    return "ContentPolicyViolationError" if _DECLINED.search(detail) else "ServerError"


_LIBRARIES = ("litellm", "instructor", "openai", "pydantic")
"""Libraries that read responses, the outermost first."""


def library_error(error: BaseException) -> str | None:
    """Return an exception with the library that raised it; `None` if no library did."""
    places = set()
    for link in chain(error):
        trace = link.__traceback__
        while trace is not None:
            places.add(str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0])
            trace = trace.tb_next
    library = next((name for name in _LIBRARIES if name in places), None)
    if library is None:
        return None
    # litellm puts the error that it caught, or its traceback, into a message of its own.
    causes = [link for link in chain(error) if not type(link).__module__.startswith(_LIBRARIES)]
    cause = causes[-1] if causes else error
    return f"{library} raised {type(cause).__name__}: {one_line(str(cause), most=200)}"


def about(judge: str, error: JudgekitError) -> JudgekitError:
    """Return a new error of the same class that names its judge."""
    named = str(error).startswith(judge.partition(" at ")[0])
    return type(error)(str(error) if named else f"{judge}: {error}")


def translate(
    error: BaseException,
    *,
    sanitiser: Sanitiser = _PLAIN,
    meaning: Meaning | None = None,
    doubtful: bool = False,
    quoted: str = "",
) -> JudgekitError:
    """Return the judgekit error for a provider's error.

    The status of the server decides, not the class: litellm raises BadRequest for a 401 and
    InternalServerError for a refused connection.

    Args:
        error: the error.
        sanitiser: cleans its message.
        meaning: what the table of `judges/outcomes.py` says about the response, if it does.
        doubtful: whether the response has a success status and is neither an answer nor an error
            that the table knows.
        quoted: the error of another server that the message stands for.
    """
    kind = error.kind if isinstance(error, ServerError) else type(error).__name__
    status = status_of(error)
    whole = one_line(str(error), sanitiser=sanitiser, most=MAX_DETAIL)
    message = one_line(_message_in(whole), most=MAX_DETAIL)
    message += _quotation(quoted, message, sanitiser)
    text = _cut(message) or kind
    if (known := _meant(meaning, kind, status, text, whole)) is not None:
        return known
    if meaning == "unavailable":
        return Outage(text, retry_after=_retry_after(error), status=status)
    if doubtful:
        return Doubtful(text, status=200)
    if "LLM Provider NOT provided" in text:
        form = f"PROVIDER/NAME, such as {EXAMPLE_MODEL}"
        return JudgeRejected(f"the model lacks its provider: write {form}")
    advice = _rejection(status, error.detail if isinstance(error, ServerError) else whole)
    about_format = "response_format" in message and (status is None or status >= 500)
    by_status = None if status is None else meaning_of_status(status)
    if (untrusted := certificate_error(error)) is not None:
        return untrusted
    if _is_unconnected(error, text):
        text = no_connection(error)
    passing = kind in _NO_RESPONSE if status is None else by_status == "unavailable"
    if advice is None and not about_format and passing:
        return Outage(text, retry_after=_retry_after(error), status=status)
    shown = f"HTTP {status}: {text}" if status is not None and status < 500 else text
    if kind == "UnsupportedParamsError":
        # litellm refuses it itself, with a status and with advice about its own settings.
        shown = f"litellm does not send this request: {text.partition(', for model=')[0]}"
    if status == 404 and "model" not in text.lower():
        shown += "; check the address: that of an OpenAI-compatible server ends in /v1"
    if advice is not None:
        return JudgeRejected(advice.format(shown))
    if by_status == "account":
        return JudgeRejected(shown)
    return BadRequest(shown, detail=message, status=status)


def _quotation(quoted: str, message: str, sanitiser: Sanitiser) -> str:
    """Return what to add to a message for the error that it stands for."""
    inner = one_line(_message_in(sanitiser.text(quoted[:MAX_DETAIL])), sanitiser=sanitiser)
    return "" if inner in message else f": {inner}"


def _meant(
    meaning: Meaning | None, kind: str, status: int | None, text: str, whole: str
) -> JudgekitError | None:
    """Return the error that no retry can mend; `None` for others.

    Args:
        meaning: what the table says.
        kind: the class of the error.
        status: the HTTP status.
        text: the message.
        whole: the message with what is around it.
    """
    if meaning == "account":
        return JudgeRejected(_about_account(status, text))
    if meaning == "unavailable":
        return None
    if meaning == "context" or kind == "ContextWindowExceededError":
        return CaseError(f"too long for the judge's context window: {text}")
    if meaning == "content":
        return CaseError(f"the judge does not take this content: {text}")
    if status is not None and meaning_of_status(status) == "context":
        return CaseError(f"too large for the judge: {text}")
    policy = kind == "ContentPolicyViolationError" or (status == 400 and _POLICY.search(whole))
    if meaning == "refused" or policy:
        return JudgeRefused(f"the provider's content policy declined: {text}")
    return None


def _about_account(status: int | None, text: str) -> str:
    """Return the message for an error about the account, the key, the model or the region."""
    if status == 429:
        return f"the account's quota is used up: {text}"
    shown = text if status is None else f"HTTP {status}: {text}"
    # 401 to 404 say themselves that every request is affected.
    return shown if status in (401, 402, 403, 404) else f"the account cannot be used: {shown}"


def status_of(error: BaseException) -> int | None:
    """Return the status that the server sent; litellm changes some because of the text."""
    if isinstance(error, ServerError):
        return error.status
    for link in chain(error):
        sent = getattr(getattr(link, "response", None), "status_code", None)
        if type(link).__module__.startswith(("openai", "httpx")) and isinstance(sent, int):
            return sent
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _rejection(status: int | None, text: str) -> str | None:
    """Return a message for an error that a retry cannot fix; `None` for other errors."""
    if _MISSING_KEY.search(text):
        return "credentials are missing: {}"
    if status == 429 and _QUOTA.search(text):
        return "the account's quota is used up: {}"
    return None


def one_line(text: str, *, sanitiser: Sanitiser = _PLAIN, most: int = 300) -> str:
    """Return a message on one line, without anything that looks like a key."""
    text = _TRACEBACK.sub("", sanitiser.text(text)[:10_000])
    text = _USERINFO.sub(r"\1[key]@", text)
    text = " ".join(visible(_SECRET.sub("[key]", text)).split())
    return _cut(_WORDING.sub("", text), most)


def _message_in(text: str) -> str:
    """Return the message in the JSON of an error; the text itself if it is not JSON."""
    if not text.startswith("{") or (data := json_value(text)) is None:
        return text
    error = data.get("error", data)
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) and message else text


def _cut(text: str, most: int = 300) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def _retry_after(error: BaseException) -> float | None:
    headers = getattr(error, "litellm_response_headers", None) or getattr(error, "headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None)
    return None if headers is None else read_retry_after(headers)


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
        # Detected by text: HTTP clients quote the error of `ssl` in their own error classes.
        _, failed, rest = str(link).partition("CERTIFICATE_VERIFY_FAILED")
        if failed:
            reason = rest.partition("certificate verify failed: ")[2].partition(" (")[0][:100]
            return JudgeRejected(
                f"the certificate of the server is not trusted ({reason or 'no reason given'}); "
                "set SSL_CERT_FILE to a file with the certificate of its authority"
            )
    return None


def breaks_http(error: BaseException) -> bool:
    """Return whether an HTTP library could not read a response as HTTP.

    A connection that was closed without a response is an outage, and no such error.
    """
    names = ("BadHttpMessage", "BadStatusLine", "RemoteProtocolError")
    return any(
        type(link).__name__ in names and "disconnect" not in str(link).lower()
        for link in chain(error)
    )


def no_connection(error: BaseException) -> str:
    """Return the message for a failed connection, to a proxy or to the server."""
    if is_out_of_files(error):
        return f"no connection: {ADVICE}"
    if any(_is_not_tls(link) for link in chain(error)):
        return "no TLS with the server; does it speak http? Then write http:// in its address"
    if any("Timeout" in type(link).__name__ for link in chain(error)):
        return (
            f"no connection within {CONNECT_SECONDS:g} s, with TLS; check that the server runs, and"
            " whether it speaks http or https"
        )
    if not any("Proxy" in type(link).__name__ for link in chain(error)):
        return "no connection; check that the server runs, and its address"
    named = [f"{name} ({_host(os.environ[name])})" for name in _PROXIES if os.environ.get(name)]
    proxy = named[0] if named else "the environment"
    advice = "check it, or name the server in NO_PROXY"
    return f"no connection through the proxy that {proxy} names; {advice}"


def _is_unconnected(error: BaseException, text: str) -> bool:
    # litellm makes a time-out of reading out of one of connecting.
    names = {type(link).__name__ for link in chain(error)}
    return bool(_NO_ANSWER.search(text)) or "ConnectTimeout" in names


def _is_not_tls(error: BaseException) -> bool:
    # Detected by text: HTTP clients quote the error of `ssl` in their own error classes.
    text = str(error)
    return any(words in text for words in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"))


def _host(url: str) -> str:
    """Return host and port of a proxy, without a password."""
    try:
        return urlsplit(url if "//" in url else f"//{url}").netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be read"
