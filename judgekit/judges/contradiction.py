"""Several verdicts in one response: whether they contradict each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgekit.core.canonical import visible
from judgekit.core.errors import JudgekitError
from judgekit.core.judgment import parse_reply
from judgekit.core.request import Form

_MOST = 3
"""Maximum number of criteria to name."""


def contradiction(texts: Mapping[str, object], form: Form) -> str | None:
    """Return how the verdicts of a response contradict each other; `None` if they do not.

    A text that is no verdict, such as a sentence before a tool call, contradicts nothing.

    Args:
        texts: where the text is in the response -> the text.
        form: what the texts may answer.
    """
    verdicts = {}
    for place, text in texts.items():
        if not isinstance(text, str) or "{" not in text:
            continue
        try:
            answers = parse_reply(text, form).answers
        except JudgekitError:
            continue
        verdicts[place] = {id: answer.value for id, answer in answers.items()}
    if len(verdicts) < 2:
        return None
    (first, one), *others = verdicts.items()
    for place, other in others:
        if differ := [id for id in one if one[id] != other.get(id)][:_MOST]:
            own, its = _shown(one, differ), _shown(other, differ)
            return f"two verdicts contradict: {first} says {own}; {place} says {its}"
    return None


def _shown(values: Mapping[str, object], ids: Sequence[str]) -> str:
    return ", ".join(f"{id} {visible(str(values.get(id)))[:40]}" for id in ids)
