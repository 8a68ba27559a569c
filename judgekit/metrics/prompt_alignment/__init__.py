"""Metrics of prompt alignment: by a judge, and by rules.

Its public names load their module on first use: the rules need no judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.core.lazy_names import LazyNames

if TYPE_CHECKING:
    from judgekit.metrics.prompt_alignment.prompt_alignment import Analysis as Analysis
    from judgekit.metrics.prompt_alignment.prompt_alignment import (
        PromptAlignment as PromptAlignment,
    )
    from judgekit.metrics.prompt_alignment.prompt_alignment import (
        fold_prompt_alignment as fold_prompt_alignment,
    )

_names = LazyNames(
    __name__,
    {
        "judgekit.metrics.prompt_alignment.prompt_alignment": [
            "Analysis",
            "PromptAlignment",
            "fold_prompt_alignment",
        ],
    },
)

if not TYPE_CHECKING:
    __all__ = list(_names.homes)
    __getattr__ = _names.get
    __dir__ = _names.dir
