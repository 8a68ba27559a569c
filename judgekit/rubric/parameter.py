"""Parameters of rubrics: a setting that the author leaves open, with its type and bounds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from judgekit.core.canonical import CONTROL_CHARACTERS
from judgekit.core.errors import ConfigError
from judgekit.core.request import Detail
from judgekit.core.suggest import suggest
from judgekit.core.value import Value
from judgekit.rubric.criterion import Criterion, Level
from judgekit.rubric.sandbox import View

ParameterKind = Literal["text", "number", "integer", "boolean", "choice", "list"]
Setting = str | float | int | bool | tuple[str, ...]
"""The value of a parameter."""
MAX_PARAMETERS = 50
"""Maximum number of parameters of a rubric."""
MAX_SETTING = 20_000
"""Maximum number of characters of a setting."""

MAX_NUMBER = 1e15
"""Maximum absolute value of a number; integers up to there are exact floats."""

_KINDS: dict[type, ParameterKind] = {
    bool: "boolean", int: "integer", float: "number", list: "list", tuple: "list",
}  # fmt: skip
"""Type of a default -> the kind of its parameter."""
# Texts, so that only rubrics with parameters compile them.
_IN_TEXT = r"\{\{\s*parameters\.([A-Za-z0-9_]+)\s*\}\}"
_MEANT = r"\{\{-?\s*parameters\b"


class Parameter(Value):
    """One parameter; without a default, a suite must set it."""

    name: str
    kind: ParameterKind
    description: str = ""
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None
    """Bounds of a number, inclusive."""
    choices: tuple[str, ...] = ()
    """The allowed words of a choice, or of each item of a list."""

    def check(self, value: Any) -> Setting:
        """Return a valid setting in its normal form: integers as `int`, lists as tuples.

        Raises:
            ConfigError: it has the wrong type or is out of bounds.
        """
        if self.kind == "boolean":
            if not isinstance(value, bool):
                raise self._wrong("must be true or false", value)
            return value
        if self.kind in ("number", "integer"):
            return self._number(value)
        if self.kind == "list":
            if not isinstance(value, (list, tuple)):
                raise self._wrong("must be a list of texts", value)
            return tuple(self._text(item) for item in value)
        return self._text(value)

    def read(self, text: str) -> Setting:
        """Return a setting from the text of a command-line option; a list is JSON or `a, b`.

        Raises:
            ConfigError: it has the wrong type or is out of bounds.
        """
        if self.kind in ("text", "choice"):
            return self.check(text)
        if self.kind == "list" and not text.lstrip().startswith("["):
            return self.check([item.strip() for item in text.split(",") if item.strip()])
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        return self.check(value)

    def _number(self, value: Any) -> float | int:
        whole = self.kind == "integer"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong("must be a whole number" if whole else "must be a number", value)
        if not abs(value) <= MAX_NUMBER:
            raise ConfigError(f"parameter {self.name!r} must be a number between -1e15 and 1e15")
        if whole and value != int(value):
            raise self._wrong("must be a whole number", value)
        number = int(value) if value == int(value) else float(value)
        if self.minimum is not None and number < self.minimum:
            raise self._wrong(f"must be at least {self.minimum:g}", value)
        if self.maximum is not None and number > self.maximum:
            raise self._wrong(f"must be at most {self.maximum:g}", value)
        return number

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            hint = "; put it in quotes" if isinstance(value, (bool, int, float)) else ""
            raise self._wrong("must be text", value, hint)
        if len(value) > MAX_SETTING:
            rule = f"must have at most {MAX_SETTING:,} characters, not {len(value):,}"
            raise ConfigError(f"parameter {self.name!r} {rule}")
        if CONTROL_CHARACTERS.search(value) or any("\ud800" <= c <= "\udfff" for c in value):
            raise self._wrong("must not contain control characters", value)
        if self.choices and value not in self.choices:
            hint = suggest(value, self.choices, otherwise="")
            raise self._wrong(f"must be one of {', '.join(self.choices)}", value, hint)
        return value

    def _wrong(self, rule: str, value: Any, hint: str = "") -> ConfigError:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return ConfigError(f"parameter {self.name!r} {rule}, not {shown}{hint}")


def parameter(name: str, settings: Mapping[str, Any]) -> Parameter:
    """Return a parameter from the settings in its file.

    Without `kind`, choices make a choice; otherwise the type of the default decides.

    Raises:
        ConfigError: the settings contradict each other.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ConfigError(
            f"{name!r} is not a valid name for a parameter: use letters, digits and _"
        )
    fields = {key: value for key, value in settings.items() if value is not None}
    choices, default = fields.get("choices"), fields.pop("default", None)
    kind = fields.pop("kind", None) or ("choice" if choices else _KINDS.get(type(default), "text"))
    low, high = fields.get("minimum"), fields.get("maximum")
    if (low is not None or high is not None) and kind not in ("number", "integer"):
        raise ConfigError(f"minimum and maximum belong to a number, not to a {kind}")
    if low is not None and high is not None and low > high:
        raise ConfigError(f"minimum {low:g} is above maximum {high:g}")
    if choices is not None and kind not in ("choice", "list"):
        raise ConfigError(f"choices belong to a choice or a list, not to a {kind}")
    if kind == "choice" and len(choices or ()) < 2:
        raise ConfigError("a choice needs at least two choices: [one, other]")
    if choices is not None and len(set(choices)) != len(choices):
        raise ConfigError("names a choice twice")
    result = Parameter(name=name, kind=kind, **fields)
    if default is None:
        return result
    try:
        return result.model_copy(update={"default": result.check(default)})
    except ConfigError as exc:
        raise ConfigError(f"default: {exc}") from exc


