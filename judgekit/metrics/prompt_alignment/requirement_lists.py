"""Lists of the requirements of prompts, which a judge makes before it reads an answer.

A list depends on the prompt and on the judge alone, so that all answers to a prompt are measured by
the same requirements. Each member of a jury makes its own list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case
from judgekit.core.errors import CaseError, JudgekitError
from judgekit.core.judgment import Answer, Judgment
from judgekit.core.jury import Jury, Member
from judgekit.core.request import Request
from judgekit.core.score import Score, checked_score
from judgekit.core.value import Json, trusted
from judgekit.metrics import step
from judgekit.metrics.grounding.coverage import expected_texts
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.library import builtin_folder
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.versions import VersionedName, frozen_name, home_of, version_of

if TYPE_CHECKING:
    import asyncio

RUBRIC = "prompt_requirements"
"""The rubric that lists the requirements of a prompt."""
MAX_REQUIREMENTS = 50
"""Maximum number of requirements of a prompt; more are left out, and the details count them."""
KEY = "requirements"
"""Key of `expected` with the requirements, if they are known."""
_LETTERS = {"user": "U", "system": "S"}
_TITLES = {
    "user": "The requirements of the user's message, listed before the answer was read:",
    "system": "The requirements of the system prompt, listed before the answer was read:",
}
_MOST_KEPT = 1_000
"""Maximum number of lists in memory, for judges without a cassette."""


def uses_lists(rubric: Rubric) -> bool:
    """Return whether a rubric is built from `prompt_alignment` in version 2 or later."""
    builtin = builtin_folder().resolve()
    for path in rubric.files:
        name = frozen_name(path) or VersionedName(path.stem, None)
        if name.name == "prompt_alignment" and home_of(path.resolve()) == builtin:
            return version_of(path) > 1
    return False


class RequirementLists(NamedTuple):
    """The requirements of the prompts of a case, according to one judge."""

    texts: Mapping[str, tuple[str, ...]]
    """Audience -> requirements."""
    given: frozenset[str] = frozenset()
    """The audiences whose requirements the case gives."""
    left_out: int = 0
    judgments: tuple[Judgment, ...] = ()

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Checklist -> the names of its items, such as U1."""
        return {
            f"{audience}.requirements": tuple(f"{_LETTERS[audience]}{n}" for n in _numbers(texts))
            for audience, texts in self.texts.items()
        }

    @property
    def shown(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The titles, and the names and texts of requirements, for a prompt."""
        named = self.names
        return [
            (_TITLES[audience], [*zip(named[f"{audience}.requirements"], texts, strict=True)])
            for audience, texts in self.texts.items()
            if texts
        ]

    def applied(self, judgment: Judgment, ids: Sequence[str]) -> Judgment:
        """Return a judgment about named items as one about their texts.

        Items that do not apply to the answer move to the details `not_applicable`. A checklist that
        was not asked about, because it is empty, gets an answer without items.

        Args:
            judgment: the judgment of one request.
            ids: all criteria of the case, in order.
        """
        answers = dict(judgment.answers)
        for audience, texts in self.texts.items():
            id = f"{audience}.requirements"
            if not texts:
                answers[id] = Answer(value=None)
            elif id in answers:
                answers[id] = _worded(answers[id], dict(zip(self.names[id], texts, strict=True)))
        ordered = {id: answers[id] for id in ids if id in answers}
        return trusted(Judgment, {**judgment.__dict__, "answers": ordered})


def _numbers(texts: Sequence[str]) -> range:
    return range(1, len(texts) + 1)


def _worded(answer: Answer, texts: Mapping[str, str]) -> Answer:
    """Return the answer to a checklist with the texts of its items."""
    named = answer.details.get("not_applicable")
    out = _named_in(named if isinstance(named, list) else (), texts)
    order = {name: place for place, name in enumerate(texts)}
    items = sorted(answer.items, key=lambda item: order.get(str(item["item"]), len(order)))
    counted = [
        {**item, "item": texts[str(item["item"])]} for item in items if item["item"] not in out
    ]
    left: list[Json] = [texts[name] for name in texts if name in out]
    fields = {
        **answer.__dict__,
        "items": tuple(counted),
        "details": {**answer.details, "not_applicable": left},
    }
    return trusted(Answer, fields)


_NAME = re.compile(r"\b[US][0-9]{1,3}\b")


def _named_in(values: Iterable[object], texts: Mapping[str, str]) -> set[str]:
    """Return the items that a judge names, also with words around the name."""
    return {name for value in values for name in _NAME.findall(str(value)[:200]) if name in texts}


class RequirementListing:
    """Lists the requirements of prompts, once for each judge and prompt.

    Args:
        jury: the judges.
        name: the name of the metric.
        history: maximum number of earlier messages that a judge sees.
    """

    def __init__(self, jury: Jury, *, name: str, history: int) -> None:
        self._metrics = {
            member.name: RubricMetric(
                RUBRIC, judge=member.judge, name=name, history=history, max_reason=jury.max_reason
            )
            for member in jury.members
        }
        self._known: dict[str, Score] = {}
        self._running: dict[
            tuple[asyncio.AbstractEventLoop, str], asyncio.Future[Score | JudgekitError | None]
        ] = {}
        """The lists that a judge is making: cases that are scored at once wait for the same one."""

    @property
    def rubric(self) -> Rubric:
        """The rubric of the lists."""
        return next(iter(self._metrics.values())).rubric

    def prompts(self, case: Case, audiences: Iterable[str]) -> dict[str, Case]:
        """Return audience -> a case with its prompt; audiences with given requirements lack.

        Raises:
            CaseError: `expected.requirements` has another form.
        """
        given = given_requirements(case)
        prompts: dict[str, dict[str, Any]] = {
            "user": {"history": case.history, "output": case.input},
            "system": {"output": case.system},  # the same for all conversations
        }
        return {
            audience: step.subject(case, f"{audience}_requirements", **prompts[audience])
            for audience in audiences
            if audience not in given
        }

    def requests(self, case: Case, audiences: Iterable[str]) -> list[Request]:
        """Return the requests for the lists of a case, without sending them.

        Raises:
            CaseError: `expected.requirements` has another form.
        """
        prompts = self.prompts(case, audiences).values()
        metrics = self._metrics.values()
        return [r for prompt in prompts for metric in metrics for r in metric.requests(prompt)[1]]

    async def of(self, case: Case, audiences: Sequence[str], member: Member) -> RequirementLists:
        """Return the requirements of the prompts of a case, according to one judge.

        Raises:
            JudgekitError: raised by the judge or the cassette.
        """
        prompts = self.prompts(case, audiences)
        work = (self._listed(member, prompt) for prompt in prompts.values())
        scores = await step.scores_of(work, inline=self._metrics[member.name].synchronous)
        return _lists(case, audiences, dict(zip(prompts, scores, strict=True)))

    async def _listed(self, member: Member, prompt: Case) -> Score:
        """Return the list of one prompt.

        Raises:
            JudgekitError: raised by the judge or the cassette.
        """
        metric, key = self._metrics[member.name], self._key(member, prompt)
        if (known := self._known.get(key)) is not None:
            return known
        if metric.synchronous:  # nothing else runs before the list is there
            return self._keep(key, await checked_score(metric, prompt))
        import asyncio

        loop = asyncio.get_running_loop()
        while (running := self._running.get((loop, key))) is not None:
            outcome = await asyncio.shield(running)
            if isinstance(outcome, JudgekitError):
                raise outcome
            if outcome is not None:
                return outcome
        mine = self._running[loop, key] = loop.create_future()
        outcome = None  # if this is cancelled, a case that waits makes the list
        try:
            outcome = self._keep(key, await checked_score(metric, prompt))
        except JudgekitError as exc:
            outcome = exc
            raise
        finally:
            del self._running[loop, key]
            mine.set_result(outcome)
        return outcome

    def _keep(self, key: str, score: Score) -> Score:
        while len(self._known) >= _MOST_KEPT:
            del self._known[next(iter(self._known))]
        self._known[key] = score
        return score

    @staticmethod
    def _key(member: Member, prompt: Case) -> str:
        history = [message.model_dump(mode="json") for message in prompt.history]
        return canonical_json([member.name, prompt.output, history])


def _lists(case: Case, audiences: Sequence[str], scores: Mapping[str, Score]) -> RequirementLists:
    given = given_requirements(case)
    texts: dict[str, tuple[str, ...]] = {}
    left_out = 0
    for audience in audiences:
        found = given.get(audience)
        if found is None:
            found = step.items_of(scores[audience], met=True)
        texts[audience] = tuple(found[:MAX_REQUIREMENTS])
        left_out += len(found) - len(texts[audience])
    judgments = tuple(judgment for score in scores.values() for judgment in score.judgments)
    return RequirementLists(texts, frozenset(given) & set(audiences), left_out, judgments)


def given_requirements(case: Case) -> dict[str, list[str]]:
    """Return the requirements that a case gives: audience -> requirements.

    `expected.requirements` is a list of those of the user's message, or a mapping with the keys
    `user` and `system`.

    Raises:
        CaseError: it has another form.
    """
    value = case.expected.get(KEY)
    if value is None:
        return {}
    if not isinstance(value, dict):
        listed = expected_texts(case, KEY)
        return {} if listed is None else {"user": step.distinct(listed)}
    given: dict[str, list[str]] = {}
    for audience, texts in value.items():
        if audience not in _LETTERS:
            raise CaseError(f"expected.{KEY} has the keys user and system, not {audience!r}")
        alone = case.model_copy(update={"expected": {f"{KEY}.{audience}": texts}})
        listed = expected_texts(alone, f"{KEY}.{audience}")
        if listed is not None:
            given[audience] = step.distinct(listed)
    return given
