"""The size of a model from its name, and the default bound on the reasons of small models."""

from __future__ import annotations

SMALL = 4.0
"""Size up to which a model counts as small, in billions of parameters."""
SHORT_REASON = 300
"""Maximum length of reasons that small models are asked for by default, in characters."""
_UNITS = {"b": 1.0, "m": 0.001}


def billions_of(name: str) -> float | None:
    """Return the number of parameters that a name states, in billions; the largest of several.

    Example:
        >>> billions_of("openai/Qwen2.5-Coder-0.5B-Instruct"), billions_of("gemma3:270m")
        (0.5, 0.27)
        >>> billions_of("openai/gpt-6-luna"), billions_of("mixtral-8x7b")
        (None, None)
    """
    words = "".join(c if (c.isascii() and c.isalnum()) or c == "." else " " for c in name).split()
    sizes = [
        float(word[:-1]) * _UNITS[word[-1].lower()]
        for word in words
        if word[-1].lower() in _UNITS
        and len(word) <= 8
        and word[0] != "."
        and word[:-1].replace(".", "", 1).isdecimal()
    ]
    return max(sizes, default=None)


def default_bound(model: str, identity: str | None) -> int | None:
    """Return the default maximum length of reasons; `None` unless a model is known to be small.

    Small models lose themselves in long reasons, and repeat words until the reply is cut off.

    Args:
        model: the model string.
        identity: the actual model, which counts if it states a size.
    """
    size = billions_of(identity or "") or billions_of(model)
    return SHORT_REASON if size is not None and 0 < size <= SMALL else None
