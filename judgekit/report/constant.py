"""Judges that give nearly every case the same answer, or probabilities near chance."""

import math
from collections import Counter
from typing import Literal

from judgekit.core.score import Part
from judgekit.core.value import Value

MOST_OTHER = 0.05
"""Largest share of cases with another answer."""
USUAL_OTHER = 0.2
"""A judge with another answer in this share of cases must hardly ever look constant."""
LEVEL = 0.01
"""How often it may."""
NEAR_CHANCE = 0.1
"""Largest distance of a probability from that of a guess, as a share of it: .45 to .55 for yes."""
_MOST_ANSWERS = 1_000
"""Maximum number of different answers that are counted apart."""
FEWEST_CASES = 21
"""With fewer cases, none is called constant (see `nearly_all`)."""
_MANY = 200
"""Number of cases from which `MOST_OTHER` alone decides."""
TELLS = (
    "labels (judgekit labels plan), planted bad answers or the rubric's own tests (judgekit "
    "rubric test) would tell"
)


class ConstantAnswers(Value):
    """A judge whose answers to one criterion hardly depend on the case."""

    kind: Literal["answer", "chance"]
    """`answer`: nearly always the same answer; `chance`: probabilities like those of a guess."""
    count: int
    """Number of cases with that answer, or with such probabilities."""
    cases: int
    """Number of cases with an answer, or with probabilities."""
    answer: str | None = None
    """The answer; `None` for probabilities."""

    @property
    def sentence(self) -> str:
        """What was seen, what it may mean, and what would tell."""
        if self.kind == "chance":
            seen = "the judge's probabilities hardly differ from chance"
            return f"{seen} in {self.count} of {self.cases} cases; {TELLS} whether it sees anything"
        seen = f"the judge answered {self.answer} in {self.count} of {self.cases} cases"
        return f"{seen}; answers that are all alike, or a judge that sees no difference: {TELLS}"


class AnswerTally:
    """Counts the answers of a judge to one criterion, in constant memory."""

    def __init__(self) -> None:
        self._answers: Counter[str] = Counter()
        self._answered = self._guessed = self._shown = 0

    def add(self, part: Part) -> None:
        """Count the answer of one case."""
        # The verdict on one text of several, such as a claim, is no answer about the case.
        if part.value is None or (part.items and isinstance(part.answer, str)):
            return
        self._answered += 1
        answer = _shown(part)
        if answer in self._answers or len(self._answers) < _MOST_ANSWERS:
            self._answers[answer] += 1
        shown = part.distribution
        if shown is not None and shown.source != "samples" and len(shown.labels) > 1:
            count = len(shown.labels)
            self._shown += 1
            self._guessed += all(abs(p * count - 1) <= NEAR_CHANCE for p in shown.probabilities)

    def finish(self) -> ConstantAnswers | None:
        """Return what is constant; `None` if nothing is."""
        if nearly_all(self._guessed, self._shown):
            return ConstantAnswers(kind="chance", count=self._guessed, cases=self._shown)
        ((answer, count),) = self._answers.most_common(1) or [("", 0)]
        if nearly_all(count, self._answered):
            return ConstantAnswers(kind="answer", count=count, cases=self._answered, answer=answer)
        return None


def nearly_all(count: int, cases: int) -> bool:
    """Return whether nearly all cases are alike, beyond what chance explains.

    At most one case in twenty may differ, and the upper end of the one-sided 99 % interval of
    Clopper and Pearson (1934) for the share of other cases must be below one fifth. So 21 cases
    are the fewest, and of 34 cases one may differ.

    >>> [nearly_all(*counts) for counts in ((20, 20), (21, 21), (33, 34), (32, 34), (950, 1000))]
    [False, True, True, False, True]
    """
    other = cases - count
    if not cases or other > MOST_OTHER * cases:
        return False
    if cases >= _MANY:
        return True
    terms = (
        math.comb(cases, k) * USUAL_OTHER**k * (1 - USUAL_OTHER) ** (cases - k)
        for k in range(other + 1)
    )
    return math.fsum(terms) < LEVEL


def _shown(part: Part) -> str:
    if isinstance(part.answer, bool):
        return "yes" if part.answer else "no"
    return part.answer if isinstance(part.answer, str) else f"{part.value:.2f}"
