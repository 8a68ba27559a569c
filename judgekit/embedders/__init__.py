"""Embedders: texts to vectors.

Metrics await `vectors(embedder, texts)` and stamp `identity_of(embedder)` on their results, where
`embedder` is a name, a mapping as suites write it, or an object. `open_embedder` finds the
embedder of a name or a mapping.

It imports `core`. Start with `hashed`, the default; `hosted`, `onnx` and `sentence_transformers`
need a model.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import AsyncEmbedder, Embedder
from judgekit.core.suggest import suggest

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.embedders.cache import TextStore
    from judgekit.embedders.shared import SharedEmbedder, Vectors

Spec = str | Mapping[str, Any]
"""A name (`lexical`, `onnx:models/minilm`), or a mapping such as `{onnx: models/minilm}`."""
AnyEmbedder = Embedder | AsyncEmbedder
Chosen = str | Mapping[str, Any] | Embedder | AsyncEmbedder
"""What the option `embedder` of a metric takes."""

DEFAULT = "lexical"


class _Home(NamedTuple):
    """Where an embedder is made."""

    module: str
    attribute: str


_PLAIN: dict[str, _Home] = {
    "lexical": _Home("judgekit.embedders.lexical", "LexicalEmbedder"),
    "hashed-512": _Home("judgekit.embedders.hashed", "HashedEmbedder"),
}
"""Embedders that are a name and nothing else; each is done on the spot and needs no model."""

_MODELS: dict[str, _Home] = {
    "onnx": _Home("judgekit.embedders.onnx", "OnnxEmbedder"),
    "sentence_transformers": _Home(
        "judgekit.embedders.sentence_transformers", "SentenceTransformersEmbedder"
    ),
}
"""Embedders of a model: a function of its name or folder, `base`, and options."""


def open_embedder(
    spec: Spec, *, base: Path | None = None, store: Callable[[], TextStore] | None = None
) -> SharedEmbedder:
    """Return the embedder that a name or a mapping stands for.

    Args:
        spec: `lexical`; `KIND:MODEL`; or a mapping of a kind to its model, with options beside.
        base: the folder that paths are relative to; the working folder by default.
        store: opens where vectors of a model are kept between runs; they are not without one.

    Raises:
        ConfigError: there is no such embedder, it takes no such option, or its model is not there.
        MissingExtra: what it runs on is not installed.

    >>> open_embedder("lexical").identity
    'lexical-1/4096'
    """
    from judgekit.embedders.shared import SharedEmbedder

    kind, model, options = _read(spec)
    if kind in _PLAIN:
        home = _PLAIN[kind]
        return SharedEmbedder(getattr(import_module(home.module), home.attribute)())
    home = _MODELS[kind]
    made = getattr(import_module(home.module), home.attribute)
    known = [name for name in inspect.signature(made).parameters if name not in ("model", "base")]
    for option in options:
        if option not in known:
            raise ConfigError(
                f"embedder: {kind} takes no option {option!r}{suggest(option, known)}"
            )
    return SharedEmbedder(made(model, base=base or Path(), **options), store=store)


async def vectors(embedder: Chosen, texts: Sequence[str]) -> Vectors:
    """Return a row of numbers for every text, in order.

    This is how metrics get vectors. Identical texts are embedded once, and what rows under way
    ask for at the same time is embedded together; see `SharedEmbedder`. An embedder that is done
    on the spot (`at_once`) is, without waiting.

    Raises:
        ValueError: the embedder gave something else than one row of finite numbers per text.
        JudgekitError: what the embedder raises.
    """
    return await ready(embedder).vectors(texts)


def identity_of(embedder: Chosen) -> str:
    """Return what stands in `meta.embedder` of every result made with an embedder."""
    return ready(embedder).identity


def short_name(identity: str) -> str:
    """Return an identity with its digests cut to twelve digits, for a person to read.

    >>> short_name("onnx/" + "0123456789abcdef" * 4 + "/a1da45cfedee")
    'onnx/0123456789ab/a1da45cfedee'
    """
    return re.sub(r"[0-9a-f]{64}", lambda found: found[0][:12], identity)


def embeds_at_once(embedder: Chosen) -> bool:
    """Return whether vectors of an embedder are made without waiting for anything.

    A metric whose only waiting is for vectors says so of itself as a property `at_once`.
    """
    if isinstance(embedder, (str, Mapping)):
        return _read(embedder)[0] in _PLAIN
    return bool(getattr(embedder, "at_once", False))


def is_semantic(embedder: Chosen | None) -> bool:
    """Return whether an embedder compares meaning; `lexical`, `hashed-512` and none do not.

    An embedder of your own is taken for semantic, unless it has `semantic = False`.
    """
    if embedder is None:
        return False
    if isinstance(embedder, (str, Mapping)):
        return _read(embedder)[0] not in _PLAIN
    return bool(getattr(embedder, "semantic", True))


def check_embedder(metric: str, embedder: object) -> None:
    """Refuse an option `embedder` that names nothing and is no embedder; nothing is loaded.

    Raises:
        ConfigError: it is neither a name, nor a mapping, nor an embedder.
    """
    if isinstance(embedder, (str, Mapping)):
        _read(embedder)
        return
    asked = hasattr(embedder, "embed") or hasattr(embedder, "aembed")
    if isinstance(embedder, type) or not (asked and hasattr(embedder, "identity")):
        raise ConfigError(f"{metric}: embedder must be a name or an embedder, not {embedder!r}")


def ready(embedder: Chosen) -> SharedEmbedder:
    """Return an embedder as metrics use it; the same one for as long as it is in use."""
    from judgekit.embedders.shared import SharedEmbedder

    if isinstance(embedder, SharedEmbedder):
        return embedder
    if isinstance(embedder, (str, Mapping)):
        _read(embedder)
        return _opened(embedder if isinstance(embedder, str) else canonical_json(dict(embedder)))
    found = _in_use.get(id(embedder))
    if found is None:
        # It holds the embedder, so that nothing else can have its id while it is listed.
        found = _in_use[id(embedder)] = SharedEmbedder(embedder)
    return found


_in_use: WeakValueDictionary[int, SharedEmbedder] = WeakValueDictionary()


@lru_cache(maxsize=8)
def _opened(written: str) -> SharedEmbedder:
    import json

    return open_embedder(json.loads(written) if written.startswith("{") else written)


def _read(spec: Spec) -> tuple[str, str, dict[str, Any]]:
    """Return kind, model and options; the model of a plain embedder is empty."""
    known = [*_PLAIN, *(f"{kind}:MODEL" for kind in _MODELS)]
    if isinstance(spec, str):
        kind, colon, model = spec.partition(":")
        if (kind in _PLAIN and not colon) or (kind in _MODELS and model.strip()):
            return kind, model.strip(), {}
        if kind in _MODELS:
            raise ConfigError(f"embedder: {kind} needs a model; write {kind}:MODEL")
        hint = suggest(kind, [*_PLAIN, *_MODELS], otherwise=f"; built in: {', '.join(known)}")
        raise ConfigError(f"embedder: {spec!r} is not known{hint}")
    kinds = [key for key in spec if key in _MODELS]
    if len(kinds) != 1:
        names = ", ".join(_MODELS) or "a name alone"
        raise ConfigError(f"embedder: a mapping names one of {names}, not {', '.join(spec)}")
    kind = kinds[0]
    model = spec[kind]
    if not isinstance(model, str) or not model.strip():
        raise ConfigError(f"embedder: {kind} must be the name or folder of a model, not {model!r}")
    return kind, model.strip(), {str(key): spec[key] for key in spec if key != kind}


__all__ = [
    "AnyEmbedder",
    "Chosen",
    "Spec",
    "check_embedder",
    "embeds_at_once",
    "identity_of",
    "is_semantic",
    "open_embedder",
    "ready",
    "short_name",
    "vectors",
]
