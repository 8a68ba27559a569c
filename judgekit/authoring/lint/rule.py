"""A rule: what it is called, why it matters, how to mend what it finds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from judgekit.authoring.lint.finding import Said, Severity
from judgekit.core.suggest import suggest

Check = Callable[[Any], Iterable[Said]]


@dataclass(frozen=True)
class Rule:
    """One rule.

    Args:
        id: its name, in findings, silences and documents.
        severity: `error` fails a run, `warning` does so with `--strict`, `note` never.
        why: what goes wrong otherwise; one or two sentences.
        mend: what to do; one or two sentences.
        check: takes a subject and yields what it finds; `None` for what loading finds.
        languages: `any`, or `English` for a rule about words.
        needs: what it looks at: the front matter, a rubric that loads, a template (of a rubric,
            or a partial one), or a run's verdicts.
        silenceable: whether a file may ask not to hear of it.
    """

    id: str
    severity: Severity
    why: str
    mend: str
    check: Check | None = None
    languages: str = "any"
    needs: Literal["front", "rubric", "template", "results"] = "front"
    silenceable: bool = True


def near_rule(word: str, known: Collection[str]) -> str:
    """Return a hint at the rules that may have been meant."""
    return suggest(word, known, otherwise="; `judgekit rubric lint --rules` lists them")
