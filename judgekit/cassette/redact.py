"""The former place of `judgekit.privacy.redact`, which was documented; removed in 0.2."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name not in ("redact_case", "redactor"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import warnings

    message = f"judgekit.cassette.redact is deprecated: import {name} from judgekit.privacy.redact"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    # A name in a text: an import would point from a lower layer to a higher one.
    return getattr(import_module("judgekit.privacy.redact"), name)
