"""Every regular expression of the package against all attacks derived from it, up to a megabyte.

    python benchmarks/patterns.py [PART OF A NAME ...]

Prints each pattern for which twice the text takes more than 2.5 times as long, and how many were
tried. What looks slow is measured again: a busy machine makes measurements longer, never shorter.
`tests/hostile/test_patterns.py` tries some of the attacks, on shorter texts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.hostile.every_pattern import built_patterns, caller, uses
from tests.hostile.pump import Attack, attacks, cpu, growth

SHORT = 16_384
MEGABYTE = 1 << 20
KEPT = 3
"""Attacks on a pattern that are tried with a megabyte: those that took longest with less."""
ROUNDS = 8
"""Most measurements of an attack; the least of them counts."""


def main(names: list[str]) -> None:
    """Try every pattern whose place holds one of the names."""
    started = time.process_time()
    patterns = tried = 0
    faults = []
    for use in (*uses()[0], *built_patterns()):
        if names and not any(name in use.where for name in names):
            continue
        patterns += 1
        call = caller(use)
        derived = attacks(use.source, use.flags)
        tried += len(derived)
        fault = next(filter(None, (_short(call, one) for one in derived)), None)
        slowest = sorted(derived, key=lambda one: -cpu(call, one.text(SHORT)))[:KEPT]
        if fault is None:
            fault = next(filter(None, (_long(call, one) for one in slowest)), None)
        if fault:
            faults.append(fault)
            print(f"{use.where}: {use.source[:60]!r}: {fault!a}", flush=True)
    seconds = time.process_time() - started
    print(f"{patterns} patterns, {tried} attacks, {len(faults)} not linear, {seconds:.0f} s of CPU")


def _short(call: Callable[[str], Any], attack: Attack) -> str | None:
    """Return what is wrong with short texts, if it is wrong each time."""
    fault = growth(call, attack, SHORT)
    return growth(call, attack, SHORT) if fault else None


def _long(call: Callable[[str], Any], attack: Attack) -> str | None:
    """Return what is wrong with texts of half a megabyte and a megabyte.

    A text that no longer fits in a cache of the processor takes longer once; a fault shows with
    every doubling.
    """
    half = whole = float("inf")
    for _ in range(ROUNDS):
        half = min(half, cpu(call, attack.text(MEGABYTE // 2), limit=60))
        whole = min(whole, cpu(call, attack.text(MEGABYTE), limit=60))
        if whole <= 2.5 * max(half, 0.02):
            return None
    quarter = min(cpu(call, attack.text(MEGABYTE // 4), limit=60) for _ in range(ROUNDS))
    if half <= 2.5 * max(quarter, 0.005):
        return None
    return f"{quarter:.3f} s, {half:.3f} s, {whole:.3f} s with a megabyte: {attack}"


if __name__ == "__main__":
    main(sys.argv[1:])
