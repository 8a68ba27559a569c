"""A Ray cluster of two nodes on this machine; its tests are skipped where Ray is missing."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="package")
def nodes() -> Iterator[Any]:
    """Start two nodes with one processor each, and connect to them."""
    pytest.importorskip("ray", reason="Ray is not installed: make ray")
    from judgekit.ray.cluster import load_ray

    ray = load_ray()
    from ray.cluster_utils import Cluster

    options = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = Cluster(initialize_head=True, head_node_args=options)
        cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
        ray.init(cluster.address, logging_level="ERROR", log_to_driver=False)
    yield cluster
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.shutdown()
        cluster.shutdown()


def workers(of: str) -> list[int]:
    """Return the processes of Ray that run a function, among the children of this process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                title = (entry / "cmdline").read_bytes().replace(b"\\0", b" ").decode()
            except OSError:
                continue
            if title.startswith("ray::") and of in title and _ours(int(entry.name)):
                found.append(int(entry.name))
    return found


def _ours(process: int) -> bool:
    """Return whether a process descends from this one."""
    while process > 1 and process != os.getpid():
        try:
            fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            return False
        process = int(fields[1])
    return process == os.getpid()
