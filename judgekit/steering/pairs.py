"""Request contrastive pairs in batches, and write them to a file."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.rubric_test.run import judges_on
from judgekit.cassette.cassette import Cassette, store_opener
from judgekit.cassette.mode import RecordMode
from judgekit.core import errors
from judgekit.core.canonical import visible
from judgekit.core.errors import CassetteMiss, ConfigError, InvalidReply, JudgekitError
from judgekit.core.input_file import home_path, read_prompt
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.judgment import read_reply
from judgekit.core.output_file import refuse_foreign, whole_file
from judgekit.core.protocols import Judge
from judgekit.core.request import About, ChatMessage, Form, Request
from judgekit.core.value import Value
from judgekit.core.yaml_file import Lines, package_data
from judgekit.judges.kinds import kind_of
from judgekit.judges.limits import LimitedJudge
from judgekit.metrics.tokens import answer_form
from judgekit.report.export.target import translated
from judgekit.rubric.filters import fenced
from judgekit.runner.background import run_sync
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import make_judge

MAX_TEXT = 8_000
"""Maximum length of a text of a pair, in characters."""


class AnswerPair(Value):
    """A prompt, an answer that shows the trait, and one that lacks it."""

    prompt: str
    positive: str
    negative: str


class PairCollection:
    """Usable pairs in the order of the replies, and counts of the others.

    Args:
        wanted: number of requested pairs.

    Attributes:
        pairs: the pairs.
        dropped: number of dropped entries by reason.
        batches: number of requests.
        failures: errors of requests without pairs.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.pairs: list[AnswerPair] = []
        self.dropped: Counter[str] = Counter()
        self.batches = 0
        self.failures: list[JudgekitError] = []
        self._seen: set[str] = set()

    @property
    def complete(self) -> bool:
        """Whether there are enough pairs."""
        return len(self.pairs) >= self.wanted

    def add(self, entries: Iterable[Any]) -> None:
        """Add entries until there are enough pairs."""
        for entry in entries:
            if self.complete:
                return
            try:
                self.pairs.append(self._new(entry))
            except ValueError as exc:
                self.dropped[str(exc)] += 1

    def _new(self, entry: Any) -> AnswerPair:
        """Return the pair of an entry.

        Raises:
            ValueError: with the reason to drop the entry.
        """
        if not isinstance(entry, dict):
            raise ValueError("not a pair")
        texts = {}
        for name in ("prompt", "positive", "negative"):
            text = entry.get(name)
            if not isinstance(text, str) or not text.strip():
                raise ValueError(f"without {name}")
            if len(text) > MAX_TEXT:
                raise ValueError(f"{name} over {MAX_TEXT:,} characters")
            texts[name] = visible(text.strip())
        prompt, positive, negative = map(answer_form, texts.values())
        if positive == negative:
            raise ValueError("both sides the same")
        # A pair with the prompt or the positive answer of another one adds no information.
        keys = {f"prompt {prompt}", f"positive {positive}"}
        if keys & self._seen:
            raise ValueError("duplicate")
        self._seen |= keys
        return AnswerPair(**texts)


BATCH = 20
"""Number of pairs per request, small enough for a complete reply."""
MAX_PAIRS = 10_000
MAX_DESCRIPTION = 20_000
_FINAL = (ConfigError, errors.JudgeRejected, errors.CassetteCorrupt)
"""Errors after which further requests are useless."""
_PROMPT = Path(__file__).with_name("pairs.yaml")


def prompt_data() -> dict[str, Any]:
    """Return the system message, the topics and the reply schema of a request for pairs."""
    return package_data(_PROMPT)


def batch_request(
    requests: RequestBuilder, *, number: int, count: int, positive: str, negative: str
) -> Request:
    """Return the request for one batch. Its text is deterministic; a golden file checks it.

    Args:
        requests: builds requests to the model.
        number: index of the batch, from 0. It selects the topic; after the last topic, it selects
            the next sample.
        count: pairs to request.
        positive: description of the trait.
        negative: description of an answer without it.
    """
    prompt = prompt_data()
    sample, topic = divmod(number, len(prompt["topics"]))
    content = (
        f"{fenced(positive, 'trait')}\n\n{fenced(negative, 'without_trait')}\n\n"
        f"Write {count} {'pair' if count == 1 else 'pairs'}. "
        f"The prompts are about: {prompt['topics'][topic]}."
    )
    return requests.request(
        messages=(
            ChatMessage(role="system", content=prompt["system"]),
            ChatMessage(role="user", content=content),
        ),
        form=Form(json_schema=prompt["schema"]),
        sample=sample,
        about=About(case=f"batch-{number + 1}", metric="pairs"),
    )