class ParameterView(View):
    """The parameters of a rubric, for templates."""

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self.__dict__.update(settings)

    def __str__(self) -> str:
        raise TypeError("print one of the parameters, such as parameters.audience")


# -- parameters in the rubric's own texts ------------------------------------------


def named_in(text: str) -> list[str]:
    """Return the parameters that a text of the front matter names, as `{{ parameters.NAME }}`.

    Raises:
        ConfigError: the text has any other template syntax.
    """
    if "{{" not in text:
        return []
    if len(re.findall(_MEANT, text)) != len(re.findall(_IN_TEXT, text)):
        raise ConfigError("a text may contain {{ parameters.NAME }} and no other template syntax")
    return re.findall(_IN_TEXT, text)


def filled(text: str, settings: Mapping[str, Setting]) -> str:
    """Return a text with its parameters filled in; unset parameters stay as they are."""
    if "{{" not in text:
        return text

    def spelled(match: re.Match[str]) -> str:
        setting = settings.get(match[1])
        if setting is None:
            return match[0]
        if isinstance(setting, bool):
            return "true" if setting else "false"
        words = ", ".join(setting) if isinstance(setting, tuple) else str(setting)
        return " ".join(words.split())

    return re.sub(_IN_TEXT, spelled, text)


def texts_of(criterion: Criterion) -> list[str]:
    """Return the texts of a criterion that may name parameters."""
    parts: tuple[Level | Detail, ...] = (*criterion.levels, *criterion.question.details)
    return [criterion.question.text, *(part.text for part in parts)]


def filled_criterion(criterion: Criterion, settings: Mapping[str, Setting]) -> Criterion:
    """Return a criterion with the parameters in its texts filled in."""
    if not any("{{" in text for text in texts_of(criterion)):
        return criterion
    text = filled(criterion.question.text, settings)
    levels = filled_parts(criterion.levels, settings)
    details = filled_parts(criterion.question.details, settings)
    return criterion.changed(levels=levels, text=text, details=details)


P = TypeVar("P", Level, Detail)


def filled_parts(parts: Sequence[P], settings: Mapping[str, Setting]) -> tuple[P, ...]:
    """Return levels or details with the parameters in their texts filled in."""
    return tuple(part.model_copy(update={"text": filled(part.text, settings)}) for part in parts)
