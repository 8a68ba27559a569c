"""A record: one request and its reply, as one line of canonical JSON with a checksum.

A line is `{"key", "kind", "reply", "request", "sha256"}`; `sha256` is the digest of the rest of the
line. Values that many requests share (system messages, reply schemas) are stored once per tape, as
part lines `{"part": digest, "value": ...}`. Requests refer to them by `{"part": digest}`.
"""

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import ConfigDict

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import CassetteCorrupt
from judgekit.core.key_rules import ever_unkeyed
from judgekit.core.request import Reply, Request, Want, request_from
from judgekit.core.value import Value

KINDS: dict[Want, str] = {
    "verdict": "chat",
    "text": "chat",
    "embedding": "embedding",
    "logprobs": "logprobs",
}
"""Kind of reply that a request asks for -> kind of its record."""
PART_NAMED = re.compile(rb'\{"part":"([0-9a-f]{64})"\}')
"""Pattern of a reference to a part. JSON strings escape quotes, so nothing else matches."""

REPAIR_HINT = "restore the file, or delete the line and record it again"
"""Advice for a damaged record."""

# A line with a correct digest may contain any JSON. Errors of pydantic are ValueErrors.
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
_TAIL = re.compile(r',"sha256":"([0-9a-f]{64})"\}')
_TAIL_LENGTH = len(f',"sha256":"{64 * "0"}"}}')


class Record(NamedTuple):
    """One request and its reply."""

    key: str
    request: Request
    reply: Reply


class _RecordedReply(Value):
    """The fields of a line that a replay needs."""

    model_config = ConfigDict(extra="ignore")

    key: str
    reply: Reply


def encode(request: Request, reply: Reply) -> tuple[str, str, dict[str, str]]:
    """Return the self-contained line of a record, its tape line, and the part lines by digest.

    Reply schemas and system messages become parts because many requests share them.
    """
    kind = KINDS[request.form.want]
    data = canonical_json(reply.model_dump(mode="json", exclude_defaults=True))
    before = f'{{"key":"{request.key}","kind":"{kind}","reply":{data},"request":'
    whole = request.canonical
    shared, parts = _split(whole, form_end=_FORM_START + len(request.form.canonical))
    return _seal(f"{before}{whole}}}"), _seal(f"{before}{shared}}}"), parts


def _seal(line: str) -> str:
    return f'{line[:-1]},"sha256":"{digest(line)}"}}'


def unseal(line: str, *, where: object) -> str:
    """Check the digest of a line and return the line without it.

    Raises:
        CassetteCorrupt: the line was changed after it was written.
    """
    tail = _TAIL.fullmatch(line, max(0, len(line) - _TAIL_LENGTH))
    if tail is None:
        raise CassetteCorrupt(f"{where}: not a record judgekit wrote; {REPAIR_HINT}")
    body = line[:-_TAIL_LENGTH] + "}"
    if digest(body) != tail.group(1):
        message = "the record was changed after it was written"
        raise CassetteCorrupt(f"{where}: {message}; {REPAIR_HINT}")
    return body


def _canonical(body: str) -> Any:
    """Return the value of a canonical JSON text.

    Canonical JSON has no NaN, repeated keys or lone surrogates.
    """
    data = json.loads(body)
    if canonical_json(data) != body:
        raise ValueError("not canonical")
    return data


def decode_reply(line: str, *, key: str, where: object) -> Reply:
    """Check digest and key of a line and return its reply.

    Raises:
        CassetteCorrupt: the line is damaged or has another key.
    """
    body = unseal(line, where=where)
    try:
        recorded = _RecordedReply.model_validate_json(body)
    except ValueError as exc:
        raise CassetteCorrupt(f"{where}: not a record judgekit wrote; {REPAIR_HINT}") from exc
    if recorded.key != key:
        raise CassetteCorrupt(f"{where}: is the record of another key; {REPAIR_HINT}")
    return recorded.reply


def decode(line: str, *, parts: dict[str, Any], where: object) -> Record:
    """Check that the key of a line is that of its request, and return its record.

    Raises:
        CassetteCorrupt: the line is damaged, a part is missing, or the key is wrong.
    """
    body = unseal(line, where=where)
    try:
        data = _canonical(body)
        request = request_from(_inline(data["request"], parts=parts, where=where))
        reply = Reply.model_validate(data["reply"])
        key, actual = data["key"], request.key
        kind, expected = data["kind"], KINDS[request.form.want]
    except _MALFORMED as exc:
        raise CassetteCorrupt(f"{where}: not a record judgekit wrote; {REPAIR_HINT}") from exc
    if key != actual:
        message = "the key is not that of the request it holds"
        raise CassetteCorrupt(f"{where}: {message}; {REPAIR_HINT}")
    if kind != expected:
        message = f"kind is {str(kind)[:40]!r} instead of {expected!r}; {REPAIR_HINT}"
        raise CassetteCorrupt(f"{where}: {message}")
    return Record(key, request, reply)


