"""Coherence by rules: is a text an answer at all, whatever its content?"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from judgekit.core.case import Case, has_text
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import needed_text
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.tokens import CJK, count_words, split_sentences
from judgekit.metrics.word_data import read_words

CONFIDENCE = {True: 0.96, False: 0.87}
"""Whether a signal was found -> (right + 1) / (texts + 2) on tests/data/coherence_texts.jsonl. A
test computes it again."""
METHOD = "coherence checks by rule"


class CoherenceRules(ComputedMetric):
    """1 minus the weights of the detected faults, at least 0. Range 0..1, higher is better.

    The faults are: `repetition` (the same words, sentences or runs of words again and again),
    `gibberish` (unpronounceable words; Latin letters only), `noise` (lost characters, or almost
    only punctuation), `truncated` (ends in the middle of a sentence or a code block), and
    `too_short` (no word, or too few for the question; "No." answers a yes-or-no question). The
    rules ignore code and links. They check only the form, so fluent nonsense passes. They replace
    the judged `quality` if there is no judge, and the result says so. `confidence` is the accuracy
    of the rules on labelled held-out texts with the same outcome: .96 with a fault, .87 without.
    """

    name: str = "coherence_rules"

    synchronous = True
    needs = ("output", "input, for the signal too_short")
    confidence = (
        "is the accuracy of the checks on labelled held-out texts with the same outcome: "
        ".96 with a signal, .87 without"
    )

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing.
        """
        question = case.input if has_text(case.input) else None
        return coherence(needed_text(case, "output"), question=question)


def coherence(text: str, *, question: str | None = None) -> Score:
    """Return the score of one text; the minimum length of an answer depends on `question`."""
    fired = find_signals(text, question=question)
    signals: list[Json] = [signal._asdict() for signal in fired]
    evidence = "; ".join(f"{signal.name.replace('_', ' ')} ({signal.evidence})" for signal in fired)
    return Score(
        value=max(0.0, 1.0 - math.fsum(signal.weight for signal in fired)),
        confidence=CONFIDENCE[bool(fired)],
        method=METHOD,
        reason=f"Fired: {evidence}." if fired else "None of the checks found anything.",
        details={"signals": signals, "length_checked": question is not None},
    )


MAX_CHARACTERS = 200_000
"""Maximum number of characters to check; of a longer text, the first and the last half of this
number."""


@lru_cache(maxsize=1)
def _words() -> dict[str, frozenset[str]]:
    data = read_words("coherence/english.yaml").data
    return {name: frozenset(words.split()) for name, words in data.items()}


class Signal(NamedTuple):
    """A formal defect of a text."""

    name: str
    weight: float
    """Deduction from 1."""
    evidence: str


