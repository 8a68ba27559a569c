"""Parse YAML into plain data, and record the line of each value."""

import math
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import yaml

from judgekit.core.errors import ConfigError, place
from judgekit.core.lookalike import TYPOGRAPHIC, odd_space

MAX_NODES = 200_000
"""Maximum number of values with aliases expanded: nested aliases grow exponentially."""
MAX_DEPTH = 60
MAX_NUMBER = 40
"""Maximum length of a number, in characters."""

Path = tuple[str | int, ...]

_HARMLESS = 4_096
"""Maximum nesting depth that does not crash the C composer."""
_TOO_DEEP = "exceeded maximum nesting depth"
"""The scanner's message for more than 1,000 levels, from PyYAML 6.0.4 (libyaml 0.2.6) on. It looks
ahead, so it may refuse a text before the depth is counted here."""
_BEGINS = "[{-?:"
"""Tokens that begin a collection."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Lines:
    """The line of each value of a YAML document, by path."""

    def __init__(self, *, file: str, first: int = 1) -> None:
        self.file = file
        self.first = first
        self._lines: dict[Path, int] = {}
        self._commented: set[Path] = set()

    def comment(self, path: Path) -> None:
        """Record that a comment follows the empty value at `path`."""
        self._commented.add(path)

    def commented(self, *path: str | int) -> bool:
        """Return whether the value at `path` is empty because a comment begins there."""
        return tuple(path) in self._commented

    def put(self, path: Path, line: int) -> None:
        """Record that the value at `path` begins on `line` (counted from 0)."""
        self._lines[path] = line + self.first

    def where(self, *path: str | int) -> str:
        """Return `file:line` of a value or of its nearest known parent; empty without a file."""
        if not self.file:
            return ""
        steps = tuple(path)
        while steps and steps not in self._lines:
            steps = steps[:-1]
        return place(self.file, self._lines.get(steps, self.first))

    def under(self, *path: str | int) -> "Lines":
        """Return the lines inside the value at `path`, with paths relative to it."""
        inner = Lines(file=self.file, first=self._lines.get(path, self.first))
        count = len(path)
        inner._lines = {p[count:]: n for p, n in self._lines.items() if p[:count] == path}
        inner._commented = {p[count:] for p in self._commented if p[:count] == path}
        return inner


def parse_yaml(text: str, *, file: str, first: int = 1) -> tuple[Any, Lines]:
    """Return the data of a YAML text and the lines of its values.

    The data consists only of mappings with text keys, lists, texts, numbers, booleans and null.

    Args:
        text: the YAML.
        file: name to use in messages.
        first: number of the text's first line in that file.

    Raises:
        ConfigError: invalid YAML, a repeated or non-text key, a tag, or too much data.
    """
    lines = Lines(file=file, first=first)
    try:
        if sum(map(text.count, _BEGINS)) > _HARMLESS:
            _check_size(text, lines)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        if exc.problem == _TOO_DEEP:
            raise _too_much(mark.line if mark is not None else 0, lines, deep=True) from exc
        line = mark.line + first if mark is not None else first
        advice = _advice(exc, text, first)
        raise ConfigError(f"not valid YAML: {advice}", where=place(file, line)) from exc
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        before = text[: getattr(exc, "position", None) or 0]
        where = place(file, before.count("\n") + first)
        raise ConfigError(f"not valid YAML: {str(exc).splitlines()[0]}", where=where) from exc
    if node is None:
        return None, lines
    return _Builder(lines, text).build(node, (), 0), lines


@cache
def package_data(file: FilePath) -> dict[str, Any]:
    """Return the content of a YAML file of the package; it is read once."""
    data: dict[str, Any] = parse_yaml(file.read_text("utf-8"), file=file.name)[0]
    return data


def to_yaml(data: Any) -> str:
    """Return plain data as YAML that `parse_yaml` reads back; keys keep their order."""
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
    return text


def _advice(exc: yaml.MarkedYAMLError, text: str, first: int) -> str:
    """Return the parser's message, with advice for known errors."""
    problem = str(exc.problem)
    mark = exc.problem_mark
    lines = text.splitlines()
    line = lines[mark.line] if mark is not None and mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "a tab; YAML is indented with spaces"
    if problem == "did not find expected node content":
        last = mark.line if mark is not None else 0
        if any(" #" in before for before in lines[max(0, last - 1) : last + 1]):
            return "a value is missing; # begins a comment: put a text with # in quotes"
        return "a value is missing; close each [ and {, and remove a comma that has no value"
    if problem in _MISPLACED:
        if said := _misplaced(text, lines[: mark.line + 1 if mark is not None else 0], first):
            return said
        return f"{problem}; check the indentation, and put text that holds a colon in quotes"
    begun = exc.context_mark
    if problem == "could not find expected ':'" and begun is not None:
        return f"{problem}; is the colon of line {begun.line + first} missing?"
    if problem in _UNCLOSED and begun is not None:
        wanted, opened = _UNCLOSED[problem]
        return f"{wanted} is missing; is the {opened} in line {begun.line + first} closed?"
    return problem


