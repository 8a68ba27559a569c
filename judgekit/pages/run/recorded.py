"""The replies of a run: their records on the tape, and their origins in `run.json`."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgekit.cassette.record import Record
from judgekit.cassette.tape import Tape, is_key
from judgekit.core.canonical import canonical_json
from judgekit.core.score import Failure, Row
from judgekit.report.folder import TAPE
from judgekit.report.manifest import entries_in, mapping

_WORDS = {"live": "asked live", "store": "from the store", "tape": "from the tape"}
MOST = 8
"""Maximum number of different parameters, servers and modes of a judge to list."""


def open_tape(folder: Path | None) -> Tape | None:
    """Return the tape of a run, if it has one.

    Raises:
        CassetteCorrupt: the tape was damaged.
    """
    path = folder / TAPE if folder is not None else None
    return Tape(path) if path is not None and path.exists() else None


def records_of_rows(
    rows: Iterable[Row], tape: Tape, put: Callable[[str], int | str]
) -> dict[str, dict[str, Any]]:
    """Return the records of all requests of a case for a page, by key.

    Args:
        rows: the results of the case.
        tape: the tape of the run.
        put: stores a text that many records share and returns its number, or returns the text.

    Raises:
        CassetteCorrupt: a record was damaged.
    """
    keys: dict[str, None] = {}
    for row in rows:
        keys |= dict.fromkeys(judgment.request_key for judgment in row.result.judgments)
        if isinstance(row.result, Failure) and row.result.key is not None:
            keys[row.result.key] = None
    records = {key: tape.record(key) for key in keys}
    return {key: _shown(record, put) for key, record in records.items() if record is not None}


def _shown(record: Record, put: Callable[[str], int | str]) -> dict[str, Any]:
    request, reply = record.request, record.reply
    data: dict[str, Any] = {
        "messages": [
            [m.role, put(m.content) if m.role == "system" else m.content] for m in request.messages
        ],
        "form": put(request.form.canonical),
        "model": request.model,
        "tries": [
            # Log-probabilities are much larger than the text, so they are only on the tape.
            t.model_dump(mode="json", exclude_defaults=True, exclude={"logprobs"})
            for t in reply.tries
        ],
        "cost": reply.cost,
    }
    if params := reply.effective_params or request.params:
        data["params"] = params
    if reply.usage is not None:
        data["usage"] = [reply.usage.input_tokens, reply.usage.output_tokens]
    if request.sample:
        data["sample"] = request.sample
    return data


class Origins:
    """Finds the origin of a reply by its key. The facts of the run are untrusted.

    >>> origins = Origins({"origins": {"live": 2, "tape": 1}, "from_store_or_live": ["k"]})
    >>> origins.all_alike, origins.of("k"), origins.of("x")
    (None, 'asked live', 'from the tape')
    """

    def __init__(self, run: Mapping[str, Any]) -> None:
        counts = mapping(run.get("origins"))
        met = [word for name, word in _WORDS.items()
               if isinstance(counts.get(name), int) and counts[name] > 0]  # fmt: skip
        self.all_alike = met[0] if len(met) == 1 else None
        """The origin of all replies, if it is the same."""
        keys = run.get("from_store_or_live")
        self._known = isinstance(keys, list)
        self._fresh = {key for key in entries_in(keys) if isinstance(key, str)}
        self._words = " or ".join(word for word in met if word != _WORDS["tape"])
        self._taped = _WORDS["tape"] in met

    def of(self, key: str) -> str | None:
        """Return the origin of a reply; `None` if unknown."""
        if self.all_alike is not None or not self._known:
            return self.all_alike
        if key in self._fresh:
            return self._words or None
        return _WORDS["tape"] if self._taped else None


@dataclass
class JudgeReplies:
    """Figures of the replies of one judge."""

    count: int = 0
    samples: int = 1
    """The number of samples of one request."""
    retried: int = 0
    """Number of replies with more than one try."""
    cost: float = 0.0
    unpriced: int = 0
    """Number of replies without a known price."""
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    cached: list[int] = field(default_factory=lambda: [0, 0])
    """Tokens read from and written to prompt caches."""
    tiers: Counter[str] = field(default_factory=Counter)
    """Service tier -> replies of a tier other than the standard one."""
    saved: float = 0.0
    """US dollars that cache and tiers saved."""
    uncounted: int = 0
    """Number of replies without reported token counts."""
    values: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    """Parameters, modes, identities, servers and reported models, in order of occurrence."""

    def add(self, request: dict[str, Any], reply: dict[str, Any]) -> None:
        """Add one request with its reply."""
        self.count += 1
        sample = request.get("sample")
        if isinstance(sample, int):
            self.samples = max(self.samples, min(sample, 10_000) + 1)
        self.retried += len(entries_in(reply.get("tries"))) > 1
        cost = reply.get("cost")
        if isinstance(cost, (int, float)):
            self.cost += cost
        else:
            self.unpriced += 1
        match reply.get("usage"):
            case {"input_tokens": int(sent), "output_tokens": int(received)}:
                self.tokens = [self.tokens[0] + sent, self.tokens[1] + received]
                self._add_savings(reply)
            case _:
                self.uncounted += 1
        params = reply.get("effective_params") or request.get("params")
        for name, value in (
            ("params", canonical_json(params) if params else None),
            ("mode", reply.get("mode")),
            ("identity", request.get("identity")),
            ("server", reply.get("server")),
            ("reported", reply.get("model")),
        ):
            several = self.values[name]
            if isinstance(value, str) and value and len(several) < MOST:
                several[value] = None

    def _add_savings(self, reply: dict[str, Any]) -> None:
        usage = mapping(reply.get("usage"))
        for number, name in enumerate(("cache_read_tokens", "cache_write_tokens")):
            count = usage.get(name)
            self.cached[number] += count if isinstance(count, int) else 0
        tier, saved = reply.get("tier"), reply.get("saved")
        if isinstance(tier, str) and (tier in self.tiers or len(self.tiers) < MOST):
            self.tiers[tier] += 1
        if isinstance(saved, (int, float)):
            self.saved += saved


class TapeIndex:
    """Reads the verdicts on a tape without verifying each record; figures do not depend on them.

    Args:
        tape: the tape of a run, if it has one.
        large: whether the forms of requests are looked up one by one, not kept in memory.
    """

    def __init__(self, tape: Tape | None, *, large: bool = False) -> None:
        self.judges: dict[str, JudgeReplies] = {}
        """Replies by model string."""
        self.systems: dict[str, str] = {}
        """Form -> the system message of the first request with it."""
        self._forms: dict[str, str] = {}
        """Key of a request -> canonical JSON of its form."""
        self._tape = tape if large else None
        self._parts = tape.parts() if tape is not None else {}
        self._texts: dict[str, str] = {}
        for key, request, reply in _verdicts(tape) if tape is not None else ():
            model = request.get("model")
            if not isinstance(model, str):
                continue
            self.judges.setdefault(model, JudgeReplies()).add(request, reply)
            form = self._form(request.get("form"))
            if form is not None:
                if not large:
                    self._forms[key] = form
                if form not in self.systems and (system := self._system(request)) is not None:
                    self.systems[form] = system

    def form_of(self, key: str) -> str | None:
        """Return the form of a request as canonical JSON; `None` if the tape does not have it."""
        if self._tape is None or not is_key(key):
            return self._forms.get(key)
        _, line = self._tape.look_up(key)
        try:
            return self._form(mapping(mapping(json.loads(line)).get("request")).get("form"))
        except (ValueError, RecursionError):
            return None

    def _form(self, value: Any) -> str | None:
        if not isinstance(value, dict):
            return None
        if not isinstance(part := value.get("part"), str):
            return canonical_json(value)
        if part not in self._texts and part in self._parts:
            self._texts[part] = canonical_json(self._parts[part])
        return self._texts.get(part)

    def _system(self, request: dict[str, Any]) -> str | None:
        first = mapping(next(iter(entries_in(request.get("messages"))), None))
        content = first.get("content") if first.get("role") == "system" else None
        if isinstance(content, dict):
            content = self._parts.get(str(content.get("part")))
        return content if isinstance(content, str) else None


def _verdicts(tape: Tape) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for line in tape.lines():
        if '"kind":"chat"' not in line[:120]:
            continue  # vectors and log-probabilities
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue  # the error is reported where the record is shown
        key, request, reply = map(mapping(data).get, ("key", "request", "reply"))
        if isinstance(key, str) and isinstance(request, dict) and isinstance(reply, dict):
            yield key, request, reply
