"""A server that echoes the key in every field and encoding: no file and no line has it."""

from __future__ import annotations

import base64
import binascii
import html
import json
import logging
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import pytest

from judgekit.cli import main
from judgekit.core.errors import JudgekitError
from judgekit.judges import wire
from judgekit.judges.decisions import DecisionJudge

from . import deciding
from .asking import MODEL, judge_of, run
from .endpoints import embeddings
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback

KEY = "sk-canary/Q7+w9==tail"
"""With characters that JSON, addresses and base64 write in several ways."""


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


def percent(text: str) -> str:
    return "".join(f"%{ord(character):02x}" for character in text)


def based(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "unicode escapes": escaped,
    "one unicode escape": lambda key: key.replace("c", "\\u0063"),
    "escaped escapes": lambda key: escaped(key).replace("\\", "\\\\"),
    "escapes of escapes": lambda key: escaped(key).replace("\\", "\\u005c"),
    "escaped slashes": lambda key: key.replace("/", "\\/"),
    "hexadecimal escapes": lambda key: "".join(f"\\x{ord(c):02x}" for c in key),
    "percent": percent,
    "percent where needed": lambda key: quote(key, safe=""),
    "percent twice": lambda key: percent(key).replace("%", "%25"),
    "entities": lambda key: "".join(f"&#{ord(c)};" for c in key),
    "hexadecimal entities": lambda key: "".join(f"&#x{ord(c):x};" for c in key),
    "base64": based,
    "base64 of a header": lambda key: based(f"Authorization: Bearer {key}\r\nHost: x"),
    "base64 of a password": lambda key: based(f"u:{key}"),
    "base64 of an address": lambda key: base64.urlsafe_b64encode(f"ab:{key}??>".encode()).decode(),
    "base64 in percent": lambda key: quote(based(f"Bearer {key}"), safe=""),
    "hexadecimal": lambda key: key.encode().hex(),
    "capital hexadecimal": lambda key: key.encode().hex().upper(),
}


