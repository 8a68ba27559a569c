"""Brand voice: how close an assistant is to its persona, how safe, and how stable.

Its public names load their modules on first use, because a metric of this package needs few of the
others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.core.lazy_names import LazyNames

if TYPE_CHECKING:
    from judgekit.metrics.brand_voice.authenticity import Authenticity as Authenticity
    from judgekit.metrics.brand_voice.overall import BrandVoice as BrandVoice
    from judgekit.metrics.brand_voice.persona import Persona as Persona
    from judgekit.metrics.brand_voice.persona import load_persona as load_persona

_names = LazyNames(
    __name__,
    {
        "judgekit.metrics.brand_voice.authenticity": ["Authenticity"],
        "judgekit.metrics.brand_voice.overall": ["BrandVoice"],
        "judgekit.metrics.brand_voice.persona": ["Persona", "load_persona"],
    },
)

if not TYPE_CHECKING:
    __all__ = list(_names.homes)
    __getattr__ = _names.get
    __dir__ = _names.dir
