"""The largest numbers that a run takes."""

from judgekit.core.errors import ConfigError

MOST_CASES = 10**12
MOST_SAMPLES = 1000
"""Maximum number of samples of a judge for one case; more is a slip, and would cost as much."""
MOST_CALLS = 256
"""Maximum number of concurrent calls with `concurrency: auto`."""


def check_limit(limit: object) -> None:
    """Check that a number of cases is a whole number from 1 to `MOST_CASES`.

    Raises:
        ConfigError: it is not.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_CASES:
        shown = repr(limit)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise ConfigError(f"limit is {shown}; give a whole number from 1 to {MOST_CASES:,}")
