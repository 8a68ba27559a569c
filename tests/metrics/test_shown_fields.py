"""The fields that the rubrics of a metric show the judge."""

from __future__ import annotations

import pytest

from judgekit.metrics.registry import create_metric
from judgekit.metrics.shown_fields import shown_by_rubric
from judgekit.rubric.load import load_rubric


@pytest.mark.parametrize("mode", load_rubric("prompt_alignment").modes)
def test_a_second_rubric_of_a_metric_has_its_own_modes(mode):
    metric = create_metric("prompt_alignment", judge="fake/judge", mode=mode)

    shown = shown_by_rubric([metric])

    assert len(shown) > 1
    assert all(
        "output" in fields["shows"] or "output" in fields["never"] for fields in shown.values()
    )
