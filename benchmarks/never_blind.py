"""Count the texts of conversations of which a reader of results learns nothing.

    python -m benchmarks.never_blind 10000

Draws rows in ten formats, writes them as JSON Lines, JSON, YAML and CSV, reads them, and judges
each with `quality`. A text is lost if it is neither in the request nor in a field that
`details.shown` lists, and the row did not fail. Offline; nothing is timed.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.datasets.messages.drawn_rows import CONTAINERS, FORMATS, drawn_row
from tests.datasets.messages.test_never_blind import lost

FILE = 50


def main(rows: int) -> int:
    """Print the figure, and the first losses; 1 if there are any."""
    each = len(FORMATS)
    problems, kinds = [], Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, rows, FILE * each):
            for format in range(each):
                numbers = range(start + format, min(rows, start + FILE * each), each)
                container = CONTAINERS[(start // (FILE * each) + format) % len(CONTAINERS)]
                problems += lost(list(numbers), Path(folder), container)
                kinds.update(piece.kind for n in numbers for piece in drawn_row(n).pieces)
    print(f"{rows} rows, {kinds.total()} texts: {', '.join(f'{n} {k}' for k, n in kinds.items())}")
    print(f"lost: {len(problems)}")
    for number, name, piece in problems[:20]:
        print(f"  row {number} ({name}): {piece.kind} {piece.word}")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
