"""What measures growth tells a line from a square."""

from __future__ import annotations

from tests.growth import LINEAR, growth, repeated


def test_a_line_is_told_from_a_square():
    def line(text):
        sum(map(ord, text))

    def square(text):
        for _ in range(len(text) // 1_000):
            sum(map(ord, text))

    assert growth(line, repeated("ab"), 300_000) < LINEAR
    # A machine that becomes slower in the middle hides a square once.
    assert any(growth(square, repeated("ab"), 30_000) > LINEAR for _ in range(3))
