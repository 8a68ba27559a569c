"""A metric for tests: an answer says itself what it is worth."""

from __future__ import annotations

import json
from typing import Any

from judgekit.core.canonical import digest
from judgekit.core.case import Case
from judgekit.core.errors import CaseError
from judgekit.core.judgment import Judgment
from judgekit.core.score import Part, Score


class Marked:
    """Takes the value an answer says it is worth; what is no number costs the row."""

    def __init__(
        self,
        name: str = "worth",
        *,
        higher: bool = True,
        made_with: dict[str, Any] | None = None,
        key: str = "",
        reason: str = "worth",
        strict: float = 0.0,
    ) -> None:
        self.name = name
        self.key, self.reason = key, reason
        self._strict = strict
        self.higher_is_better = higher
        self.range = (0.0, 1.0)
        self.options: dict[str, Any] = {}
        if made_with:
            self.made_with = made_with

    async def score(self, case: Case) -> Score:
        said = json.loads(case.output or "null")
        if said is None:
            return Score(status="abstained", value=None, reason="no idea")
        if not isinstance(said, (int, float, dict)):
            raise CaseError("no number")
        parts = said if isinstance(said, dict) else {"all": said}
        parts = {id: v * (1 - self._strict) for id, v in parts.items()}
        value = sum(parts.values()) / len(parts)
        made = getattr(self, "made_with", {})
        key = self.key or digest(f"{case.id} {case.output}")
        return Score(
            value=value,
            reason=f"{self.reason} {value:g}",
            parts=tuple(
                Part(id=id, value=v, weight=1 / len(parts), reason=f"{id} is {v:g}")
                for id, v in parts.items()
            ),
            source="judge" if made else "computed",
            judgments=(Judgment(request_key=key),) if made else (),
            meta=made,
        )
