"""IPv4 and IPv6 addresses, except loopback, multicast and unspecified ones."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from heapq import merge

from judgekit.cassette.detectors.span import PrivateSpan

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_V4 = re.compile(rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?!\w|\.\d)", re.ASCII)
# The first group of a routed address has at least three digits, unlike `a::b` in a program.
_V6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{3,4}:|::[Ff]{4}:)[0-9A-Fa-f:.]{1,40}+(?![\w:])")
# "version 1.2.3.4" and "Chrome/120.0.0.0" are version numbers.
_RELEASE = re.compile(
    r"(?:\b(?:v|ver|version|release|build|rev|revision|firmware|driver|section|chapter)\b"
    r"[ .:#=]{0,3}|[A-Za-z]/|[<>=~^]=? ?)\Z",
    re.IGNORECASE,
)


def find(text: str) -> Iterator[PrivateSpan]:
    """Yield the addresses of a text.

    >>> [span.value for span in find("from 203.0.113.9, version 1.2.3.4, 2001:DB8::1")]
    ['203.0.113.9', '2001:db8::1']
    """
    end = 0
    for span in merge(_v4(text), _v6(text)):
        if span.start >= end:
            end = span.end
            yield span


def _v4(text: str) -> Iterator[PrivateSpan]:
    for match in _V4.finditer(text):
        if _RELEASE.search(text[max(0, match.start() - 12) : match.start()]):
            continue
        if _is_one_host(ipaddress.ip_address(match[0])):
            yield PrivateSpan(match.start(), match.end(), match[0])


def _v6(text: str) -> Iterator[PrivateSpan]:
    for match in _V6.finditer(text):
        written = match[0].rstrip(".:") if not match[0].endswith("::") else match[0]
        try:
            address = ipaddress.IPv6Address(written)
        except ValueError:
            continue
        if _is_one_host(address):
            yield PrivateSpan(match.start(), match.start() + len(written), str(address))


def _is_one_host(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return not (
        address.is_loopback
        or address.is_unspecified
        or address.is_multicast
        or str(address).startswith("0.")
        or str(address) == "255.255.255.255"
    )
