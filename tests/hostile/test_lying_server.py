"""A server that lies in every field: what it answered is stored, once, and asked no more.

`benchmarks/lying_server.py` runs the same with many more draws.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hostile.lying import trial

pytestmark = pytest.mark.loopback


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_answered_is_stored(tmp_path: Path, via: Any, seed: int) -> None:
    assert trial(tmp_path, seed=seed, via=via) == []
