"""A model of a hub: fetched only where that is allowed, then found without asking anybody."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judgekit.embedders.onnx import OnnxEmbedder
from tests.embedders import tiny_onnx

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROGRAM = """
import json, sys
from judgekit.embedders import open_embedder
from judgekit.core.errors import ConfigError
try:
    embedder = open_embedder(json.loads(sys.argv[1]))
    print(embedder.identity, len(embedder.embed(["sea"])))
except ConfigError as exc:
    print("refused:", exc)
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

    def run(**options):
        del asked[:]
        spec = json.dumps({"onnx": f"some/model@{COMMIT}", **options})
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, spec],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip(), list(asked)

    yield folder, run
    server.shutdown()
    server.server_close()


@pytest.mark.loopback
def test_a_model_is_fetched_only_where_that_is_allowed(hub):
    folder, run = hub
    identity = OnnxEmbedder(str(folder)).identity

    refused, asked = run()
    assert refused.startswith(f"refused: embedder: some/model@{COMMIT} is not on this machine")
    assert asked == []

    fetched, asked = run(download=True)
    assert fetched == f"{identity} 1"
    assert any(path.endswith("model.onnx") for path in asked)

    found, asked = run()
    assert found == f"{identity} 1"
    assert asked == []

    wrong, _ = run(sha256="0" * 64)
    assert "has the SHA-256" in wrong
