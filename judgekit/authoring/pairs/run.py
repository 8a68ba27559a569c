"""From what is wanted to a file of pairs: the model, its tape, the asking, the writing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.pairs.generate import Generated, check_output, generate_pairs, write_pairs
from judgekit.authoring.rubric_test.run import judges_on
from judgekit.cassette.cassette import Cassette
from judgekit.cassette.lazystore import lazy_store
from judgekit.cassette.mode import RecordMode
from judgekit.core.errors import ConfigError
from judgekit.core.input_file import MAX_PLAIN, read_text
from judgekit.core.protocols import Judge
from judgekit.core.yaml_file import Lines
from judgekit.judges.limits import LimitedJudge
from judgekit.runner.background import run_sync
from judgekit.suite.file import JudgeFile
from judgekit.suite.judges import make_judge


class PairsPlan(NamedTuple):
    """What is asked for on the command line."""

    positive: str
    negative: str
    num: int
    output: Path
    model: str | None = None
    api_base: str | None = None
    params: Mapping[str, Any] = {}
    cassette: Path | None = None
    record: str | None = None


def run_pairs(wanted: PairsPlan) -> tuple[Generated, str]:
    """Have pairs written, and return what came of it and by whom.

    Raises:
        ConfigError: a setting is wrong, or the file cannot be written.
        JudgeRejected: the model takes no request like these.
        CassetteCorrupt: the tape was damaged.
    """
    positive, negative = _text(wanted.positive), _text(wanted.negative)
    if not wanted.output.absolute().parent.is_dir():
        raise ConfigError("its folder does not exist; make it first", where=str(wanted.output))
    if wanted.output.is_dir():
        raise ConfigError("is a folder; name a file in it", where=str(wanted.output))
    check_output(wanted.output)
    record = RecordMode.NONE
    if wanted.record is not None:
        record = RecordMode.parse(wanted.record)
    elif wanted.model is not None:
        record = RecordMode.NEW_EPISODES  # naming a model is permission to ask it
    judge = _judge(wanted, asking=record is not RecordMode.NONE)
    near = wanted.cassette or wanted.output
    cassette = Cassette(
        LimitedJudge(judge),
        tape=wanted.cassette,
        store=lazy_store(near.absolute().parent),
        record=record,
    )
    try:
        generated: Generated = run_sync(
            generate_pairs(cassette, positive=positive, negative=negative, count=wanted.num)
        )
    finally:
        cassette.close()
    if generated.pairs:
        write_pairs(
            wanted.output,
            generated.pairs,
            positive=positive,
            negative=negative,
            model=judge.model,
            wanted=wanted.num,
        )
    return generated, judge.model


def _judge(wanted: PairsPlan, *, asking: bool) -> Judge:
    if wanted.model is None:
        return _recorded(wanted.cassette)
    if wanted.model.startswith("manual/"):
        raise ConfigError(
            "pairs are written by a model; to use your own texts, name a file of them"
            " as positive_examples and negative_examples"
        )
    file = JudgeFile(model=wanted.model, api_base=wanted.api_base, params=dict(wanted.params))
    return make_judge(file, base=Path(), lines=Lines(file=""), asking=asking)


def _recorded(path: Path | None) -> Judge:
    """Return the one model that is on a tape: a replay need not name it."""
    if path is None or not path.is_file():
        raise ConfigError("say which model writes the pairs: --model MODEL")
    found = judges_on(path)
    if len(found) != 1:
        raise ConfigError(
            f"recorded by {len(found)} models; say which: --model MODEL", where=str(path)
        )
    return found[0]


def _text(given: str) -> str:
    """Return a description given as such or as `@FILE`."""
    if not given.startswith("@"):
        return given
    try:
        return read_text(Path(given[1:]), most=MAX_PLAIN).strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{given}: cannot be read: {exc}") from exc
