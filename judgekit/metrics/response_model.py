"""A Pydantic class as what a judge is asked for, in place of the criteria of a rubric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from judgekit.core.errors import ConfigError
from judgekit.core.judgment import Judgment
from judgekit.core.request import Form
from judgekit.core.value import Json


class ResponseModel:
    """What is asked for, and what an instance of it is worth on 0..1.

    Args:
        made_of: the class; its JSON schema goes to the judge.
        worth: what an instance is worth; its field `value` or `score` by default.
    """

    def __init__(
        self, model_class: type[BaseModel], *, worth: Callable[[Any], float] | None = None
    ) -> None:
        self.made_of = model_class
        self.form = Form(json_schema=_untitled(model_class.model_json_schema()))
        self._worth = worth or _value_field

    def combined(
        self, judgments: Sequence[Judgment], *, metric: str
    ) -> tuple[float, dict[str, Json]]:
        """Return the mean of what the judgments are worth, and the fields of the first.

        Raises:
            ValueError: one is worth something outside of 0..1.
            ConfigError: nothing says what an instance is worth.
        """
        values = []
        for judgment in judgments:
            value = float(self._worth(self.made_of.model_validate(judgment.data)))
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"{metric}: the response is worth {value}, not within 0..1")
            values.append(value)
        data = judgments[0].data
        return sum(values) / len(values), data if isinstance(data, dict) else {}


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
    raise ConfigError("the response model has no field 'value'; say what it is worth with value=")