async def generate_pairs(
    judge: Judge, *, positive: str, negative: str, count: int = 200
) -> PairCollection:
    """Return pairs that contrast two descriptions; the same replies give the same pairs.

    Batches are requested concurrently and read in order. If there are too few pairs because of
    duplicates, unusable entries or unusable replies, further batches follow: at most the same
    number plus two. After an outage, or for a reply that is not recorded, no further batches
    follow, and the pairs so far are kept.

    Raises:
        ConfigError: a description is blank or too long, or the number is out of range.
        JudgeRejected: the model refuses requests like these.
        CassetteCorrupt: the cassette was changed.
    """
    _check(positive=positive, negative=negative, count=count)
    requests = RequestBuilder(judge)
    size = min(BATCH, count)

    async def batch(number: int) -> list[Any]:
        request = batch_request(
            requests, number=number, count=size, positive=positive, negative=negative
        )
        reply = await judge.ask(request)
        data = read_reply(reply, form=request.form, request_key=request.key).data
        pairs = data.get("pairs") if isinstance(data, dict) else None
        if not isinstance(pairs, list):
            raise InvalidReply("the reply has no list `pairs`")
        return pairs[: 10 * size]

    made = PairCollection(count)
    most = 2 * -(-count // BATCH) + 2
    while not made.complete and not made.failures and made.batches < most:
        short = -(-(count - len(made.pairs)) // BATCH)
        numbers = range(made.batches, min(made.batches + short, most))
        made.batches = numbers.stop
        for outcome in await asyncio.gather(*map(batch, numbers), return_exceptions=True):
            if isinstance(outcome, list):
                made.add(outcome)
            elif isinstance(outcome, (InvalidReply, errors.JudgeRefused)):
                # The failure is recorded, so the same request would get the same reply.
                made.dropped["unusable reply"] += 1
            elif isinstance(outcome, JudgekitError) and not isinstance(outcome, _FINAL):
                made.failures.append(outcome)
            else:
                raise outcome
    return made


def _check(*, positive: str, negative: str, count: int) -> None:
    for flag, text in (("positive", positive), ("negative", negative)):
        if not text.strip():
            raise ConfigError(f"--{flag}-description is blank; describe such an answer")
        if len(text) > MAX_DESCRIPTION:
            raise ConfigError(f"--{flag}-description has more than {MAX_DESCRIPTION:,} characters")
    if not 1 <= count <= MAX_PAIRS:
        raise ConfigError(f"--count must be from 1 to {MAX_PAIRS:,}, not {count}")


FORMAT = "judgekit-pairs/1"


class PairsPlan(NamedTuple):
    """The settings of `judgekit pairs generate`."""

    positive_description: str
    negative_description: str
    num_pairs: int
    output: Path
    model: str | None = None
    api_base: str | None = None
    param: Mapping[str, Any] = {}
    cassette: Path | None = None
    record: str | None = None


def run_pairs(plan: PairsPlan) -> tuple[PairCollection, str]:
    """Generate pairs, and return the outcome and the model.

    Raises:
        ConfigError: a setting is wrong, or the file cannot be written.
        JudgeRejected: the model refuses requests like these.
        CassetteCorrupt: the cassette is damaged.
    """
    positive, negative = _text(plan.positive_description), _text(plan.negative_description)
    plan = plan._replace(positive_description=positive, negative_description=negative)
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
        work = generate_pairs(cassette, positive=positive, negative=negative, count=plan.num_pairs)
        generated = run_sync(work)
    if generated.pairs:
        write_pairs(plan, generated.pairs, model=judge.model)
    return generated, judge.model


def _judge(plan: PairsPlan, *, asking: bool) -> Judge:
    if plan.model is None:
        return _recorded(plan.cassette)
    if kind_of(plan.model).person:
        advice = "name a file of them as positive_examples and negative_examples"
        raise ConfigError(f"a model writes pairs; to use your own texts, {advice}")
    file = JudgeFile(model=plan.model, api_base=plan.api_base, params=dict(plan.param))
    return make_judge(file, base=Path(), lines=Lines(file=""), asking=asking)


def _recorded(path: Path | None) -> Judge:
    """Return the only model on a cassette; a replay does not need --model then."""
    if path is None or not path.is_file():
        raise ConfigError("no model is given: add --model MODEL")
    if len(judges := judges_on(path)) != 1:
        message = f"recorded by {len(judges)} models; name one: --model MODEL"
        raise ConfigError(message, where=str(path))
    return judges[0]


def _text(text: str) -> str:
    """Return a description, or the content of `@FILE`."""
    return read_prompt(home_path(text[1:]), flag=text) if text.startswith("@") else text


def write_pairs(plan: PairsPlan, pairs: Sequence[AnswerPair], *, model: str) -> None:
    """Write a file of pairs atomically; the same pairs give the same bytes.

    Raises:
        ConfigError: the file cannot be written; an existing file is unchanged.
    """
    data = {
        "format": FORMAT,
        "positive_description": plan.positive_description,
        "negative_description": plan.negative_description,
        "model": model,
        "wanted": plan.num_pairs,
        "pairs": [pair.model_dump() for pair in pairs],
    }
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    with translated(plan.output), whole_file(plan.output) as file:
        file.write(text.encode("utf-8", "replace"))


def outcome_text(generated: PairCollection, path: Path, *, model: str) -> str:
    """Return the outcome in a few lines."""
    count = len(generated.pairs)
    of = "" if generated.complete else f" of {generated.wanted}"
    written = f"{count}{of} pairs by {model} written to {path}"
    lines = [written if count else "no pairs; nothing written"]
    if generated.dropped:
        dropped = (f"{number} {reason}" for reason, number in sorted(generated.dropped.items()))
        lines.append(f"dropped: {', '.join(dropped)}")
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
