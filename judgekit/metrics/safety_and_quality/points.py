"""Points: criteria written for one case, each worth points, as in HealthBench."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from judgekit.core.case import Case, with_last_messages
from judgekit.core.comparing import equal
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.jury import Calls, jury_of
from judgekit.core.left_out import SHOWN, note
from judgekit.core.miss import NOT_OLDER, Miss, RequestMiss
from judgekit.core.protocols import Aggregate, JudgeLike
from judgekit.core.request import Request
from judgekit.core.score import Opinion, Part, Score
from judgekit.core.value import Json, trusted
from judgekit.metrics._options import needed_text, text_options
from judgekit.metrics.aggregate import DetailMeans, Figures, ValueAggregate, mean_of
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.criteria.groups import GroupedCriteria
from judgekit.metrics.criteria.item import CriterionItem, leaves_of, read_items
from judgekit.metrics.criteria.room import RequestRoom
from judgekit.metrics.criteria.tree import (
    PassRule,
    TreeValue,
    passed,
    tag_values,
    tree_value,
)
from judgekit.metrics.left_out import PrintedFields
from judgekit.metrics.opinions.opinion import OpinionReply, combine_opinions, opinions_of
from judgekit.metrics.opinions.vote import spelled
from judgekit.metrics.quote import find_quotes
from judgekit.metrics.rubric import DEFAULT_HISTORY
from judgekit.metrics.step import Stepped, named, subject
from judgekit.rubric.fold import Outcome
from judgekit.rubric.library import builtin_folder
from judgekit.rubric.load import load_rubric
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.variant import Variant
from judgekit.rubric.versions import home_of

if TYPE_CHECKING:
    from judgekit.metrics.criteria.hint import CriteriaHint

GROUPS = "criterion_met@2"
"""The built-in rubric that asks about several criteria at a time."""

PASSED = "passed"
"""Figure of a run: the share of cases that pass."""


class Overall(ValueAggregate):
    """The mean of the scores of a run, clipped to 0..1."""

    def finish(self) -> Figures:
        """Return the clipped mean."""
        mean = mean_of(self._values)
        return {"overall": None if mean is None else min(1.0, max(0.0, mean))}


class _Decided(NamedTuple):
    """The decision on one criterion."""

    outcome: Outcome
    answer: Answer


class Points(Stepped):
    """Points of the criteria that an answer meets / all positive points. At most 1.

    `expected.criteria` lists the criteria of a case as `{criterion: text, points: number}`.
    Undesirable properties have negative points. A text may use fields of the case, as in `Names
    {{ case.metadata.product }}`; their values are printed as JSON. A criterion is a yes/no
    question, or has `levels`, a `score` or a `choice`; a criterion with `of` is the weighted mean
    of those below it. A judge decides each criterion, by default in a call of its own (rubric
    `criterion_met`). The value of a case is not clipped and may be below 0. The figure `overall` of
    a run is the mean, clipped to 0..1; a gate may use it.

    Args:
        judge: the judge, or a jury.
        name: the name in results.
        history: maximum number of earlier messages that the judge sees.
        rubric: rubric for judging a criterion.
        calls: `each` criterion in a call of its own, `all` of a case in one call, or the largest
            number of criteria per call. Calls about several criteria use `criterion_met@2`, with
            the criteria after the answer.
        by: tags, or the part of tags before a colon, whose values the details and the report show.
        pass_: which criteria must be met to pass: `all`, `any`, `required`, or the least value.
            The option is named `pass` in a suite.
    """

    judge: JudgeLike | Any
    name: str = "points"
    history: int = DEFAULT_HISTORY
    rubric: RubricLike = "criterion_met"
    calls: Calls | None = None
    by: tuple[str, ...] = ()
    pass_: Literal["all", "any", "required"] | float | None = None

    range = (-math.inf, 1.0)
    needs = ("output", "expected.criteria")

    def __post_init__(self) -> None:
        self.by = text_options(self.name, "by", self.by)
        self.pass_ = _pass_rule(self.name, self.pass_)
        jury = jury_of(self.judge)
        if self.calls is None:
            self.calls = jury.calls if jury.calls != "all" else "each"
        self.calls = _calls(self.name, self.calls)
        if not isinstance(self.rubric, Rubric):
            self.rubric = load_rubric(self.rubric)
        if self.calls != "each":
            self.rubric = self._frame(self.rubric, f"calls: {self.calls}")
        super().__post_init__()
        self._grouped: GroupedCriteria | None = None
        self._hint: CriteriaHint | None = None
        self._room = RequestRoom()

    def _frame(self, rubric: Rubric, why: str) -> Rubric:
        """Return the rubric around the criteria of a request.

        Raises:
            ConfigError: the rubric prints a single criterion itself.
        """
        if "reference" not in rubric.requires:
            if len(rubric.criteria) != 1:
                raise ConfigError(f"{self.name}: rubric {rubric.name!r} must have one criterion")
            return rubric
        built_in = home_of(rubric.path.resolve()) == builtin_folder().resolve()
        if built_in and rubric.name == "criterion_met":
            return load_rubric(GROUPS)
        advice = f"extend {GROUPS} instead, which shows the criteria last"
        raise ConfigError(
            f"{self.name}: rubric {rubric.name!r} asks about one yes/no criterion, in "
            f"`reference`, and does not support {why}; {advice}"
        )

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value; `calls`, `by` and `pass` only if set."""
        options = dict(super().options)
        given = {name: options.pop(name) for name in ("calls", "by", "pass_")}
        if given["calls"] != "each":
            options["calls"] = given["calls"]
        if given["by"]:
            options["by"] = list(self.by)
        if given["pass_"] is not None:
            options["pass"] = given["pass_"]
        return options

    @property
    def asks_further(self) -> bool:
        """Whether later requests depend on earlier replies: those about open criteria do."""
        return bool(self.calls != "each")

    @property
    def figures(self) -> Mapping[str, bool]:
        """The figures of a run, and whether higher is better."""
        own = {"overall": True} if self.pass_ is None else {"overall": True, PASSED: True}
        return {**super().figures, **own}

    def aggregates(self) -> Sequence[Aggregate]:
        """Return new aggregates for a run."""
        own: list[Aggregate] = [Overall()]
        if self.pass_ is not None:
            own.append(DetailMeans("pass", {PASSED: lambda details: float(details["pass"])}))
        return (*super().aggregates(), *own)

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        needed_text(case, "output")
        async with self._room.entered() as take:
            items = read_items(case)
            leaves = leaves_of(items)
            if self._one_by_one and all(leaf.plain for leaf in leaves):
                take(len(leaves))
                return await self._score_each(case, items, leaves)
            return await self._score_groups(case, items, leaves, take)

    @property
    def _one_by_one(self) -> bool:
        """Whether the rubric prints one criterion itself, in a call of its own."""
        return self.calls == "each" and "reference" in self._each.rubric.requires

    async def _score_each(
        self,
        case: Case,
        items: Sequence[CriterionItem],
        leaves: Sequence[CriterionItem],
    ) -> Score:
        """Return the score from one verdict for each criterion."""
        fields = _fields(with_last_messages(case, self.history))
        texts = [{**fields, "reference": (leaf.text,)} for leaf in leaves]
        try:
            scores = await self.judge_each(case, texts)
        except RequestMiss as exc:
            if exc.miss.older in ("", NOT_OLDER):
                number = int(exc.miss.request.about.case.rpartition("/")[2])
                with suppress(CaseError):
                    self._explain(exc.miss, case, leaves, leaves[number - 1])
            raise
        decided = []
        for leaf, score in zip(leaves, scores, strict=True):
            verdict = score.parts[0]
            met = score.value == 1.0
            quotes = tuple(quote.text for quote in verdict.quotes)
            answer = Answer(value=met, reason=verdict.reason, quotes=quotes)
            share = float(met != leaf.negate)
            decided.append(_Decided(("scored", share), answer))
        return self._whole(case, items, leaves, decided, scores=scores)

    async def _score_groups(
        self,
        case: Case,
        items: Sequence[CriterionItem],
        leaves: Sequence[CriterionItem],
        take: Callable[[int], None],
    ) -> Score:
        """Return the score from the answers to requests about several criteria."""
        grouped = self._groups_of(leaves)
        variant = grouped.variant(leaves)
        opinions = await grouped.opinions(case, leaves, variant, take)
        verdict, outcomes = _combined(variant, opinions, grouped)
        decided = [
            _Decided(outcome, verdict.answers[leaf.part])
            for leaf, outcome in zip(leaves, outcomes, strict=True)
        ]
        score = self._whole(case, items, leaves, decided, scores=())
        judgments = tuple(judgment for one in opinions for judgment in one.judgments)
        update: dict[str, Any] = {}
        details = dict(score.details)
        if len(opinions) > 1:
            update["opinions"] = tuple(self._opinions(items, leaves, variant, opinions))
        else:
            # The parts have the answers of a single opinion.
            judgments = tuple(
                trusted(Judgment, {**judgment.__dict__, "answers": {}}) for judgment in judgments
            )
        rubric = grouped.frame
        shows = PrintedFields(rubric, mode=rubric.default_mode, most=self.history)
        # The reference of the case is no criterion, so no judge of criteria sees it.
        other = case.model_copy(update={"reference": ()})
        if left := shows.left_out(other, grouped.messages(case)):
            note(left)
            details[SHOWN] = left
        made = {
            **self.made_with,
            "rubric": rubric.name,
            "version": rubric.version,
            "digest": rubric.digest[:16],
        }
        tries = max(judgment.tries for judgment in judgments)
        return score.model_copy(
            update={
                **update,
                "details": details,
                "judgments": judgments,
                "method": f"{self._each.jury.model} by {rubric.name}@{rubric.version}",
                "meta": {**made, "tries": tries} if tries > 1 else made,
            }
        )

    def _groups_of(self, leaves: Sequence[CriterionItem]) -> GroupedCriteria:
        """Return the requests about several criteria; the rubric is loaded on first use.

        Raises:
            CaseError: the rubric asks only yes/no questions.
        """
        if self._grouped is None:
            odd = next((leaf for leaf in leaves if not leaf.plain), leaves[0])
            try:
                frame = self._frame(self._each.rubric, f"number {odd.number} ({odd.kind})")
            except ConfigError as exc:
                raise CaseError(f"expected.criteria: {exc}") from exc
            self._grouped = GroupedCriteria(
                frame=frame,
                jury=self._each.jury,
                calls=self.calls or "each",
                metric=self.name,
                history=self.history,
                explain=self._explain,
            )
        return self._grouped

    def _explain(
        self, miss: Miss, case: Case, leaves: Sequence[CriterionItem], first: CriterionItem
    ) -> None:
        """Add to a miss which other frame or `calls` would hit for a criterion.

        Raises:
            CaseError: the rubric asks only yes/no questions.
        """
        if self._hint is None:
            from judgekit.metrics.criteria.hint import CriteriaHint

            grouped = self._groups_of(leaves)
            single = self._single_request if grouped.frame.name == "criterion_met" else None
            self._hint = CriteriaHint(grouped, single=single)
        self._hint.add(miss, case, leaves, first)

    def _single_request(self, case: Case, leaf: CriterionItem) -> Request:
        """Return the first request about a yes/no criterion, as `calls: each` makes it."""
        requests = self._each.requests_with(load_rubric("criterion_met@1"))
        return requests(subject(case, leaf.number, **_fields(case), reference=(leaf.text,)))[
            0
        ].requests[0]

    def _opinions(
        self,
        items: Sequence[CriterionItem],
        leaves: Sequence[CriterionItem],
        variant: Variant,
        replies: Sequence[OpinionReply],
    ) -> Sequence[Opinion]:
        """Return every opinion with the value that it alone would give."""
        opinions = []
        for opinion, reply in zip(
            opinions_of(variant, replies, "weighted_mean"), replies, strict=True
        ):
            value = None
            if reply.verdict is not None:
                shares = dict(zip((leaf.number for leaf in leaves),
                                  (share for _, share in reply.outcomes), strict=True))  # fmt: skip
                value = tree_value(items, shares).value
            opinions.append(opinion.model_copy(update={"value": value}))
        return opinions

    def _whole(
        self,
        case: Case,
        items: Sequence[CriterionItem],
        leaves: Sequence[CriterionItem],
        decided: Sequence[_Decided],
        *,
        scores: Sequence[Score],
    ) -> Score:
        """Return the score of a case from the decisions on its criteria."""
        shares = {leaf.number: one.outcome[1] for leaf, one in zip(leaves, decided, strict=True)}
        whole = tree_value(items, shares)
        details: dict[str, Json] = {"earned": whole.earned, "possible": whole.possible}
        if self.pass_ is not None:
            verdict = passed(items, shares, self.pass_, whole)
            if verdict is not None:
                details["pass"] = verdict
        if self.by and (tags := tag_values(items, shares, self.by)):
            details["tags"] = dict(tags)
        if whole.nodes:
            details["tree"] = [_node(item, whole) for item in items]
        open_ = [leaf.number for leaf in leaves if shares[leaf.number] is None]
        if open_:
            details["open"] = list(open_)
        return self._score(
            whole.value,
            reason=_reason(whole, leaves, shares),
            scores=scores,
            confidence=whole.covered if open_ else None,
            parts=[
                _part(leaf, one, whole, case) for leaf, one in zip(leaves, decided, strict=True)
            ],
            details=details,
            ground_truth=[leaf.text for leaf in leaves],
        )


