"""Embedders: texts to vectors. `open_embedder` finds the built-in ones by name."""

from __future__ import annotations

from judgekit.errors import ConfigError
from judgekit.protocols import Embedder


def open_embedder(name: str) -> Embedder:
    """Return the built-in embedder of that name; today there is one, `lexical`.

    Raises:
        ConfigError: no embedder has that name.
    """
    if name != "lexical":
        raise ConfigError(f"embedder: {name!r} is not known; built in: lexical")
    from judgekit.embedders.lexical import LexicalEmbedder

    return LexicalEmbedder()
