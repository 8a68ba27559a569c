"""Embedders: texts to vectors. `open_embedder` finds the built-in ones by name."""

from __future__ import annotations

from importlib import import_module

from judgekit.errors import ConfigError
from judgekit.protocols import Embedder

_BUILTIN = {
    "lexical": ("judgekit.embedders.lexical", "LexicalEmbedder"),
    "hashed-512": ("judgekit.embedders.hashed", "HashedEmbedder"),
}


def open_embedder(name: str) -> Embedder:
    """Return the built-in embedder of that name: `lexical`, or `hashed-512` for compatible modes.

    Raises:
        ConfigError: no embedder has that name.
    """
    if name not in _BUILTIN:
        known = ", ".join(_BUILTIN)
        raise ConfigError(f"embedder: {name!r} is not known; built in: {known}")
    module, attribute = _BUILTIN[name]
    made: Embedder = getattr(import_module(module), attribute)()
    return made
