"""Verify a tape, count its records, and print one record."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.cassette.record import Record
from judgekit.cassette.tape import MAX_LINE, Tape
from judgekit.core.canonical import printable
from judgekit.core.display.parts import counted
from judgekit.core.errors import CaseError, CassetteCorrupt, ConfigError, InvalidReply, JudgeRefused
from judgekit.core.input_file import bounded_lines, nearby
from judgekit.core.judgment import read_reply
from judgekit.core.replies.logprobs import read_logprobs
from judgekit.core.replies.text import cut_off, read_text
from judgekit.core.replies.vector import read_vector


def _open(path: Path) -> Tape:
    if path.is_dir():
        raise ConfigError("a folder, not a cassette; name a file in it", where=str(path))
    if not path.is_file():
        hint = nearby(path) or "; `judgekit run --record new_episodes` records one"
        raise ConfigError(f"no such cassette{hint}", where=str(path))
    return Tape(path)


def verify_tape(path: Path) -> int:
    """Verify all records of a tape and return their number.

    Raises:
        ConfigError: the file does not exist.
        CassetteCorrupt: a record is damaged.
    """
    with closing(_open(path)) as tape:
        count = sum(1 for _ in tape.records())
        before = b""
        with path.open("rb") as file:
            for line in bounded_lines(file, most=MAX_LINE):
                if line.startswith(b'{"key"'):
                    if line < before:
                        raise CassetteCorrupt(
                            f"{path}: the records are not in order; run `judgekit cassette prune`"
                        )
                    before = line
        return count


class TapeStats(NamedTuple):
    """The records of a tape, counted."""

    path: Path
    records: int
    bytes: int
    models: Counter[str]
    outcomes: Counter[str]
    """Outcome of the reply -> number of records."""
    tokens_in: int
    tokens_out: int

    def text(self) -> str:
        """Return the counts as lines."""
        lines = [f"{self.path}: {counted(self.records, 'record')}, {self.bytes:,} bytes"]
        lines += [f"  model {name}: {count}" for name, count in sorted(self.models.items())]
        lines += [f"  {name}: {count}" for name, count in sorted(self.outcomes.items())]
        lines.append(f"  tokens: {self.tokens_in:,} in, {self.tokens_out:,} out")
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {**self._asdict(), "path": str(self.path)}


def tape_stats(path: Path) -> TapeStats:
    """Count the records of a tape by model and by outcome of the reply."""
    with closing(_open(path)) as tape:
        models: Counter[str] = Counter()
        outcomes: Counter[str] = Counter()
        tokens = [0, 0]
        for record in tape.records():
            models[record.request.model] += 1
            outcomes[_outcome(record)] += 1
            if record.reply.usage is not None:
                tokens[0] += record.reply.usage.input_tokens
                tokens[1] += record.reply.usage.output_tokens
        return TapeStats(path, len(tape), path.stat().st_size, models, outcomes, *tokens)


def _outcome(record: Record) -> str:
    try:
        if record.request.form.want != "verdict":
            return _kind_of_reply(record)
        judgment = read_reply(record.reply, form=record.request.form, request_key=record.key)
    except JudgeRefused:
        return "refused"
    except CaseError:
        return "invalid case"
    except InvalidReply as exc:
        return exc.kind.replace("_", " ")
    return "valid after repairs" if judgment.repairs or judgment.tries > 1 else "valid"


def _kind_of_reply(record: Record) -> str:
    """Return the kind of a reply that is not a verdict; raise the error of its parser."""
    request, reply = record.request, record.reply
    match request.form.want:
        case "embedding":
            read_vector(reply)
            return "vector"
        case "logprobs":
            prompt, continuation = (message.content for message in request.messages)
            read_logprobs(reply, prompt=prompt, continuation=continuation)
            return "log-probabilities"
        case _:
            read_text(reply)
            return "answer, cut off" if cut_off(reply) else "answer"


def find_record(path: Path, key: str) -> Record:
    """Return the record whose key begins with these characters.

    Raises:
        ConfigError: no key or several keys have this prefix.
    """
    with closing(_open(path)) as tape:
        records = [record for record in tape.records() if record.key.startswith(key)]
    if len(records) != 1:
        what = "no record" if not records else f"{len(records)} records"
        raise ConfigError(f"{what} with a key that begins with {key!r}", where=str(path))
    return records[0]


def record_text(record: Record) -> str:
    """Return one record as text."""
    return "\n".join(_record_lines(record)) + "\n"


def record_data(record: Record) -> dict[str, Any]:
    """Return one record as JSON values: the request, and the reply with all its tries."""
    request = record.request
    return {
        "key": record.key,
        "model": request.model,
        "identity": request.identity,
        "params": request.params,
        "want": request.form.want,
        "messages": [message.model_dump() for message in request.messages],
        "reply": record.reply.model_dump(mode="json"),
    }


def _record_lines(record: Record) -> Iterator[str]:
    request, reply = record.request, record.reply
    yield f"key {record.key}"
    how = f"output mode {reply.mode}" if reply.mode else "no output mode"
    if request.form.want != "verdict":
        how = request.form.want
    yield f"model {request.model}, reported as {reply.model}, {how}"
    if request.params:
        yield f"params {request.params}"
    for message in request.messages:
        yield f"--- {message.role}"
        yield printable(message.content)
    if request.form.want == "embedding" and reply.tries[-1].fault is None:
        numbers = read_vector(reply)
        yield f"--- vector of {len(numbers)} numbers"
        yield ", ".join(f"{number:.4g}" for number in numbers[:8]) + ", ..." * (len(numbers) > 8)
        return
    for number, attempt in enumerate(reply.tries, start=1):
        count = f" (try {number})" if len(reply.tries) > 1 else ""
        yield f"--- reply{count}, finish {attempt.finish}"
        if attempt.fault is not None:
            yield f"{attempt.fault.kind.replace('_', ' ')}: {printable(attempt.fault.message)}"
        yield printable(attempt.refusal or attempt.text or "(empty)")
        if (omitted := attempt.omitted) is not None:
            yield f"({omitted.bytes:,} more bytes were not recorded, sha256 {omitted.sha256})"
