"""The base of metrics that compute their values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, dataclass_transform

from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.embedders import embeds_at_once, identity_of
from judgekit.metrics._options import check_options


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class ComputedMetric(Metric):
    """A metric whose annotated attributes are its options.

    Every direct subclass becomes a frozen dataclass. Its options are checked by their annotations;
    see `check_options`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A subclass that a user derives from a built-in metric is not changed.
        if ComputedMetric in cls.__bases__:
            dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        # Manifests of earlier runs contain the number as written.
        check_options(self, keep_numbers=True)
        self.prepare()

    def put(self, **values: object) -> None:
        """Set attributes of this metric, which is frozen; only for `prepare` and caches."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def plain_options(self) -> dict[str, Json]:
        """The options as plain data, without those that are file paths."""
        given = {k: v for k, v in super().options.items() if k not in self.files}
        return given | {k: identity_of(v) for k, v in given.items() if k == "embedder"}

    @property
    def embeds_at_once(self) -> bool:
        """Whether scoring never waits: there is no embedder, or it is synchronous."""
        embedder = vars(self).get("embedder")
        return embedder is None or embeds_at_once(embedder)

    def prepare(self) -> None:
        """Check and complete the options of a subclass.

        Raises:
            ConfigError: the options contradict each other.
        """


def not_applicable(reason: str, **fields: Any) -> Score:
    """Return the score of a case to which a metric does not apply, with further fields."""
    return Score(status="not_applicable", reason=reason, **fields)