def decoded(data: bytes) -> list[bytes]:
    """Return data and what its escapes and codes stand for; written apart from the package."""
    texts = [data]
    for _ in range(4):
        text = texts[-1].decode("utf-8", "replace")
        text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)
        text = re.sub(r"\\+x([0-9a-fA-F]{2})", lambda m: chr(int(m[1], 16)), text)
        text = html.unescape(re.sub(r"\\+", "", text) if "\\/" in text else text)
        texts.append(unquote_to_bytes(text.encode("utf-8", "replace").decode()))
    for text in list(texts):
        for run_ in re.findall(rb"[A-Za-z0-9+/_-]{12,}", text):
            for start in range(4):
                part = run_[start:].translate(bytes.maketrans(b"-_", b"+/"))
                texts.append(base64.b64decode(part[: len(part) // 4 * 4]))
            if re.fullmatch(rb"(?:[0-9a-fA-F]{2})+", run_):
                texts.append(binascii.unhexlify(run_))
    return texts


def leaks(data: bytes) -> bool:
    return any(b"canary" in text for text in decoded(data))


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_the_oracle_sees_every_encoding(encode: Callable[[str], str]) -> None:
    assert leaks(f'{{"reason": "you sent {encode(KEY)} to us"}}'.encode())


def body(**changes: Any) -> Fault:
    return Fault(change=lambda body: body.update(changes))


def choice(**changes: Any) -> Fault:
    return Fault(change=lambda body: body["choices"][0].update(changes))


def message(**changes: Any) -> Fault:
    return Fault(change=lambda body: body["choices"][0]["message"].update(changes))


def reason(text: str) -> Fault:
    """Say it in a reason; `text` may hold escapes of JSON."""
    return Fault(text=lambda good: good.replace("Because.", f"Because you sent {text}."))


def tool(name: str, arguments: str) -> Fault:
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return message(content=None, tool_calls=[call])


def tokens(pieces: list[str], *, numbers: bool = False) -> Fault:
    content = [
        {"token": "?" if numbers else p, "logprob": -0.1, "bytes": list(p.encode())} for p in pieces
    ]
    for entry in content:
        entry["top_logprobs"] = [dict(entry)]
    return choice(logprobs={"content": content, KEY: KEY})


def large(key: str) -> Fault:
    """Answer with too much; the key is where the record is cut."""
    pad = wire.KEPT - len(key) // 2
    return Fault(body=b"x" * pad + key.encode() + b"y" * wire.MAX_BODY)


FIELDS: dict[str, Fault] = {
    "model": body(model=KEY),
    "id": body(id=KEY, object=KEY, system_fingerprint=KEY),
    "a name of a field": body(**{KEY: KEY, "usage": {KEY: 1, "prompt_tokens": 3}}),
    "finish": choice(finish_reason=KEY),
    "refusal": message(content=None, refusal=f"No, {KEY}."),
    "refusal escaped": message(content=None, refusal=f"No, {escaped(KEY)}."),
    "reasoning": message(reasoning_content=f"The key {KEY}", reasoning=KEY),
    "parts": message(content=[{"type": "text", "text": part} for part in (KEY[:9], KEY[9:])]),
    "parts of a kind": message(content=[{"type": KEY, "text": "x"}]),
    "content of a kind": message(content={KEY: KEY}),
    "prose": Fault(text=f"I will not say {KEY}"),
    "tool": tool(KEY, "{}"),
    "tool arguments": tool("Verdict", json.dumps({"reason": KEY})),
    "tool arguments escaped": tool("Verdict", f'{{"reason": "{escaped(KEY)}"}}'),
    "tool arguments as an object": tool("Verdict", {"reason": KEY}),  # type: ignore[arg-type]
    "token": tokens([KEY]),
    "tokens": tokens(["sk-", "can", "ary/", "Q7+w9", "==", "tail"]),
    "tokens as numbers": tokens([KEY], numbers=True),
    "tokens as numbers in pieces": tokens(["sk-can", "ary/Q7", "+w9==tail"], numbers=True),
    "two choices": Fault(change=lambda body: body.update(choices=body["choices"] * 2, model=KEY)),
    "usage": body(usage={"prompt_tokens": KEY, "completion_tokens": KEY}),
    "large": large(KEY),
    "large in base64": large(based(f"Bearer {KEY}")),
    "no JSON": Fault(body=f"<html>{KEY}".encode(), headers={"Content-Type": f"text/{KEY}"}),
    "another encoding": Fault(body=b"{}", headers={"Content-Encoding": KEY}),
    "error": error(500, f"no {KEY}"),
    "error in 200": body(error={"message": KEY, "code": KEY}),
    "error in a choice": choice(error={"message": KEY, "code": KEY}, finish_reason="error"),
    "error code": error(400, "no", code=KEY, type=KEY),
    "error with a long message": error(422, "n" * 280 + KEY),
    "rejection": error(404, f"no {based(KEY)}"),
    "dropped": Fault(
        status=400,
        body={"error": {"code": "json_validate_failed", "failed_generation": escaped(KEY)}},
    ),
    "filter": error(400, f"content filter: {KEY}", code="content_filter"),
    "too long": error(400, f"maximum context length {KEY}", code="context_length_exceeded"),
    "redirect": Fault(status=302, body={}, headers={"Location": f"https://{KEY[3:9]}{KEY}.x/{KEY}"}),
    "wait": error(429, KEY, headers={"Retry-After": KEY, "x-ratelimit-remaining-requests": KEY}),
    "cost": Fault(headers={"x-litellm-response-cost": KEY}),
}  # fmt: skip
ECHOES = FIELDS | {name: reason(encode(KEY)) for name, encode in ENCODINGS.items()}


def traces(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and leaks(path.read_bytes())]


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_no_echo_reaches_a_file_or_the_terminal(
    server: Server,
    tmp_path: Path,
    via: Any,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.models = [{"id": KEY, "root": based(KEY)}]
    kinds: dict[str, str] = {}
    leaking: dict[str, list[str]] = {}
    # What litellm hands on goes through the same hands as what was read directly.
    echoes = ECHOES if via == "direct" else dict(list(FIELDS.items())[::2])
    for number, (name, fault) in enumerate(echoes.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        server.plan = {"case-01": always(fault)}
        server.forget()
        caplog.clear()
        options: dict[str, Any] = {"retries": 0, "params": {"logprobs": True}}
        judge = judge_of(server, api_key=KEY, via=via, **options)
        with caplog.at_level(logging.DEBUG):
            try:
                outcome = run(judge, ["case-01"], folder, out=folder / "out")
                kinds[name] = outcome.kinds["case-01"]
            except JudgekitError as exc:
                kinds[name] = "".join(traceback.format_exception(exc))
        assert KEY in server.seen[0].headers["authorization"]
        logged = [r.getMessage() for r in caplog.records if r.name != "asyncio"]
        said = "\n".join((*capfd.readouterr(), kinds[name], *logged))
        if leaks(said.encode()) or traces(folder):
            leaking[name] = traces(folder)

    assert len(ECHOES) >= 40
    assert leaking == {}
    assert {kinds[name] for name in kinds if name in ENCODINGS} <= {"scored"}


@pytest.mark.parametrize("api", ["decisions", "systemone"])
@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_no_echo_of_a_decision_endpoint_is_kept(
    server: Server, tmp_path: Path, api: Any, encode: Callable[[str], str]
) -> None:
    def change(answer: dict[str, Any]) -> Any:
        return {**answer, "model": KEY, "note": encode(KEY), KEY: {encode(KEY): KEY}}

    server.rule = deciding.rule(change=change)
    judge = DecisionJudge(MODEL, api=api, api_base=server.base, api_key=KEY, retries=0)

    run(judge, ["case-01"], tmp_path, out=tmp_path / "out")

    assert KEY in server.seen[0].headers["authorization"]
    assert traces(tmp_path) == []


def commanded(monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    """Run a command in this process, whatever its exit code is."""
    monkeypatch.setenv("ECHO_KEY", KEY)
    monkeypatch.setattr("sys.argv", ["judgekit", *map(str, words)])
    with pytest.raises(SystemExit):
        main()


OUTAGES = ("another encoding", "no JSON", "error", "error in 200", "error in a choice", "redirect",
           "wait")  # fmt: skip
"""Answers that the command would ask for again, after seconds."""
ANSWERS: dict[str, Fault] = {
    **{name: Fault(text=f"You sent {encode(KEY)}.") for name, encode in ENCODINGS.items()},
    **{name: FIELDS[name] for name in FIELDS if name not in OUTAGES},
}


def test_no_echo_reaches_an_answer(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    server.models = [{"id": KEY}]
    rows = [{"id": str(n), "input": f"Say case-{n}."} for n in range(len(ANSWERS))]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    server.plan = {f"case-{n}": always(fault) for n, fault in enumerate(ANSWERS.values())}
    monkeypatch.chdir(tmp_path)
    words = ["answer", "cases.jsonl", "--model", "openai/system", "--api-base", server.base]

    out = ("--out", "out.jsonl", "--api-key-env", "ECHO_KEY", "--concurrency", "64")
    commanded(monkeypatch, *words, *out)

    logged = [r.getMessage() for r in caplog.records if r.name != "asyncio"]
    assert not leaks("\n".join((*capfd.readouterr(), *logged)).encode())
    assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {KEY}"}
    assert {seen.token for seen in server.seen} >= {f"case-{n}" for n in range(len(ANSWERS))}
    written = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    assert len(written) == len(ANSWERS)
    assert traces(tmp_path) == []


def vectors(
    change: Callable[[dict[str, Any]], dict[str, Any]],
) -> Callable[[dict[str, Any]], Fault]:
    return lambda asked: Fault(body=change(embeddings(asked)))


VECTORS: dict[str, Callable[[dict[str, Any]], Fault]] = {
    "fields": vectors(lambda body: {**body, "model": KEY, KEY: KEY, "id": based(KEY)}),
    "usage": vectors(lambda body: {**body, "usage": {"prompt_tokens": KEY, KEY: 1}}),
    "kind": vectors(lambda body: {**body, "object": KEY}),
    "index": vectors(lambda body: {**body, "data": [{**body["data"][0], "index": KEY}]}),
    "vector": vectors(lambda body: {**body, "data": [{"index": 0, "embedding": [KEY, 1.0]}]}),
    "packed vector": vectors(lambda body: {**body, "data": [{"embedding": based(KEY)}]}),
    "no data": vectors(lambda body: {"data": KEY, "message": KEY}),
    "error in 200": vectors(lambda body: {"error": {"message": escaped(KEY), "code": KEY}}),
}  # fmt: skip
ERRORS = ("error", "rejection", "redirect")


@pytest.mark.parametrize("name", [*VECTORS, *ERRORS])
def test_no_echo_of_a_hosted_embedder_is_kept(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    name: str,
) -> None:
    server.models = [{"id": KEY}]
    server.rule = VECTORS[name] if name in VECTORS else lambda asked: FIELDS[name]
    row = {"id": "a", "output": "An answer.", "reference": "Another one."}
    (tmp_path / "cases.jsonl").write_text(json.dumps(row), encoding="utf-8")
    suite = {
        "cases": "cases.jsonl",
        "cassette": "tape.jsonl",
        "embedder": {"model": "openai/vectors", "api_base": server.base, "retries": 0,
                     "api_key_env": "ECHO_KEY"},
        "metrics": {"similarity": {}},
    }  # fmt: skip
    (tmp_path / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    commanded(monkeypatch, "run", "suite.yaml", "--record", "new_episodes", "--out", "out", "-v")

    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    logged = [r.getMessage() for r in caplog.records if r.name != "asyncio"]
    assert not leaks("\n".join((*capfd.readouterr(), *logged)).encode())
    assert traces(tmp_path) == []
