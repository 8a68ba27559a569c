"""How often the editor's schemas and the loader agree on drawn suites and rubrics.

    python -m benchmarks.schemas [COUNT]

Prints the disagreements; none are expected. Rules that JSON Schema cannot say are listed in
`tests/authoring/drawn_files.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.authoring.drawn_files import disagreements


def main() -> int:
    """Draw files and return 1 if schema and loader disagree on one."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    with TemporaryDirectory() as folder:
        problems = disagreements(count, seed=20, folder=Path(folder))
    print(*problems, f"{len(problems)} disagreements on {count} files", sep="\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
