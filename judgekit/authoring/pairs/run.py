"""Generate a file of pairs: open the model and its cassette, request pairs, write the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.pairs.generate import Generated, check_output, generate_pairs, write_pairs
from judgekit.authoring.rubric_test.run import judges_on
from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.store_opener import store_opener
from judgekit.core.errors import ConfigError
from judgekit.core.input_file import MAX_PLAIN, read_text
from judgekit.core.protocols import Judge
from judgekit.core.yaml_file import Lines
from judgekit.judges.limits import LimitedJudge
from judgekit.runner.background import run_sync
from judgekit.suite.file import JudgeFile
from judgekit.suite.judges import make_judge


class PairsPlan(NamedTuple):
    """The settings of `judgekit pairs generate`."""

    positive: str
    negative: str
    num: int
    output: Path
    model: str | None = None
    api_base: str | None = None
    params: Mapping[str, Any] = {}
    cassette: Path | None = None
    record: str | None = None


def run_pairs(plan: PairsPlan) -> tuple[Generated, str]:
    """Generate pairs, and return the outcome and the model.

    Raises:
        ConfigError: a setting is wrong, or the file cannot be written.
        JudgeRejected: the model refuses requests like these.
        CassetteCorrupt: the cassette is damaged.
    """
    positive, negative = _text(plan.positive), _text(plan.negative)
    if not plan.output.absolute().parent.is_dir():
        raise ConfigError("its folder does not exist; create it first", where=str(plan.output))
    if plan.output.is_dir():
        raise ConfigError("is a folder; name a file in it", where=str(plan.output))
    check_output(plan.output)
    record = RecordMode.NONE
    if plan.record is not None:
        record = RecordMode.parse(plan.record)
    elif plan.model is not None:
        record = RecordMode.NEW_EPISODES  # naming a model allows calls
    judge = _judge(plan, asking=record is not RecordMode.NONE)
    near = plan.cassette or plan.output
    cassette = Cassette(
        LimitedJudge(judge),
        tape=plan.cassette,
        store=store_opener(near.absolute().parent),
        record=record,
    )
    try:
        generated: Generated = run_sync(
            generate_pairs(cassette, positive=positive, negative=negative, count=plan.num)
        )
    finally:
        cassette.close()
    if generated.pairs:
        write_pairs(
            plan.output,
            generated.pairs,
            positive=positive,
            negative=negative,
            model=judge.model,
            wanted=plan.num,
        )
    return generated, judge.model


def _judge(plan: PairsPlan, *, asking: bool) -> Judge:
    if plan.model is None:
        return _recorded(plan.cassette)
    if plan.model.startswith("manual/"):
        raise ConfigError(
            "a model writes pairs; to use your own texts, name a file of them as "
            "positive_examples and negative_examples"
        )
    file = JudgeFile(model=plan.model, api_base=plan.api_base, params=dict(plan.params))
    return make_judge(file, base=Path(), lines=Lines(file=""), asking=asking)


def _recorded(path: Path | None) -> Judge:
    """Return the only model on a cassette, so that a replay does not need --model."""
    if path is None or not path.is_file():
        raise ConfigError("no model is given: add --model MODEL")
    judges = judges_on(path)
    if len(judges) != 1:
        raise ConfigError(
            f"recorded by {len(judges)} models; name one: --model MODEL", where=str(path)
        )
    return judges[0]


def _text(text: str) -> str:
    """Return a description, or the content of `@FILE`."""
    if not text.startswith("@"):
        return text
    try:
        return read_text(Path(text[1:]), most=MAX_PLAIN).strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{text}: cannot be read: {exc}; name a UTF-8 text file") from exc
