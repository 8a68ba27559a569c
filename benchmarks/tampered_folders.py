"""Change files of run folders at random, and run every command that reads one.

Prints each fault as a line of JSON, and the number of commands.

    python -m benchmarks.tampered_folders --seed 1 --count 5000
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from tests.hostile.tamper import attack, prepare


def main() -> None:
    """Run the attack with the seed and the count of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ["JUDGEKIT_HOME"] = f"{place}/store"
        folder = Path(place, "work")
        folder.mkdir()
        prepare(folder)
        for result in attack(folder, seed=chosen.seed, count=chosen.count):
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