_FENCED = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)")
_INLINE = re.compile(
    r"`[^`\n]{1,200}`|https?://\S{1,2000}|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{2,64}"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LATIN = re.compile("[A-Za-zÀ-ÖØ-öø-ɏ]+")
_CJK = re.compile(f"[{CJK}]")
_VOWELS = frozenset("aeiouyäöüàáâãåæèéêëìíîïòóôõøùúûýÿœ")
_CLUSTER = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{6,}")
_RUN = re.compile(r"([^\W\d_])\1{5,}")
_STUTTER = re.compile(r"(?i)([^\W\d_]{2,5})\1{2,}")
_DOUBLED = re.compile(r"(?i)\b([^\W\d_]{7,40})[ \t]+\1\b")
_CAMEL = re.compile(r"[a-z]{2}[A-Z][a-z]{2}")
_MARKS = re.compile(r"([!?,;:&%$@^~¡¿])\1{5,}")
_BROKEN = re.compile("[\ufffd\x00-\x08\x0b\x0c\x0e-\x1f]")
_LIST_LINE = re.compile(r"^\s*(?:[-*+•#>|]|\d{1,3}[.)])")
_ENDS_WELL = re.compile(r"[.!?…:;。！？｡؟।\])}>\"'”’»」』*_~|/\\=-]\s*$")
_ASKS_FOR_MUCH = re.compile(
    r"(?i)\b(?:explain|describe|discuss|elaborate|compare|contrast|analy[sz]e|outline|summari[sz]e"
    r"|walk me through|step[- ]by[- ]step|how (?:do|does|can|could|should|would|to)\b(?! you do\b)"
    r"|what are the (?:steps|differences|causes|reasons|pros)|tell me (?:a|an|about|how|why)|why)\b"
)
_ASKS_FOR_TEXT = re.compile(
    r"(?i)\b(?:write|draft|compose|tell|give)\b[^.?!\n]{0,40}"
    r"\b(?:essay|story|article|letter|e-?mail|speech|poem|report|review|blog|paragraph|plan|recipe"
    r"|guide|script)\b|\bin detail\b|\b(?:paragraphs|pages)\b"
)
_ASKS_FOR_LITTLE = re.compile(
    r"(?i)\b(?:in (?:one|a|a single|two|three) (?:words?|phrase|letter|number)|yes or no"
    r"|one[- ]word|true or false|just the|only the|answer with)\b"
)


def find_signals(text: str, *, question: str | None = None) -> list[Signal]:
    """Return the formal defects of a text as an answer, in a fixed order; takes linear time.

    >>> [signal.name for signal in find_signals("go to the shop go to the shop go to the shop")]
    ['repetition']
    >>> find_signals("No.", question="Is the shop open on Sundays?")
    []
    """
    looked_at = _shortened(text)
    prose = _INLINE.sub(" ", _FENCED.sub("\n", looked_at))
    words = _WORD.findall(prose)
    signals: list[Signal | None] = [
        _repetition(prose, words),
        _gibberish(words),
        _noise(prose),
        _truncated(looked_at, prose),
        _too_short(text, question),
    ]
    return [signal for signal in signals if signal is not None]


def _shortened(text: str) -> str:
    half = MAX_CHARACTERS // 2
    return text if len(text) <= MAX_CHARACTERS else f"{text[:half]}\n\n{text[-half:]}"


# -- repetition ----------------------------------------------------------------------


def _repetition(prose: str, words: Sequence[str]) -> Signal | None:
    """Return the strongest of: a repeated word, repeated sentences, repeated runs of words."""
    lower = [word.casefold() for word in words]
    units = [unit for word in lower for unit in ([*word] if _CJK.search(word) else [word])]
    candidates: list[tuple[float, str]] = []
    word, times = _longest_run(lower)
    # "no, no, no" and "ha ha ha" are normal; a longer word three times in a row is a defect.
    if times >= (3 if len(word) > 4 else 5):
        weight = 1.0 if times >= 5 else 0.6
        candidates.append((weight, f"{word!r} {times} times in a row"))
    doubled = _DOUBLED.search(prose)
    if doubled is not None:
        candidates.append((0.3, repr(_short(doubled[0]))))
    long = [sentence for sentence in split_sentences(prose) if count_words(sentence) >= 3]
    sentences = Counter(" ".join(sentence.casefold().split()) for sentence in long)
    total = len(long)
    if total:
        sentence, times = sentences.most_common(1)[0]
        if times >= 3 or (times == 2 and total in (3, 4)):
            weight = 1.0 if times * 2 >= total else 0.5
            candidates.append((weight, f"{_short(sentence)!r} {times} times"))
    share, phrase = _repeated_share(units)
    if share >= 0.35:
        weight = 1.0 if share >= 0.5 else 0.6
        candidates.append((weight, f"{share:.0%} of the words repeat {_short(phrase)!r} or so"))
    if heavy := _one_word(lower):
        candidates.append((0.5, heavy))
    if not candidates:
        return None
    return Signal("repetition", *max(candidates, key=lambda candidate: candidate[0]))


def _longest_run(words: Sequence[str]) -> tuple[str, int]:
    runs = [(word, len(list(run))) for word, run in groupby(words) if not word.isdigit()]
    return max(runs, key=lambda run: run[1] + (2 if len(run[0]) > 4 else 0), default=("", 0))


def _repeated_share(units: Sequence[str], size: int = 4) -> tuple[float, str]:
    """Return the share of words in runs of four that occurred before, and the most common run."""
    if len(units) < 2 * size:
        return 0.0, ""
    counts: Counter[tuple[str, ...]] = Counter()
    covered = bytearray(len(units))
    for start in range(len(units) - size + 1):
        run = tuple(units[start : start + size])
        counts[run] += 1
        if counts[run] > 1:
            covered[start : start + size] = b"\x01" * size
    run, _ = counts.most_common(1)[0]
    return sum(covered) / len(units), " ".join(run)


def _one_word(words: Sequence[str]) -> str | None:
    """Return a content word that dominates a short text: "Steering helps. Steering works."."""
    long = Counter(word for word in words if len(word) > 4)
    word, times = max(long.items(), key=itemgetter(1), default=("", 0))
    is_heavy = len(words) >= 8 and times >= max(4, 0.35 * len(words))
    return f"{times} of {len(words)} words are {word!r}" if is_heavy else None


# -- gibberish -----------------------------------------------------------------------


def _gibberish(words: Sequence[str]) -> Signal | None:
    """Return unpronounceable Latin words: no vowel, six consonants in a row, runs of one letter."""
    latin = [word for word in words if _LATIN.fullmatch(word.replace("'", "").replace("’", ""))]
    odd = [word for word in latin if _is_odd(word)]
    glued = [word for word in latin if _CAMEL.search(word)]
    suspects = odd + (glued if len(glued) > 1 else [])
    if not latin or not suspects:
        return None
    share = len(suspects) / len(latin)
    if share < 0.08 and not any(len(word) > 20 for word in odd):
        return None
    weight = 1.0 if share >= 0.3 else 0.5
    shown = ", ".join(repr(_short(word, 24)) for word in list(dict.fromkeys(suspects))[:3])
    return Signal("gibberish", weight, f"{len(suspects)} of {len(latin)} words, such as {shown}")


def _is_odd(word: str) -> bool:
    if len(word) < 3 or word.isupper():  # abbreviations are all capitals
        return False
    lower = word.casefold()
    if _RUN.search(lower) or (len(word) > 8 and _STUTTER.search(lower)):
        return True
    if not any(letter in _VOWELS for letter in lower):
        return lower not in _words()["without_vowel"]
    spoken = lower.replace("sch", "s").replace("ch", "c").replace("th", "t")
    return _CLUSTER.search(spoken) is not None or len(word) > 45


def _noise(prose: str) -> Signal | None:
    """Return signs of noise: lost characters, long runs of marks, or hardly anything but marks."""
    broken = len(_BROKEN.findall(prose))
    if broken:
        return Signal("noise", min(1.0, 0.3 + 0.1 * broken), f"{broken} broken characters")
    solid = [character for character in prose if not character.isspace()]
    spoken = sum(character.isalnum() for character in solid)
    if len(solid) >= 20 and spoken < 0.4 * len(solid):
        return Signal("noise", 0.7, f"{spoken} letters and digits in {len(solid)} characters")
    run = _MARKS.search(prose)
    if run is not None:
        return Signal("noise", 0.3, f"{run[0][:12]!r}")
    return None


# -- cut off, too short --------------------------------------------------------------


def _truncated(text: str, prose: str) -> Signal | None:
    """Return whether it stops inside a code block or sentence, or before what it announced."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    if sum(line.strip().startswith("```") for line in lines) % 2:
        return Signal("truncated", 0.5, "a code block that does not end")
    last = lines[-1].strip()
    if last.startswith(("```", "~~~")):
        return None
    words = _WORD.findall(last)
    ending = words[-1].casefold() if words else ""
    tail = _short(last[-40:], 40)
    if last.endswith((",", "，", "、")) and len(lines) == 1 and count_words(prose) > 3:
        return Signal("truncated", 0.5, f"ends in {tail!r}")
    if _ENDS_WELL.search(last) is not None:
        return None
    # A word cut by a hyphen is a word; a heading, a row or an item needs no full stop.
    if len(words) >= 4 and ending in _words()["dangling"] and last.endswith(words[-1]):
        return Signal("truncated", 0.5, f"ends in {tail!r}")
    if _LIST_LINE.match(last) is not None or not last[-1].isalnum():
        return None
    ended = [_ENDS_WELL.search(s) is not None for s in list(split_sentences(prose))[-4:]]
    if len(ended) >= 3 and all(ended[:-1]) and not ended[-1] and len(words) >= 6:
        return Signal("truncated", 0.4, f"ends in {tail!r}")
    return None


def _too_short(text: str, question: str | None) -> Signal | None:
    """Return whether it has no words, or fewer than an answer to the question needs."""
    words = count_words(text)
    if not words:
        # An emoji may be an answer; a row of dots is not.
        if any(ord(character) > 0x2190 for character in text):
            return None
        return Signal("too_short", 1.0, f"{_short(text.strip())!r} holds no word")
    if question is None or words >= _needed_words(question):
        return None
    return Signal("too_short", 0.5, f"{words} words where the question asks for more")


def _needed_words(question: str) -> int:
    """Return the minimum number of words of an answer, as far as the question shows it."""
    ending = question[-2_000:]
    if _ASKS_FOR_LITTLE.search(ending):
        return 1
    if _ASKS_FOR_TEXT.search(ending):
        return 20
    return 5 if _ASKS_FOR_MUCH.search(ending) else 1


def _short(text: str, most: int = 60) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
