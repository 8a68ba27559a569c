"""Compute distributions over the answers of a reply from the log-probabilities of its tokens.

The tokens are those of `choices[0].logprobs.content` in OpenAI's format, which llama.cpp, vLLM and
SGLang share: `{"token", "logprob", "bytes"?, "top_logprobs": [{"token", "logprob", "bytes"?}]}`.

1. The tokens are joined as bytes, because tokens can split characters. The verdict is the last JSON
   object in these bytes that equals the object in the reply's text. It may be surrounded by
   thoughts, prose, a code fence, or the syntax of a tool call, and its white space may differ.
2. One scan finds the start of the `value` of each question. The token with its first byte may also
   contain the preceding characters (`: "`); alternatives to it must begin with the same.
3. From that token on, the scan follows the judge's tokens until only one answer is possible and
   complete. The probability of this answer is the product of their probabilities. At each token,
   the probability of an alternative goes to the answer that it begins; its later tokens are unknown
   and count as certain. White space, quotation marks, case, `4.0` for `4` and `"four"` for 4 make
   no difference.
4. An alternative that fits several answers (`1` for 1 and 10) counts for none of them. Tokens that
   the server does not list also count for none; each of them is at most as probable as the last
   listed one. `Distribution.bound` is the largest error of a probability from these two causes.
   `Distribution.mass` is the probability of all tokens that count for an answer.

Limits: a distribution is conditional on the judge's text before the value, including its reason.
Numbers need integer bounds that differ by 2 to 100. There is no distribution for a repaired object,
for a tool call whose arguments are not one JSON object, or if the tokens do not spell the reply.
"""

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from judgekit.core.canonical import json_value
from judgekit.core.distribution import Distribution, Label
from judgekit.core.errors import InvalidReply
from judgekit.core.json_extraction import extract_object
from judgekit.core.reply_schema import reply_schema
from judgekit.core.request import Form, Question, Try

MAX_TOKENS = 200_000
"""Maximum number of tokens of a reply, including thoughts."""
MAX_LISTED = 1_000
"""Maximum number of alternatives of a token."""
MOST_STEPS = 100
"""Largest difference between the bounds of a numeric scale."""
_MOST_STARTS = 64
_ROUNDING = 1e-3
_AROUND = {"thinking", "fence", "prose"}
"""Repairs that do not change the object."""

