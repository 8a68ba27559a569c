"""The budget of a rendering: steps, characters, and the length of a text.

In Jinja's sandbox, a template can multiply text to a gigabyte, double a list forty times, or loop
for hours. Here, every text, list and repetition is charged to the budget of the rendering. While a
plan is made (see `plan`), placeholders replace the texts of a case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, NoReturn

from jinja2 import StrictUndefined, TemplateRuntimeError

MAX_STEPS = 500_000
"""Maximum number of loop rounds and calls of a rendering; long bodies and lists count several
times."""
MAX_CHARACTERS = 100_000_000
"""Maximum number of characters that one rendering may build and print."""
MAX_TEXT = 32_000_000
"""Maximum length of a text that a template builds; a text that is not ASCII counts twice."""
MAX_BITS = 2_048
"""Maximum size of an integer in computations: 616 digits."""

MARK = "\ud800"
"""First character of the mark of a printed placeholder: half of a surrogate pair, which no file can
contain."""
MARK_END = "\udfff"


class Unplanned(Exception):
    """A template does more with a text of the case than print it."""


def _refused(*_: Any, **__: Any) -> NoReturn:
    raise Unplanned


class Placeholder:
    """An existing text. It can be printed, fenced and tested; anything else raises `Unplanned`."""

    __slots__ = ("name", "number", "tag")

    def __init__(self, name: str, number: int = -1, tag: str | None = None) -> None:
        self.name = name
        """The field of the case."""
        self.number = number
        """Its index if the field is a list, else -1."""
        self.tag = tag
        """The tag of its fence, if it has one."""

    def fenced(self, tag: str) -> Placeholder:
        """Return the placeholder inside a fence."""
        if self.tag is not None:
            raise Unplanned
        return Placeholder(self.name, self.number, tag)

    def __bool__(self) -> bool:
        return True

    # Jinja treats ordinary errors as "no", so each of these raises `Unplanned`.
    __getattr__ = __getitem__ = __iter__ = __len__ = __contains__ = _refused
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refused
    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __call__ = _refused
    __str__ = __repr__ = __format__ = __int__ = __float__ = __index__ = __round__ = _refused


class MarkedText(Placeholder):
    """A text with marks, which a macro, a block or `set` made. It can be printed and tested."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        super().__init__("")
        self.text = text

    def fenced(self, tag: str) -> Placeholder:
        """Refuse: the tag of a fence is a digest of the text of the case."""
        raise Unplanned


class Rendering:
    """A running rendering: its budget and the messages it has collected.

    Args:
        cached: messages of earlier renderings, by their index.
        read: returns whether anything of the case was read so far.
    """

    def __init__(self, *, cached: dict[int, str], read: Callable[[], bool]) -> None:
        self.messages: list[tuple[str, str]] = []
        self.steps = self.characters = 0
        self.cached = cached
        self.read = read
        self.inside: str | None = None
        """The role that is being rendered, or another place where no role may begin."""
        self.placeholders: list[Placeholder] = []
        """The placeholders printed instead of texts of the case (see `plan`)."""

    def step(self, count: int = 1) -> None:
        """Charge `count` steps."""
        self.steps += count
        if self.steps > MAX_STEPS:
            raise TemplateRuntimeError(f"took more than {MAX_STEPS:,} steps; is a loop endless?")

    def produce(self, count: int) -> None:
        """Charge `count` characters."""
        self.characters += count
        if self.characters > MAX_CHARACTERS:
            raise TemplateRuntimeError(f"produced more than {MAX_CHARACTERS:,} characters")

    def mark(self, placeholder: Placeholder) -> str:
        """Return the mark to print for a placeholder."""
        if isinstance(placeholder, MarkedText):
            return placeholder.text
        self.placeholders.append(placeholder)
        return f"{MARK}{len(self.placeholders) - 1}{MARK_END}"

    def joined(self, pieces: Iterable[Any]) -> Any:
        """Join the output of a macro or a block while placeholders are printed.

        A text with marks must not reach the template as a text: its length, its characters and
        comparisons with it are not those of the texts of the case.
        """
        texts = [piece.text if isinstance(piece, MarkedText) else piece for piece in pieces]
        text = concat("", *texts)
        return MarkedText(text) if MARK in text else text


