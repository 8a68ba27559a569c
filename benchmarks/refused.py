"""Simulate runs in which one request is always refused, on a simulated clock.

Prints how much later the last of the other cases is answered than without the refusals, for limits,
places of the refused case, and answers of the server.

    python -m benchmarks.refused --cases 400
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

from tests.judges.virtual import Refusing, always, run

_LIMITS: dict[str, dict[str, Any]] = {
    "concurrency 1": {"concurrency": 1},
    "concurrency 8": {"concurrency": 8},
    "concurrency 64": {"concurrency": 64},
    "auto": {"concurrency": "auto"},
    "8, rpm 600": {"concurrency": 8, "rpm": 600.0},
    "8, rpm auto": {"concurrency": 8, "rpm": "auto"},
    "auto, rpm and tpm auto": {"concurrency": "auto", "rpm": "auto", "tpm": "auto"},
}
_WAITS = (None, "2", "20")
_SHAPES: dict[str, dict[str, Any]] = {
    "fast refusals": {"latency": 1.0, "refusal": 0.02, "spread": 0.5},
    "slow refusals": {"latency": 0.2, "refusal": 0.2, "spread": 0.5},
}


def main() -> None:
    """Simulate the runs of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--places", type=int, nargs="+", default=[0, 7, 200])
    chosen = parser.parse_args()
    worst = 0.0
    for (name, limits), (shape, server) in product(_LIMITS.items(), _SHAPES.items()):
        plain = run(Refusing(always(()), **server), chosen.cases, **limits)
        for place, wait in product(chosen.places, _WAITS):
            refusing = Refusing(always([place], retry_after=wait), **server)
            ended = run(refusing, chosen.cases, **limits)
            ratio = ended.others / plain.others
            worst = max(worst, ratio)
            scored = list(ended.kinds.values()).count("scored")
            print(
                f"{name}, {shape}, case {place}, Retry-After {wait}: {ratio:.3f} "
                f"({plain.others:.1f} s; {ended.whole:.0f} s in all; {scored} scored; "
                f"{len(refusing.calls) - chosen.cases + 1} attempts)",
                flush=True,
            )
    print(f"the worst: {worst:.3f}")


if __name__ == "__main__":
    main()