def _fields(case: Case) -> dict[str, Any]:
    """Return what a judge of one criterion sees of a case."""
    return {
        "history": case.history,
        "input": case.input,
        "steps": case.steps,
        "output": case.output,
    }


def _combined(
    variant: Variant, opinions: Sequence[OpinionReply], grouped: GroupedCriteria
) -> tuple[Judgment, Sequence[Outcome]]:
    verdict, jury = opinions[0].verdict, grouped.jury
    single = len(opinions) == 1 and verdict is not None and jury.readout is None
    if single and verdict and all(a.distribution is None for a in verdict.answers.values()):
        return verdict, opinions[0].outcomes
    return combine_opinions(variant, opinions, jury)


def _as_hoped(leaf: CriterionItem, share: float) -> bool:
    """Return whether a criterion is met in full, or a penalty not at all."""
    return equal(share, 1.0 if leaf.points > 0 else 0.0)


def _reason(
    whole: TreeValue, leaves: Sequence[CriterionItem], shares: Mapping[str, float | None]
) -> str:
    if whole.value is None:
        if all(share is None for share in shares.values()):
            return "The judge left every criterion open."
        return "No criterion of this case is worth positive points."
    wrong = [
        leaf.text
        for leaf in leaves
        if leaf.points and (share := shares[leaf.number]) is not None and not _as_hoped(leaf, share)
    ]
    reason = f"{whole.earned:g} of {whole.possible:g} points"
    reason += f"; not as wanted: {named(wrong)}." if wrong else "."
    left = [leaf.text for leaf in leaves if shares[leaf.number] is None]
    return f"{reason} Left open: {named(left)}." if left else reason


