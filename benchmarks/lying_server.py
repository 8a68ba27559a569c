"""Ask a server that lies in random fields, over both transports, and compare it with the store.

Prints each fault, and the numbers of trials and of faults.

    python -m benchmarks.lying_server --seed 1 --count 100
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Literal

from tests.hostile.lying import trial

_WAYS: tuple[Literal["direct", "litellm"], ...] = ("direct", "litellm")


def main() -> None:
    """Run the trials with the seed and the count of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    chosen = parser.parse_args()
    faults = 0
    for seed in range(chosen.seed, chosen.seed + chosen.count):
        for via in _WAYS:
            with tempfile.TemporaryDirectory() as folder:
                for fault in trial(Path(folder), seed=seed, via=via):
                    faults += 1
                    print(fault, flush=True)
    print(f"{2 * chosen.count} trials, {faults} faults")


if __name__ == "__main__":
    main()
