"""Models of files, and one-line messages for their validation errors."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from judgekit.core.canonical import visible
from judgekit.core.errors import ConfigError
from judgekit.core.lookalike import lookalike
from judgekit.core.suggest import closest, suggest
from judgekit.core.synonyms import key_synonym, synonym
from judgekit.core.value_rule import number_meant, value_rule
from judgekit.core.yaml_file import Lines

M = TypeVar("M", bound=BaseModel)
Path = tuple[int | str, ...]


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


Number = Annotated[float, BeforeValidator(_number, json_schema_input_type=float)]
"""A number; pydantic by itself would accept `true` as 1."""
_Positive = Annotated[float, Field(ge=0)]
_Fraction = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[_Positive, BeforeValidator(_number, json_schema_input_type=_Positive)]
Fraction = Annotated[_Fraction, BeforeValidator(_number, json_schema_input_type=_Fraction)]


def _rows(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    if not isinstance(value, str) or not re.fullmatch(_SHARE, value):
        raise ValueError('write a number of rows, or a share such as "5%"')
    return value


_SHARE = r"\d{1,3}(\.\d{1,6})?%"
_Share = Annotated[str, Field(pattern=f"^{_SHARE}$")]
Rows = Annotated[
    str | float | None, BeforeValidator(_rows, json_schema_input_type=_Share | Positive | None)
]
"""A number of rows: a count, or a share of all rows."""


def none_yet() -> list[Any]:
    """Return an empty list, as a default factory.

    pydantic inspects the signature of a factory; for `list` itself, Python would import
    `tokenize`.
    """
    return []


class FileModel(BaseModel):
    """The model of a file that people write, separate from the values of the program."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        defer_build=True,
        coerce_numbers_to_str=True,
    )


class Hints(NamedTuple):
    """Hints for the errors of one kind of file, besides the valid names."""

    key: Callable[[Path, list[str]], str]
    """Maps the path of an unknown key and the valid keys to the end of a message."""
    value: Callable[[Path], str]
    """Maps the path of a value of the wrong type to the end of a message."""


_PLAIN = Hints(key=lambda path, known: suggest(path[-1], known), value=lambda _: "")


def validate_file(
    model: type[M],
    data: Any,
    *,
    lines: Lines,
    error: type[ConfigError] = ConfigError,
    hints: Callable[[], Hints] = lambda: _PLAIN,
) -> M:
    """Validate data read from a file.

    Raises:
        ConfigError: (or `error`) names the first fault and its line.
    """
    try:
        return model.model_validate(data)
    except ValidationError as exc:
        faults = exc.errors(include_url=False)
        # A missing key is often present under another spelling.
        fault = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
        path = steps_to(fault, data)
        same = [other for other in faults if steps_to(other, data) == path]
        message = describe(fault, path, model, hints=hints(), others=same)
        message += comment_hint(fault, path, lines)
        raise error(message, where=lines.where(*path)) from exc


def comment_hint(fault: Any, path: Path, lines: Lines) -> str:
    """Return advice if a value is missing because `#` begins a comment, else an empty text."""
    if fault.get("input", "") is None and lines.commented(*path):
        return "; # begins a comment: put a text with # in quotes"
    return ""


_MEMBERS = frozenset(
    {
        "bool",
        "constrained-float",
        "constrained-int",
        "constrained-str",
        "float",
        "int",
        "none",
        "str",
    }
)
"""Names that pydantic gives to members of unions, besides those with brackets."""


def steps_to(fault: Any, data: Any) -> Path:
    """Return the path of a pydantic error in the file, without markers and members of unions.

    Args:
        fault: the error.
        data: what was validated, whose own keys may look like a member.
    """
    path: list[Any] = []
    for step in fault["loc"]:
        own = isinstance(data, Mapping) and step in data
        if isinstance(step, str) and not own and ("[" in step or step in _MEMBERS):
            continue
        path.append(step)
        listed = isinstance(data, list) and isinstance(step, int) and step < len(data)
        data = data[step] if own or listed else None
    return tuple(path)


