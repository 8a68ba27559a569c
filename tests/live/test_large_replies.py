"""A response of any size: little memory, a failed row, and a tape that can be read."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from judgekit.cassette.tape import Tape
from judgekit.cli.app import app
from judgekit.core.errors import InvalidReply
from judgekit.core.replies.logprobs import pair_messages, read_logprobs
from judgekit.core.replies.text import read_text
from judgekit.core.replies.vector import read_vector
from judgekit.core.request import ChatMessage, Form, Reply, Request
from judgekit.core.score import Failure
from judgekit.judges import httpx_wire, via_litellm, wire
from judgekit.judges.connections import closing_connections
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.translation import Outage

from .asking import MODEL, command, judge_of, run, write_suite
from .server import Fault, Server, always, completion

pytestmark = pytest.mark.loopback

TOO_LARGE = "the response is larger than 8,000,000 bytes"


def compressed(size: int, *, raw: bool = False) -> bytes:
    """Return a chat completion whose text has so many characters, as gzip or bare deflate."""
    head, tail = json.dumps(completion({"messages": []}, "@")).encode().split(b"@")
    pack = zlib.compressobj(9, zlib.DEFLATED, -15 if raw else 31)
    block = b"x" * 1_000_000
    packed = [pack.compress(head), *(pack.compress(block) for _ in range(size // len(block)))]
    return b"".join([*packed, pack.compress(tail), pack.flush()])


def packed(size: int) -> Fault:
    return Fault(body=compressed(size), headers={"Content-Encoding": "gzip"})


RUN = """
import re, sys
from pathlib import Path
from judgekit.cli import main
sys.argv = ["judgekit", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    # The maximum of getrusage includes the memory of the process that started this one.
    (peak,) = re.findall(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
    print("PEAK", int(peak) // 1024, end.code or 0)
"""


def measured(suite: Path) -> tuple[int, int]:
    """Run a suite in a process of its own; return its peak memory in MiB, and its exit code."""
    arguments = command(suite)[5:]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=False
    )
    peak, code = done.stdout.rpartition("PEAK")[2].split()
    return int(peak), int(code)


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")
def test_a_response_of_200_mb_takes_little_memory_and_leaves_a_tape_that_is_read(
    server: Server, tmp_path: Path
) -> None:
    (tmp_path / "small").mkdir()
    small, code = measured(write_suite(tmp_path / "small", server, ["case-s"], mode="json_schema"))
    assert code == 0
    server.plan = {"*": always(packed(200_000_000))}
    asked = [f"case-{number}" for number in range(2)]
    suite = write_suite(tmp_path, server, asked, mode="json_schema")

    large, code = measured(suite)

    assert code == 3
    assert large - small < 160  # copies of the eight megabytes that may be read
    tape = tmp_path / "tape.jsonl"
    assert tape.stat().st_size < 2 * 3 * wire.KEPT
    assert CliRunner().invoke(app, ["cassette", "verify", str(tape)]).exit_code == 0
    replies = [record.reply for record in Tape(tape).records()]
    assert [len(reply.tries) for reply in replies] == [2] * 2
    for answer in (answer for reply in replies for answer in reply.tries):
        assert answer.omitted is not None
        assert len(answer.text or "") + answer.omitted.bytes == wire.MAX_BODY
        assert answer.fault is not None
        assert answer.fault.message == TOO_LARGE


def test_a_response_that_is_too_large_is_replayed_as_the_same_failure(
    server: Server, tmp_path: Path
) -> None:
    server.plan = {"case-large": always(packed(9_000_000)), "case-good": ()}
    first = run(judge_of(server), server.plan, tmp_path)
    server.forget()

    second = run(judge_of(server), server.plan, tmp_path)

    assert server.calls() == 0
    for outcome in (first, second):
        assert outcome.kinds == {"case-large": "invalid_reply", "case-good": "scored"}
        row = outcome.rows["case-large"]
        assert isinstance(row, Failure)
        assert row.message == TOO_LARGE


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (compressed(9_000_000), "gzip"),
        (compressed(9_000_000), "GZIP"),
        (compressed(9_000_000, raw=True), "deflate"),
        (b"x" * 9_000_000, "identity"),
    ],
)
def test_every_encoding_is_limited_while_it_is_decoded(body: bytes, encoding: str) -> None:
    async def read() -> wire.Exchange:
        with (
            wire.Exchange(limit=wire.MAX_BODY) as call,
            pytest.raises(httpx.DecodingError, match="larger than"),
        ):
            await fetched(body, encoding)
        return call

    call = asyncio.run(read())

    assert call.too_large == TOO_LARGE
    assert len(call.start) == wire.KEPT


async def fetched(body: bytes, encoding: str) -> bytes:
    """Return what a limited client reads of a body."""
    raw = httpx.Response(200, headers={"Content-Encoding": encoding}, stream=httpx.ByteStream(body))
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: raw)) as client:
        httpx_wire.bound(client)
        return (await client.get("http://127.0.0.1/")).content


@pytest.mark.parametrize("size", [0, 1, 70_000, wire.MAX_BODY])
@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, bytes])
def test_what_is_within_the_limit_arrives_whole(size: int, pack: Any) -> None:
    text = b"y" * size
    encoding = {gzip.compress: "gzip", zlib.compress: "deflate"}.get(pack, "identity")

    assert asyncio.run(fetched(pack(text), encoding)) == text


def parts(text: bytes) -> bytes:
    """Return a text as gzip in several members, with an empty one and padding."""
    half = len(text) // 2
    members = [gzip.compress(piece) for piece in (text[:half], b"", text[half:])]
    return b"".join([*members, b"\0\0"])


@pytest.mark.parametrize("size", [0, 70_001, wire.MAX_BODY])
def test_gzip_of_several_members_arrives_whole(size: int) -> None:
    assert asyncio.run(fetched(parts(b"y" * size), "gzip")) == b"y" * size


@pytest.mark.parametrize("step", [1, 7, 1 << 16])
def test_members_may_begin_anywhere_in_a_chunk(step: int) -> None:
    call, packed = wire.Exchange(limit=wire.MAX_BODY), parts(b"some text")
    body = call.begin(200, {"Content-Encoding": "gzip"})

    read = [p for at in range(0, len(packed), step) for p in body.feed(packed[at : at + step])]
    body.finish()

    assert b"".join(read) == b"some text"


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (gzip.compress(b"") * 2_000, "more than 1000 members"),
        (gzip.compress(b"x" * 5_000_000) * 2, TOO_LARGE),
        (gzip.compress(b"{}") + gzip.compress(b"{}")[:-3], "was cut off"),
        (gzip.compress(b"{}") + b"\x1fno gzip", "header"),
    ],
    ids=["many", "large", "cut", "other"],
)
def test_members_are_bounded_and_whole(packed: bytes, message: str) -> None:
    with pytest.raises(httpx.DecodingError, match=message):
        asyncio.run(fetched(packed, "gzip"))


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_encoding_that_was_not_asked_for_is_not_decoded(
    server: Server, tmp_path: Path, encoding: str
) -> None:
    headers = {"Content-Encoding": encoding}
    server.plan = {"*": always(Fault(body=b"x" * 100, headers=headers))}

    outcome = run(judge_of(server, retries=0), ["case-1"], tmp_path)

    assert outcome.kinds == {"case-1": "unavailable"}
    assert server.seen[0].headers["accept-encoding"] == wire.ENCODINGS


def test_a_response_that_cannot_be_decoded_has_not_the_body_of_one_before_it() -> None:
    with wire.Exchange(limit=wire.MAX_BODY) as call:
        reader = call.begin(200, {})
        assert list(reader.feed(b'{"choices": []}')) == [b'{"choices": []}']
        reader.finish()
        assert call.data() == {"choices": []}

        with pytest.raises(wire.BodyError, match="encoded as 'br'"):
            call.begin(200, {"content-encoding": "br"})

    assert call.data() is None


def test_the_rest_of_a_large_error_is_not_read(server: Server, tmp_path: Path) -> None:
    large = {"error": {"message": "no such thing " + "x" * 20_000_000}}
    body = gzip.compress(json.dumps(large).encode())
    fault = Fault(500, body=body, headers={"Content-Encoding": "gzip"})
    server.plan = {"*": always(fault)}

    outcome = run(judge_of(server, retries=0), ["case-1"], tmp_path)

    row = outcome.rows["case-1"]
    assert isinstance(row, Failure)
    assert row.kind == "unavailable"
    assert len(row.message) < 400


def ask(judge: Any, request: Request) -> Reply:
    async def asking() -> Reply:
        async with closing_connections():
            reply: Reply = await judge.ask(request)
            return reply

    return asyncio.run(asking())


def test_vectors_figures_and_answers_are_limited_too(server: Server) -> None:
    server.rule = lambda body: packed(40_000_000)
    prompt, continuation = "case-a", " tide"
    message = (ChatMessage(role="user", content="case-a"),)

    def wanting(want: Any, messages: tuple[ChatMessage, ...] = message) -> Reply:
        return ask(judge_of(server), Request(messages=messages, form=Form(want=want), model=MODEL))

    with pytest.raises(InvalidReply, match="larger than 8,000,000 bytes"):
        read_text(wanting("text"))
    with pytest.raises(InvalidReply, match="larger than 32,000,000 bytes"):
        read_vector(wanting("embedding"))
    with pytest.raises(InvalidReply, match="larger than 32,000,000 bytes"):
        read_logprobs(
            wanting("logprobs", pair_messages(prompt, continuation)),
            prompt=prompt,
            continuation=continuation,
        )


PROVIDERS = [
    "openai/judge",
    "hosted_vllm/judge",
    "lm_studio/judge",
    "litellm_proxy/judge",
    "ollama_chat/judge",
    "ollama/judge",
    "anthropic/claude-3",
    "mistral/judge",
    "groq/judge",
    "openrouter/judge",
    "deepseek/judge",
    "gemini/gemini-pro",
    "cohere_chat/judge",
]


@pytest.mark.parametrize("model", PROVIDERS)
def test_every_provider_is_limited_and_redirected_nowhere(server: Server, model: str) -> None:
    away = Fault(307, body=b"", headers={"Location": "/elsewhere"})
    answers = iter([packed(9_000_000), away])
    server.rule = lambda body: next(answers)
    judge = LiteLLMJudge(
        model, api_base=server.base, api_key="none", retries=0, mode="text", reasks=0
    )
    form = Form(want="text")
    request = Request(
        messages=(ChatMessage(role="user", content="case-1"),), form=form, model=model
    )

    with pytest.raises(InvalidReply, match="larger than"):
        read_text(ask(judge, request))
    with pytest.raises(Outage, match="redirects are not followed"):
        ask(judge, request)

    assert len(server.seen) == 2


def test_other_users_of_litellm_keep_their_clients(server: Server) -> None:
    litellm = via_litellm.load_litellm()
    server.rule = lambda body: packed(9_000_000)

    async def theirs() -> Any:
        return await litellm.acompletion(
            model=MODEL,
            api_base=server.base,
            api_key="none",
            messages=[{"role": "user", "content": "case-1"}],
        )

    said = asyncio.run(theirs())

    assert len(said.choices[0].message.content) == 9_000_000
