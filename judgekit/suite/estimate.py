"""What the requests a suite misses would take: calls, tokens, money."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from judgekit.core.protocols import with_children
from judgekit.suite.file import JudgeFile
from judgekit.suite.suite import Suite

CHARACTERS_A_TOKEN = 4
_CHUNK = 1 << 20
_MOST = 1 << 30
"""Bytes of cases that are counted; more take too long to be looked at for a line that moves."""
ANSWER_TOKENS = 60
"""Tokens of an answer to one question, reason included: a guess, and said to be one."""


class Missing(NamedTuple):
    """What one model would be asked."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    """`None` when the price is not known."""

    @property
    def text(self) -> str:
        """Tokens and price, in words."""
        if self.model.startswith("manual/"):
            return "answered by a person"
        tokens = f"about {self.tokens_in:,} tokens in and {self.tokens_out:,} out"
        return f"{tokens}, {self._price}"

    @property
    def _price(self) -> str:
        if self.model.startswith(("fake/", "transformers/")):
            return "for nothing"
        if self.dollars is None:
            return "at a price judgekit does not know"
        return "less than a cent" if self.dollars < 0.01 else f"about ${self.dollars:.2f}"


def more_to_come(suite: Suite) -> list[str]:
    """Return the metrics that ask on by what is answered, so that their calls cannot be counted.

    Parts of a combined metric are among them, by their own names.
    """
    parts = (part for metric in suite.metrics for part in with_children(metric))
    return list(dict.fromkeys(part.name for part in parts if part.asks_further))


def missing_calls(suite: Suite) -> list[Missing]:
    """Return what a suite missed when it was replayed, model by model."""
    if suite.cassette is None:
        return []
    by_model = {**suite.embedders.hosted, **{j.model: j for j in suite.roles.values()}}
    found = []
    for model, missed in suite.cassette.ledger.missed_by.items():
        tokens_in = missed.characters // CHARACTERS_A_TOKEN
        tokens_out = ANSWER_TOKENS * missed.questions
        price = _price(by_model[model]) if model in by_model else None
        dollars = None
        if price is not None:
            dollars = (tokens_in * price[0] + tokens_out * price[1]) / 1e6
        found.append(Missing(model, missed.calls, tokens_in, tokens_out, dollars))
    return found


def _price(file: JudgeFile) -> tuple[float, float] | None:
    from judgekit.judges.providers import listed_price

    if file.model.startswith(("manual/", "fake/", "transformers/")):
        return 0.0, 0.0
    if file.price is not None:
        return file.price.input, file.price.output
    return listed_price(file.model) if file.api_base is None else None


def expected_cases(suite: Suite) -> int | None:
    """Return how many cases a suite has, by counting lines; `None` where that would not tell."""
    path, limit = suite.data.source()
    if (written := suite.data.count) is not None:
        return None if suite.data.narrowed else min(written, limit or written)
    said = suite.file.cases_file
    plain = said is None or (said.container in (None, "auto", "jsonl") and said.format != "turns")
    file = Path(path)
    plain = plain and not suite.data.narrowed and file.suffix in (".jsonl", ".ndjson")
    if not plain or not file.is_file():
        return None
    count = 0
    with suppress(OSError), file.open("rb") as lines:
        for number, chunk in enumerate(iter(partial(lines.read, _CHUNK), b"")):
            if number * _CHUNK > _MOST or b'"turn_index"' in chunk:  # several lines make a case
                return None
            count += chunk.count(b"\n")
            last = chunk
        count += bool(count == 0 or not last.endswith(b"\n"))
    return count if limit is None else min(count, limit)
