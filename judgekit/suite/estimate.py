"""The size of the requests that a suite has not recorded: calls, tokens, cost."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from pydantic import computed_field

from judgekit.core.protocols import with_children
from judgekit.core.value import Value
from judgekit.suite.file import JudgeFile
from judgekit.suite.judges import asks_model
from judgekit.suite.suite import Suite

CHARACTERS_A_TOKEN = 4
_CHUNK = 1 << 20
_MOST = 1 << 30
"""Bytes of cases that are counted; a larger file would delay the progress line."""
ANSWER_TOKENS = 60
"""Tokens of an answer to one question with its reason; a guess, shown as "about"."""


class MissingCalls(Value):
    """The requests to one model that are not recorded."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    """`None` if the price is unknown."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def text(self) -> str:
        """Tokens and price, as text."""
        if self.model.startswith("manual/"):
            return "answered by a person"
        tokens = f"about {self.tokens_in:,} tokens in and {self.tokens_out:,} out"
        return f"{tokens}, {self._price}"

    @property
    def _price(self) -> str:
        if not asks_model(self.model):
            return "free"
        if self.dollars is None:
            return "price unknown"
        return "less than a cent" if self.dollars < 0.01 else f"about ${self.dollars:.2f}"


def more_to_come(suite: Suite) -> list[str]:
    """Return the metrics with later requests that depend on replies, which cannot be counted.

    Includes the parts of combinations.
    """
    parts = (part for metric in suite.metrics for part in with_children(metric))
    return list(dict.fromkeys(part.name for part in parts if part.asks_further))


def missing_calls(suite: Suite) -> list[MissingCalls]:
    """Return the requests that a replay of a suite missed, by model."""
    if suite.cassette is None:
        return []
    by_model = {**suite.embedders.hosted, **{j.model: j for j in suite.roles.values()}}
    calls = []
    for model, missed in suite.cassette.ledger.missed_by.items():
        tokens_in = missed.characters // CHARACTERS_A_TOKEN
        tokens_out = ANSWER_TOKENS * missed.questions
        price = _price(by_model[model]) if model in by_model else None
        dollars = None
        if price is not None:
            dollars = (tokens_in * price[0] + tokens_out * price[1]) / 1e6
        calls.append(
            MissingCalls(
                model=model,
                calls=missed.calls,
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                dollars=dollars,
            )
        )
    return calls


def _price(file: JudgeFile) -> tuple[float, float] | None:
    from judgekit.judges.prices import listed_price

    if not asks_model(file.model):
        return 0.0, 0.0
    if file.price is not None:
        return file.price.input, file.price.output
    return listed_price(file.model) if file.api_base is None else None


def expected_cases(suite: Suite) -> int | None:
    """Return the number of cases of a suite by counting lines; `None` if lines are not cases."""
    path, limit = suite.data.source()
    if (inline := suite.data.count) is not None:
        return None if suite.data.narrowed else min(inline, limit or inline)
    entry = suite.file.cases_file
    plain = entry is None or (
        entry.container in (None, "auto", "jsonl") and entry.format != "turns"
    )
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
