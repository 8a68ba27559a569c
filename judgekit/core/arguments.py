"""The arguments of public functions: each is checked against its annotation, with one rule."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache, wraps
from importlib import import_module
from math import isnan
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from judgekit.core.errors import WrongArgument
from judgekit.core.suggest import suggest
from judgekit.core.synonyms import synonym
from judgekit.core.value import described, is_coroutine, shortened
from judgekit.core.value_rule import number_meant

if TYPE_CHECKING:
    from inspect import BoundArguments, Signature

F = TypeVar("F", bound=Callable[..., Any])

READ_LATER = frozenset(
    {
        *("Source", "Frame", "DataFrame", "LazyFrame", "Dataset", "IterableDataset"),
        *(
            "Script",
            "MetricChoice",
            "MetricChoices",
            "JudgeLike",
            "JudgeChoices",
            "Gates",
            "Chosen",
        ),
        "MetricLike",
    }
)
"""Annotations that the reader of the value checks, with messages about its contents."""
_MADE_BY: Mapping[str, str] = {
    "Report": "judgekit.Report.read(FOLDER)",
    "Rubric": "judgekit.load_rubric(PATH)",
    "Rules": "judgekit.Rules(...)",
    "Limits": "judgekit.Limits(...)",
    "Overrides": "judgekit.Overrides(...)",
    "Suite": "judgekit.load_suite(PATH)",
    "Case": "{'input': '...', 'output': '...'}",
    "Event": "asyncio.Event()",
}
"""Class -> how a caller gets an object of it."""
_INSTEAD: Mapping[tuple[str, str], str] = {
    ("cassette", "Cassette"): "an open Cassette is a judge; write judge=cassette",
    ("rubric", "RubricMetric"): "a RubricMetric is a metric already; use it without another one",
    ("out", "Report"): "out is the folder to write, a path; evaluate returns the report",
}
"""Argument and class of a value that belongs elsewhere -> what to write."""
_MAKERS: Mapping[str, str] = {"Cassette": "judgekit.Cassette.open(PATH, judge)"}
"""Class -> what makes its objects from the arguments that its constructor does not take."""
_SECRET = frozenset({"api_key", "headers", "params"})
"""Arguments whose values are not shown, because they may be keys."""
_RECEIVERS = ("self", "cls", "_cls")
_COROUTINE = 0x80
"""The flag of the code of an async function: `inspect.CO_COROUTINE`."""
_ELEMENTS = 1000
"""Maximum number of entries of a collection that are checked."""


def checked(function: F) -> F:
    """Return a function that refuses arguments that do not fit its annotations.

    The check is before the call, so nothing is written or sent. Unknown and missing arguments are
    refused in the same words. The module of the function needs `from __future__ import
    annotations`: names in the text of an annotation are looked up at the first call, and a class
    that is imported for type checkers only is compared by its name.

    Raises:
        WrongArgument: by the returned function; with the argument and what it takes.

    Example:
        >>> @checked
        ... def mean(values: list[float], *, digits: int = 3) -> float: ...
        >>> try:
        ...     mean([1.0], digits="2")
        ... except WrongArgument as error:
        ...     print(error)
        mean: digits must be a whole number, not '2'; write digits=2, without quotes
    """
    if function.__code__.co_flags & _COROUTINE:

        @wraps(function)
        async def called(*args: Any, **options: Any) -> Any:
            check_call(called, args, options)
            return await function(*args, **options)

        return cast("F", called)

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        check_call(call, args, options)
        return function(*args, **options)

    return cast("F", call)


def named_fields(kind: Any) -> Any:
    """Return a dataclass whose constructor names missing and unnamed fields.

    It checks the values of its fields itself, because it takes more than its annotations say.
    """
    plain = kind.__init__

    @wraps(plain)
    def init(*args: Any, **options: Any) -> None:
        _bound(init, args, options)
        plain(*args, **options)

    kind.__init__ = init
    return kind


def checked_class(kind: type) -> Any:
    """Return a class whose constructor is checked, for classes with a generated one."""
    if not issubclass(kind, tuple):
        kind.__init__ = checked(kind.__init__)  # type: ignore[method-assign]
        return kind
    plain: Any = kind.__new__

    @wraps(plain)
    def new(cls: type, *args: Any, **options: Any) -> Any:
        import inspect

        try:
            value = plain(cls, *args, **options)
        except TypeError as exc:
            bound = inspect.signature(plain)
            problem = _unbound(kind.__name__, bound, (cls, *args), options, str(exc))
            raise WrongArgument(problem) from None
        _check_fields(kind, value)
        return value

    kind.__new__ = new  # type: ignore[method-assign]
    return kind


def check_call(function: Any, args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Check the arguments of one call; see `checked`.

    Raises:
        WrongArgument: with the argument and what it takes.
    """
    name, bound, kinds = _bound(function, args, options)
    # A call with several wrong arguments names the first of them.
    for argument, value in bound.arguments.items():
        one = kinds.get(argument)
        if one is None or argument in _RECEIVERS:
            continue
        instead = _INSTEAD.get((argument, type(value).__name__))
        if instead is not None:
            raise WrongArgument(f"{name}: {instead}")
        if (problem := _problem(argument, value, one)) is not None:
            raise WrongArgument(f"{name}: {problem}", problem=problem)


