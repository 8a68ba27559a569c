"""ROUGE: words, pairs of words or the longest common sequence shared with a reference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from judgekit.core.case import Case
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.embedders.folding import fold
from judgekit.metrics._options import check_choice, check_name, needed_text, needed_texts
from judgekit.metrics.tokens import CJK

Variant = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]
Figure = Literal["f", "precision", "recall"]

MAX_TABLE = 1_000_000
"""Pairs of words of two lines that a table is made for."""

_TOKEN = re.compile(f"[{CJK}]|[^\\W_{CJK}]+")


class Rouge(NamedTuple):
    """Precision, recall and their harmonic mean, each 0..1."""

    precision: float
    recall: float
    f: float


def rouge_tokens(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, case folded.

    For ASCII text these are the tokens of the original Perl script as `rouge-score` has them,
    without stemming. Other alphabets are words too; each Han or kana character is one.

    >>> rouge_tokens("It's 3.5 km")
    ['it', 's', '3', '5', 'km']
    """
    return _TOKEN.findall(fold(text))


def rouge_n(output: str, reference: str, *, n: int) -> Rouge | None:
    """Return ROUGE-n; `None` where neither text has n words in a row."""
    made, wanted = (_grams(rouge_tokens(text), n) for text in (output, reference))
    if not made and not wanted:
        return None
    return _rouge((made & wanted).total(), made.total(), wanted.total())


def rouge_l(output: str, reference: str) -> Rouge | None:
    """Return ROUGE-L over whole texts; `None` where neither has a word."""
    from rapidfuzz.distance import LCSseq

    made, wanted = rouge_tokens(output), rouge_tokens(reference)
    if not made and not wanted:
        return None
    return _rouge(LCSseq.similarity(made, wanted), len(made), len(wanted))


def rouge_lsum(output: str, reference: str) -> Rouge | None:
    """Return ROUGE-L over lines: for each line of the reference the union of its common sequences.

    Lines are sentences, as summaries are given to ROUGE. `None` where neither text has a word.
    """
    made, wanted = (
        [tokens for line in text.split("\n") if (tokens := rouge_tokens(line))]
        for text in (output, reference)
    )
    of_made, of_wanted = (Counter(t for line in lines for t in line) for lines in (made, wanted))
    if not of_made and not of_wanted:
        return None
    left_made, left_wanted = of_made.copy(), of_wanted.copy()
    hits = 0
    for line in wanted:
        # A word counts once for each time both texts have it left.
        for place in sorted({at for other in made for at in _common_places(line, other)}):
            token = line[place]
            if left_made[token] > 0 and left_wanted[token] > 0:
                hits += 1
                left_made[token] -= 1
                left_wanted[token] -= 1
    return _rouge(hits, of_made.total(), of_wanted.total())


def _common_places(line: Sequence[str], other: Sequence[str]) -> list[int]:
    """Return the places in `line` of one longest common subsequence with `other`.

    Of several, the one found by walking back from the ends and, where it may go either way,
    leaving out the word of `line`: the choice of rouge-score. Lines too long for a table are
    left to rapidfuzz, which may choose another one of the same length.
    """
    if len(line) * len(other) > MAX_TABLE:
        from rapidfuzz.distance import LCSseq

        steps = (step for step in LCSseq.opcodes(line, other) if step.tag == "equal")
        return [at for step in steps for at in range(step.src_start, step.src_end)]
    table = [[0] * (len(other) + 1)]
    for word in line:
        above, row = table[-1], [0]
        for at, another in enumerate(other):
            row.append(above[at] + 1 if word == another else max(above[at + 1], row[at]))
        table.append(row)
    places = []
    i, j = len(line), len(other)
    while i and j:
        if line[i - 1] == other[j - 1]:
            places.append(i - 1)
            i, j = i - 1, j - 1
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


def _rouge(shared: int, made: int, wanted: int) -> Rouge:
    precision = shared / made if made else 0.0
    recall = shared / wanted if wanted else 0.0
    return Rouge(
        precision, recall, 2 * precision * recall / (precision + recall) if shared else 0.0
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class RougeMetric(Metric):
    """ROUGE-1, -2, -L or -Lsum of the output and the nearest reference; 0..1, higher is better.

    Case does not matter, words are runs of letters and digits, and there is no stemming. Of
    several references the one with the greatest figure counts.
    """

    name: str = "rouge"
    variant: Variant = "rougeL"
    """Single words, pairs of words, or longest common sequences (`rougeLsum`: line by line)."""
    figure: Figure = "f"
    """Which of f, precision and recall is the value; all three are in the details."""

    needs = ("output", "reference")

    def __post_init__(self) -> None:
        check_name("rouge", self.name)
        check_choice(self.name, "variant", self.variant, Variant)
        check_choice(self.name, "figure", self.figure, Figure)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing.
        """
        output = needed_text(case, "output")
        references = needed_texts(case, "reference")
        found = [(self._rouge(output, text), text) for text in references]
        known = [(rouge, text) for rouge, text in found if rouge is not None]
        if not known:
            return Score(
                status="not_applicable",
                reason="Neither the output nor the reference is long enough.",
                method=self.variant,
            )
        best, reference = max(known, key=lambda pair: getattr(pair[0], self.figure))
        value: float = getattr(best, self.figure)
        return Score(
            value=value,
            method=f"{self.variant}, {self.figure}",
            reason=f"{self.variant} of the output and the nearest reference: precision"
            f" {best.precision:.2f}, recall {best.recall:.2f}, F {best.f:.2f}.",
            ground_truth=reference,
            details={"precision": best.precision, "recall": best.recall, "f": best.f},
        )

    def _rouge(self, output: str, reference: str) -> Rouge | None:
        match self.variant:
            case "rougeL":
                return rouge_l(output, reference)
            case "rougeLsum":
                return rouge_lsum(output, reference)
            case _:
                return rouge_n(output, reference, n=int(self.variant[-1]))