def _misplaced(text: str, lines: list[str], first: int) -> str:
    """Return the cause of an error that the parser notices only later; empty if there is none."""
    for number, line in reversed(list(enumerate(lines, first))):
        indent = line[: len(line) - len(line.lstrip())]
        if odd := indent.strip(" "):
            shown = f"U+{ord(odd[0]):04X}"
            return f"line {number} begins with {shown}, which only looks like a space; type spaces"
    value = lines[-1].partition(":")[2].strip() if lines else ""
    if value[:1] in TYPOGRAPHIC and value:
        return f'{value[0]} is no quotation mark of YAML; write " before and after the text'
    quote = _last_quote(text, len(lines) - 1)
    return f"is the quote that opens in line {quote + first} closed?" if quote is not None else ""


def _last_quote(text: str, last: int) -> int | None:
    """Return the line of the last text in quotes that spans lines and ends on the line `last`."""
    begun = None
    try:
        for token in yaml.scan(text, Loader=_Loader):
            if token.start_mark.line > last:
                break
            spans = token.start_mark.line < token.end_mark.line == last
            if isinstance(token, yaml.ScalarToken) and token.style in ("'", '"') and spans:
                begun = token.start_mark.line
    except yaml.YAMLError:
        pass
    return begun


_OPENING = "\u201c\u201e\u00ab"
"""Marks that begin a text only; a single one may be an apostrophe."""
_UNCLOSED = {
    "did not find expected ',' or '}'": ("a , or }", "{"),
    "did not find expected ',' or ']'": ("a , or ]", "["),
    "found unexpected end of stream": ("the end of a text in quotes", "quote"),
}
"""Message of the parser -> the missing character, and the one that it closes."""
_MISPLACED = ("did not find expected key", "mapping values are not allowed in this context")


def _check_size(text: str, lines: Lines) -> None:
    """Reject deep nesting before composing: it would crash the C composer."""
    depth = count = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            continue
        count += 1
        if depth > MAX_DEPTH or count > MAX_NODES:
            line = event.start_mark.line if event.start_mark else 0
            raise _too_much(line, lines, deep=depth > MAX_DEPTH)


def _too_much(line: int, lines: Lines, *, deep: bool) -> ConfigError:
    what = (
        f"nested more than {MAX_DEPTH} deep"
        if deep
        else f"more than {MAX_NODES:,} values, counting what aliases repeat"
    )
    return ConfigError(f"{what}; make it smaller", where=place(lines.file, line + lines.first))


