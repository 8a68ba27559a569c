"""Examples of a trait: texts in a suite, or files with texts or pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from judgekit.core.case import has_text
from judgekit.core.errors import ConfigError, place, placed
from judgekit.core.input_file import read_text, undecodable

Side = Literal["positive", "negative", "prompt"]
MAX_FILE = 50_000_000
"""Maximum size of a file with examples, in bytes."""


def read_examples(
    metric: str, side: Side, source: object, *, option: str | None = None
) -> tuple[str, ...]:
    """Return the examples of one side.

    Args:
        metric: name of the metric, for messages.
        side: `positive` shows the trait, `negative` does not; `prompt` is that of a pair.
        source: texts, or the path of a file. A JSON file contains a list of texts, or pairs as
            `judgekit pairs generate` writes them; a `.jsonl` file has a text or a pair per line, a
            `.txt` file a text per line.
        option: name of the option, if it is not `positive_examples` or `negative_examples`.

    Raises:
        ConfigError: the file is missing, has another format, or is empty.
    """
    option = option or f"{side}_examples"
    if isinstance(source, (str, Path)):
        with placed(str(source)):
            return _checked(metric, option, tuple(_texts(_read(metric, Path(source)), side)))
    if not isinstance(source, Sequence) or isinstance(source, bytes):
        raise ConfigError(f"{metric}: {option} must be a file or a list of texts, not {source!r}")
    return _checked(metric, option, tuple(source))


def _checked(metric: str, option: str, texts: tuple[Any, ...]) -> tuple[str, ...]:
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str) or not has_text(text):
            problem = f"number {number} is {text!r}"
            raise ConfigError(f"{metric}: {option} must be texts, none blank; {problem}")
    if not texts:
        raise ConfigError(f"{metric}: {option} has no texts; give at least one")
    return texts


def _read(metric: str, path: Path) -> Any:
    try:
        text = read_text(path, most=MAX_FILE)
    except FileNotFoundError as exc:
        raise ConfigError(f"{metric}: no such file of examples; check the path") from exc
    except UnicodeDecodeError as exc:
        problem, line = undecodable(exc)
        raise ConfigError(f"{metric}: {place(path.name, line)}: {problem}") from exc
    except OSError as exc:
        raise ConfigError(f"{metric}: cannot be read: {exc.strerror}") from exc
    if path.suffix.lower() == ".txt":
        return [line for line in text.splitlines() if line.strip()]
    if path.suffix.lower() != ".jsonl":
        return _json(metric, text)
    lines = enumerate(text.splitlines(), start=1)
    return [_json(metric, line, f"{path}:{n}") for n, line in lines if line.strip()]


def _json(metric: str, text: str, where: str | None = None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ConfigError(f"{metric}: not JSON: {exc}", where=where) from exc


def _texts(data: Any, side: Side) -> Iterator[Any]:
    """Yield the texts of one side, from any of the known formats."""
    if isinstance(data, Mapping):
        keys = (f"{side}_examples", side, "pairs", "examples")
        data = next((data[key] for key in keys if key in data), data)
    if not isinstance(data, list):
        raise ConfigError("examples are a list of texts, or pairs with `positive` and `negative`")
    for number, entry in enumerate(data, start=1):
        yield entry if isinstance(entry, str) else _side_of(entry, side, number)


def _side_of(entry: Any, side: Side, number: int) -> Any:
    """Return one side of a pair: `positive`, `positive_response`, or its `model_response`."""
    if isinstance(entry, Mapping):
        for key in (side, f"{side}_response", f"{side}_example"):
            value = entry.get(key)
            if isinstance(value, Mapping):
                value = value.get("model_response")
            if value is not None:
                return value
    raise ConfigError(f"entry {number}: neither a text nor a pair with {side!r}")