def _inline(request: dict[str, Any], *, parts: dict[str, Any], where: object) -> dict[str, Any]:
    def resolve(value: Any) -> Any:
        if isinstance(value, dict) and set(value) == {"part"}:
            if value["part"] not in parts:
                raise CassetteCorrupt(f"{where}: refers to a part that is not on the tape")
            return parts[value["part"]]
        return value

    messages = [{**m, "content": resolve(m["content"])} for m in request["messages"]]
    return {**request, "form": resolve(request["form"]), "messages": messages}


def share_line(line: str, *, key: str, where: object) -> tuple[str, dict[str, str]]:
    """Return the tape line and part lines of a self-contained line, without building its record.

    Raises:
        CassetteCorrupt: the line is damaged or has another key.
    """
    body = unseal(line, where=where)
    try:
        reply_end = _decoder.raw_decode(body, body.index('"reply":') + 8)[1]
        request = body[reply_end + len(_REQUEST) : -1]
        if body[reply_end : reply_end + len(_REQUEST)] == _REQUEST and digest(request) == key:
            form_end = _decoder.raw_decode(request, _FORM_START)[1]
            request, parts = _split(request, form_end=form_end)
            return _seal(f"{body[:reply_end]}{_REQUEST}{request}}}"), parts
    except (ValueError, IndexError):
        pass  # `decode` raises the specific error
    record = decode(line, parts={}, where=where)
    return encode(record.request, record.reply)[1:]


def has_unkeyed(line: str) -> bool:
    """Return whether the request of a line has parameters that are no longer part of keys."""
    # Quotes inside texts are escaped, and `params` is the last object of a request.
    at = line.rfind(_PARAMS)
    if at < 0 or line.startswith("{}", at + len(_PARAMS)):
        return False
    try:
        params = _decoder.raw_decode(line, at + len(_PARAMS))[0]
    except ValueError:
        return False
    return isinstance(params, dict) and not ever_unkeyed().isdisjoint(params)


_PARAMS = '"params":'
_decoder = json.JSONDecoder()
_REQUEST = ',"request":'
_MESSAGES = '"messages":['
_CONTENT = '{"content":'
_FORM_START = len('{"form":')


def _split(request: str, *, form_end: int) -> tuple[str, dict[str, str]]:
    """Return a canonical request with references to its parts, and the part lines by digest."""
    name, part = _part(request[_FORM_START:form_end], is_text=False)
    parts = {name: part}
    at = request.index(_MESSAGES, form_end) + len(_MESSAGES)
    text = f'{request[:_FORM_START]}{{"part":"{name}"}}{request[form_end:at]}'
    while request.startswith(_CONTENT, at):
        content, end = _decoder.raw_decode(request, at + len(_CONTENT))
        closed = request.index("}", end) + 1
        if request[end:closed] == ',"role":"system"}':
            name, part = _part(content, is_text=True)
            parts[name] = part
            text += f'{_CONTENT}{{"part":"{name}"}}'
        else:
            text += request[at:end]
        text += request[end:closed]
        at = closed + (request[closed] == ",")
        text += request[closed:at]
    return text + request[at:], parts


@lru_cache(maxsize=64)
def _part(text: str, *, is_text: bool) -> tuple[str, str]:
    """Return the digest and the line of a part."""
    name = digest(text)
    value = canonical_json(text) if is_text else text
    return name, _seal(f'{{"part":"{name}","value":{value}}}')


def decode_part(line: str, *, where: object) -> tuple[str, Any]:
    """Return the digest and the value of a part line.

    Raises:
        CassetteCorrupt: the line is damaged, or the digest does not match the value.
    """
    body = unseal(line, where=where)
    try:
        data = _canonical(body)
        name, value = data["part"], data["value"]
        actual = digest(value if isinstance(value, str) else canonical_json(value))
    except _MALFORMED as exc:
        raise CassetteCorrupt(f"{where}: not a part judgekit wrote; {REPAIR_HINT}") from exc
    if actual != name:
        raise CassetteCorrupt(f"{where}: the digest of the part is wrong; {REPAIR_HINT}")
    return name, value
