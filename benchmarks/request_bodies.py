"""Which bodies of requests a version of litellm or instructor changes.

    python -m benchmarks.request_bodies [--write]

Sends the requests of `tests/live/bodies.py` to a server on this machine and prints each body that
differs from the recorded one. Run it before and after the bound of litellm moves; `--write`
records the bodies. A change of a body moves no key, but it may change what a model replies.
"""

from __future__ import annotations

import sys
from difflib import unified_diff
from importlib.metadata import version

from tests.live.bodies import FILE, lines
from tests.live.server import Server


def main() -> int:
    """Compare or write the bodies; return 1 if one differs."""
    with Server() as server:
        sent = lines(server)
    if "--write" in sys.argv[1:]:
        FILE.write_text("".join(f"{line}\n" for line in sent), encoding="utf-8")
        return 0
    recorded = FILE.read_text(encoding="utf-8").splitlines()
    changed = list(unified_diff(recorded, sent, "recorded", "sent", n=0, lineterm=""))
    print(*changed, sep="\n")
    print(f"litellm {version('litellm')}: {len(sent)} bodies, {len(changed)} lines differ")
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
