"""What a judge would see of a case, without asking one."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from judgekit.authoring.rubric_diff.source import opened
from judgekit.core.case import Case, Message
from judgekit.core.errors import ConfigError
from judgekit.core.request import Request
from judgekit.core.suggest import suggest
from judgekit.datasets import load_cases
from judgekit.judges.absent import AbsentJudge
from judgekit.rubric.rubric import Rubric
from judgekit.suite.rubrics import with_flags

SAMPLE = Case(
    id="sample",
    system="(the system prompt)",
    history=(
        Message(role="user", content="(an earlier message)"),
        Message(role="assistant", content="(an earlier answer)"),
    ),
    input="(the user's message)",
    output="(the answer to judge)",
    reference=("(an accepted answer)",),
    context=("(a passage)",),
    baseline="(the baseline answer)",
)
"""Stands in where no case is given."""


class Preview(NamedTuple):
    """One request, and the rubric that made it."""

    rubric: Rubric
    file: str
    """What to call the rubric's version: its file, or the commit it is of."""
    mode: str
    case: str
    request: Request

    def text(self) -> str:
        """Return the messages as a judge sees them."""
        return "".join(f"--- {m.role}\n{m.content}\n" for m in self.request.messages)

    def whole(self) -> list[str]:
        """Return messages and form line by line, to be compared."""
        form = json.loads(self.request.form.canonical)
        shown = json.dumps(form, ensure_ascii=False, sort_keys=True, indent=1)
        return f"{self.text()}--- form\n{shown}\n".splitlines()

    def data(self) -> dict[str, Any]:
        """Return everything that goes into the key, and the key."""
        request = self.request
        return {
            "rubric": self.rubric.name,
            "file": self.file,
            "digest": self.rubric.digest,
            "mode": self.mode,
            "case": self.case,
            "model": request.model,
            "identity": request.identity,
            "params": request.params,
            "messages": [message.model_dump() for message in request.messages],
            "form": json.loads(request.form.canonical),
            "key": request.key,
        }


def rendered(
    rubric: str,
    *,
    cases: str | None,
    case: str | None,
    mode: str | None,
    model: str,
    settings: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    identity: str | None = None,
    against: str | None = None,
    as_json: bool = False,
) -> str:
    """Return the messages a rubric makes of a case, and the request's key.

    Args:
        rubric: a name, a file, or `git:REVISION:FILE`.
        cases: file of cases; a made-up one without it.
        case: id of the case, the first by default.
        mode: one of the rubric's modes.
        model: whom the key is made for.
        settings: what parameters of the rubric are set to, as text.
        params: parameters of the judge, which go into the key.
        identity: what really answers under the model's name, if the key says so.
        against: another version; what differs is returned instead.
        as_json: whether to return JSON, with the form.

    Raises:
        RubricError: the rubric is wrong.
        ConfigError: there is no such case or parameter.
    """
    if cases is None and case is not None:
        raise ConfigError(f"case {case!r} of which cases? name the file: --cases FILE")
    subject = SAMPLE if cases is None else _find(cases, case)
    judge = AbsentJudge(model, identity, dict(params or {}))
    given = settings or {}
    one = _preview(rubric, subject, judge, mode, given)
    if against is not None:
        other = _preview(against, subject, judge, mode, given, strict=False)
        return _compared(one, other, as_json=as_json)
    if as_json:
        return json.dumps(one.data(), ensure_ascii=False, indent=1) + "\n"
    return f"{one.text()}--- key\n{one.request.key} (model {judge.words()})\n"


def _preview(
    source: str,
    case: Case,
    judge: AbsentJudge,
    mode: str | None,
    settings: Mapping[str, str],
    *,
    strict: bool = True,
) -> Preview:
    from judgekit.metrics.rubric import RubricMetric

    with opened(source) as (rubric, file):
        if not strict:  # another version may not have what this one leaves open
            settings = {name: text for name, text in settings.items() if name in rubric.declared}
        loaded = with_flags(rubric, settings, before="--set ")
        metric = RubricMetric(loaded, judge=judge, mode=mode)
        _, (request, *_) = metric.requests(case)
    return Preview(loaded, file, metric.mode, case.id, request)


def _compared(one: Preview, other: Preview, *, as_json: bool) -> str:
    """Return what differs between what two versions ask, from the other to this one."""
    lines = list(
        difflib.unified_diff(other.whole(), one.whole(), other.file, one.file, lineterm="")
    )
    old, new = other.request.key, one.request.key
    if as_json:
        data = {"old": other.data(), "new": one.data(), "same_key": old == new, "diff": lines}
        return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    verdict = f"same key: {new}" if old == new else f"another key: {old[:16]} -> {new[:16]}"
    return "\n".join([*lines, verdict]) + "\n"


def _find(cases: str, wanted: str | None) -> Case:
    ids: list[str] = []
    for case in load_cases(cases):
        if wanted is None or case.id == wanted:
            return case
        ids.append(case.id) if len(ids) < _REMEMBERED else None
    raise ConfigError(f"{cases}: no case {wanted!r}{suggest(wanted, ids)}")


_REMEMBERED = 1_000
"""Ids that are remembered to suggest one."""
