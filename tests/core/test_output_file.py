"""A file that is written whole, or a device that is written in place."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from judgekit.core.output_file import whole_file


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "out"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()

    with whole_file(pipe) as file:
        file.write(b"rows")

    reader.join()
    assert received == [b"rows"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_and_not_replaced(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except (AttributeError, OSError):
        pytest.skip("only root can make a device")

    with whole_file(device) as file:
        file.write(b"rows")

    assert stat.S_ISCHR(device.stat().st_mode)


def test_a_file_keeps_its_content_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")

    def fail() -> None:
        with whole_file(path) as file:
            file.write(b"after")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
