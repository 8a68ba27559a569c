"""The options of `judgekit agree`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.report.calibration import Combine, KappaWeights

Failures = Literal["wrong", "drop"]
"""How to count a reply without a verdict: as a disagreement, or not at all."""


class AgreeSettings(NamedTuple):
    """How to count answers, and what to measure in addition to the overall agreement."""

    failures: Failures = "wrong"
    """How to count a failed reply."""
    combine: Combine = "each"
    """How to use several labels of a case."""
    weights: KappaWeights | None = None
    """Weights of kappa; by default, quadratic for ordered answers."""
    cluster: str | None = None
    """Metadata field that clusters cases."""
    group: str | None = None
    """Metadata field of groups within which agreement is measured."""
    system: str | None = None
    """Metadata field of the answering system; by default the model that answered."""
    alt_test: float | None = None
    """Epsilon of the alternative annotator test."""

    def check(self) -> None:
        """Check the options.

        Raises:
            ConfigError: an option has an unknown value.
        """
        check_word("failures", self.failures, get_args(Failures))
        check_word("labels", self.combine, get_args(Combine))
        if self.weights is not None:
            check_word("weights", self.weights, get_args(KappaWeights))
        epsilon = self.alt_test
        if epsilon is not None and not 0 <= epsilon < 1:
            raise ConfigError(f"alt-test must be an epsilon from 0 to below 1, not {epsilon:g}")


def check_word(name: str, word: object, known: Sequence[str]) -> None:
    """Check the value of an option.

    Raises:
        ConfigError: it is not a known word.
    """
    if word not in known:
        words = f"{', '.join(known[:-1])} or {known[-1]}"
        raise ConfigError(f"{name} must be {words}, not {word!r}{suggest(word, known)}")
