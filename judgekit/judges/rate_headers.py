"""Rate-limit information in the outcome of a call. Header values are untrusted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

REFUSED = frozenset({429, 503, 529})
"""HTTP statuses that ask for fewer calls; 529 is Anthropic's."""
NOT_SENT = 499
"""The status of a call that waited and was not sent: neither an outage nor a refusal."""
LONGEST = 64
"""Maximum length of a header value; longer ones are ignored."""
_DURATION = re.compile(
    r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:([\d.]{1,20})(ms|s))?\Z"
)
_NAMES = ("x-ratelimit-{1}-{0}", "anthropic-ratelimit-{0}-{1}")
"""Headers of OpenAI, OpenAI-compatible servers and Anthropic, by kind and part."""


class CallEnd(NamedTuple):
    """The outcome of a call, as plain data that can be sent to another process."""

    status: int | None
    """HTTP status; `None` if there was no response."""
    headers: Mapping[str, str] = MappingProxyType({})
    """Headers of the response, with names in lower case."""
    tokens: float | None = None
    """Tokens of request and reply; `None` if unknown."""
    seconds: float = 0.0
    """Time from the start of the call to its end."""
    alone: bool = False
    """Whether the server refused this request again and accepted others in between."""
    explained: int = 0
    """Earlier refusals of this request, which were its own ones, too."""


class Allowed(NamedTuple):
    """The remaining allowance of one kind, requests or tokens."""

    limit: float
    """The maximum allowance."""
    remaining: float
    reset: float
    """Seconds until all of `limit` is allowed again."""


def read_allowed(headers: Mapping[str, str], kind: str) -> Allowed | None:
    """Return the allowance of one kind in headers; `None` if they have no usable values.

    Args:
        headers: of a response, with names in lower case or a mapping that ignores case.
        kind: `requests` or `tokens`.
    """
    for name in _NAMES:
        values = [headers.get(name.format(kind, part)) for part in ("limit", "remaining", "reset")]
        limit, remaining = _number(values[0]), _number(values[1])
        if limit is None or remaining is None or limit < 1:
            continue
        reset = read_seconds(values[2], headers)
        if reset is not None:
            return Allowed(limit, min(max(remaining, 0.0), limit), max(reset, 0.0))
    return None


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a response asks to wait; `None` if it does not ask."""
    value: object = headers.get("retry-after")
    # The exceptions of a library may have a number.
    text = str(value) if isinstance(value, (int, float)) else value
    seconds = read_seconds(text if isinstance(text, str) else None, headers)
    return None if seconds is None else max(0.0, seconds)


def read_seconds(text: str | None, headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a duration (`1.5`, `20ms`, `6m0s`) or until a date.

    A date is compared with the date of the response, because clocks differ.
    """
    if text is None or not (text := text.strip()) or len(text) > LONGEST:
        return None
    if (seconds := _number(text)) is not None:
        return seconds
    if (match := _DURATION.match(text.lower())) is not None:
        days, hours, minutes, rest, unit = match.groups()
        parts = (int(days or 0) * 86_400, int(hours or 0) * 3_600, int(minutes or 0) * 60)
        last = _number(rest or "0")
        return None if last is None else sum(parts) + last / (1_000 if unit == "ms" else 1)
    until, now = _date(text), _date(headers.get("date") or "")
    return None if until is None else (until - (now or datetime.now(UTC))).total_seconds()


def _number(text: str | None) -> float | None:
    if text is None or len(text) > LONGEST:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date(text: str) -> datetime | None:
    """Parse an HTTP or ISO 8601 date; return `None` for other texts."""
    if not text or len(text) > LONGEST:
        return None
    from email.utils import parsedate_to_datetime

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = read(text)
        except (TypeError, ValueError, OverflowError):
            continue
        return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    return None
