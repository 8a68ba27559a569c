"""Coherence by rule: is a text an answer at all, whatever it says?"""

from __future__ import annotations

import math

from judgekit.core.case import Case, has_text
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import needed_text
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.safety_and_quality.signals import find_signals

CONFIDENCE = {True: 0.96, False: 0.87}
"""Whether something fired -> (right + 1) / (texts + 2) on tests/data/coherence_texts.jsonl. A test
computes it again."""
METHOD = "coherence checks by rule"


class CoherenceRules(ComputedMetric):
    """1 minus what the signals weigh that fired, at least 0; 0..1, higher is better.

    The signals: `repetition` (a word again and again, the same sentences, the same runs of
    words), `gibberish` (words nobody could say; Latin letters only), `noise` (lost characters,
    hardly anything but marks), `truncated` (ends in the middle of a sentence or a code block),
    `too_short` (no word, or too few for what the question asks: "No." answers a yes-or-no
    question). Code and links are not looked at. The checks see form only: fluent nonsense
    passes. They stand in for the judged `quality`, and a result says so. `confidence` is how often
    the same outcome was right on labelled texts the checks were not written for: .96 where
    something fired, .87 where nothing did.
    """

    name: str = "coherence_rules"

    synchronous = True
    needs = ("output", "input, for what is too short")
    confidence = (
        "is how often the same outcome was right on labelled texts the checks were not "
        "written for: .96 where something fired, .87 where nothing did"
    )

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing.
        """
        question = case.input if has_text(case.input) else None
        return coherence(needed_text(case, "output"), question=question)


def coherence(text: str, *, question: str | None = None) -> Score:
    """Return the score of one text; `question` says how long an answer must be."""
    fired = find_signals(text, question=question)
    value = max(0.0, 1.0 - math.fsum(signal.weight for signal in fired))
    signals: list[Json] = [signal._asdict() for signal in fired]
    evidence = "; ".join(f"{signal.name.replace('_', ' ')} ({signal.evidence})" for signal in fired)
    return Score(
        value=value,
        confidence=CONFIDENCE[bool(fired)],
        method=METHOD,
        reason=f"Fired: {evidence}." if fired else "None of the checks found anything.",
        details={"signals": signals, "length_checked": question is not None},
    )
