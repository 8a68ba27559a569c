"""The lexicon of synonyms: a YAML or JSON file of words and their synonyms."""

from __future__ import annotations

from pathlib import Path

from judgekit.core.errors import ConfigError
from judgekit.core.input_file import read_text
from judgekit.core.yaml_file import parse_yaml

MAX_FILE = 5_000_000


def read_lexicon(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read `word: [synonym, ...]`; a single synonym needs no brackets.

    Raises:
        ConfigError: the file cannot be read, or is no such mapping; with `file:line`.
    """
    file = Path(path)
    try:
        text = read_text(file, most=MAX_FILE)
    except UnicodeDecodeError as exc:
        raise ConfigError(f"not UTF-8 (byte {exc.start})", where=str(file)) from exc
    except OSError as exc:
        raise ConfigError(f"cannot be read: {exc.strerror}", where=str(file)) from exc
    data, lines = parse_yaml(text, file=str(file))
    if not isinstance(data, dict) or not data:
        raise ConfigError("a lexicon is words and their synonyms: big: [large]", where=str(file))
    lexicon = {}
    for word, others in data.items():
        synonyms = [others] if isinstance(others, str) else others
        if not isinstance(synonyms, list) or not all(
            isinstance(other, str) and other.strip() for other in synonyms
        ):
            raise ConfigError(
                f"{word!r}: give a list of words, such as [large, huge]", where=lines.where(word)
            )
        lexicon[word] = tuple(synonyms)
    return lexicon
