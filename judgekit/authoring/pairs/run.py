"""Generate a file of pairs: open the model and its cassette, request pairs, write the file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.pairs.generate import AnswerPair, Generated, generate_pairs
from judgekit.authoring.rubric_test.run import judges_on
from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.store_opener import store_opener
from judgekit.core.errors import CassetteMiss, ConfigError
from judgekit.core.input_file import read_prompt
from judgekit.core.output_file import refuse_foreign, whole_file
from judgekit.core.protocols import Judge
from judgekit.core.yaml_file import Lines
from judgekit.judges.limits import LimitedJudge
from judgekit.report.export.target import translated
from judgekit.runner.background import run_sync
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import make_judge

FORMAT = "judgekit-pairs/1"


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
    plan = plan._replace(positive=_text(plan.positive), negative=_text(plan.negative))
    if not plan.output.absolute().parent.is_dir():
        raise ConfigError("its folder does not exist; create it first", where=str(plan.output))
    if plan.output.is_dir():
        raise ConfigError("is a folder; name a file in it", where=str(plan.output))
    begin = f'{{\n "format": "{FORMAT}"'.encode()
    refuse_foreign(plan.output, lambda head: head.startswith(begin), what="a file of pairs")
    record = plan.record
    if record is None:  # naming a model allows calls
        record = "none" if plan.model is None else "new_episodes"
    mode = RecordMode.parse(record)
    judge = _judge(plan, asking=mode is not RecordMode.NONE)
    store = store_opener((plan.cassette or plan.output).absolute().parent)
    with Cassette(LimitedJudge(judge), tape=plan.cassette, store=store, record=mode) as cassette:
        work = generate_pairs(
            cassette, positive=plan.positive, negative=plan.negative, count=plan.num
        )
        generated: Generated = run_sync(work)
    if generated.pairs:
        write_pairs(plan, generated.pairs, model=judge.model)
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
    if len(judges := judges_on(path)) != 1:
        message = f"recorded by {len(judges)} models; name one: --model MODEL"
        raise ConfigError(message, where=str(path))
    return judges[0]


def _text(text: str) -> str:
    """Return a description, or the content of `@FILE`."""
    return read_prompt(Path(text[1:]), flag=text) if text.startswith("@") else text


def write_pairs(plan: PairsPlan, pairs: Sequence[AnswerPair], *, model: str) -> None:
    """Write a file of pairs, whole or not at all; the same pairs give the same bytes.

    Raises:
        ConfigError: the file cannot be written; the earlier file stays.
    """
    data = {
        "format": FORMAT,
        "positive_description": plan.positive,
        "negative_description": plan.negative,
        "model": model,
        "wanted": plan.num,
        "pairs": [pair.model_dump() for pair in pairs],
    }
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    with translated(plan.output), whole_file(plan.output) as file:
        file.write(text.encode("utf-8", "replace"))


def outcome_text(generated: Generated, path: Path, *, model: str) -> str:
    """Return the outcome in a few lines."""
    count = len(generated.pairs)
    of = "" if generated.complete else f" of {generated.wanted}"
    written = f"{count}{of} pairs by {model} written to {path}"
    lines = [written if count else "no pairs; nothing written"]
    if generated.dropped:
        why = ", ".join(f"{number} {reason}" for reason, number in generated.dropped.items())
        lines.append(f"dropped: {why}")
    batches = generated.batches
    missed = [each for each in generated.failures if isinstance(each, CassetteMiss)]
    if missed:
        record = "to record them: --record new_episodes"
        lines.append(f"{len(missed)} of {batches} requests are not recorded; {record}")
    others = [each for each in generated.failures if not isinstance(each, CassetteMiss)]
    if others:
        lines.append(f"{len(others)} of {batches} requests failed, the first: {others[0]}")
        lines.append("run the command again to continue: all replies are stored")
    elif not generated.complete and not missed:
        advice = "try a longer description or another model"
        lines.append(f"{batches} requests gave no more pairs; {advice}")
    return "\n".join(lines)
