"""A model of a hub: fetched only where that is allowed, then found without asking anybody."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judgekit.embedders.onnx import OnnxEmbedder
from tests.embedders import tiny_onnx

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROGRAM = """
import json, sys
from judgekit.embedders import open_embedder
from judgekit.core.errors import ConfigError
for line in sys.stdin:
    try:
        embedder = open_embedder(json.loads(line))
        print(embedder.identity, len(embedder.embed(["sea"])), flush=True)
    except ConfigError as exc:
        print("refused:", exc, flush=True)
"""


@pytest.fixture
def hub(tmp_path):
    """Serve a folder as a hub does, and remember what was asked for."""
    folder = tiny_onnx.write_folder(tmp_path / "model")
    asked = []

    class Hub(BaseHTTPRequestHandler):
        def log_message(self, *_):
            asked.append(self.path)

        def found(self):
            path = self.path.partition("?")[0]
            if f"/tree/{COMMIT}" in path:
                files = [
                    {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": "0"}
                    for file in sorted(folder.iterdir())
                ]
                return json.dumps(files).encode()
            if f"/revision/{COMMIT}" in path:
                files = [{"rfilename": file.name} for file in sorted(folder.iterdir())]
                return json.dumps({"id": "some/model", "sha": COMMIT, "siblings": files}).encode()
            file = folder / path.rpartition("/")[2]
            return file.read_bytes() if f"/resolve/{COMMIT}/" in path and file.is_file() else None

        def do_HEAD(self):
            data = self.found()
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Length", str(len(data or b"")))
            self.send_header("Content-Type", "application/json")
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha256(data or b"").hexdigest()[:40]}"')
            self.end_headers()
            return data

        def do_GET(self):
            self.wfile.write(self.do_HEAD() or b"")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("HF_")},
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_DISABLE_XET": "1",
        "NO_PROXY": "127.0.0.1",
    }

    @contextmanager
    def process():
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as program:

            def run(**options):
                del asked[:]
                program.stdin.write(json.dumps({"onnx": f"some/model@{COMMIT}", **options}) + "\n")
                program.stdin.flush()
                return program.stdout.readline().strip(), list(asked)

            yield run
            program.stdin.close()
        assert program.returncode == 0

    yield folder, process
    server.shutdown()
    server.server_close()


@pytest.mark.loopback
def test_a_model_is_fetched_only_where_that_is_allowed(hub):
    folder, process = hub
    identity = OnnxEmbedder(str(folder)).identity

    with process() as run:
        refused, asked = run()
        assert refused.startswith(f"refused: embedder: some/model@{COMMIT} is not on this machine")
        assert asked == []

        fetched, asked = run(download=True)
        assert fetched == f"{identity} 1"
        assert any(path.endswith("model.onnx") for path in asked)

    with process() as run:
        found, asked = run()
        assert found == f"{identity} 1"
        assert asked == []

        wrong, _ = run(sha256="0" * 64)
        assert "has the SHA-256" in wrong
