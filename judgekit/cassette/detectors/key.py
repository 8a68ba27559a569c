"""Secrets: tokens of known providers, private keys, passwords in URLs and settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from itertools import pairwise

from judgekit.cassette.detectors.span import PrivateSpan

_TOKENS = (
    r"sk-[\w-]{16,}+",  # OpenAI, Anthropic, OpenRouter, DeepSeek and others
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+",  # Stripe
    r"whsec_[A-Za-z0-9+/=]{24,}+",
    r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS
    r"gh[pousr]_[A-Za-z0-9]{36,}+",
    r"github_pat_\w{22,}+",
    r"gl(?:pat|ptt|dt|rt|cbt|soat)-[\w-]{20,}+",  # GitLab
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}+",  # Slack
    r"xapp-[A-Za-z0-9-]{20,}+",
    r"AIza[\w-]{35}",  # Google
    r"ya29\.[\w-]{20,}+",
    r"GOCSPX-[\w-]{20,}+",
    r"hf_[A-Za-z0-9]{30,}+",  # Hugging Face
    r"gsk_[A-Za-z0-9]{20,}+",  # Groq
    r"(?:xai|pplx|nvapi|fw|csk)-[A-Za-z0-9_-]{24,}+",
    r"r8_[A-Za-z0-9]{30,}+",  # Replicate
    r"(?:tvly|jina|lsv2|fc|e2b)[-_][A-Za-z0-9_-]{24,}+",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[\w-]{16,}+",
    r"SG\.[\w-]{16,}+\.[\w-]{16,}+",  # SendGrid
    r"key-[0-9a-f]{32}(?![0-9a-f])",  # Mailgun
    r"dop_v1_[0-9a-f]{64}",
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"SK[0-9a-f]{32}(?![0-9a-f])",  # Twilio
    r"\d{8,10}:AA[\w-]{33}(?![\w-])",  # Telegram
    # A signed JSON web token. The match also consumes a mere beginning of one, to keep the search
    # linear; _tokens skips it because it has no dot.
    r"eyJ[\w-]{8,}+(?:\.eyJ[\w-]{8,}+\.[\w-]{8,}+)?+",
)
_TOKEN = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(_TOKENS)})", re.ASCII)
_BEARER = re.compile(r"\b(?:bearer|basic) +([\w.~+/-]{20,}+=*)", re.IGNORECASE | re.ASCII)
_IN_ADDRESS = re.compile(r"://[^\s:/@\[\]]{1,100}+:([^\s/@\[\]]{3,200}+)@")
_SETTING = re.compile(
    r"(?:api|secret|access|private|auth|client|account|encryption|signing|shared)?[_ -]?"
    r"(?:key|token|secret|password|passwd|passphrase|pwd)(?:[_ -](?:id|key))?"
    r"""\\?["']?\s{0,3}(?:=>?|:=?)\s{0,3}\\?["']?([^\s"'\\,;<>(){}\[\]]{8,200}+)""",
    re.IGNORECASE,
)
# Keys of requests are digests that judgekit writes to many files.
_DIGEST = re.compile(r"""(?<![\w-])(?:request_)?key["']?[\s:=]+["']?[0-9a-f]{64}\Z""")
_NAMED = re.compile("key|token|secret|pass|pwd", re.IGNORECASE)
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"[A-Za-z0-9+/=\s\\:,-]*+")


def find(text: str) -> Iterator[PrivateSpan]:
    """Yield the keys of a text.

    >>> [span.value for span in find("token ghp_0123456789abcdefghijABCDEFGHIJ012345 leaked")]
    ['ghp_0123456789abcdefghijABCDEFGHIJ012345']
    """
    end = 0
    for span in merge(_blocks(text), _tokens(text), _settings(text)):
        if span.start >= end:
            end = span.end
            yield span


def _blocks(text: str) -> Iterator[PrivateSpan]:
    """Yield private keys. Without an end marker, a key ends after its last base64 character."""
    end = 0
    ends = _END.search(text)
    for begin in _BEGIN.finditer(text):
        if begin.start() < end:
            continue
        while ends is not None and ends.start() < begin.end():
            ends = _END.search(text, ends.end())
        if ends is not None:
            end = ends.end()
        else:
            body = _BODY.match(text, begin.end())
            end = body.end() if body else begin.end()
        yield PrivateSpan(begin.start(), end, text[begin.start() : end])


def _tokens(text: str) -> Iterator[PrivateSpan]:
    for match in _TOKEN.finditer(text):
        if match[0].startswith("eyJ") and "." not in match[0]:
            continue
        if any(character.isdigit() for character in match[0][3:]):
            yield PrivateSpan(match.start(), match.end(), match[0])


def _settings(text: str) -> Iterator[PrivateSpan]:
    patterns = (_IN_ADDRESS, _BEARER, _SETTING) if _NAMED.search(text) else (_IN_ADDRESS, _BEARER)
    spans = [
        PrivateSpan(*match.span(1), match[1])
        for pattern in patterns
        for match in pattern.finditer(text)
        if (pattern is _IN_ADDRESS or _random(match[1]))
        and not _DIGEST.search(text[max(0, match.start() - 8) : match.end()])
    ]
    yield from sorted(spans)


def _random(value: str) -> bool:
    """Return whether a value looks random: letters and digits alternate."""
    letters = sum(character.isalpha() for character in value)
    digits = sum(character.isdigit() for character in value)
    if letters < 3 or digits < 2 or "://" in value:
        return False
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(value))
    return turns >= 2 and len(set(value)) >= 6
