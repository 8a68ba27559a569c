"""Write ppi_oracle.json: figures of ppi-python 0.2.3 for the inputs of `ppi_inputs`.

    python -m tests.data.make_ppi_oracle

Needs ppi-python, which is no dependency of judgekit: run it in a temporary environment.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

COUNT = 200


def ppi_inputs(seed: int) -> tuple[list[float], list[float], list[float]]:
    """Return labels, the judge's values for them, and the judge's values of the other rows."""
    rng = random.Random(seed)
    n, others = rng.randint(5, 120), rng.randint(5, 400)
    kind = rng.choice(("yes/no", "ordinal", "continuous", "worse than chance"))
    noise = rng.choice((0.02, 0.2, 0.8))
    pairs = []
    for _ in range(n + others):
        person = rng.random()
        judge = person + rng.gauss(0.1, noise)
        if kind == "yes/no":
            person, judge = float(person < 0.6), float(judge < 0.6)
        elif kind == "ordinal":
            person, judge = round(person * 4) / 4, min(1.0, max(0.0, round(judge * 4) / 4))
        elif kind == "worse than chance":
            judge = 1 - judge
        pairs.append((person, judge))
    labelled, rest = pairs[:n], pairs[n:]
    return [y for y, _ in labelled], [f for _, f in labelled], [f for _, f in rest]


def main() -> None:
    """Write the file."""
    import numpy as np
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    figures = []
    for seed in range(COUNT):
        inputs = [np.array(side) for side in ppi_inputs(seed)]
        (point,) = np.ravel(ppi_mean_pointestimate(*inputs))
        low, high = (float(np.ravel(end)[0]) for end in ppi_mean_ci(*inputs, alpha=0.05))
        figures.append([round(float(end), 13) for end in (point, low, high)])
    path = Path(__file__).with_name("ppi_oracle.json")
    path.write_text("[\n" + ",\n".join(map(json.dumps, figures)) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()