_LEXEME = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\],:]|[^\s"{}\[\],:]++', re.DOTALL)
_QUOTED = re.compile(rb'(?:[^"\\]|\\.)*+', re.DOTALL)
_PLAIN = re.compile(rb'[^,}\]\r\n\t"]*+')
_WHOLE = re.compile(rb"(-?\d{1,3}+)\.0{0,30}+")
_NO_ASCII = re.compile("[^\x00-\x7f]+")
_SPACE = b" \t\r\n"
_WRITTEN = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen twenty"""
_DIGITS = {word: b"%d" % number for number, word in enumerate(_WRITTEN.encode().split())}
_OTHER = _DIGITS | {digits: word for word, digits in _DIGITS.items()}
"""A number in digits -> its word, and a word -> its digits."""
_SAYS = {True: b"yes", False: b"no", None: b"none"}
"""Spellings of the answers that are JSON literals."""


class _Impossible(Exception):
    """The log-probabilities are invalid."""


class _Token(NamedTuple):
    text: bytes
    data: Mapping[str, Any]


class _Spellings:
    """The legal answers to a question and their spellings."""

    def __init__(self, labels: tuple[Label, ...]) -> None:
        self.labels = labels
        usual = [_usual(label) for label in labels]
        self._fold = len({spelling.lower() for spelling in usual}) == len(usual)
        owners: dict[bytes, int] = {}
        for spellings in (usual, *zip(*map(_variants, labels), strict=True)):
            for place, spelling in enumerate(spellings):
                owners.setdefault(spelling.lower() if self._fold else spelling, place)
        self._owners = owners
        self._sorted = sorted(owners)

    def fitting(self, text: bytes) -> tuple[frozenset[int], bool]:
        """Return the answers that a JSON value with this beginning may become.

        Returns:
            Their indices in the labels, and whether there is exactly one and it is complete.
        """
        text = text.lstrip(_SPACE)
        if self._fold:
            text = text.lower()
        quoted = text[:1] == b'"'
        if quoted:
            text = text[1:]
        match = (_QUOTED if quoted else _PLAIN).match(text)
        content = match.group() if match else b""
        closed = text[len(content) :]
        if not closed or closed == b"\\":
            begin = bisect_left(self._sorted, text)
            end = bisect_left(self._sorted, text + b"\xff")
            owners = frozenset(self._owners[spelling] for spelling in self._sorted[begin:end])
            if owners:
                return owners, len(owners) == 1 and text in self._owners
            if quoted:
                return owners, False
        content = content if quoted else content.rstrip(_SPACE)
        owner = self._owners.get(content)
        if owner is None and (whole := _WHOLE.fullmatch(content)):
            owner = self._owners.get(whole.group(1))
        return (frozenset(), False) if owner is None else (frozenset([owner]), True)


def token_distributions(attempt: Try, form: Form) -> dict[str, Distribution]:
    """Return a mapping of question to the distribution of its answers, where there is one.

    Log-probabilities are untrusted; invalid ones give no distribution.

    Args:
        attempt: a valid reply to the form, with its log-probabilities.
        form: questions about words, yes/no or integers are used; others are ignored.
    """
    content = attempt.logprobs.get("content") if isinstance(attempt.logprobs, dict) else None
    if not isinstance(content, list) or not 1 <= len(content) <= MAX_TOKENS:
        return {}
    try:
        tokens = [_Token(_text_of(data), data) for data in content]
        schema = reply_schema(form)
        data, repairs = extract_object(attempt.text or "", schema.names, fits=schema.fits)
    except (_Impossible, InvalidReply):
        return {}
    if not data or not _AROUND.issuperset(repairs):
        return {}
    stream = b"".join(token.text for token in tokens)
    places = _value_places(stream, data)
    ends = list(accumulate(len(token.text) for token in tokens))
    distributions = {}
    for question in form.questions:
        spellings = _spellings_of(question)
        if spellings is None or question.id not in places:
            continue
        begin = places[question.id]
        first = bisect_right(ends, begin)
        start = ends[first] - len(tokens[first].text)
        with suppress(_Impossible):
            distribution = _follow(tokens[first:], stream[start:begin], spellings)
            if distribution is not None:
                distributions[question.id] = distribution
    return distributions


def _text_of(data: object) -> bytes:
    """Return the bytes of a token; `bytes` is exact even if the token is part of a character."""
    if not isinstance(data, dict):
        raise _Impossible
    raw, text = data.get("bytes"), data.get("token")
    if isinstance(raw, list) and raw:
        try:
            return bytes(raw)
        except (TypeError, ValueError) as exc:
            raise _Impossible from exc
    if not isinstance(text, str):
        raise _Impossible
    return text.encode("utf-8", "replace")


def _value_places(stream: bytes, data: dict[str, Any]) -> dict[str, int]:
    """Return question -> index of its `value` in the last object that equals the data."""
    key = next(iter(data))
    spelled = b"|".join(re.escape(json.dumps(key, ensure_ascii=e).encode()) for e in (True, False))
    starts = [m.start() for m in re.finditer(rb"\{\s*+(?:" + spelled + rb")\s*+:", stream)]
    budget = 2 * len(stream)
    for at in reversed(starts[-_MOST_STARTS:]):
        places, end = _scan(stream, at, at + budget)
        budget -= end - at
        if _equal(stream[at:end], data):
            return places
        if budget <= 0:
            break
    return {}


def _scan(stream: bytes, at: int, limit: int) -> tuple[dict[str, int], int]:
    """Return the indices of the values in `{id: {"value": ...}}`, and of the end of the object."""
    places: dict[str, int] = {}
    keys: list[bytes] = []
    before = b""
    end = at
    for match in _LEXEME.finditer(stream, at, min(limit, len(stream))):
        lexeme, end = match.group(), match.end()
        if lexeme == b":" and keys:
            keys[-1] = before
        elif lexeme in b"{[":
            keys.append(b"")
        elif lexeme in b"}]":
            keys.pop()
            if not keys:
                break
        elif len(keys) == 2 and keys[1] == b'"value"' and before == b":":
            places[str(json_value(keys[0]) or "")] = match.start()
        before = lexeme
    return places, end


def _equal(raw: bytes, data: dict[str, Any]) -> bool:
    """Return whether bytes are a JSON text of the data.

    Some servers replace parts of characters by U+FFFD; the rest must be equal then.
    """
    text = raw.decode("utf-8", "replace")
    value = json_value(text)
    if value is None or value == data or "�" not in text:
        return bool(value == data)
    left, right = (_NO_ASCII.sub("", json.dumps(v, ensure_ascii=False)) for v in (value, data))
    return left == right


def _follow(tokens: list[_Token], lead: bytes, spellings: _Spellings) -> Distribution | None:
    """Return the distribution of the value that begins in the first token.

    Args:
        tokens: the judge's tokens.
        lead: the bytes of the first token before the value.
        spellings: the legal answers.
    """
    count = len(spellings.labels)
    weights, loose = [0.0] * count, [0.0] * count
    unknown, path, written = 0.0, 1.0, b""
    for token in tokens:
        probability, others, rest, least = _listed(token)
        possible, _ = spellings.fitting(written)
        unknown += path * rest
        for label in possible:
            loose[label] += path * min(rest, least)
        for text, p in others:
            after = _after(lead, text)
            if after is None:
                continue
            owners, _ = spellings.fitting(written + after)
            if len(owners) == 1:
                weights[next(iter(owners))] += path * p
            elif owners:
                unknown += path * p
                for label in owners:
                    loose[label] += path * p
        path *= probability
        written += _after(lead, token.text) or b""
        lead = b""
        owners, whole = spellings.fitting(written)
        if whole:
            weights[next(iter(owners))] += path
            bound = _bound(weights, loose, unknown)
            by_label = dict(zip(spellings.labels, weights, strict=True))
            return Distribution.of(by_label, source="logprobs", bound=bound)
        if not owners:
            return None
    return None


def _listed(token: _Token) -> tuple[float, list[tuple[bytes, float]], float, float]:
    """Return the probabilities of a token and its alternatives.

    Returns:
        The token's own probability, those of its alternatives, the remainder for unlisted tokens,
        and the maximum for one unlisted token.
    """
    own = _probability(token.data.get("logprob"))
    top = token.data.get("top_logprobs")
    if not isinstance(top, list) or not 1 <= len(top) <= MAX_LISTED:
        raise _Impossible
    others = []
    itself = False
    for entry in top:
        text, p = _text_of(entry), _probability(entry.get("logprob"))
        same = text == token.text or (
            entry.get("id") is not None and entry["id"] == token.data.get("id")
        )
        if same and not itself:
            itself = True  # some servers add it to the list although it is not among the likeliest
        else:
            others.append((text, p))
    total = own + math.fsum(p for _, p in others)
    if total > 1 + 10 * _ROUNDING:
        raise _Impossible
    return own, others, max(0.0, 1 - total), min((p for _, p in others), default=1.0)


def _probability(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value <= _ROUNDING:
        raise _Impossible
    return math.exp(max(-1e4, min(0.0, value)))


def _after(lead: bytes, text: bytes) -> bytes | None:
    """Return the bytes of a token after the lead; `None` if it does not begin with the lead."""
    for byte in lead:
        if byte in _SPACE:
            continue
        text = text.lstrip(_SPACE)
        if text and text[0] != byte:
            return None
        text = text[1:]
    return text


def _bound(weights: list[float], loose: list[float], unknown: float) -> float:
    """Return the largest error of a probability w / W, with at most `loose` more per answer."""
    total, spread = math.fsum(weights), math.fsum(loose)
    if total <= 0:
        return 1.0
    most = 0.0
    for weight, more in zip(weights, loose, strict=True):
        less = min(unknown, spread - more)
        up = (weight + more) / (total + more) - weight / total
        down = weight / total - weight / (total + max(0.0, less))
        most = max(most, up, down)
    return min(1.0, most)


def _spellings_of(question: Question) -> _Spellings | None:
    labels: Iterable[Label] = question.labels
    if question.kind == "boolean":
        labels = (True, False)
    elif question.kind == "checklist":
        return None
    elif not question.labels:
        low, high = question.minimum, question.maximum
        whole = low == math.floor(low) and high == math.floor(high)
        if not whole or not 2 <= high - low <= MOST_STEPS:
            return None
        labels = (float(number) for number in range(int(low), int(high) + 1))
    return _spellings((*labels, None) if question.nullable else tuple(labels))


@lru_cache(maxsize=256)
def _spellings(labels: tuple[Label, ...]) -> _Spellings | None:
    # Without quotation marks, the word "null" is the same as "cannot tell".
    return _Spellings(labels) if len(set(map(_usual, labels))) == len(labels) else None


def _usual(label: Label) -> bytes:
    """Return the JSON text of a label, without quotation marks."""
    if isinstance(label, float):
        return b"%d" % label
    text = json.dumps(label, ensure_ascii=False)
    return (text[1:-1] if isinstance(label, str) else text).encode()


def _variants(label: Label) -> tuple[bytes, bytes]:
    """Return two other spellings of a label."""
    usual = _usual(label)
    if label is None or isinstance(label, bool):
        return usual, _SAYS[label]
    escaped = json.dumps(label)[1:-1].encode() if isinstance(label, str) else usual
    return escaped, _OTHER.get(usual.lower(), usual)
