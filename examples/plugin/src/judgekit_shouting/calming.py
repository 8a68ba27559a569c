"""A judged metric with its own rubric."""

from judgekit import RubricMetric
from judgekit.protocols import Judge


def calming(*, judge: Judge, name: str = "calming") -> RubricMetric:
    """Would the answer calm an angry customer down?"""
    return RubricMetric("shouting:calm", judge=judge, name=name)
