"""Check persona files for mistakes, for `judgekit persona lint`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from judgekit.authoring.lint.rule import Linted, LintFinding, Problem, repeated, rules_in
from judgekit.authoring.lint.subject import without_place
from judgekit.core.display.parts import counted
from judgekit.core.errors import ConfigError
from judgekit.metrics.brand_voice import persona as personas
from judgekit.metrics.brand_voice.calibration import calibration_path, load_calibration
from judgekit.metrics.brand_voice.phrases import plain
from judgekit.metrics.brand_voice.traits import find_traits
from judgekit.metrics.tokens import count_words

FEW_EXEMPLARS = 3
MANY_WORDS = 15
SHORT_EXEMPLAR = 3
"""Minimum number of words of an exemplar; a shorter one shows no style."""

persona_rules = partial(rules_in, Path(__file__).with_name("persona_rules.yaml"))
"""Returns id -> rule."""


def lint_personas(paths: Sequence[str | Path]) -> Linted:
    """Check persona files; an error that prevents loading is also a finding.

    Raises:
        ConfigError: a file does not exist.
    """
    findings: list[LintFinding] = []
    for path in map(Path, paths):
        if path.name.endswith(personas.CALIBRATION_ENDING) and path.is_file():
            continue  # checked with its persona
        if not path.exists():
            personas.read_persona(path)  # raises the error with a suggestion
        for rule, where, message in _problems(path):
            findings.append(persona_rules()[rule].finding(Problem(where, message)))
    return Linted([Path(path) for path in paths], findings)


Problems = Iterator[tuple[str, str, str]]
"""Rule, location and message."""
Where = Callable[..., str]
"""Returns `file:line` of a path in the persona file."""


def _problems(path: Path) -> Problems:
    try:
        file, lines = personas.read_persona(path)
    except ConfigError as exc:
        yield "bad-persona", exc.where or str(path), without_place(exc)
        return
    persona = personas.Persona(file)
    if not (persona.exemplars or persona.traits or persona.preferred or persona.avoided):
        yield "nothing-to-score", lines.where(), "has no exemplars, no traits and no lexicon"
    for check in (_words, _replies, _sounds, _unread):
        yield from check(file, persona, lines.where)
    yield from _calibration(path, persona)


def _calibration(file: Path, persona: personas.Persona) -> Problems:
    path = calibration_path(file)
    if not path.is_file():
        return
    try:
        made = load_calibration(path)
    except ConfigError as exc:
        yield "bad-calibration", exc.where or str(path), without_place(exc)
        return
    if made.older_than(persona):
        message = f"is older than {file.name}, which has changed; run persona calibrate again"
        yield "stale-calibration", str(path), message
    if made.held_out is None:
        message = "has no held-out figure; run persona calibrate --step validate"
        yield "unvalidated-calibration", str(path), message


def _words(file: personas.PersonaFile, persona: personas.Persona, where: Where) -> Problems:
    inner = file.voice and file.voice.lexicon
    lexicon, place = file.lexicon or inner or personas.LexiconFile(), partial(where, "lexicon")
    if inner:
        place = partial(where, "voice", "lexicon")
    avoid = "avoided" if lexicon.avoid is None else "avoid"
    preferred, avoided = lexicon.preferred, lexicon.avoid or lexicon.avoided or []
    for key, listed in (("preferred", preferred), (avoid, avoided)):
        for number, _ in repeated((plain(word), at) for at, word in enumerate(listed)):
            yield "twice", place(key, number), f"{listed[number]!r} appears twice under {key}"
    forms = set(map(plain, avoided))
    for number, word in enumerate(preferred):
        at, form = place("preferred", number), plain(word)
        if form in forms:
            yield "both-ways", at, f"{word!r} is preferred and avoided"
            continue
        for inside in persona.avoided.used(form):
            message = f"{word!r} is preferred and contains {inside!r}, which is avoided"
            yield "avoided-inside", at, message
    if (count := len(persona.preferred)) > MANY_WORDS:
        message = f"{count} preferred words; a reply with three of them scores {3 / count:.2f}"
        yield "many-words", place("preferred"), message
    used = (persona.preferred.used(plain(text)) for text in persona.exemplars)
    if persona.exemplars and preferred and not any(used):
        yield "words-unused", place("preferred"), "no exemplar uses any preferred word"


def _replies(file: personas.PersonaFile, persona: personas.Persona, where: Where) -> Problems:
    listed = persona.exemplars
    place = partial(where, "exemplars" if file.exemplars is not None else "examples")
    if len(listed) < FEW_EXEMPLARS:
        count = counted(len(listed), "exemplar")
        yield "few-exemplars", place(), f"{count}; give at least {FEW_EXEMPLARS}, better ten"
    for number, _ in repeated((plain(text), at) for at, text in enumerate(listed)):
        yield "twice", place(number), f"the exemplar {_short(listed[number])} appears twice"
    for number, text in enumerate(listed):
        if count_words(text) < SHORT_EXEMPLAR:
            yield "short-exemplar", place(number), f"the exemplar {_short(text)} is very short"
        for word in persona.avoided.used(plain(text)):
            message = f"the exemplar {_short(text)} uses {word!r}, which is avoided"
            yield "exemplar-avoided", place(number), message


def _sounds(file: personas.PersonaFile, persona: personas.Persona, where: Where) -> Problems:
    for trait in persona.traits:
        at = where("traits" if file.traits else "voice", trait.kind)
        if trait.kind == "tone" and trait.value not in personas.TONES:
            message = f"no detector for the tone {trait.value!r}"
            yield "unheard-trait", at, f"{message}; known tones: {', '.join(personas.TONES)}"
            continue
        detected = [find_traits(text, [trait])[0] for text in persona.exemplars]
        clear = [f for f in detected if f.matched is not None]
        against = [f for f in clear if not f.matched]
        if len(clear) >= 2 and 2 * len(against) > len(clear):
            sounds = sorted({sound for f in against for sound in f.detected})
            share = f"{len(against)} of {len(clear)} exemplars do not sound {trait.value}"
            message = f"{share} but {' or '.join(sounds)}; {against[0].reason}"
            yield "trait-contradicted", at, message


def _unread(file: personas.PersonaFile, persona: personas.Persona, where: Where) -> Problems:
    rules = file.style_rules
    if isinstance(rules, list):
        message = "style_rules is a list; judgekit does not read it"
        yield "unread-rule", where("style_rules"), message
    for key in rules if isinstance(rules, dict) else ():
        if key != "preferred":
            message = f"judgekit does not read style_rules.{key}; use traits or brand_notes"
            yield "unread-rule", where("style_rules", key), message


def _short(text: str) -> str:
    return repr(text if len(text) <= 50 else text[:47] + "...")
