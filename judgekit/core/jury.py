"""A jury: the judges of a metric, with their numbers of samples, orders and calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from judgekit.core.arguments import checked
from judgekit.core.distribution import Readout
from judgekit.core.errors import ConfigError
from judgekit.core.judge_settings import check_max_reason
from judgekit.core.judge_wrapper import BaseJudge, NamedJudge, as_judge
from judgekit.core.limits import MOST_SAMPLES
from judgekit.core.protocols import JudgeLike
from judgekit.core.request import Reply, Request
from judgekit.core.suggest import suggest
from judgekit.core.value import Json

Order = Literal["written", "balanced"]
Vote = Literal["majority", "mean", "weighted"]
Calls = Literal["all", "each"] | int

MOST_MEMBERS = 100


class Member(NamedTuple):
    """One judge of a jury."""

    name: str
    judge: BaseJudge
    weight: float = 1.0


LEAST_WEIGHT, MOST_WEIGHT = 1e-6, 1e6
"""Bounds of a weight: beyond them, sums and their ties would be those of rounding."""


class Jury(NamedJudge):
    """Combines the answers of one or more judges to a rubric into one verdict.

    Any metric that uses a rubric accepts a jury as its judge. Each member answers `samples` times.
    First, the samples of a member are combined: numbers are averaged; words and yes/no answers are
    decided by majority, and a tie is an abstention. Then the members vote.

    Args:
        members: name -> judge, or a list of judges, which are named by their models.
        samples: number of answers of each member; each answer has its own key.
        order: `balanced` shows criteria and options in written order to sample 0, reversed to
            sample 1, and then in permutations, each followed by its reverse.
        calls: `all` criteria in one call, `each` in its own call, or the largest number per call.
        readout: the number or word that is read from the distribution of the answers:
            `expected`, `mode`, or `yes` (the probability of a yes; the mode for other questions).
            By default, numbers are averaged and words are decided by majority.
        max_reason: maximum length of a reason, a quote or another text of a reply, in characters;
            by default, that of each judge. It does not apply to people and recorded verdicts.
        vote: `majority` (for words and yes/no; the mean for numbers), `mean` of the values on 0..1,
            or `weighted`, a majority or mean with the `weights`. A tie is an abstention.
        quorum: number of members that must answer; more than half by default.
        weights: member -> weight, for `weighted` (see `judgekit agree`): 0, or from `LEAST_WEIGHT`
            to `MOST_WEIGHT`.

    Raises:
        ConfigError: an argument is out of range, or two members have the same name.
    """

    @checked
    def __init__(
        self,
        members: Mapping[str, JudgeLike] | Sequence[JudgeLike] | JudgeLike,
        *,
        samples: int = 1,
        order: Order = "written",
        calls: Calls = "all",
        readout: Readout | None = None,
        max_reason: int | None = None,
        vote: Vote = "majority",
        quorum: int | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        named = _named(members)
        _check_whole("samples", samples)
        if samples > MOST_SAMPLES:
            raise ConfigError(f"samples must be at most {MOST_SAMPLES:,}, not {samples:,}")
        _check_word("order", order, get_args(Order))
        _check_word("vote", vote, get_args(Vote))
        if readout is not None:
            _check_word("readout", readout, get_args(Readout))
        check_max_reason(max_reason)
        if isinstance(calls, str):
            _check_word("calls", calls, ("all", "each"), other=", or a number of criteria")
        else:
            _check_whole("calls", calls)
        if quorum is not None:
            _check_whole("quorum", quorum, most=len(named))
        self.samples = samples
        self.order: Order = order
        self.calls: Calls = calls
        self.readout: Readout | None = readout
        self.max_reason = max_reason
        self.vote: Vote = vote
        self.quorum = quorum or len(named) // 2 + 1
        shares = _weights(vote, weights, tuple(named))
        self.members = tuple(Member(name, judge, shares[name]) for name, judge in named.items())
        super().__init__(" + ".join(judge.model for judge in named.values()))

    def with_settings(self, **settings: Any) -> Jury:
        """Return a copy of the jury with changed settings.

        Raises:
            ConfigError: a setting is out of range.
        """
        own = {name: getattr(self, name) for name in (*_USUAL, "vote", "quorum")}
        weights = {member.name: member.weight for member in self.members}
        own["weights"] = weights if self.vote == "weighted" else None
        return Jury({m.name: m.judge for m in self.members}, **{**own, **settings})

    @property
    def synchronous(self) -> bool:
        """Whether no member ever waits."""
        return all(member.judge.synchronous for member in self.members)

    @property
    def options(self) -> dict[str, Json]:
        """The settings that differ from those of a single judge with one sample, for manifests."""
        names = ("order", "calls", "readout", "max_reason")
        settings = {name: getattr(self, name) for name in names}
        changed: dict[str, Json] = _unusual(settings)
        if len(self.members) > 1:
            changed["jury"] = {member.name: member.judge.model for member in self.members}
            changed["vote"] = self.vote
            changed["quorum"] = self.quorum
            if self.vote == "weighted":
                changed["weights"] = {member.name: member.weight for member in self.members}
        return changed

    async def ask(self, request: Request) -> Reply:
        """Raise an error: requests go to the members.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(
            f"a jury ({self.model}) answers by rubrics alone; this metric needs a single judge"
        )

    def close(self) -> None:
        """Close all members."""
        for member in self.members:
            member.judge.close()


