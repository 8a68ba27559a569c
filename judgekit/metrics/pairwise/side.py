"""The side that a value takes between two answers."""

EVEN = 0.5
"""The value of a tie."""
EQUAL = 1e-9
"""Values that differ by less are the same."""


def side_of(value: float) -> int:
    """Return which answer a value prefers: 1 the output, -1 the other, 0 neither."""
    return 0 if abs(value - EVEN) < EQUAL else 1 if value > EVEN else -1
