"""Metrics: one case in, one score out.

Each metric lives in the module named after it. It imports `core`, `stats`, `datasets`,
`embedders` and `rubric`, never a judge or a cassette.

Start with `catalogue`, the list of every metric; each family has a folder; `rubric` scores with a
judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.core.lazy_names import LazyNames

if TYPE_CHECKING:
    from judgekit.metrics import brand_voice as brand_voice
    from judgekit.metrics import prompt_alignment as prompt_alignment
    from judgekit.metrics import shares as shares

_names = LazyNames(__name__, {}, modules=["brand_voice", "prompt_alignment", "shares"])

if not TYPE_CHECKING:
    __getattr__ = _names.get
    __dir__ = _names.dir