def _part(leaf: CriterionItem, decided: _Decided, whole: TreeValue, case: Case) -> Part:
    (status, share), answer = decided
    worth = f"{leaf.text} ({leaf.points:+g} points)"
    word: Json = answer.value
    if leaf.kind == "boolean" and isinstance(answer.value, bool):
        word = "met" if answer.value else "not met"
    elif leaf.kind != "score" and answer.value is not None:
        word = spelled(answer.value)
    details: dict[str, Json] = dict(answer.details)
    if leaf.id is not None:
        details["id"] = leaf.id
    if leaf.tags:
        details["tags"] = list(leaf.tags)
    met = share is not None and _as_hoped(leaf, share)
    return Part(
        id=leaf.part,
        status=status,
        value=share,
        weight=whole.weights[leaf.number],
        answer=word,
        items=({"item": worth, "met": met, "reason": answer.reason},),
        quotes=find_quotes(answer.quotes, case),
        details=details,
        distribution=answer.distribution,
    )


def _node(item: CriterionItem, whole: TreeValue) -> Json:
    """Return an item of a tree for the details of a score; leaves are only numbers of parts."""
    if not item.children:
        return item.number
    return {
        "number": item.number,
        "text": item.text,
        "points": item.points,
        "value": whole.nodes[item.number],
        "of": [_node(child, whole) for child in item.children],
    }


def _calls(metric: str, calls: object) -> Calls:
    whole = isinstance(calls, int) and not isinstance(calls, bool) and calls >= 1
    if calls in ("each", "all") or whole:
        return calls  # type: ignore[return-value]
    raise ConfigError(
        f"{metric}: calls is one of all, each, or a number of criteria of at least 1, not {calls!r}"
    )


def _pass_rule(metric: str, rule: object) -> PassRule | None:
    if rule is None or rule in ("all", "any", "required"):
        return rule
    if isinstance(rule, (int, float)) and not isinstance(rule, bool) and math.isfinite(rule):
        return float(rule)
    raise ConfigError(
        f"{metric}: pass is one of all, any, required, or the least value that passes, not {rule!r}"
    )
