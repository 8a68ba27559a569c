"""Asking for pairs, in batches, until there are enough; what came is kept whatever fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.pairs.pair import AnswerPair, PairCollection
from judgekit.authoring.pairs.prompt import BATCH, batch_request
from judgekit.core.errors import (
    CassetteCorrupt,
    CassetteMiss,
    ConfigError,
    InvalidReply,
    JudgekitError,
    JudgeRefused,
    JudgeRejected,
)
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.judgment import read_reply
from judgekit.core.output_file import refuse_foreign, whole_file
from judgekit.core.protocols import Judge

MAX_PAIRS = 10_000
MAX_DESCRIPTION = 20_000
FORMAT = "judgekit-pairs/1"


class Generated(NamedTuple):
    """What came of asking for pairs."""

    pairs: tuple[AnswerPair, ...]
    wanted: int
    dropped: dict[str, int]
    """Entries left out, by reason."""
    batches: int
    """Requests that were made."""
    failures: tuple[JudgekitError, ...]
    """What became of requests that gave nothing."""

    @property
    def complete(self) -> bool:
        """Whether there are as many as were wanted."""
        return len(self.pairs) >= self.wanted


async def generate_pairs(
    judge: Judge, *, positive: str, negative: str, count: int = 200
) -> Generated:
    """Return pairs that contrast two descriptions; the same replies give the same pairs.

    Batches are asked for at the same time and taken in order. Where duplicates, unusable entries
    and unusable replies leave too few, further ones are asked, at most as many again and two
    more. An outage, or a reply that is not recorded, ends the asking after the batches under
    way, and what came is kept.

    Raises:
        ConfigError: a description is blank or too long, or the number is out of range.
        JudgeRejected: the model takes no request like these.
        CassetteCorrupt: what is recorded was changed.
    """
    _check(positive=positive, negative=negative, count=count)
    requests = RequestBuilder(judge)
    found = PairCollection()
    failures: list[JudgekitError] = []
    asked = 0
    first = -(-count // BATCH)
    while len(found.pairs) < count and not failures and asked < 2 * first + 2:
        short = -(-(count - len(found.pairs)) // BATCH)
        numbers = range(asked, min(asked + short, 2 * first + 2))
        asked = numbers.stop
        size = min(BATCH, count)
        outcomes = await asyncio.gather(
            *(
                _batch(judge, requests, number, size, positive=positive, negative=negative)
                for number in numbers
            ),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, (InvalidReply, JudgeRefused)):
                # It is recorded like any other, so that asking the same again gains nothing.
                found.dropped["unusable reply"] += 1
            elif isinstance(outcome, JudgekitError) and not isinstance(
                outcome, (JudgeRejected, CassetteCorrupt, ConfigError)
            ):
                failures.append(outcome)
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                found.add(outcome, most=count)
    return Generated(
        tuple(found.pairs), count, dict(sorted(found.dropped.items())), asked, tuple(failures)
    )


async def _batch(
    judge: Judge, requests: RequestBuilder, number: int, count: int, *, positive: str, negative: str
) -> list[Any]:
    request = batch_request(
        requests, number=number, count=count, positive=positive, negative=negative
    )
    reply = await judge.ask(request)
    judgment = read_reply(reply, form=request.form, request_key=request.key)
    pairs = judgment.data.get("pairs") if isinstance(judgment.data, dict) else None
    if not isinstance(pairs, list):
        raise InvalidReply("the reply has no list `pairs`")
    return pairs[: 10 * count]


def _check(*, positive: str, negative: str, count: int) -> None:
    for flag, text in (("positive", positive), ("negative", negative)):
        if not text.strip():
            raise ConfigError(f"--{flag}-description is blank; say what such an answer is like")
        if len(text) > MAX_DESCRIPTION:
            raise ConfigError(f"--{flag}-description is longer than {MAX_DESCRIPTION:,} characters")
    if not 1 <= count <= MAX_PAIRS:
        raise ConfigError(f"--num-pairs must be from 1 to {MAX_PAIRS:,}, not {count}")


def check_output(path: Path) -> None:
    """Refuse to replace a file that is not one of pairs.

    Raises:
        ConfigError: it is there and was not written by `judgekit pairs`, or it is a link.
    """
    begin = f'{{\n "format": "{FORMAT}"'.encode()
    refuse_foreign(path, lambda head: head.startswith(begin), what="a file of pairs")


def write_pairs(
    path: Path,
    pairs: Sequence[AnswerPair],
    *,
    positive: str,
    negative: str,
    model: str,
    wanted: int,
) -> None:
    """Write a file of pairs, whole or not at all; the same pairs give the same bytes.

    Raises:
        ConfigError: it cannot be written; what stood there before stays.
    """
    data = {
        "format": FORMAT,
        "positive_description": positive,
        "negative_description": negative,
        "model": model,
        "wanted": wanted,
        "pairs": [pair.model_dump() for pair in pairs],
    }
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    try:
        with whole_file(path) as file:
            file.write(text.encode("utf-8", "replace"))
    except OSError as exc:
        raise ConfigError(f"cannot be written: {exc.strerror}", where=str(path)) from exc


def told(generated: Generated, path: Path, *, model: str) -> str:
    """Return what came of it, in a few lines for a person."""
    made = len(generated.pairs)
    of = "" if generated.complete else f" of {generated.wanted}"
    lines = (
        [f"{made}{of} pairs by {model} written to {path}"]
        if made
        else ["no pairs; nothing written"]
    )
    if generated.dropped:
        why = ", ".join(f"{count} {reason}" for reason, count in generated.dropped.items())
        lines.append(f"left out: {why}")
    missed = [each for each in generated.failures if isinstance(each, CassetteMiss)]
    if missed:
        lines.append(
            f"{len(missed)} of {generated.batches} requests are not recorded; "
            "to ask for them: --record new_episodes"
        )
    others = [each for each in generated.failures if not isinstance(each, CassetteMiss)]
    if others:
        lines.append(
            f"{len(others)} of {generated.batches} requests failed, the first: {others[0]}"
        )
        lines.append("run it again to go on: replies that came are kept")
    elif not generated.complete and not missed:
        lines.append(
            f"{generated.batches} requests gave no more; a fuller description, a higher "
            "temperature (--param temperature=1) or another model may help"
        )
    return "\n".join(lines)
