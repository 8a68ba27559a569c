"""Request pairs in batches until there are enough; pairs are kept whatever fails."""

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
    """The outcome of a request for pairs."""

    pairs: tuple[AnswerPair, ...]
    wanted: int
    dropped: dict[str, int]
    """Number of dropped entries by reason."""
    batches: int
    """Number of requests."""
    failures: tuple[JudgekitError, ...]
    """Errors of requests without pairs."""

    @property
    def complete(self) -> bool:
        """Whether there are as many pairs as requested."""
        return len(self.pairs) >= self.wanted


async def generate_pairs(
    judge: Judge, *, positive: str, negative: str, count: int = 200
) -> Generated:
    """Return pairs that contrast two descriptions; the same replies give the same pairs.

    Batches are requested at the same time and read in order. Where duplicates, unusable entries
    and unusable replies leave too few pairs, further batches follow, at most as many again plus
    two. An outage, or a reply that is not recorded, stops after the current batches, and the pairs
    so far are kept.

    Raises:
        ConfigError: a description is blank or too long, or the number is out of range.
        JudgeRejected: the model refuses requests like these.
        CassetteCorrupt: the cassette was changed.
    """
    _check(positive=positive, negative=negative, count=count)
    requests = RequestBuilder(judge)
    collection = PairCollection()
    failures: list[JudgekitError] = []
    requested = 0
    first = -(-count // BATCH)
    while len(collection.pairs) < count and not failures and requested < 2 * first + 2:
        short = -(-(count - len(collection.pairs)) // BATCH)
        numbers = range(requested, min(requested + short, 2 * first + 2))
        requested = numbers.stop
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
                # It is recorded, so the same request would get the same reply.
                collection.dropped["unusable reply"] += 1
            elif isinstance(outcome, JudgekitError) and not isinstance(
                outcome, (JudgeRejected, CassetteCorrupt, ConfigError)
            ):
                failures.append(outcome)
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                collection.add(outcome, most=count)
    return Generated(
        tuple(collection.pairs),
        count,
        dict(sorted(collection.dropped.items())),
        requested,
        tuple(failures),
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
            raise ConfigError(f"--{flag}-description is blank; describe such an answer")
        if len(text) > MAX_DESCRIPTION:
            raise ConfigError(f"--{flag}-description has more than {MAX_DESCRIPTION:,} characters")
    if not 1 <= count <= MAX_PAIRS:
        raise ConfigError(f"--num-pairs must be from 1 to {MAX_PAIRS:,}, not {count}")


def check_output(path: Path) -> None:
    """Refuse to replace a file that has no pairs.

    Raises:
        ConfigError: the file exists and is not from `judgekit pairs`, or it is a link.
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
        ConfigError: the file cannot be written; the earlier file stays.
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


def outcome_text(generated: Generated, path: Path, *, model: str) -> str:
    """Return the outcome in a few lines."""
    count = len(generated.pairs)
    of = "" if generated.complete else f" of {generated.wanted}"
    lines = (
        [f"{count}{of} pairs by {model} written to {path}"]
        if count
        else ["no pairs; nothing written"]
    )
    if generated.dropped:
        why = ", ".join(f"{number} {reason}" for reason, number in generated.dropped.items())
        lines.append(f"dropped: {why}")
    missed = [each for each in generated.failures if isinstance(each, CassetteMiss)]
    if missed:
        lines.append(
            f"{len(missed)} of {generated.batches} requests are not recorded; "
            "to record them: --record new_episodes"
        )
    others = [each for each in generated.failures if not isinstance(each, CassetteMiss)]
    if others:
        lines.append(
            f"{len(others)} of {generated.batches} requests failed, the first: {others[0]}"
        )
        lines.append("run the command again to continue: all replies are stored")
    elif not generated.complete and not missed:
        lines.append(
            f"{generated.batches} requests gave no more pairs; try a longer description or another "
            "model"
        )
    return "\n".join(lines)
