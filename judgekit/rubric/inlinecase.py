"""A case written in a rubric, or in a row of a file beside it."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from judgekit.core.case import CASE_WORDS, Case, as_text
from judgekit.core.errors import RubricError
from judgekit.core.file_model import describe


def inline_case(data: dict[str, Any], *, id: str, where: str) -> Case:
    """Return a case written in a rubric.

    Raises:
        RubricError: it is none.
    """
    try:
        words = {name: as_text(data[name]) for name in CASE_WORDS & data.keys()}
        return Case.model_validate({"id": id, **data, **words})
    except ValidationError as exc:
        fault = exc.errors(include_url=False)[0]
        message = f"case: {describe(fault, fault['loc'], Case)}"
        raise RubricError(message, where=where, rule="bad-case") from exc
