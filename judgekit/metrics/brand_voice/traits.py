"""Traits: detect the formality, tone and verbosity of a reply by signals. English only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from judgekit.metrics.brand_voice.persona import TONES, Trait
from judgekit.metrics.brand_voice.phrases import UNSPACED, Phrases, Plain, plain
from judgekit.metrics.tokens import count_words
from judgekit.metrics.word_data import SAMPLE, count_function_words, is_english, read_words

CONCISE = 40
"""Maximum number of words of a concise reply."""
DETAILED = 120
"""A reply with more words is detailed; between the two limits it is balanced."""

_SHOWN = 8
"""Maximum number of signals per class in a finding."""


class TraitFinding(NamedTuple):
    """The result of a detector for one trait."""

    kind: str
    expected: str
    matched: bool | None
    """`None` (not applicable) if there is no signal or no detector for the trait."""
    detected: tuple[str, ...]
    """The detected values of the trait."""
    signals: Mapping[str, tuple[str, ...]]
    """Class -> detected signals."""
    reason: str


def find_traits(text: str, traits: Sequence[Trait]) -> list[TraitFinding]:
    """Return a finding for each trait.

    - *Formality*: `casual` if there are at least as many signs of casual language (slang, emoji,
      drawn-out words) as formal words; `formal` if there are formal words and neither slang nor
      contractions; `business_casual` if there are contractions, phrases of friendly business, or
      formal words together with slang or contractions.
    - *Tone*: every tone with at least half as many signals as the strongest one.
    - *Verbosity*: up to 40 words are `concise`, up to 120 `balanced`, more are `detailed`.

    The detectors of formality and tone support English only. Each signal counts once.

    >>> [f.matched for f in find_traits("lol that's so cool!!", [Trait("formality", "formal")])]
    [False]
    >>> [f.matched for f in find_traits("Blue.", [Trait("formality", "formal")])]
    [None]
    """
    form = plain(text)
    foreign = _foreign(text, form)
    fired = cache(partial(_fired, text=text, form=form))
    findings = []
    for trait in traits:
        if trait.kind == "verbosity":
            findings.append(_verbosity(trait, text))
        elif foreign:
            findings.append(_silent(trait, "the text is not in English"))
        elif trait.kind == "tone" and trait.value not in TONES:
            findings.append(_silent(trait, f"no detector listens for {trait.value!r}"))
        else:
            findings.append(_finding(trait, fired(trait.kind)))
    return findings


def signals_digest() -> str:
    """Return the digest of the lists of signals."""
    return _lists().digest


def _foreign(text: str, form: Plain) -> bool:
    """Return whether a text is in another language; an undecided text is not.

    "Yo, that's it" and "no problem, dude" each contain one Spanish function word. Such a text
    counts as English if it contains an entry of the word lists.
    """
    if is_english(text) is not False:
        return False
    letters = [letter for letter in form[:SAMPLE] if letter.isalpha()]
    if sum(map(str.isascii, letters)) < 0.8 * len(letters):
        return True
    words = [word.strip(".,;:!?") for word in form[:SAMPLE].split()]
    counts = count_function_words(words)
    english = counts.pop("en")
    if max(counts.values()) >= english + 2:
        return True
    lists = (signals.words for kind in _lists().kinds.values() for signals in kind.values())
    return not any(words.used(form) for words in lists)


class _Signals(NamedTuple):
    words: Phrases
    patterns: tuple[tuple[str, re.Pattern[str]], ...]


class _Lists(NamedTuple):
    kinds: Mapping[str, Mapping[str, _Signals]]
    digest: str


@lru_cache(maxsize=1)
def _lists() -> _Lists:
    data, digest = read_words("voice/traits.yaml")
    kinds = {
        kind: {name: _signals(entry) for name, entry in classes.items()}
        for kind, classes in data.items()
    }
    return _Lists(kinds, digest[:16])


def _signals(entry: dict[str, Any]) -> _Signals:
    patterns = tuple((p["id"], re.compile(p["find"])) for p in entry["patterns"])
    return _Signals(Phrases(entry["words"]), patterns)


def _fired(kind: str, text: str, form: Plain) -> dict[str, tuple[str, ...]]:
    """Return the detected signals by class, each once."""
    fired = {}
    for name, signals in _lists().kinds[kind].items():
        hits = list(signals.words.used(form))
        for id, pattern in signals.patterns:
            match = pattern.search(text)
            if match is not None:
                hits.append(f"{id} ({' '.join(match[0].split())[:40]})")
        fired[name] = tuple(hits)
    return fired


def _formality(signals: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    kinds = ("formal", "business_casual", "casual")
    formal, between, casual = (len(signals[kind]) for kind in kinds)
    if not formal and not between and not casual:
        return ()
    if casual and casual >= formal:
        return ("casual",)
    if formal and not between and not casual:
        return ("formal",)
    return ("business_casual",)


def _tones(signals: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    most = max(map(len, signals.values()))
    return tuple(name for name, hits in signals.items() if most and 2 * len(hits) >= most)


def _finding(trait: Trait, signals: Mapping[str, tuple[str, ...]]) -> TraitFinding:
    detected = _formality(signals) if trait.kind == "formality" else _tones(signals)
    if not detected:
        return _silent(trait, "no signal of it fired")
    shown = {name: hits[:_SHOWN] for name, hits in signals.items() if hits}
    evidence = "; ".join(f"{name}: {', '.join(hits)}" for name, hits in shown.items())
    sounds = " and ".join(detected)
    reason = f"sounds {sounds} ({evidence})"
    return TraitFinding(*trait, trait.value in detected, detected, shown, reason)


def _verbosity(trait: Trait, text: str) -> TraitFinding:
    words = count_words(text)
    if not words:
        return _silent(trait, "the text holds no words")
    if 2 * len(UNSPACED.findall(text)) > words:
        return _silent(trait, "words are not counted in a script without spaces")
    detected = "concise" if words <= CONCISE else "balanced" if words <= DETAILED else "detailed"
    length = f"{words} word{'s' if words != 1 else ''}"
    signals, reason = {detected: (length,)}, f"has {length}"
    return TraitFinding(*trait, detected == trait.value, (detected,), signals, reason)


def _silent(trait: Trait, why: str) -> TraitFinding:
    return TraitFinding(*trait, None, (), {}, why)
