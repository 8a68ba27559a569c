"""ROUGE: words, pairs of words or the longest common subsequence shared with a reference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Literal, NamedTuple

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.embedders.folding import fold
from judgekit.metrics._options import needed_text, needed_texts
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.tokens import CJK

Variant = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]
Figure = Literal["f", "precision", "recall"]

MAX_TABLE = 1_000_000
"""Maximum size of a table of subsequence lengths, in pairs of words of two lines."""

_TOKEN = re.compile(f"[{CJK}]|[^\\W_{CJK}]+")


class Overlap(NamedTuple):
    """Precision, recall and their harmonic mean, each 0..1."""

    precision: float
    recall: float
    f: float


def overlap(shared: float, output: float, reference: float) -> Overlap:
    """Return the overlap of two texts from the numbers of shared and of all units, or weights."""
    precision = shared / output if output else 0.0
    recall = shared / reference if reference else 0.0
    f = 2 * precision * recall / (precision + recall) if shared else 0.0
    return Overlap(precision, recall, f)


def rouge_tokens(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, case-folded.

    For ASCII text these are the tokens of `rouge-score`, and so of the original Perl script,
    without stemming. Words of other alphabets count too; each Han or kana character is a word.

    >>> rouge_tokens("It's 3.5 km")
    ['it', 's', '3', '5', 'km']
    """
    return _TOKEN.findall(fold(text))


def rouge_n(output: str, reference: str, *, n: int) -> Overlap | None:
    """Return ROUGE-n; `None` if neither text has n words."""
    first, second = (_ngrams(rouge_tokens(text), n) for text in (output, reference))
    return _overlap((first & second).total(), first.total(), second.total())


def rouge_l(output: str, reference: str) -> Overlap | None:
    """Return ROUGE-L over whole texts; `None` if neither has a word."""
    from rapidfuzz.distance import LCSseq

    first, second = rouge_tokens(output), rouge_tokens(reference)
    return _overlap(LCSseq.similarity(first, second), len(first), len(second))


def rouge_lsum(output: str, reference: str) -> Overlap | None:
    """Return ROUGE-Lsum: for each line of the reference, the union of its common subsequences.

    Each line is a sentence. `None` if neither text has a word.
    """
    lines, reference_lines = (
        [tokens for line in text.split("\n") if (tokens := rouge_tokens(line))]
        for text in (output, reference)
    )
    left, reference_left = (Counter(chain.from_iterable(each)) for each in (lines, reference_lines))
    total, reference_total = left.total(), reference_left.total()
    shared = 0
    for line in reference_lines:
        # A word counts at most as often as it occurs in both texts.
        for place in sorted({at for other in lines for at in _common_places(line, other)}):
            token = line[place]
            if left[token] > 0 and reference_left[token] > 0:
                shared += 1
                left[token] -= 1
                reference_left[token] -= 1
    return _overlap(shared, total, reference_total)


def _overlap(shared: int, output: int, reference: int) -> Overlap | None:
    return overlap(shared, output, reference) if output or reference else None


def _common_places(line: Sequence[str], other: Sequence[str]) -> list[int]:
    """Return the positions in `line` of one longest common subsequence with `other`.

    If there are several, the choice is that of rouge-score: it walks back from the ends and, if
    both ways are possible, skips the word of `line`. For lines that are too long for a table,
    rapidfuzz may choose another one of the same length.
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


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


class RougeMetric(ComputedMetric):
    """ROUGE-1, -2, -L or -Lsum of the output and the best reference. Range 0..1, higher is better.

    The metric ignores case and does no stemming; words are runs of letters and digits. If there are
    several references, the one with the highest figure counts.
    """

    name: str = "rouge"
    variant: Variant = "rougeL"
    """Single words (`rouge1`), pairs of words (`rouge2`), or longest common subsequence (`rougeL`;
    `rougeLsum` line by line)."""
    figure: Figure = "f"
    """Which figure is the value (f, precision or recall); the details contain all three."""

    needs = ("output", "reference")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing.
        """
        output = needed_text(case, "output")
        overlaps = [(self._rouge(output, text), text) for text in needed_texts(case, "reference")]
        known = [(rouge, text) for rouge, text in overlaps if rouge is not None]
        if not known:
            reason = "Neither the output nor the reference is long enough."
            return not_applicable(reason, method=self.variant)
        place = Overlap._fields.index(self.figure)
        best, reference = max(known, key=lambda pair: pair[0][place])
        return Score(
            value=best[place],
            method=f"{self.variant}, {self.figure}",
            reason=f"{self.variant} of the output and the nearest reference: precision"
            f" {best.precision:.2f}, recall {best.recall:.2f}, F {best.f:.2f}.",
            ground_truth=reference,
            details={**best._asdict()},
        )

    def _rouge(self, output: str, reference: str) -> Overlap | None:
        match self.variant:
            case "rougeL":
                return rouge_l(output, reference)
            case "rougeLsum":
                return rouge_lsum(output, reference)
            case _:
                return rouge_n(output, reference, n=int(self.variant[-1]))