def describe(
    fault: Any,
    path: Path,
    model: type[BaseModel],
    *,
    hints: Hints = _PLAIN,
    others: Sequence[Any] = (),
) -> str:
    """Return a one-line message for a pydantic error.

    Args:
        fault: the error.
        path: where it is.
        model: the model of the file.
        hints: hints for this kind of file.
        others: further errors of the same value, which none of the kinds of a union accepts.
    """
    name = " ".join(visible(".".join(str(step) for step in path)).split())[:200]
    if fault["type"] == "extra_forbidden":
        if " " in str(path[-1]) and fault.get("input") is None:
            # YAML reads `{text: one, two}` as a mapping with a key `two` and no value for it.
            return f"{name!r} is not a key; a text with a comma inside {{ }} needs quotes"
        known = keys_at(model, path[:-1])
        alias = getattr(model, "other_names", {}).get(path[-1]) if len(path) == 1 else None
        said = f"; did you mean {alias!r}?" if alias else key_synonym(path, known)
        meant = lookalike(path[-1]) or said or hints.key(path, known)
        return f"unknown key {name!r}{meant}"
    if fault["type"] == "missing":
        return f"{name!r} is missing{hints.value(path)}"
    if fault["type"] in ("value_error", "assertion_error"):
        message = value_rule(fault)
        hint = hints.value(path) if message.startswith("must be") else ""
        return f"{name}: {message}{hint}" if name else message
    shown = _shown(fault.get("input"))
    if fault["type"] in ("model_type", "dict_type"):
        rule = "must be keys and values"
        return f"{name}: {rule} (it is {shown}){hints.value(path)}" if name else rule
    if fault["type"] in ("too_short", "string_too_short") and not fault.get("input"):
        return f"{name}: must not be empty"
    if not name:
        return value_rule(fault)
    if fault["type"] == "string_type":
        advice = "; write it in quotes" if isinstance(fault.get("input"), (bool, int)) else ""
        return f"{name}: must be text (it is {shown}){hints.value(path) or advice}"
    rules = dict.fromkeys(map(value_rule, (fault, *others)))
    rule = ", or ".join(
        one if n == 0 else one.removeprefix("must be ") for n, one in enumerate(rules)
    )
    beyond = hints.value(path) if fault["type"] == "less_than_equal" else ""
    return f"{name}: {rule} (it is {shown}){beyond or _meant(fault, path) or hints.value(path)}"


def _meant(fault: Any, path: Path) -> str:
    """Return a hint at the intended value; empty if there is none."""
    value = fault.get("input")
    if fault["type"] == "literal_error":
        allowed = re.findall(r"'([^']*)'", str(fault["ctx"]["expected"]))
        if said := synonym(str(path[-1]), value, allowed):
            return said
        close = closest(str(value), allowed)
        return f"; did you mean {close[0]!r}?" if len(close) == 1 else ""
    if fault["type"] in ("float_parsing", "int_parsing"):
        return number_meant(value)
    number = isinstance(value, int | float)
    share = fault["type"] == "less_than_equal" and fault["ctx"]["le"] == 1
    if share and number and 10 <= value <= 100:
        return f"; write {value:g} % as {value / 100:g}"
    return ""


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def keys_at(model: type[BaseModel], path: Path) -> list[str]:
    """Return the valid keys at a path of a model, as far as it can be followed."""
    current: type[BaseModel] | None = model
    annotation: Any = None
    for step in path:
        if current is None:
            return []
        if isinstance(step, int) and (listed := _generic_in(annotation, list)) is not None:
            # The value may be one model or a list of another.
            current = _model_in(listed)
            continue
        if (mapping := _generic_in(annotation, dict)) is not None:
            # A name that the user chose; it may be that of a field, such as a criterion `kind`.
            annotation = mapping.__args__[1]
            continue
        field = current.model_fields.get(str(step))
        if field is None:
            continue  # an index: keep the model
        annotation = field.annotation
        current = _model_in(annotation)
    names = [f.alias or n for n, f in current.model_fields.items()] if current else []
    return [name for name in names if not name.startswith("$")]


def _generic_in(annotation: Any, kind: type) -> Any:
    """Return the first alternative of a type that is a `list[...]` or `dict[...]`, if any."""
    origin = getattr(annotation, "__origin__", None)
    if origin in (list, dict):
        return annotation if origin is kind else None
    inside = (_generic_in(inner, kind) for inner in getattr(annotation, "__args__", ()))
    return next((inner_match for inner_match in inside if inner_match is not None), None)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if inner_match := _model_in(inner):
            return inner_match
    return None


def short_for(key: str) -> Callable[[Any], Any]:
    """Return a validator that reads a text as an entry with one key."""
    return lambda value: {key: value} if isinstance(value, str) else value


def one_or_several(value: Any) -> str:
    """Return the tag of a list, `[several]`, or of anything else."""
    return "[several]" if isinstance(value, list) else "[one]"
