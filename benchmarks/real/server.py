"""llama.cpp's server, from the package xllamacpp, with the weights of one file."""

from __future__ import annotations

import hashlib
import importlib
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

CONTEXT = 12_288
"""Tokens of a prompt and its reply; the longest built-in tests have less than half of that."""
_CHUNK = 1 << 20


class Weights(NamedTuple):
    """A file of weights."""

    path: Path
    sha256: str
    size: int
    """In bytes."""

    @property
    def name(self) -> str:
        """The name of the model at the server."""
        return self.path.stem


def read_weights(path: Path, *, expected: str | None) -> Weights:
    """Return what identifies a file of weights.

    Raises:
        SystemExit: it cannot be read, is no GGUF file, or has another digest.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                sys.exit(f"{path}: not a GGUF file")
            file.seek(0)
            while piece := file.read(_CHUNK):
                digest.update(piece)
            size = file.tell()
    except OSError as exc:
        sys.exit(f"{path}: cannot be read: {exc.strerror}")
    found = digest.hexdigest()
    if expected is not None and found != expected.lower():
        sys.exit(f"{path}: sha256 is {found}, not {expected}; these are other weights")
    return Weights(path, found, size)


@contextmanager
def serving(weights: Weights, *, threads: int) -> Iterator[tuple[str, str]]:
    """Serve the weights from this process; yields the address and the name of the server.

    The server ends with the process, also when it is killed.
    """
    try:
        llama = importlib.import_module("xllamacpp")
    except ImportError:
        sys.exit("the server is missing; install it with: pip install xllamacpp")
    params = llama.CommonParams()
    params.model.path = str(weights.path)
    params.model_alias = {weights.name}
    params.hostnames = ["127.0.0.1"]
    params.port = _free_port()
    params.n_ctx = CONTEXT
    # One slot: its cache then holds the rubric, which all cases of a group begin with.
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.ui = params.warmup = params.endpoint_metrics = False
    server = llama.Server(params)
    yield f"{server.listening_address}/v1", f"llama.cpp (xllamacpp {version('xllamacpp')})"


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port
