"""Make what a judge sent safe to read, show and keep.

Texts become valid UTF-8 without secrets, and values become JSON: keys are texts, infinities and NaN
become null, and integers of more than 64 bits become texts, which no reader takes for numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from judgekit.core.request import Reply, Usage
from judgekit.core.secret_forms import SecretForms

_MOST_LEVELS = 64
"""Maximum depth of a value; responses of providers have about 10 levels."""
_LARGEST = 1 << 63
_NAMES = ("token", "text")
"""Fields with a piece of a text in the objects of a list."""


class Sanitiser:
    """Cleans all that one judge receives.

    Args:
        secrets: texts to hide, in any form that `SecretForms` knows.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms = SecretForms(secrets)

    def text(self, text: str) -> str:
        """Return a text without secrets, in valid UTF-8."""
        hidden = self._forms.hide(text)
        if hidden.isascii():
            return hidden
        try:
            hidden.encode()
        except UnicodeEncodeError:  # halves of surrogate pairs become U+FFFD
            return hidden.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return hidden

    def value(self, value: Any) -> Any:
        """Return a value as JSON, with clean texts and keys."""
        return self._value(value, _MOST_LEVELS)

    def json(self, text: str) -> Any:
        """Return the clean value of a JSON text; `None` if it is malformed."""
        try:
            value = json.loads(text)
        except RecursionError:
            return None
        except ValueError as exc:
            if isinstance(exc, json.JSONDecodeError):
                return None
            value = json.loads(text, parse_int=_integer)
        return self.value(value)

    def reply(self, reply: Reply) -> Reply:
        """Return a reply that can be recorded, whatever the judge put into it."""
        return Reply.model_validate(self.value({**_fields(reply), "usage": _usage(reply.usage)}))

    def _value(self, value: Any, levels: int) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            fits = -_LARGEST <= value < _LARGEST
            return value if fits else f"an integer of {value.bit_length()} bits"
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if levels == 0:
            return None
        if isinstance(value, Mapping):
            return {
                self.text(str(name)): self._value(item, levels - 1) for name, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return self._list(value, levels)
        return None

    def _list(self, items: list[Any] | tuple[Any, ...], levels: int) -> list[Any] | None:
        kinds = set(map(type, items))
        if kinds == {float} and math.isfinite(sum(items)):
            return list(items)  # a vector may have a million numbers
        cleaned = [self._value(item, levels - 1) for item in items]
        if self._forms.secrets and self._forms.are_in(_spelt(cleaned, kinds)):
            return None
        return cleaned


def _integer(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # Python refuses numbers of more than 4,300 digits
        return f"an integer of {len(digits)} digits"


def _spelt(items: list[Any], kinds: set[type]) -> str:
    """Return the text that a list spells: tokens, parts of a text, or bytes as numbers."""
    if kinds == {int}:
        return bytes(n for n in items if n and 0 <= n < 256).decode("utf-8", "replace")
    pieces = []
    for item in items:
        fields = [item.get(name) for name in _NAMES] if isinstance(item, dict) else [item]
        pieces += [field for field in fields if isinstance(field, str)][:1]
    return "".join(pieces)


def _fields(reply: Reply) -> dict[str, Any]:
    fields = {name: getattr(reply, name) for name in type(reply).model_fields}
    tries = [{n: getattr(t, n) for n in type(t).model_fields} for t in reply.tries]
    for fields_of_try in tries:
        for name in ("fault", "omitted"):
            part = fields_of_try[name]
            fields_of_try[name] = None if part is None else part.model_dump()
    return {**fields, "tries": tries}


def _usage(usage: Usage | None) -> dict[str, int] | None:
    """Return token counts; `None` if one of them is no possible count."""
    if usage is None or max(usage.input_tokens, usage.output_tokens) >= _LARGEST:
        return None
    return usage.model_dump()
