"""The judges on the tape of a run, and the reply schema of each request."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from judgekit.cassette.tape import Tape
from judgekit.core.canonical import canonical_json
from judgekit.report.manifest import entries_in, mapping

MOST = 8
"""Different parameters, servers and modes of one judge that are listed."""


@dataclass
class JudgeReplies:
    """Figures of the replies of one judge."""

    count: int = 0
    samples: int = 1
    """The number of samples of one request."""
    retried: int = 0
    """Replies that took more than one try."""
    cost: float = 0.0
    unpriced: int = 0
    """Replies of unknown price."""
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    uncounted: int = 0
    """Replies of which the server did not say how many tokens they took."""
    values: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    """Parameters, modes, identities, servers and reported models, each in the order met."""

    def add(self, request: dict[str, Any], reply: dict[str, Any]) -> None:
        """Take one request with its reply."""
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
        usage = mapping(reply.get("usage"))
        known = [usage[name] for name in _TOKENS if isinstance(usage.get(name), int)]
        if len(known) == len(_TOKENS):
            self.tokens = [old + new for old, new in zip(self.tokens, known, strict=True)]
        else:
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


_TOKENS = ("input_tokens", "output_tokens")


class TapeIndex:
    """Reads the verdicts on a tape, without proving every record: the figures do not rest on it.

    Args:
        tape: the tape of a run, if it has one.
    """

    def __init__(self, tape: Tape | None) -> None:
        self.judges: dict[str, JudgeReplies] = {}
        """Replies by model string."""
        self.systems: dict[str, str] = {}
        """Form -> the system message of the first request with it."""
        self._forms: dict[str, str] = {}
        self._parts = tape.parts() if tape is not None else {}
        self._texts: dict[str, str] = {}
        for key, request, reply in _verdicts(tape) if tape is not None else ():
            model = request.get("model")
            if not isinstance(model, str):
                continue
            self.judges.setdefault(model, JudgeReplies()).add(request, reply)
            form = self._form(request.get("form"))
            if form is not None:
                self._forms[key] = form
                if form not in self.systems and (system := self._system(request)) is not None:
                    self.systems[form] = system

    def form(self, key: str) -> str | None:
        """Return the canonical JSON of the form a request asks to fill in, if it is known."""
        return self._forms.get(key)

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
            continue  # the record itself is refused where it is shown
        key, request, reply = map(mapping(data).get, ("key", "request", "reply"))
        if isinstance(key, str) and isinstance(request, dict) and isinstance(reply, dict):
            yield key, request, reply
