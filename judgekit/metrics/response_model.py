"""A Pydantic class that replaces the criteria of a rubric: the judge fills in an instance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from judgekit.core.comparing import mean_within
from judgekit.core.errors import ConfigError
from judgekit.core.judgment import Judgment
from judgekit.core.request import Form
from judgekit.core.value import Json


class ResponseModel:
    """A Pydantic class for a judge to fill in, and the value of an instance on 0..1.

    Args:
        made_of: the class; the judge receives its JSON schema.
        value: function that returns the value of an instance; by default its field `value` or
            `score`.
    """

    def __init__(
        self, model_class: type[BaseModel], *, value: Callable[[Any], float] | None = None
    ) -> None:
        self.made_of = model_class
        self.form = Form(json_schema=_untitled(model_class.model_json_schema()))
        self._value = value or _value_field

    def combined(
        self, judgments: Sequence[Judgment], *, metric: str
    ) -> tuple[float, dict[str, Json]]:
        """Return the mean value of the judgments, and the fields of the first one.

        Raises:
            ValueError: a value is outside 0..1.
            ConfigError: an instance has no value: there is neither `value` nor a field for it.
        """
        values = []
        for judgment in judgments:
            value = float(self._value(self.made_of.model_validate(judgment.data)))
            if not 0.0 <= value <= 1.0:
                message = f"{metric}: the value of the response must be in 0..1, not {value}"
                raise ValueError(message)
            values.append(value)
        data = judgments[0].data
        return mean_within(math.fsum(values) / len(values), values), data if isinstance(
            data, dict
        ) else {}


def _untitled(value: Any, *, named: bool = False) -> Any:
    """Return a JSON schema without titles, which are names of Python classes.

    Under `properties` a title is a field, not a title.
    """
    if isinstance(value, dict):
        return {
            key: _untitled(item, named=key in ("properties", "$defs"))
            for key, item in value.items()
            if named or key != "title"
        }
    return [_untitled(item) for item in value] if isinstance(value, list) else value


def _value_field(response: Any) -> float:
    for name in ("value", "score"):
        if hasattr(response, name):
            return float(getattr(response, name))
    raise ConfigError("the response model has no field 'value'; give its value with value=")
