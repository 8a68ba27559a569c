"""Redact private data in requests before their keys are computed.

A built-in rule replaces a match by a pseudonym such as `[EMAIL-1f4a09c2]`, which contains a digest
of the match. An address has the same pseudonym in every text, run and machine, so keys stay the
same. A salt keys the digest. Without a salt, a telephone number can be found by trying all numbers.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from judgekit.core.case import Case
from judgekit.core.case_field import MESSAGE_LISTS
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.privacy.detectors import DETECTORS, PSEUDONYM, find_all, pseudonym

Redact = Callable[[str], str]

NAMES = tuple(DETECTORS)
"""The built-in rules: the kinds of `judgekit.privacy.detectors`."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}\Z")
_PASSES = 8
"""Maximum number of passes over a text: a replacement may expose adjacent data."""
_LONGEST_ID = 1000
"""Maximum length of a case id; a pseudonym may be longer than the text it replaces."""
_LONGEST_NAMED = 200
"""Maximum length of a value that is also matched together with the name of its entry."""
_WORD_BREAK = re.compile(r"_|(?<=[a-z])(?=[A-Z])")


class RedactionRule(NamedTuple):
    """A regular expression and the replacement of its matches."""

    pattern: str
    replacement: str = "[REDACTED]"
    name: str | None = None
    """Replace matches by pseudonyms with this name: `ORDER` gives `[ORDER-…]`."""


def redactor(
    rules: Sequence[str | RedactionRule | Redact],
    *,
    salt: str = "",
    replace: Callable[[str, str], str] | None = None,
) -> Redact:
    """Return a function that applies rules in order.

    A rule is a built-in name (one of `NAMES`, such as `email`), a `RedactionRule` with a pattern,
    or a function from text to text. Built-in rules run first, in one pass. Redaction is idempotent,
    unless a custom rule matches its own output.

    Args:
        rules: the rules.
        salt: keys the digests of pseudonyms; the same salt gives the same pseudonyms.
        replace: returns the replacement for a kind and a value that a built-in rule matches; by
            default, a pseudonym.

    Raises:
        ConfigError: a name is unknown, or a pattern is malformed or matches the empty text.

    >>> redactor(["email"])("Ask ann@example.com or ANN@example.com.")
    'Ask [EMAIL-c9ff82c0] or [EMAIL-c9ff82c0].'
    """
    key = salt.encode()
    names = [rule for rule in rules if isinstance(rule, str)]
    for name in names:
        if name not in DETECTORS:
            known = f"; use {', '.join(NAMES)}"
            raise ConfigError(f"redact: {name!r} is unknown{suggest(name, NAMES, otherwise=known)}")
    written = partial(pseudonym, key=key) if replace is None else replace
    changes = [_custom(rule, key) for rule in rules if not isinstance(rule, str)]
    if names:
        changes.insert(0, partial(_outside_pseudonyms, partial(_detected, names, written)))

    def redact(text: str) -> str:
        for _ in range(_PASSES if names else 1):
            before = text
            for change in changes:
                text = change(text)
            if text == before:
                break
        return text

    return redact


def _outside_pseudonyms(change: Redact, text: str) -> str:
    """Apply a function to a text, except to its pseudonyms."""
    parts = PSEUDONYM.split(text)  # every second part is a pseudonym
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def _detected(names: Sequence[str], replace: Callable[[str, str], str], text: str) -> str:
    parts = []
    end = 0
    for kind, span in find_all(text, names):
        parts += [text[end : span.start], replace(kind, span.value)]
        end = span.end
    return "".join([*parts, text[end:]])


def _custom(rule: RedactionRule | Redact, key: bytes) -> Redact:
    """Return the function of a custom rule."""
    if not isinstance(rule, RedactionRule):
        return rule
    try:
        pattern = re.compile(rule.pattern)
    except re.error as exc:
        raise ConfigError(f"redact: {rule.pattern!r} is not a regular expression: {exc}") from exc
    if pattern.match(""):
        raise ConfigError(f"redact: {rule.pattern!r} also matches the empty text")
    name, replacement = rule.name, rule.replacement
    if name is not None and not _NAME.match(name):
        raise ConfigError(f"redact: {name!r} is not a name; use up to 40 letters, digits and _")

    def replace(match: re.Match[str]) -> str:
        return replacement if name is None else pseudonym(name, match[0], key)

    return partial(_outside_pseudonyms, partial(pattern.sub, replace))


def redact_case(case: Case, redact: Redact) -> Case:
    """Return a case with all its texts redacted, including its id and the keys of mappings.

    An integer becomes a text if redaction changes its digits.
    """
    return redact_fields(case, lambda field: redact)


def redact_fields(case: Case, redact_in: Callable[[str], Redact], *, by_name: bool = False) -> Case:
    """Return a case redacted by a function for each of its fields.

    Args:
        case: the case; it is not changed.
        redact_in: returns the function that redacts the texts of a field.
        by_name: whether the name of an entry labels its value: `{"passport": "533000000"}` is
            matched as "passport: 533000000".
    """
    fields = case.model_dump(mode="json")
    redacted: dict[str, Any] = {
        name: _redact_value(value, redact_in(name), by_name=by_name)
        for name, value in fields.items()
        if name not in MESSAGE_LISTS
    }
    # Roles and field names are fixed words, even if a pattern matches them.
    for name in MESSAGE_LISTS:
        redact = redact_in(name)
        redacted[name] = [_message(message, redact, by_name=by_name) for message in fields[name]]
    redacted["id"] = redacted["id"][:_LONGEST_ID]
    return Case.model_validate(redacted)


def _message(message: dict[str, Any], redact: Redact, *, by_name: bool) -> dict[str, Any]:
    redacted = {
        name: value if name == "role" else _redact_value(value, redact)
        for name, value in message.items()
        if name != "tool_calls"
    }
    redacted["tool_calls"] = [
        {name: _redact_value(value, redact, by_name=by_name) for name, value in call.items()}
        for call in message["tool_calls"]
    ]
    return redacted


def _redact_value(value: object, redact: Redact, *, by_name: bool = False) -> object:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redact_value(item, redact, by_name=by_name) for item in value]
    if isinstance(value, dict):
        return _redact_mapping(value, redact, by_name=by_name)
    if isinstance(value, int) and not isinstance(value, bool):
        text = str(value)
        redacted = redact(text)
        return value if redacted == text else redacted
    return value


def _redact_mapping(mapping: dict[str, Any], redact: Redact, *, by_name: bool) -> dict[str, Any]:
    redacted: dict[str, Any] = {}
    for key, item in mapping.items():
        name = redact(key)
        while name in redacted:  # redacted keys may be equal; keep both
            name += "'"
        of_item = _after_name(key, redact) if by_name else redact
        redacted[name] = _redact_value(item, of_item, by_name=by_name)
    return redacted


def _after_name(name: str, redact: Redact) -> Redact:
    """Return a function that redacts a value as if it followed the name of its entry."""
    label = f"{_WORD_BREAK.sub(' ', name[:_LONGEST_NAMED])}: "

    def redact_value(text: str) -> str:
        redacted = redact(text)
        if redacted == text and len(text) <= _LONGEST_NAMED:
            labelled = redact(label + text)
            if labelled.startswith(label):
                redacted = labelled.removeprefix(label)
        return redacted

    return redact_value