def jury_of(judge: JudgeLike | Jury, **settings: Any) -> Jury:
    """Return a jury of a judge or of a jury; settings at their defaults change nothing."""
    if not isinstance(judge, Jury):
        return Jury({"": judge}, **settings)
    changed = _unusual(settings)
    return judge.with_settings(**changed) if changed else judge


def _unusual(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value != _USUAL[name]}


_USUAL: Mapping[str, object] = {
    "samples": 1,
    "order": "written",
    "calls": "all",
    "readout": None,
    "max_reason": None,
}


def _named(members: Any) -> dict[str, BaseJudge]:
    if isinstance(members, Mapping):
        named = {str(name): as_judge(judge) for name, judge in members.items()}
    else:
        several = members if isinstance(members, (list, tuple)) else [members]
        judges = [as_judge(judge) for judge in several]
        named = {judge.model: judge for judge in judges}
        if len(named) < len(judges):
            raise ConfigError(
                "two judges of the jury have the same model; name them: Jury({'a': ..., 'b': ...})"
            )
    if not 1 <= len(named) <= MOST_MEMBERS:
        raise ConfigError(f"a jury has 1 to {MOST_MEMBERS} judges, not {len(named)}")
    for judge in named.values():
        if isinstance(judge, Jury):
            raise ConfigError("a jury cannot be a member of a jury; list its judges")
    return named


def _weights(
    vote: Vote, weights: Mapping[str, float] | None, names: tuple[str, ...]
) -> dict[str, float]:
    if (weights is None) == (vote == "weighted"):
        example = f"weights: {{{names[0] or 'judge'}: 1.0, ...}}"
        what = f"vote weighted needs {example}" if weights is None else "weights need vote weighted"
        raise ConfigError(f"{what} (judgekit agree computes weights from labels)")
    if weights is None:
        return dict.fromkeys(names, 1.0)
    for name, weight in weights.items():
        if name not in names:
            raise ConfigError(f"weights: no judge {name!r} in the jury{suggest(name, list(names))}")
        number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or weight < 0:
            raise ConfigError(f"weights: {name} must be a number of at least 0, not {weight!r}")
        if weight and not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
            raise ConfigError(
                f"weights: {name} must be 0 or from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, not "
                f"{weight!r}; only the ratios of the weights matter"
            )
    if missing := [name for name in names if name not in weights]:
        raise ConfigError(f"weights: {', '.join(missing)} has none; give one to each judge")
    if not sum(weights.values()) > 0:
        raise ConfigError("weights: all are 0; at least one judge must count")
    return {name: float(weights[name]) for name in names}


def _check_word(name: str, value: object, known: Sequence[str], *, other: str = "") -> None:
    if value not in known:
        hint = suggest(str(value), list(known))
        raise ConfigError(f"{name} is one of {', '.join(known)}{other}, not {value!r}{hint}")


def _check_whole(name: str, value: object, *, most: int | None = None) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < 1 or (most is not None and value > most):  # type: ignore[operator]
        bounds = "of at least 1" if most is None else f"from 1 to {most}"
        raise ConfigError(f"{name} must be a whole number {bounds}, not {value!r}")
