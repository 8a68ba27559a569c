"""The request of a rubric about a case, without a call to a judge."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from judgekit.authoring.rubric_diff.source import open_version
from judgekit.core.case import Case
from judgekit.core.case_field import EVIDENCE
from judgekit.core.errors import ConfigError
from judgekit.core.json_document import json_document
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.request import Request
from judgekit.core.suggest import suggest
from judgekit.datasets import load_cases
from judgekit.judges.absent import AbsentJudge
from judgekit.rubric.invented import invented_fields
from judgekit.rubric.rubric import Rubric
from judgekit.suite.overrides import read_flags

_REMEMBERED = 1_000
"""Maximum number of ids to keep for a suggestion."""


class Preview(NamedTuple):
    """One request, and its rubric."""

    rubric: Rubric
    file: str
    """Title of the version: its file or its commit."""
    mode: str
    case: str
    request: Request

    def text(self) -> str:
        """Return the messages for the judge."""
        return "".join(f"--- {m.role}\n{m.content}\n" for m in self.request.messages)

    def whole(self) -> list[str]:
        """Return the lines of the messages and the reply schema, to compare them."""
        form = json.loads(self.request.form.canonical)
        shown = json.dumps(form, ensure_ascii=False, sort_keys=True, indent=1)
        return f"{self.text()}--- form\n{shown}\n".splitlines()

    def data(self) -> dict[str, Any]:
        """Return all parts of the key, and the key."""
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


def preview_text(
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
    """Return the messages of a rubric about a case, and the key of the request.

    Args:
        rubric: a name, a file, or `git:REVISION:FILE`.
        cases: file of cases; an invented case by default.
        case: id of the case; the first one by default.
        mode: a mode of the rubric.
        model: model name in the key.
        settings: parameters of the rubric, as text.
        params: parameters of the judge, part of the key.
        identity: version of the system behind the model name, part of the key.
        against: another version; the differences are returned instead.
        as_json: whether to return JSON, with the reply schema.

    Raises:
        RubricError: the rubric is wrong.
        ConfigError: the case or a parameter does not exist.
    """
    if cases is None and case is not None:
        raise ConfigError(f"--case {case!r} needs a file of cases; add --cases FILE")
    invented = invented_fields()
    sample = Case(id="sample", **{field: invented[field] for field in EVIDENCE})
    subject = sample if cases is None else _find(cases, case)
    judge = AbsentJudge(model, JudgeSettings(identity=identity, params=dict(params or {})))
    flags = settings or {}
    one = _preview(rubric, subject, judge, mode, flags)
    if against is not None:
        other = _preview(against, subject, judge, mode, flags, strict=False)
        return _compared(one, other, as_json=as_json)
    if as_json:
        return json_document("request", one.data()) + "\n"
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

    with open_version(source) as (rubric, file):
        if not strict:  # another version may not have these parameters
            settings = {name: text for name, text in settings.items() if name in rubric.declared}
        loaded = rubric.with_parameters(read_flags(rubric, settings, before="--set "))
        metric = RubricMetric(loaded, judge=judge, mode=mode)
        _, (request, *_) = metric.requests(case)
    return Preview(loaded, file, metric.mode, case.id, request)


def _compared(one: Preview, other: Preview, *, as_json: bool) -> str:
    """Return the differences between the requests of two versions, from `other` to this one."""
    diff = difflib.unified_diff(other.whole(), one.whole(), other.file, one.file, lineterm="")
    lines = list(diff)
    old, new = other.request.key, one.request.key
    if as_json:
        data = {"old": other.data(), "new": one.data(), "same_key": old == new, "diff": lines}
        return json_document("request_diff", data) + "\n"
    verdict = f"same key: {new}" if old == new else f"another key: {old[:16]} -> {new[:16]}"
    return "\n".join([*lines, verdict]) + "\n"


def _find(cases: str, id: str | None) -> Case:
    ids: list[str] = []
    for case in load_cases(cases):
        if id is None or case.id == id:
            return case
        ids.append(case.id) if len(ids) < _REMEMBERED else None
    raise ConfigError(f"{cases}: no case {id!r}{suggest(id, ids)}")