class _Builder:
    def __init__(self, lines: Lines, text: str) -> None:
        self._lines, self._text = lines, text
        self._count = 0

    def build(self, node: yaml.Node, path: Path, depth: int) -> Any:
        self._count += 1
        self._lines.put(path, node.start_mark.line)
        if depth > MAX_DEPTH or self._count > MAX_NODES:
            raise _too_much(node.start_mark.line, self._lines, deep=depth > MAX_DEPTH)
        if node.tag not in _TAGS:
            raise self._wrong(node, f"the tag {_short(node.tag)} is not allowed; write plain data")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            if node.flow_style:
                self._check_quotes(node.value)
            return [self.build(n, (*path, i), depth + 1) for i, n in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: Path, depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        if node.flow_style:
            self._check_quotes(one for pair in node.value for one in pair)
        for key_node, value_node in node.value:
            key = key_node.value
            if isinstance(key_node, yaml.ScalarNode) and not _is_quoted(key_node):
                self._check_spaces(key_node)
            if key_node.tag == _MERGE:
                raise self._wrong(
                    key_node, "`<<` is not supported; repeat the keys, or use an alias"
                )
            if not isinstance(key_node, yaml.ScalarNode) or not _is_text_key(key_node):
                shown = _short(key)[1:-1] if isinstance(key, str) else "this key"
                message = f'{shown!r} is not text; write it in quotes: "{shown}"'
                if key_node.tag in _NUMBERS and value_node.tag == _STR:
                    message += f", or the name first: {_short(value_node.value)[1:-1]}: {shown}"
                raise self._wrong(key_node, message)
            if key in data:
                raise self._wrong(key_node, f"{_short(key)} is given twice; keep one")
            data[key] = self.build(value_node, (*path, key), depth + 1)
            if data[key] is None and not value_node.value and self._is_comment(key_node):
                self._lines.comment((*path, key))
            # A message about a key should point at the key, not at its value.
            self._lines.put((*path, key), key_node.start_mark.line)
        return data

    def _check_quotes(self, nodes: Iterable[yaml.Node]) -> None:
        """Reject a text that a comma cuts off after a typographic quote: `[“one, two”]`."""
        for node in nodes:
            text = node.value
            if (
                isinstance(text, str)
                and text[:1] in _OPENING
                and text
                and not _is_quoted(node)
                and not any(mark in text[1:] for mark in TYPOGRAPHIC)
            ):
                said = f'{text[0]} is no quotation mark of YAML; write " before and after the text'
                raise self._wrong(node, said)

    def _check_spaces(self, key: yaml.ScalarNode) -> None:
        """Reject what looks like a space before a key, or after its colon."""
        for side, text in (("before", key.value), ("after", key.value.partition(":")[2])):
            if (name := odd_space(text[:1])) is not None:
                raise self._wrong(key, f"{name} {side} a key; type a space")

    def _is_comment(self, key: yaml.Node) -> bool:
        """Return whether a comment follows the colon of a key, on its line."""
        begin = key.end_mark.index
        end = self._text.find("\n", begin)
        rest = self._text[begin : len(self._text) if end < 0 else end]
        return rest.lstrip(" :").startswith("#")

    def _scalar(self, node: yaml.Node) -> Any:
        text = str(node.value)
        if _is_quoted(node):
            return text
        if node.tag == _NULL:
            return None
        if node.tag == _BOOL:
            return self._boolean(node, text)
        if _NOT_FINITE.fullmatch(text):
            raise self._wrong(node, f"{_short(text)} is not a finite number; write one")
        if text[:1] not in _NUMERIC or not (number := _NUMBER.fullmatch(text)):
            if node.tag in _NUMBERS and ":" not in text:
                raise self._wrong(node, f"cannot read {_short(text)}; quote it")
            return text
        return self._number(node, text, number)

    def _boolean(self, node: yaml.Node, text: str) -> bool:
        word = text.lower()
        if word in ("true", "false"):
            return word == "true"
        raise self._ambiguous(node, text, "true" if word in ("yes", "on") else "false")

    def _number(self, node: yaml.Node, text: str, number: re.Match[str]) -> int | float:
        if len(text) > MAX_NUMBER:
            raise self._wrong(node, f"{_short(text)} is too long for a number; quote it")
        if number["float"]:
            value = float(text.replace("_", ""))
            if not math.isfinite(value):
                raise self._wrong(node, f"{_short(text)} is not a finite number; write one")
            exact = "_" not in text
        elif number["based"]:
            value = int(text.replace("_", ""), 0)
            exact = "_" not in text and "x" in text
        else:
            value = int(text.replace("_", ""))
            exact = str(value) == text.lstrip("+") or text in ("-0", "+0")
        if not exact:
            raise self._ambiguous(node, text, str(value))
        return value

    def _ambiguous(self, node: yaml.Node, text: str, plain: str) -> ConfigError:
        """Return the error for a value that means different things in YAML 1.1 and 1.2."""
        return self._wrong(
            node,
            f"YAML 1.1 and 1.2 read {_short(text)} differently; "
            f'write {plain}, or "{text}" in quotes',
        )

    def _wrong(self, node: yaml.Node, message: str) -> ConfigError:
        line = node.start_mark.line + self._lines.first
        return ConfigError(message, where=place(self._lines.file, line))


def _is_quoted(node: Any) -> bool:
    """Return whether a scalar is certainly text: quoted, in a block, or tagged as text."""
    # With a tag, the source text is longer than the value.
    length = node.end_mark.index - node.start_mark.index
    return bool(node.tag == _STR and (node.style in _QUOTED or length > len(node.value)))


def _is_text_key(node: yaml.ScalarNode) -> bool:
    """Return whether a key is text; `yes` and `no` are, as in YAML 1.2."""
    return node.tag == _STR or (node.tag == _BOOL and node.value.lower() not in ("true", "false"))


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


_YAML = "tag:yaml.org,2002:"
_STR, _MERGE = f"{_YAML}str", f"{_YAML}merge"
_BOOL, _NULL = f"{_YAML}bool", f"{_YAML}null"
_NUMBERS = {f"{_YAML}int", f"{_YAML}float"}
_PLAIN = {f"{_YAML}{tag}" for tag in ("map", "seq", "timestamp", "value")}
_TAGS = {_STR, _BOOL, _NULL, *_NUMBERS, *_PLAIN}
_QUOTED = ("'", '"', "|", ">")
_NUMERIC = "+-.0123456789"
_NUMBER = re.compile(
    r"(?P<float>[-+]?(?:\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?"
    r"|[0-9][0-9_]*(?:\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)))"
    r"|(?P<based>[-+]?0(?:x[0-9a-fA-F_]*[0-9a-fA-F]|o[0-7_]*[0-7]|b[01_]*[01]))"
    r"|[-+]?[0-9][0-9_]*",
    re.ASCII,
)
"""A number of YAML 1.2, or of 1.1 with the same digits; minutes such as 1:30 are text."""
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
