"""Where the replies of a run came from, as far as `run.json` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.report.manifest import mapping

_WORDS = {"live": "asked live", "store": "from the store", "tape": "from the tape"}


class Origins:
    """Tells the origin of a reply by its key. A run may say nothing, or anything.

    >>> origins = Origins({"origins": {"live": 2, "tape": 1}, "from_store_or_live": ["k"]})
    >>> origins.all_alike, origins.of("k"), origins.of("x")
    (None, 'asked live', 'from the tape')
    """

    def __init__(self, run: Mapping[str, Any]) -> None:
        counts = mapping(run.get("origins"))
        met = [word for name, word in _WORDS.items()
               if isinstance(counts.get(name), int) and counts[name] > 0]  # fmt: skip
        self.all_alike = met[0] if len(met) == 1 else None
        """What is true of every reply, if one thing is."""
        keys = run.get("from_store_or_live")
        self._fresh: frozenset[str] | None = None
        if isinstance(keys, list):
            self._fresh = frozenset(key for key in keys if isinstance(key, str))
        self._words = " or ".join(word for word in met if word != _WORDS["tape"])
        self._taped = _WORDS["tape"] in met

    def of(self, key: str) -> str | None:
        """Return where a reply came from; `None` where that is not known."""
        if self.all_alike is not None or self._fresh is None:
            return self.all_alike
        if key in self._fresh:
            return self._words or None
        return _WORDS["tape"] if self._taped else None
