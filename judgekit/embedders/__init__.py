"""Embedders: texts to vectors.

Metrics await `vectors(embedder, texts)` and add `identity_of(embedder)` to their results. The
embedder is a name, a mapping as in a suite, or an object. `open_embedder` creates the embedder of a
name or a mapping.

It imports `core`. Start with `lexical`, the default; `hosted`, `onnx` and `sentence_transformers`
need a model.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import AsyncEmbedder, Embedder
from judgekit.core.suggest import suggest
from judgekit.core.value import described

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.core.protocols import TextStore
    from judgekit.embedders.shared import SharedEmbedder, Vectors

Spec = str | Mapping[str, Any]
"""A name (`lexical`, `onnx:models/minilm`), or a mapping such as `{onnx: models/minilm}`."""
Chosen = str | Mapping[str, Any] | Embedder | AsyncEmbedder
"""The values of the option `embedder` of a metric."""

DEFAULT = "lexical"


_PLAIN = {
    "lexical": f"{__name__}.lexical:LexicalEmbedder",
    "hashed-512": f"{__name__}.lexical:HashedEmbedder",
}
"""Embedders without a model and options; they are synchronous."""

MODELS = {
    "onnx": f"{__name__}.onnx:OnnxEmbedder",
    "sentence_transformers": f"{__name__}.sentence_transformers:SentenceTransformersEmbedder",
}
"""Embedders of a model: they take its name or folder, `base`, and options."""


def open_embedder(
    spec: Spec, *, base: Path | None = None, store: Callable[[], TextStore] | None = None
) -> SharedEmbedder:
    """Return the embedder of a name or a mapping.

    Args:
        spec: `lexical`; `KIND:MODEL`; or a mapping of a kind to its model, with options.
        base: the folder that paths are relative to; the working folder by default.
        store: opens the store that keeps vectors between runs; by default, none are kept.

    Raises:
        ConfigError: the embedder or the option is unknown, or the model is missing.
        MissingExtra: a package that it needs is not installed.

    >>> open_embedder("lexical").identity
    'lexical-1/4096'
    """
    from judgekit.embedders.shared import SharedEmbedder

    kind, model, options = _read(spec)
    if kind in _PLAIN:
        return SharedEmbedder(_class_of(_PLAIN[kind])())
    embedder_class = _class_of(MODELS[kind])
    parameters = inspect.signature(embedder_class).parameters
    known = [name for name in parameters if name not in ("model", "base")]
    for option in options:
        if option not in known:
            hint = suggest(option, known)
            raise ConfigError(f"embedder: {kind} takes no option {option!r}{hint}")
    return SharedEmbedder(embedder_class(model, base=base or Path(), **options), store=store)


def _class_of(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


async def vectors(embedder: Chosen, texts: Sequence[str]) -> Vectors:
    """Return a row of numbers for every text, in order.

    Metrics get their vectors here. Identical texts are embedded once, and texts that several rows
    need at the same time go into one batch; see `SharedEmbedder`.

    Raises:
        ValueError: the embedder did not return one row of finite numbers per text.
        JudgekitError: raised by the embedder.
    """
    return await ready(embedder).vectors(texts)


def identity_of(embedder: Chosen) -> str:
    """Return the value of `meta.embedder` in results of an embedder."""
    return ready(embedder).identity


def short_name(identity: str) -> str:
    """Return an identity with digests shortened to twelve digits.

    >>> short_name("onnx/" + "0123456789abcdef" * 4 + "/a1da45cfedee")
    'onnx/0123456789ab/a1da45cfedee'
    """
    return re.sub(r"[0-9a-f]{64}", lambda match: match[0][:12], identity)


def embeds_at_once(embedder: Chosen) -> bool:
    """Return whether an embedder is synchronous."""
    if isinstance(embedder, (str, Mapping)):
        return _read(embedder)[0] in _PLAIN
    return ready(embedder).synchronous


def is_semantic(embedder: Chosen | None) -> bool:
    """Return whether an embedder compares meaning; `lexical`, `hashed-512` and none do not.

    A custom embedder counts as semantic, unless it has `semantic = False`.
    """
    if embedder is None:
        return False
    if isinstance(embedder, (str, Mapping)):
        return _read(embedder)[0] not in _PLAIN
    return ready(embedder).semantic


def check_embedder(metric: str, embedder: object) -> None:
    """Check the option `embedder` without loading anything.

    Raises:
        ConfigError: it is not a known name, a mapping or an embedder.
    """
    if isinstance(embedder, (str, Mapping)):
        _read(embedder)
        return
    if isinstance(embedder, type) or not isinstance(embedder, Embedder | AsyncEmbedder):
        given = described(embedder)
        raise ConfigError(f"{metric}: embedder must be a name or an embedder, not {given}")


def ready(embedder: Chosen) -> SharedEmbedder:
    """Return the shared embedder of an option; the same one as long as it is in use."""
    from judgekit.embedders.shared import SharedEmbedder

    if isinstance(embedder, SharedEmbedder):
        return embedder
    if isinstance(embedder, (str, Mapping)):
        _read(embedder)
        return _opened(embedder if isinstance(embedder, str) else canonical_json(dict(embedder)))
    shared = _in_use.get(id(embedder))
    if shared is None:
        # It references the embedder, so no other object can get this id while it is listed.
        shared = _in_use[id(embedder)] = SharedEmbedder(embedder)
    return shared


_in_use: WeakValueDictionary[int, SharedEmbedder] = WeakValueDictionary()


@lru_cache(maxsize=8)
def _opened(written: str) -> SharedEmbedder:
    import json

    return open_embedder(json.loads(written) if written.startswith("{") else written)


def _read(spec: Spec) -> tuple[str, str, dict[str, Any]]:
    """Return kind, model and options; the model of a plain embedder is empty."""
    known = [*_PLAIN, *(f"{kind}:MODEL" for kind in MODELS)]
    if isinstance(spec, str):
        kind, colon, model = spec.partition(":")
        if (kind in _PLAIN and not colon) or (kind in MODELS and model.strip()):
            return kind, model.strip(), {}
        if kind in MODELS:
            raise ConfigError(f"embedder: {kind} needs a model; write {kind}:MODEL")
        hint = suggest(kind, [*_PLAIN, *MODELS], otherwise=f"; built in: {', '.join(known)}")
        raise ConfigError(f"embedder: {spec!r} is not known{hint}")
    kinds = [key for key in spec if key in MODELS]
    if len(kinds) != 1:
        names, given = ", ".join(MODELS), ", ".join(spec)
        raise ConfigError(f"embedder: a mapping names one of {names}, not {given}")
    kind = kinds[0]
    model = spec[kind]
    if not isinstance(model, str) or not model.strip():
        raise ConfigError(f"embedder: {kind} must be the name or folder of a model, not {model!r}")
    return kind, model.strip(), {str(key): spec[key] for key in spec if key != kind}
