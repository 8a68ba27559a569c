"""What a judge would see of a case, without asking one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judgekit.case import Case, Message
from judgekit.datasets import load_cases
from judgekit.errors import ConfigError
from judgekit.request import Reply, Request
from judgekit.rubric.load import load_rubric
from judgekit.suiterubric import with_flags

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


class _Unasked:
    def __init__(self, model: str) -> None:
        self.model = model

    async def ask(self, request: Request) -> Reply:
        raise AssertionError("a preview asks nobody")


def rendered(
    rubric: str,
    *,
    cases: str | None,
    case: str | None,
    mode: str | None,
    model: str,
    settings: Mapping[str, str] | None = None,
) -> str:
    """Return the messages a rubric makes of a case, and the request's key.

    Args:
        rubric: a name or a file.
        cases: file of cases; a made-up one without it.
        case: id of the case, the first by default.
        mode: one of the rubric's modes.
        model: whom the key is made for.
        settings: what parameters of the rubric are set to, as text.

    Raises:
        RubricError: the rubric is wrong.
        ConfigError: there is no such case or parameter.
    """
    from judgekit.metrics.rubric import RubricMetric

    if cases is None and case is not None:
        raise ConfigError(f"case {case!r} of which cases? name the file: --cases FILE")
    subject = SAMPLE if cases is None else _find(cases, case)
    loaded = with_flags(load_rubric(rubric), settings or {}, before="--set ")
    metric = RubricMetric(loaded, judge=_Unasked(model), mode=mode)
    _, (request, *_) = metric.requests(subject)
    return "\n".join(_lines(request)) + "\n"


def _lines(request: Request) -> Iterator[str]:
    for message in request.messages:
        yield f"--- {message.role}"
        yield message.content
    yield "--- key"
    yield f"{request.key} (model {request.model})"


def _find(cases: str, wanted: str | None) -> Case:
    for case in load_cases(cases):
        if wanted is None or case.id == wanted:
            return case
    raise ConfigError(f"{cases}: no case {wanted!r}")
