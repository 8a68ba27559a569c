"""The pages on robustness, agents and tone: the metrics they name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judgekit.metrics.catalogue import BUILTIN

DOCS = Path(__file__).parents[2] / "docs" / "metrics"


@pytest.mark.parametrize("page", ["robustness", "agents", "tone"])
def test_a_page_speaks_of_metrics_there_are(page):
    text = (DOCS / f"{page}.md").read_text("utf-8")

    for name in re.findall(r"`(\w+_(?:consistency|compliance|adherence|match|correctness))`", text):
        assert name in BUILTIN