def _bound(
    function: Any, args: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[str, BoundArguments, Mapping[str, Kinds]]:
    signature, kinds = _parameters(function)
    name = function.__qualname__.rpartition("<locals>.")[2].removesuffix(".__init__")
    name = name.replace("__create_fn__.", "")
    try:
        return name, signature.bind(*args, **options), kinds
    except TypeError as exc:
        raise WrongArgument(_unbound(name, signature, args, options, str(exc))) from None


def _check_fields(kind: type, value: Any) -> None:
    for name, one in _fields(kind).items():
        if one is not None and (problem := _problem(name, getattr(value, name), one)) is not None:
            raise WrongArgument(f"{kind.__name__}: {problem}")


class Kind(NamedTuple):
    """One kind of value that an argument takes."""

    fits: Callable[[Any], bool]
    words: str
    """The kind in a message, such as `a number`."""
    entries: tuple[Kind, ...] | None = None
    """What the entries of a list, or the values of a dict, may be; `None` for anything."""
    keyed: bool = False
    """Whether it is a dict."""
    late: Callable[[Any], bool] | None = None
    """A second test that may import a module, for values that nothing else fits."""


Kinds = tuple[Kind, ...] | None
"""The kinds of one argument; `None` if any value is taken."""


def _parameters(function: Any) -> tuple[Signature, Mapping[str, Kinds]]:
    import inspect

    return _read(inspect.unwrap(function))


@lru_cache(maxsize=512)
def _read(function: Any) -> tuple[Signature, Mapping[str, Kinds]]:
    import inspect

    signature = inspect.signature(function)
    hints = _hints(function, function.__globals__)
    kinds: dict[str, Kinds] = {}
    for name, parameter in signature.parameters.items():
        one = kinds_of(hints.get(name, Any))
        if parameter.kind is parameter.VAR_POSITIONAL and one is not None:
            one = (Kind(_is_collection, "values", one),)
        if parameter.kind is not parameter.VAR_KEYWORD:
            kinds[name] = one
    return signature, kinds


@lru_cache(maxsize=64)
def _fields(kind: Any) -> Mapping[str, Kinds]:
    hints = _hints(kind, vars(sys.modules[kind.__module__]))
    return {name: kinds_of(hints[name], strict=True) for name in kind._fields}


def _hints(owner: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    scope = _Scope(names)
    scope.update({name: _AbsentName(name, (), {}) for name in READ_LATER})
    return get_type_hints(owner, localns=scope)


# -- annotations ------------------------------------------------------------------


class _AbsentName(type):
    """The class of a name that is imported for type checkers only, such as `asyncio.Event`."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AbsentName(name, (), {})


class _Scope(dict[str, Any]):
    """The names of a module, and a placeholder for each unknown one."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, None) or _AbsentName(name, (), {})


def kinds_of(annotation: Any, *, strict: bool = False) -> Kinds:
    """Return the kinds of value that an annotation allows; `None` for any value.

    Args:
        annotation: the annotation.
        strict: whether a `Literal` takes its words alone, and not any text.

    Example:
        >>> [kind.words for kind in kinds_of(float | list[str] | None)]
        ['a number', 'a list', 'None']
    """
    found = list(_expanded(annotation, strict=strict))
    return None if None in found else tuple(kind for kind in found if kind is not None)


def _expanded(annotation: Any, *, strict: bool = False) -> Iterator[Kind | None]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        for one in arguments:
            yield from _expanded(one, strict=strict)
    elif origin is Annotated:
        yield from _expanded(arguments[0], strict=strict)
    elif origin is Literal:
        words = " or ".join(map(repr, arguments))
        if not strict and all(isinstance(one, str) for one in arguments):
            # The function itself, which a file or a flag reaches too, says which words there are.
            yield Kind(lambda value: isinstance(value, str), words)
            return
        yield Kind(lambda value: _is_one_of(value, arguments), words)
    elif origin is not None:
        yield _generic(origin, arguments)
    elif annotation is Callable or annotation in (Mapping, Sequence, Iterable):
        yield _generic(annotation, ())
    elif isinstance(annotation, type) or annotation is None:
        yield _plain(annotation)
    else:
        yield None


def _generic(origin: Any, arguments: tuple[Any, ...]) -> Kind | None:
    if origin is Callable:
        return Kind(_is_function, "a function")
    if origin is type:
        base = getattr(arguments[0], "__name__", "object") if arguments else "object"
        return Kind(lambda value: _has_base(value, base), f"a class with the base {base}")
    entries = None
    if arguments:
        found = list(_expanded(arguments[-1 if issubclass(origin, Mapping) else 0]))
        entries = None if None in found else tuple(kind for kind in found if kind is not None)
    if issubclass(origin, Mapping):
        return Kind(lambda value: isinstance(value, Mapping), "a dict", entries, keyed=True)
    if issubclass(origin, Collection):
        return Kind(_is_collection, "a list", entries)
    if issubclass(origin, Iterable):
        return Kind(_is_many, "a list")
    return None


def _plain(kind: Any) -> Kind | None:
    if kind in (None, type(None)):
        return Kind(lambda value: value is None, "None")
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    name = kind.__name__
    if name in READ_LATER or kind in (Any, object):
        return None
    words = f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
    if issubclass(kind, Enum):
        values = " or ".join(repr(one.value) for one in kind)
        return Kind(lambda value: isinstance(value, kind), values)
    if isinstance(kind, _AbsentName):
        return Kind(
            lambda value: any(base.__name__ == name for base in type(value).__mro__),
            words,
            late=lambda value: _is_called(value, name),
        )
    if getattr(kind, "_is_protocol", False):
        members = [m for m in vars(kind) if not m.startswith("_")]
        return Kind(lambda value: _has_all(value, members), words)
    return Kind(lambda value: isinstance(value, kind), words)


def _is_called(value: Any, name: str) -> bool:
    """Return whether a value is one of what a name of `judgekit.types` stands for."""
    if isinstance(value, type) or is_coroutine(value):
        return False
    # `judgekit` is above `core`; it imports the module of the name only for a wrong argument.
    meant = getattr(import_module("judgekit.types"), name, None)
    kinds = None if meant is None else kinds_of(meant)
    return kinds is not None and any(kind.fits(value) for kind in kinds)


def _is_one_of(value: Any, allowed: tuple[Any, ...]) -> bool:
    return any(type(value) is type(one) and value == one for one in allowed)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and not isnan(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


def _is_many(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | type)


def _is_collection(value: Any) -> bool:
    return _is_many(value) and isinstance(value, Collection)


def _has_base(value: Any, name: str) -> bool:
    return isinstance(value, type) and any(base.__name__ == name for base in value.__mro__)


def _has_all(value: Any, members: Iterable[str]) -> bool:
    return not isinstance(value, type) and all(hasattr(value, member) for member in members)


_SIMPLE: Mapping[Any, Kind] = {
    str: Kind(lambda value: isinstance(value, str), "text"),
    int: Kind(_is_whole, "a whole number"),
    float: Kind(_is_number, "a number"),
    bool: Kind(lambda value: isinstance(value, bool), "True or False"),
    dict: Kind(lambda value: isinstance(value, Mapping), "a dict", None, keyed=True),
    list: Kind(_is_collection, "a list"),
    Path: Kind(lambda value: isinstance(value, PathLike), "a path"),
}


# -- messages ---------------------------------------------------------------------


def _problem(argument: str, value: Any, kinds: tuple[Kind, ...]) -> str | None:
    """Return what is wrong with a value, or `None`."""
    taken = [kind for kind in kinds if kind.fits(value)]
    taken = taken or [kind for kind in kinds if kind.late is not None and kind.late(value)]
    if not taken:
        secret = argument.partition("[")[0] in _SECRET
        shown = f"an object of {type(value).__name__}" if secret else described(value)
        mend = "" if secret else _mend(argument, value, kinds)
        return f"{argument} must be {_any_of(kinds)}, not {shown}{mend}"
    for kind in taken:
        if kind.entries is None:
            return None
    for kind in taken:
        entries = kind.entries or ()
        items = value.items() if kind.keyed else enumerate(value)
        for number, (key, entry) in enumerate(items):
            if number == _ELEMENTS:
                break
            if (inner := _problem(f"{argument}[{key!r:.60}]", entry, entries)) is not None:
                return inner
    return None


def _any_of(kinds: Iterable[Kind]) -> str:
    words = [word for kind in kinds if kind.words != "None" for word in kind.words.split(" or ")]
    several = list(dict.fromkeys(words))
    if any(word.startswith("'") for word in several):
        several = [word for word in several if word != "text"]
    head, last = ", ".join(several[:-1]), several[-1]
    return f"{head} or {last}" if head else last


def _mend(argument: str, value: Any, kinds: tuple[Kind, ...]) -> str:
    """Return the end of a message: how to write what was meant; may be empty."""
    # The entry of a list or dict has no name to assign to.
    plain = "" if "[" in argument else f"{argument}="
    words = {kind.words for kind in kinds}
    if is_coroutine(value):
        value.close()
        return "; await it"
    if isinstance(value, type):
        wants_class = any(word.startswith("a class") for word in words)
        return "" if wants_class else f"; create one: {value.__name__}(...)"
    if isinstance(value, bool) and words & {"a number", "a whole number"}:
        return ""
    if isinstance(value, str):
        return _text_mend(plain, value, words, kinds)
    single = value[0] if isinstance(value, list | tuple) and len(value) == 1 else None
    if single is not None and any(kind.fits(single) for kind in kinds):
        return f"; write {plain}{shortened(single)}"
    first = value[0] if isinstance(value, list | tuple) and value else None
    if any(kind.keyed and any(one.fits(first) for one in kind.entries or ()) for kind in kinds):
        return f"; write {plain}{{'NAME': {shortened(first)}}}"
    for kind in kinds:
        made = _MADE_BY.get(kind.words.partition(" ")[2])
        if isinstance(value, Mapping) and made is not None and made.endswith("(...)"):
            given = ", ".join(f"{key}={shortened(one)}" for key, one in list(value.items())[:4])
            return f"; write {plain}{made.replace('...', given)}"
        if made is not None:
            return f"; write {plain}{made}"
    return ""


def _text_mend(argument: str, value: str, words: set[str], kinds: tuple[Kind, ...]) -> str:
    if "a list" in words:
        return f"; write {argument}[{shortened(value)}]"
    if words & {"a number", "a whole number"}:
        try:
            float(value)
        except ValueError:
            return number_meant(value)
        return f"; write {argument}{value.strip()}, without quotes"
    if "True or False" in words and value.casefold() in ("true", "false", "yes", "no", "on", "off"):
        meant = value.casefold() in ("true", "yes", "on")
        return f"; write {argument}{meant}, without quotes"
    for kind in kinds:
        if (made := _MADE_BY.get(kind.words.partition(" ")[2])) is not None:
            return f"; write {argument}{made}"
        if kind.keyed and any(one.fits(value) for one in kind.entries or ()):
            return f"; write {argument}{{'NAME': {shortened(value)}}}"
    return ""


def _unbound(
    name: str, signature: Signature, args: tuple[Any, ...], options: Mapping[str, Any], said: str
) -> str:
    """Return the message about arguments that are missing, unknown or too many."""
    parameters = {key: one for key, one in signature.parameters.items() if key not in _RECEIVERS}
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    unknown = [key for key in options if key not in parameters]
    if unknown and not takes_any:
        hint = synonym("argument", unknown[0], parameters)
        hint = hint or suggest(unknown[0], parameters)
        return f"{name}: unknown argument {unknown[0]!r}{hint}"
    by_place = [key for key, one in parameters.items() if one.kind is not one.KEYWORD_ONLY]
    given = len(args) - (next(iter(signature.parameters), "") in _RECEIVERS)
    if given > len(by_place):
        named = [key for key in parameters if key not in by_place and key not in options]
        needed = [key for key in named if parameters[key].default is parameters[key].empty]
        each = ", ".join(f"{key}=..." for key in needed or named[:1])
        example = f"; write {_MAKERS.get(name, each)}" if each else ""
        count = {0: "no argument", 1: "1 argument"}.get(len(by_place), f"{len(by_place)} arguments")
        return f"{name}: takes {count} without a name, not {given}{example}"
    needed = [
        key for key, one in parameters.items()
        if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
        and key not in options and key not in by_place[:given]
    ]  # fmt: skip
    if needed:
        return f"{name}: {needed[0]!r} is missing; add {needed[0]}=..."
    return f"{name}: {said}"
