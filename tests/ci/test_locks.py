from __future__ import annotations

import itertools
import re
from pathlib import Path

LOCKS = Path(__file__).parents[2] / "requirements"


def test_all_locks_name_the_same_versions():
    """They are installed into one environment, the last one while other steps use it."""
    of_lock = [
        {name: set(re.findall(rf"^{name}==([^\s;]+)", text, re.M)) for name in names}
        for text in (lock.read_text("utf-8") for lock in sorted(LOCKS.glob("*.txt")))
        if (names := set(re.findall(r"^([\w.-]+)==", text, re.M)))
    ]

    assert len(of_lock) == 4
    for one, other in itertools.combinations(of_lock, 2):
        assert {name for name in one.keys() & other.keys() if one[name] != other[name]} == set()
