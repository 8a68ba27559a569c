"""The fields of a case that the judge of a metric is shown: those that change its requests.

A metric may give its rubric a part of a case, in several steps, so its rubrics alone do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from judgekit.core.case import Case
from judgekit.core.case_field import FIELD_BY_NAME, JUDGED
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import CardExample, Metric
from judgekit.core.request import Reply, Request
from judgekit.core.score import Failure, guarded
from judgekit.core.synchronous import run_inline
from judgekit.core.value import Json
from judgekit.datasets import load_cases
from judgekit.judges.fake import FakeJudge
from judgekit.rubric.asked import listed_fields, other_letters, with_other_letters
from judgekit.rubric.invented import invented_fields
from judgekit.runner.background import run_sync


class _InlineJudge(FakeJudge):
    """A fake judge that needs no event loop, which would take most of the time."""

    synchronous = True

    async def ask(self, request: Request) -> Reply:
        """Return the reply of a fake judge that finds every item met, so that steps go on."""
        reply = await super().ask(request)
        texts = [
            (attempt.text or "").replace('"met": false', '"met": true') for attempt in reply.tries
        ]
        tries = [
            attempt.model_copy(update={"text": text.replace('"met":false', '"met":true')})
            for attempt, text in zip(reply.tries, texts, strict=True)
        ]
        return reply.model_copy(update={"tries": tuple(tries)})


def judged_fields(
    create: Callable[..., Metric], example: CardExample
) -> tuple[list[str], list[str]]:
    """Return the fields that a metric shows its judge for some case, and those that it does not.

    The example of the metric is scored by a fake judge, as it is and with other fields. A field is
    shown if other letters in it change what the judge reads.

    Args:
        create: makes the metric from `judge` and the options of the example.
        example: an example that the metric can score.

    Returns:
        Both lists in the order in which people read the fields.

    Raises:
        ConfigError: the metric cannot be made, or its example has no score.
    """
    (case,) = load_cases([{"id": "example", **example.case}])
    given = case.model_dump(exclude_defaults=True)
    invented = invented_fields()
    judge = _InlineJudge()
    metric = create(judge=judge, **example.options)

    def prompts(subject: Case) -> list[str] | None:
        judge.asked.clear()
        work = guarded(subject, metric)
        if isinstance(run_inline(work) if metric.synchronous else run_sync(work), Failure):
            return None
        return sorted("\n".join(m.content for m in request.messages) for request in judge.asked)

    if prompts(case) is None:
        raise ConfigError(f"{metric.name}: the example on its card has no score")
    whole = Case.model_validate({**{name: invented[name] for name in JUDGED}, **given})
    # A metric may use one field instead of another, so each is also left out.
    left_out = ["", *(name for name in given if name != "id")]
    sparse = [{k: v for k, v in given.items() if k != name} for name in left_out]
    without = [prompts(Case.model_validate(fields)) for fields in sparse]

    def changes(subject: Case, name: str, *, besides: list[str] | None = None) -> bool:
        before = prompts(subject)
        if before is None or before == besides:
            return False
        others = map(prompts, _with_other_texts(subject, name))
        return any(after is not None and after != before for after in others)

    shown = []
    for name in JUDGED:
        added = [
            (Case.model_validate({**fields, name: given.get(name, invented[name])}), before)
            for fields, before in zip(sparse, without, strict=True)
            if name in given or name not in fields
        ]
        if changes(whole, name) or any(
            changes(subject, name, besides=None if name in given else before)
            for subject, before in added
        ):
            shown.append(name)
    return listed_fields(shown)


def _with_other_texts(case: Case, name: str) -> Iterator[Case]:
    """Yield a case with other letters in a field; also in one of its texts after the other.

    A metric may expect some of the texts: the kind of a criterion, a choice that is the reference.
    """
    yield with_other_letters(case, name)
    if FIELD_BY_NAME[name].kind in ("object", "texts"):
        value = case.model_dump()[name]
        paths = list(_texts(value))
        for path in paths if len(paths) > 1 else ():
            yield Case.model_validate({**case.model_dump(), name: _replaced(value, path)})


def _texts(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside: Mapping[Any, Any] = {}
    if isinstance(value, str):
        yield path
    elif isinstance(value, Mapping):
        inside = value
    elif isinstance(value, Sequence):
        inside = dict(enumerate(value))
    for key, each in inside.items():
        yield from _texts(each, (*path, key))


def _replaced(value: Any, path: Sequence[Any]) -> Any:
    if not path:
        return other_letters(value)
    first, *rest = path
    new = dict(value) if isinstance(value, Mapping) else list(value)
    new[first] = _replaced(new[first], rest)
    return new
