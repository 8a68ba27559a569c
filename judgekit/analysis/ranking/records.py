"""Pairwise comparisons of models, and files of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.suggest import closest
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.load import read_file
from judgekit.datasets.row_builder import RowBuilder, RowFault
from judgekit.datasets.stream import STDIN

LONGEST = 200
"""Characters of the name of a model, a judge or a prompt."""
KEYS = ("prompt", "a", "b", "winner")
TIE = "tie"


class PairwiseRecord(NamedTuple):
    """One comparison of two models on one prompt."""

    prompt: str
    a: str
    b: str
    share: float | None
    """1 if `a` wins, 0 if `b` wins, 0.5 for a tie; `None` if there is no verdict."""
    judge: str | None = None


class ComparisonRows(RowBuilder):
    """Turns rows `{prompt, a, b, winner, judge?}` into comparisons; other keys are ignored."""

    def read(self, row: Any) -> PairwiseRecord:
        """Return the comparison of a row.

        Raises:
            RowFault: the row is not a comparison.
        """
        if not isinstance(row, dict):
            raise RowFault(f"expected an object with {', '.join(KEYS)}, found {kind(row)}")
        for key in KEYS:
            if key not in row:
                near = closest(key, map(str, row))
                hint = f"; rename {near[0]!r}" if near else f"; a row has {', '.join(KEYS)}"
                raise RowFault(f"missing{hint}", key)
        prompt, a, b = (_name(row[key], key) for key in KEYS[:3])
        if a == b:
            raise RowFault(f"{quoted(b)} is compared with itself; a and b are two models", "b")
        judge = None if row.get("judge") in (None, "") else _name(row["judge"], "judge")
        return PairwiseRecord(prompt, a, b, _share(row["winner"], a, b), judge)


def _name(value: Any, field: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise RowFault(f"expected a name, found {quoted(value) if value else kind(value)}", field)
    name = " ".join(value.split())
    if len(name) > LONGEST:
        what = "an id" if field == "prompt" else "a name"
        raise RowFault(f"longer than {LONGEST} characters; give {what}, not a text", field)
    return name


def _share(winner: Any, a: str, b: str) -> float | None:
    if winner is None or winner == "":
        return None
    word = _name(winner, "winner")
    meanings = [("a", 1.0), (a, 1.0), ("b", 0.0), (b, 0.0), (TIE, 0.5)]
    shares = {share for name, share in meanings if name == word}
    if len(shares) == 1:
        return shares.pop()
    if shares:
        raise RowFault(f"{word!r} is ambiguous with models {a!r} and {b!r}; rename them", "winner")
    near = closest(word, [a, b, TIE])
    hint = f"; did you mean {near[0]!r}?" if near else f"; use a, b, {TIE}, {a!r} or {b!r}"
    raise RowFault(f"{quoted(word)} is neither of the models{hint}", "winner")


def read_comparisons(path: Path) -> Iterator[PairwiseRecord]:
    """Yield the comparisons of a file of rows, such as JSON Lines or CSV; `-` is standard input.

    Raises:
        DatasetError: the file cannot be read, or a row is not a comparison; with `file:line`.
    """
    source, name = (None, STDIN) if str(path) == "-" else (path, str(path))
    rows: Any = read_file(source, name, wrap=lambda _: ComparisonRows())
    yield from (record for _, record in rows())


def comparisons_of(rows: Iterable[Mapping[str, Any]]) -> Iterator[PairwiseRecord]:
    """Yield the comparisons of Python objects.

    Raises:
        DatasetError: a row is not a comparison.
    """
    builder = ComparisonRows()
    for number, row in enumerate(rows, start=1):
        yield builder.build_python(row, where=f"row {number}", advice="give texts")