current: ContextVar[Rendering | None] = ContextVar("rendering", default=None)


def printed(value: str | MarkedText) -> str:
    """Return the output of a template or a role as text, with its marks."""
    return value.text if isinstance(value, MarkedText) else value


def under_way() -> Rendering:
    """Return the running rendering; its budget is charged.

    Jinja computes constants when it compiles. The error here prevents that, because nothing can be
    computed without a rendering.
    """
    rendering = current.get()
    if rendering is None:
        raise TemplateRuntimeError("nothing is being rendered")
    return rendering


def size(text: str) -> int:
    """Return the price of a text: its characters, twice if it is not ASCII."""
    return len(text) if text.isascii() else 2 * len(text)


def weighed(value: Any) -> Any:
    """Charge for reading a value: a list may contain itself twice, forty levels deep."""
    if isinstance(value, str):
        meter = under_way()
        meter.step(1 + (size(value) >> 8))
    elif isinstance(value, int):
        check_number(value)
    elif isinstance(value, (list, tuple, dict)):
        under_way().step(1 + (len(value) >> 3))
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, (str, int, list, tuple, dict, Placeholder)):
                weighed(item)
    elif isinstance(value, Placeholder):
        raise Unplanned
    return value


def searched(value: Any) -> Any:
    """Charge for a search in a value: up to a hundred times the work of reading it."""
    if isinstance(value, str):
        under_way().step(size(value) >> 6)
    return weighed(value)


def built(value: Any) -> Any:
    """Charge for a value that a template built."""
    if isinstance(value, str):
        check_length(size(value))
        meter = under_way()
        meter.produce(size(value))
    elif isinstance(value, MarkedText):
        under_way().produce(size(value.text))
    elif isinstance(value, (list, tuple, dict)):
        under_way().step(1 + (len(value) >> 3))
    return value


def check_length(length: int) -> None:
    """Refuse a text before it is built."""
    if length > MAX_TEXT:
        raise TemplateRuntimeError(f"built a text of more than {MAX_TEXT:,} characters")


def check_number(value: int) -> None:
    """Refuse to compute with an integer of thousands of digits."""
    if value.bit_length() > MAX_BITS:
        raise TemplateRuntimeError(f"computes with an integer of more than {MAX_BITS:,} bits")


def counted(values: Iterable[Any], steps: int = 1, characters: int = 0) -> Iterator[Any]:
    """Charge for each round of a loop."""
    meter = under_way()
    for value in values:
        meter.step(steps)
        meter.produce(characters)
        yield value


def paid(steps: int, characters: int) -> None:
    """Charge for one run of a body."""
    meter = under_way()
    meter.step(steps)
    meter.produce(characters)


def checked_key(value: Any) -> Any:
    """Allow only text and numbers as keys: hashing deeply nested tuples never ends."""
    if not isinstance(value, (str, int, float)):
        raise TemplateRuntimeError("a key is text or a number")
    return value


def concat(first: Any, *rest: Any) -> str:
    """Join texts and numbers."""
    parts = [str(plain(part)) for part in (first, *rest)]
    check_length(sum(map(size, parts)))
    return str(built("".join(parts)))


def plain(value: Any) -> Any:
    """Allow only text and numbers in a prompt; other values have no obvious spelling."""
    if isinstance(value, str):
        return value
    if value is None:
        message = "prints a value that this case does not have; put it inside {% if ... %}"
        raise TemplateRuntimeError(message)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, StrictUndefined):
        return str(value)  # raises, with the name
    if isinstance(value, Placeholder):
        raise Unplanned
    advice = "loop over it, or use the filter join or json"
    raise TemplateRuntimeError(f"prints a {type(value).__name__}; {advice}")
