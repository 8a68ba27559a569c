"""A record: one request and its reply, as one line of canonical JSON with a digest.

A line is `{"key", "kind", "reply", "request", "sha256"}`; `sha256` is the digest of the line
without it. A tape stores texts that requests share (system messages, forms) once, as part lines
`{"part": digest, "value": ...}`; requests refer to them by `{"part": digest}`.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from pydantic import ConfigDict

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import CassetteCorrupt
from judgekit.core.request import Reply, Request, Want, request_from
from judgekit.core.value import Value

KINDS: dict[Want, str] = {
    "verdict": "chat",
    "text": "chat",
    "embedding": "embedding",
    "logprobs": "logprobs",
}
"""Kind of reply -> kind of record."""
PART_NAMED = re.compile(rb'\{"part":"([0-9a-f]{64})"\}')
"""A reference to a part. Inside a JSON string its quotes would be escaped, so this is exact."""

MEND = "restore the file, or delete the line and record it again"
"""What to do about a damaged record."""

# A line with a valid digest may contain any JSON; pydantic's errors are ValueErrors.
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
_TAIL = re.compile(r',"sha256":"([0-9a-f]{64})"\}')
_TAIL_LENGTH = len(f',"sha256":"{64 * "0"}"}}')


class Record(NamedTuple):
    """One request and its reply."""

    key: str
    request: Request
    reply: Reply


class _Answered(Value):
    """The fields that a replay needs."""

    model_config = ConfigDict(extra="ignore")

    key: str
    reply: Reply


def encode(request: Request, reply: Reply) -> str:
    """Return the self-contained line of a record, without a line end."""
    return _line(Record(request.key, request, reply), request.canonical)


def _line(record: Record, request: str) -> str:
    """Return the line of a record; `request` is the JSON of its request."""
    reply = canonical_json(record.reply.model_dump(mode="json", exclude_defaults=True))
    kind = KINDS[record.request.form.want]
    return _seal(f'{{"key":"{record.key}","kind":"{kind}","reply":{reply},"request":{request}}}')


def _seal(line: str) -> str:
    return f'{line[:-1]},"sha256":"{digest(line)}"}}'


def unseal(line: str, *, where: object) -> str:
    """Return a line without its digest, having checked it.

    Raises:
        CassetteCorrupt: the line was changed after it was written.
    """
    tail = _TAIL.fullmatch(line, max(0, len(line) - _TAIL_LENGTH))
    if tail is None:
        raise CassetteCorrupt(f"{where}: not a record judgekit wrote; {MEND}")
    body = line[:-_TAIL_LENGTH] + "}"
    if digest(body) != tail.group(1):
        raise CassetteCorrupt(f"{where}: the record was changed after it was written; {MEND}")
    return body


def _canonical(body: str) -> Any:
    """Return the value of a canonical JSON text; it has no NaN and no repeated key."""
    data = json.loads(body)
    if canonical_json(data) != body:
        raise ValueError("not canonical")
    return data


def decode_reply(line: str, *, key: str, where: object) -> Reply:
    """Return the reply of a line, checked against its digest and the key asked for.

    Raises:
        CassetteCorrupt: the line is damaged, or is the record of another key.
    """
    body = unseal(line, where=where)
    try:
        answered = _Answered.model_validate_json(body)
    except ValueError as exc:
        raise CassetteCorrupt(f"{where}: not a record judgekit wrote; {MEND}") from exc
    if answered.key != key:
        raise CassetteCorrupt(f"{where}: holds the record of another key; {MEND}")
    return answered.reply


def decode(line: str, *, parts: dict[str, Any], where: object) -> Record:
    """Return the record of a line; its key is checked against its request.

    Raises:
        CassetteCorrupt: damaged, a part is missing, or the key is not that of the request.
    """
    body = unseal(line, where=where)
    try:
        data = _canonical(body)
        request = request_from(_inline(data["request"], parts=parts, where=where))
        reply = Reply.model_validate(data["reply"])
        key = data["key"]
        proved = request.key == key
        kind, expected = data["kind"], KINDS[request.form.want]
    except _MALFORMED as exc:
        raise CassetteCorrupt(f"{where}: not a record judgekit wrote; {MEND}") from exc
    if not proved:
        raise CassetteCorrupt(f"{where}: the key is not that of the request it holds; {MEND}")
    if kind != expected:
        message = f"kept as {str(kind)[:40]!r}, and holds {expected!r}; {MEND}"
        raise CassetteCorrupt(f"{where}: {message}")
    return Record(key, request, reply)


def _inline(request: dict[str, Any], *, parts: dict[str, Any], where: object) -> dict[str, Any]:
    def whole(value: Any) -> Any:
        if isinstance(value, dict) and set(value) == {"part"}:
            if value["part"] not in parts:
                raise CassetteCorrupt(f"{where}: names a part that the tape does not hold")
            return parts[value["part"]]
        return value

    messages = [{**m, "content": whole(m["content"])} for m in request["messages"]]
    return {**request, "form": whole(request["form"]), "messages": messages}


def share(record: Record) -> tuple[str, dict[str, str]]:
    """Return the tape line of a record, and its part lines by digest.

    Forms and system messages become parts, because requests share them.
    """
    parts: dict[str, str] = {}

    def part(value: Any, text: str) -> dict[str, str]:
        name = digest(text)
        parts[name] = _seal(f'{{"part":"{name}","value":{canonical_json(value)}}}')
        return {"part": name}

    request = json.loads(record.request.canonical)
    request["form"] = part(request["form"], record.request.form.canonical)
    for message in request["messages"]:
        if message["role"] == "system":
            message["content"] = part(message["content"], message["content"])
    return _line(record, canonical_json(request)), parts


def decode_part(line: str, *, where: object) -> tuple[str, Any]:
    """Return digest and value of a part line.

    Raises:
        CassetteCorrupt: damaged, or the digest is not that of the value.
    """
    body = unseal(line, where=where)
    try:
        data = _canonical(body)
        name, value = data["part"], data["value"]
        proved = digest(value if isinstance(value, str) else canonical_json(value)) == name
    except _MALFORMED as exc:
        raise CassetteCorrupt(f"{where}: not a part judgekit wrote; {MEND}") from exc
    if not proved:
        raise CassetteCorrupt(f"{where}: the part is not what its digest says; {MEND}")
    return name, value
