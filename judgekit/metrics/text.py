"""The metrics that compare texts by rule, together; each lives in a module of its own."""

from __future__ import annotations

from judgekit.metrics.contains import Contains
from judgekit.metrics.exact_match import ExactMatch
from judgekit.metrics.length import Length
from judgekit.metrics.regex import Regex
from judgekit.metrics.token_f1 import TokenF1

__all__ = ["Contains", "ExactMatch", "Length", "Regex", "TokenF1"]
