"""How often our cost of a response is another than that of litellm's own function.

    python -m benchmarks.prices [COUNT] [SEED]

Draws COUNT responses of 20 models with long prompts, tokens read from and written to a cache,
thoughts, and service tiers. None may differ.
"""

from __future__ import annotations

import sys
import warnings
from random import Random

from tests.live.priced import MODELS, differences


def main() -> int:
    """Print the differences; return 1 if there is one."""
    warnings.simplefilter("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    found = differences(Random(seed), count)
    print(*found, sep="\n")
    print(f"{len(found)} of {count:,} costs differ, {len(MODELS)} models, seed {seed}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
