"""Render one-line bodies that use all a template can reach; print what each takes.

The bodies are made of the environment's own tables, so that a filter, test or method that is
added is tried without being listed here.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import time
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from judgekit.rubric.budget import MAX_CHARACTERS, MAX_STEPS, Rendering, current
from judgekit.rubric.filters import METHODS
from judgekit.rubric.sandbox import RubricEnvironment

LIMIT = 5
"""CPU seconds after which a body is interrupted."""
WHOLE = "whole" in sys.argv
"""Try every pair of value and arguments, with a megabyte: minutes instead of seconds."""
SIZE = 1_000_000 if WHOLE else 25_000
SPENT = 0 if WHOLE else MAX_STEPS * 3 // 4
"""Steps taken before a body: a quarter of the budget is spent with a quarter of the text."""
LEAST = SIZE / 5_000_000
"""CPU seconds of a body that are printed."""
TEXTS = {
    "t": "a" * SIZE,
    "needle": "a" * (SIZE // 2 - 1) + "b",
    "late": "b" + "a" * (SIZE // 2 - 1),
    "short": "a" * 60 + "b",
    "wide": "一" * SIZE,
    "words": "ab " * (SIZE // 3),
    "digits": "0x" + "f" * SIZE,
    "decimal": "7" * SIZE,
    "dots": "0." * (SIZE // 2) + "0",
    "huge": int("7" * 4_000),
}
VALUES = ("t", "[t, wide, words]", "digits | int(0, 16)", "wide", "words", "decimal", "[{'a': t}]")
GIVEN = ("", "needle", "short, t", "attribute=dots", "0, 16", "late", "huge", "'eq', t")
TESTED = ("t", "huge", "[t, wide, words]")
AGAINST = ("", "needle", "huge", "[t, wide, words]")
OPERATORS = (
    "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in",
    "and", "or",
)  # fmt: skip
RECEIVERS = ("t", "words", "wide")
OPERANDS = ("t", "needle", "huge", "[t, wide]", "short", "wide", "9 ** 64")
if not WHOLE:
    VALUES, GIVEN, AGAINST = VALUES[:3], GIVEN[:4], AGAINST[:2]
    RECEIVERS, OPERANDS = RECEIVERS[:2], OPERANDS[:4]


def bodies(environment):
    """Yield every body."""
    for name, value, given in product(environment.filters, VALUES, GIVEN):
        comma = f", {given}" if given else ""
        yield f"{{{{ {value} | {name}({given}) is defined }}}}"
        if (value == "t" and given in ("", "needle")) or WHOLE:
            yield f"{{{{ [{value}] | map({name!r}{comma}) | list is defined }}}}"
            yield f"{{% filter {name}({given}) %}}{{{{ {value} }}}}{{% endfilter %}}"
    for name, value, given in product(environment.tests, TESTED, AGAINST):
        comma = f", {given}" if given else ""
        if name.isalpha():
            yield f"{{{{ {value} is {name}({given}) }}}}"
        yield f"{{{{ [{value}] | select({name!r}{comma}) | list is defined }}}}"
        pair = f"[{{'a': {value}}}]"
        yield f"{{{{ {pair} | rejectattr('a', {name!r}{comma}) | list is defined }}}}"
    for name, value, given in product(METHODS, RECEIVERS, GIVEN):
        yield f"{{{{ {value}.{name}({given}) is defined }}}}"
        lookup = f"[{value}] | map(attribute={name!r}) | first"
        yield f"{{% set m = {lookup} %}}{{{{ m({given}) is defined }}}}"
    for operator, left, right in product(OPERATORS, OPERANDS, OPERANDS):
        yield f"{{{{ ({left}) {operator} ({right}) is defined }}}}"


def spent(environment, body):
    """Return the CPU seconds of a body and the share of the budget it took; 1 when refused."""
    rendering = Rendering(cached={}, read=lambda: False)
    rendering.steps = SPENT
    template = environment.from_string(body)
    token = current.set(rendering)
    started = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        template.render(**TEXTS)
        refused = None
    except Exception as exc:
        refused = f"{type(exc).__name__}: {str(exc)[:100]}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        seconds = time.process_time() - started
        current.reset(token)
    share = max((rendering.steps - SPENT) / MAX_STEPS, rendering.characters / MAX_CHARACTERS)
    return seconds, min(1.0, share), refused


def interrupt(*_):
    """End a body that takes too long."""
    raise TimeoutError


def main() -> None:
    """Print how many bodies there are, those that take long, and the memory they needed."""
    signal.signal(signal.SIGVTALRM, interrupt)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slow, count, refusals = [], 0, 0
    environment = RubricEnvironment(None)
    for body in bodies(environment):
        count += 1
        seconds, share, refused = spent(environment, body)
        if seconds > LEAST and seconds > 2 * share:
            # Few milliseconds may be those of something else.
            seconds = min(seconds, spent(environment, body)[0])
        refusals += refused is not None
        slow.append((seconds, share, body, refused))
    slow.sort(key=lambda one: -one[0] / max(one[1], 0.001))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "count": count,
                "refused": refusals,
                "kilobytes": [before, after],
                "longest": max(slow)[0],
                "slow": [one for one in slow if one[0] > LEAST][:40],
            }
        )
    )


if __name__ == "__main__":
    main()
