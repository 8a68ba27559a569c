"""How often the editor's schemas and the loader agree on drawn suites and rubrics.

    python -m benchmarks.schemas [COUNT] [SEED]

Draws COUNT suites and COUNT rubrics, most with one or two mistakes; then gives each key of 300 of
them each wrong value in turn, and each option of each metric. Prints the disagreements; none are
expected, and no file may raise anything but a message. Rules that JSON Schema cannot say are listed
in `tests/authoring/drawn_files.py`; for the options of metrics, which their constructors check,
only a schema that refuses what the loader takes counts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from tests.authoring.drawn_files import disagreement, drawn, options, prepare, swept

TAKEN = "; loader: takes it"
"""Part of the line about a file that the loader takes."""


def main() -> int:
    """Draw files and return 1 if schema and loader disagree on one."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    failed = 0
    with TemporaryDirectory() as name:
        folder = prepare(Path(name))
        for kind in ("suite", "rubric"):
            random = Random(seed)
            files = (drawn(kind, random) for _ in range(count))
            failed += _compared(f"drawn {kind} files", kind, files, folder)
            files = swept(kind, Random(seed), 300)
            failed += _compared(f"{kind} files with one wrong value", kind, files, folder)
        files = options(Random(seed))
        failed += _compared("options of metrics", "suite", files, folder, only=TAKEN)
    return int(failed > 0)


def _compared(
    title: str, kind: str, files: Iterable[dict[str, Any]], folder: Path, *, only: str = ""
) -> int:
    """Print the disagreements on files that contain a text, and return their number."""
    count, problems = 0, []
    for count, data in enumerate(files, start=1):  # noqa: B007
        problem = disagreement(kind, data, folder)
        if problem is not None and only in problem:
            problems.append(problem)
    print(*problems, f"{title}: {len(problems)} disagreements on {count:,}", sep="\n", flush=True)
    return len(problems)


if __name__ == "__main__":
    sys.exit(main())
