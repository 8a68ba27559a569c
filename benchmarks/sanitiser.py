"""What cleaning every response costs: CPU time of live requests with and without it, in pairs.

The server is in this process and its latency is simulated, so that the time is that of judgekit.
The reading of one response is timed apart, for several sizes.

    python -m benchmarks.sanitiser --cases 400 --pairs 9
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from judgekit.core.sanitiser import Sanitiser
from judgekit.judges.wire import MAX_BODY, Exchange
from tests.judges.virtual import Refusing, always, run
from tests.live.server import completion

_WORDS = "the answer says what was asked and no more of it"
_KEY = "sk-0123456789abcdef0123456789abcdef"


class _Off(Sanitiser):
    """Leaves everything as it is."""

    def text(self, text: str) -> str:
        return text

    def value(self, value: Any) -> Any:
        return value

    def json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return None


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _ratio(work: Callable[[], object], plain: Callable[[], object], pairs: int) -> list[float]:
    """Return the ratios of the times of pairs, whose first one alternates."""
    ratios = []
    work(), plain()
    for number in range(pairs):
        times = {}
        for own in (True, False) if number % 2 else (False, True):
            times[own] = _seconds(work if own else plain)
        ratios.append(times[True] / times[False])
    return sorted(ratios)


def _shown(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"


def main() -> None:
    """Print the ratios of the command line's cases and pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=9)
    chosen = parser.parse_args()

    def live(sanitiser: type[Sanitiser]) -> Callable[[], object]:
        return lambda: run(
            Refusing(always(())), chosen.cases, sanitiser=sanitiser((_KEY,)), concurrency=8
        )

    ratios = _ratio(live(Sanitiser), live(_Off), chosen.pairs)
    print(f"a run of {chosen.cases} live requests: {_shown(ratios)}", flush=True)
    words = random.Random(1).choices(_WORDS.split(), k=90_000)
    for size in (100, 1_000, 10_000, 90_000):
        texts = {"words": " ".join(words[:size]), "escapes": "\\u00e9\\/%41" * (size // 2)}
        for name, text in texts.items():
            data = json.dumps(completion({"messages": []}, text)).encode()
            ratios = _ratio(_reading(Sanitiser, data), _reading(_Off, data), chosen.pairs)
            print(f"reading {len(data):,} bytes of {name}: {_shown(ratios)}", flush=True)


def _reading(sanitiser: type[Sanitiser], data: bytes) -> Callable[[], object]:
    """Return what reads a response as often as about 0.4 MB need."""
    cleans = sanitiser((_KEY,))

    def read() -> None:
        for _ in range(max(1, 400_000 // len(data))):
            exchange = Exchange(limit=MAX_BODY, sanitiser=cleans)
            body = exchange.begin(200, {"content-type": "application/json"})
            list(body.feed(data))
            body.finish()
            exchange.json()

    return read


if __name__ == "__main__":
    main()
