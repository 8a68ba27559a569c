"""The largest numbers that a run takes."""

from judgekit.core.errors import ConfigError

MOST_CASES = 10**12
MOST_SAMPLES = 1000
"""Maximum number of samples of a judge for one case; more is a slip, and would cost as much."""
MOST_CALLS = 256
"""Maximum number of concurrent calls with `concurrency: auto`."""
MOST_CONCURRENT = 4096
"""Maximum number of concurrent calls, or of rows that are scored concurrently."""


def check_concurrent(name: str, number: int) -> None:
    """Check that a number of concurrent calls or rows is from 1 to `MOST_CONCURRENT`.

    Raises:
        ConfigError: it is not.
    """
    if not 1 <= number <= MOST_CONCURRENT:
        expected = f"a whole number from 1 to {MOST_CONCURRENT:,} is expected"
        raise ConfigError(f"{name}: {expected}, not {number!r:.60}")


def check_cost(dollars: float | None) -> None:
    """Check that a maximum cost, if there is one, is above 0.

    Raises:
        ConfigError: it is not.
    """
    if dollars is not None and dollars <= 0:
        raise ConfigError(f"max_cost: US dollars above 0 are expected, not {dollars!r}")


def check_limit(limit: object) -> None:
    """Check that a number of cases is a whole number from 1 to `MOST_CASES`.

    Raises:
        ConfigError: it is not.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_CASES:
        shown = repr(limit)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise ConfigError(f"limit is {shown}; give a whole number from 1 to {MOST_CASES:,}")
