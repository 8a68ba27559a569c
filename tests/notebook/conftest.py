"""A real kernel that runs cells, as Jupyter would."""

from __future__ import annotations

import os
import time
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = __file__.partition("/tests/")[0]


class Cells:
    """A notebook under way: each call runs a cell and returns what it put out."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.manager, self._client = manager, client

    def run(self, code: str, *, interrupt_when: str | None = None, timeout: float = 300) -> Any:
        """Run a cell to its end.

        Args:
            code: the cell.
            interrupt_when: text of the cell's output after which the kernel is interrupted.
            timeout: seconds.
        """
        asked = self._client.execute(code)
        said = SimpleNamespace(stdout="", stderr="", shown=[], updates=[], error=None, result=None)
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            message = self._client.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return said
            self._take(said, kind, content)
            if interrupt_when is not None and interrupt_when in said.stdout + said.stderr:
                interrupt_when = None
                self.manager.interrupt_kernel()
        raise AssertionError(f"the cell did not end: {said}")

    @staticmethod
    def _take(said: Any, kind: str, content: Any) -> None:
        if kind == "stream":
            setattr(said, content["name"], getattr(said, content["name"]) + content["text"])
        elif kind == "execute_result":
            said.result = content["data"]
        elif kind == "display_data":
            said.shown.append(content["data"])
        elif kind == "update_display_data":
            said.updates.append(content["data"])
        elif kind == "error":
            said.error = f"{content['ename']}: {content['evalue']}"


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A kernel for the tests of a module; over sockets of files, so that no port is opened."""
    folder = tmp_path_factory.mktemp("kernel")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from jupyter_client.manager import KernelManager

        manager = KernelManager(
            transport="ipc", ip=str(folder / "ipc"), connection_file=str(folder / "kernel.json")
        )
        places = {"IPYTHONDIR": folder, "JUDGEKIT_HOME": folder / "home", "HOME": folder}
        environment = {**os.environ, **{name: str(place) for name, place in places.items()}}
        manager.start_kernel(env=environment, cwd=ROOT)
        client = manager.blocking_client()
        client.start_channels()
        client.wait_for_ready(timeout=300)
        yield Cells(manager, client)
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
