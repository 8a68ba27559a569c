"""Durations as people write them: `90s`, `30m`, `6h`, `1d`."""

from __future__ import annotations

import re

DURATION = r"^([0-9]{1,6})([smhd]?)$"
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
HOW = "write it as 90s, 30m, 6h or 1d"


def seconds_in(text: str) -> float:
    """Return the seconds of a duration; a number without a unit is seconds.

    Raises:
        ValueError: it is no duration.

    Example:
        >>> seconds_in("6h")
        21600.0
    """
    match = re.fullmatch(DURATION, text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is no duration; {HOW}")
    return float(int(match[1]) * _UNITS[match[2]])


def checked_duration(text: str | None) -> str | None:
    """Return a duration of a file after a check.

    Raises:
        ValueError: it is no duration.
    """
    if text is not None:
        seconds_in(text)
    return text


def clock_text(seconds: float) -> str:
    """Return seconds as a clock.

    Example:
        >>> clock_text(3723)
        '1:02:03'
    """
    whole = max(0, int(seconds))
    return f"{whole // 3_600}:{whole // 60 % 60:02}:{whole % 60:02}"
