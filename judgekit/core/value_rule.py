"""What a value must be: the errors of pydantic in our words, decided once for every file."""

import re
from collections.abc import Mapping
from typing import Any

_OBJECT = "must be keys and values"
_BOOLEAN = "must be true or false"
_NUMBER = "must be a number"
_WHOLE = "must be a whole number"
_TEXT = "must be text"
_RULES: Mapping[str, str] = {
    "missing": "is missing",
    "missing_argument": "is missing",
    "missing_keyword_only_argument": "is missing",
    "extra_forbidden": "is unknown",
    "unexpected_keyword_argument": "is unknown",
    "invalid_key": "has a key that is not text",
    "none_required": "must be null",
    "finite_number": "must be a finite number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "frozen_set_type": "must be a list",
    "iterable_type": "must be a list",
    "dict_type": _OBJECT,
    "mapping_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "string_type": _TEXT,
    "string_unicode": _TEXT,
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "int_parsing_size": "must be a smaller number",
    "callable_type": "must be a function",
    "is_instance_of": "must be a {class}",
    "date_type": "must be a date, such as 2026-11-30",
    "date_parsing": "must be a date, such as 2026-11-30",
    "date_from_datetime_parsing": "must be a date, such as 2026-11-30",
    "date_from_datetime_inexact": "must be a date without a time of day",
    "datetime_type": "must be a date and a time, such as 2026-11-30T09:00:00Z",
    "datetime_parsing": "must be a date and a time, such as 2026-11-30T09:00:00Z",
    "recursion_loop": "must not contain itself",
}
"""Type of a pydantic error -> what the value must be. `{name}` is a part of its context."""


def value_rule(fault: Mapping[str, Any]) -> str:
    """Return what a value must be, for one error of a `ValidationError`.

    Example:
        >>> value_rule({"type": "less_than_equal", "ctx": {"le": 1.0}})
        'must be at most 1'
    """
    kind, context = fault["type"], fault.get("ctx", {})
    if kind in ("too_short", "string_too_short"):
        least = context["min_length"]
        counted = _counted(least, "character" if kind == "string_too_short" else "entry")
        return "must not be empty" if least == 1 else f"must have at least {counted}"
    if kind in ("too_long", "string_too_long"):
        most = context["max_length"]
        counted = _counted(most, "character" if kind == "string_too_long" else "entry")
        return f"must have at most {counted}"
    if kind == "string_pattern_mismatch":
        return f"must match {context['pattern']}"
    message = str(fault.get("msg", ""))
    if kind in ("value_error", "assertion_error"):
        return message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if kind in _RULES:
        return _RULES[kind].format_map({name: _plain(value) for name, value in context.items()})
    message = message.replace("Input should be", "must be", 1)
    return message[:1].lower() + message[1:]


def number_meant(value: object) -> str:
    """Return the end of a message about a text for a number: the number in it, if there is one.

    Example:
        >>> number_meant("90%"), number_meant(">= 0.5"), number_meant("high")
        ('; write 90 % as 0.9', '; write the number alone: 0.5', '')
    """
    match = _NUMBER_IN.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return ""
    if match["share"]:
        share = float(match["number"].replace(",", ".")) / 100
        return f"; write {match['number'].replace(',', '.')} % as {share:.10g}"
    number = match["number"]
    plain = number.replace(",", "" if _THOUSANDS.fullmatch(number) else ".")
    return f"; write the number alone: {plain}"


_NUMBER_IN = re.compile(
    r"[^\w.,+-]{0,8}(?P<number>[+-]?[0-9]{1,15}(?:[.,][0-9]{1,12})?)\s{0,4}(?P<share>%)?[^\w%]{0,4}",
    re.ASCII,
)
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}", re.ASCII)
"""A comma between thousands, not that of a decimal number: `1,000`."""


def _counted(number: int, noun: str) -> str:
    many = "entries" if noun == "entry" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def _plain(value: Any) -> str:
    """Return a bound as people write it: 1, not 1.0."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)
