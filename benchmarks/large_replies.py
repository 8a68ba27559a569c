"""Memory that a reply of any size takes: peak resident size of a run beside one of small replies.

A server in a process of its own answers every request with a body of `--size` bytes, plain or as
gzip, and a second server answers with small ones. Each run is a process of its own; it records
to a tape, which is then verified and replayed.

    python benchmarks/large_replies.py [--size 1000000000] [--rows 1]
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

HEAD = b'{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"'
TAIL = b'"}}]}'
BLOCK = b"x" * (1 << 20)
RUN = """
import resource, sys
from judgekit.cli import main
sys.argv = ["judgekit", "run", "suite.yaml", *sys.argv[1:], "--quiet"]
try:
    main()
except SystemExit as end:
    code = end.code
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print("PEAK", peak, code or 0)
"""
CODINGS = ("plain", "gzip", "small")


def body(size: int) -> Iterator[bytes]:
    yield HEAD
    for _ in range(size // len(BLOCK)):
        yield BLOCK
    yield BLOCK[: size % len(BLOCK)]
    yield TAIL


def pieces(coding: str, size: int) -> Iterator[bytes]:
    if coding == "small":
        yield HEAD + TAIL
    elif coding == "plain":
        yield from body(size)
    else:
        deflate = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
        for piece in body(size):
            yield deflate.compress(piece)
        yield deflate.flush()


def serve(coding: str, size: int) -> None:
    """Answer one request after the other, each on a connection of its own."""
    server = socket.create_server(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)
    encoding = "Content-Encoding: gzip\r\n" if coding == "gzip" else ""
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{encoding}Connection: close\r\n\r\n"
    )
    while True:
        client, _ = server.accept()
        with client:
            request = b""
            while b"\r\n\r\n" not in request:
                request += client.recv(65536)
            start, _, rest = request.partition(b"\r\n\r\n")
            sizes = [
                int(line.split(b":")[1])
                for line in start.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            ]
            while len(rest) < sum(sizes):
                rest += client.recv(65536)
            try:
                client.sendall(head.encode())
                for piece in pieces(coding, size):
                    client.sendall(piece)
            except ConnectionError:
                pass


def run(folder: Path, *flags: str) -> tuple[int, int]:
    """Return peak memory in MiB and the exit code of a run."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *flags], cwd=folder, capture_output=True, text=True, check=True
    )
    peak, code = done.stdout.rpartition("PEAK")[2].split()
    if int(code) in (1, 2) or not (folder / "tape.jsonl").exists():
        raise SystemExit(done.stdout + done.stderr)
    return int(peak), int(code)


def kinds(folder: Path, out: str) -> set[str]:
    rows = [json.loads(line) for line in (folder / out / "results.jsonl").open()]
    found = {result.get("kind") for row in rows[1:] for result in _results(row)}
    return {kind for kind in found if kind}


def _results(row: object) -> Iterator[dict[str, object]]:
    if isinstance(row, dict):
        if row.get("type") == "failure":
            yield row
        for value in row.values():
            yield from _results(value)
    elif isinstance(row, list):
        for value in row:
            yield from _results(value)


def measure(coding: str, *, size: int, rows: int) -> int:
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", coding, "--size", str(size)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "pyproject.toml").touch()
            lines = (
                json.dumps({"id": f"c{n}", "input": f"Is it {n}?", "output": "Yes."})
                for n in range(rows)
            )
            (folder / "cases.jsonl").write_text("\n".join(lines) + "\n")
            suite = {
                "cases": "cases.jsonl",
                "judge": {
                    "model": "openai/judge",
                    "api_base": f"http://127.0.0.1:{port}/v1",
                    "mode": "json_schema",
                },
                "cassette": "tape.jsonl",
                "metrics": {"quality": {"rubric": "quality"}},
            }
            (folder / "suite.yaml").write_text(json.dumps(suite))
            peak, code = run(folder, "--record", "new_episodes", "--out", "live")
            failed = sorted(kinds(folder, "live"))
            verify = [sys.executable, "-m", "judgekit", "cassette", "verify", "tape.jsonl"]
            verified = subprocess.run(verify, cwd=folder, capture_output=True, check=False)
            tape = (folder / "tape.jsonl").stat().st_size
            _, replayed = run(folder, "--record", "none", "--out", "again")
            same = sorted(kinds(folder, "again")) == failed
            print(
                f"{coding:>6}: {peak:5} MiB, exit {code}, rows {', '.join(failed) or 'scored'}; "
                f"tape {tape:,} bytes, verify exit {verified.returncode}; "
                f"replay exit {replayed}, {'the same' if same else 'NOT the same'}"
            )
            return peak
    finally:
        server.kill()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000_000_000)
    parser.add_argument("--rows", type=int, default=1)
    parser.add_argument("--serve", choices=CODINGS)
    chosen = parser.parse_args()
    if chosen.serve:
        serve(chosen.serve, chosen.size)
        return
    small = measure("small", size=0, rows=chosen.rows)
    for coding in ("plain", "gzip"):
        peak = measure(coding, size=chosen.size, rows=chosen.rows)
        print(f"        {peak - small} MiB more than small replies take")


if __name__ == "__main__":
    main()
