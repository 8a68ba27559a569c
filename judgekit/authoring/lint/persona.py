"""Check persona files for mistakes, for `judgekit persona lint`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from judgekit.authoring.lint.rule import Linted, LintFinding, Problem, repeated, rules_in
from judgekit.authoring.lint.subject import without_place
from judgekit.core.errors import ConfigError
from judgekit.core.yaml_file import Lines
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
        findings += (
            persona_rules()[rule].finding(Problem(where, message))
            for rule, where, message in _problems(path)
        )
    return Linted([Path(path) for path in paths], findings)


Problems = Iterator[tuple[str, str, str]]
"""Rule, location and message."""


def _problems(path: Path) -> Problems:
    try:
        file, lines = personas.read_persona(path)
    except ConfigError as exc:
        yield "bad-persona", exc.where or str(path), without_place(exc)
        return
    checks = _PersonaChecks(file, lines)
    yield from checks.all()
    beside = calibration_path(path)
    if not beside.is_file():
        return
    try:
        made = load_calibration(beside)
    except ConfigError as exc:
        yield "bad-calibration", exc.where or str(beside), without_place(exc)
        return
    if made.older_than(checks.persona):
        message = f"is older than {path.name}, which has changed; run persona calibrate again"
        yield "stale-calibration", str(beside), message
    if made.held_out is None:
        message = "has no held-out figure; run persona calibrate --step validate"
        yield "unvalidated-calibration", str(beside), message


class _PersonaChecks:
    """Checks one persona, with the lines of its parts."""

    def __init__(self, file: personas.PersonaFile, lines: Lines) -> None:
        self.file = file
        self.persona = personas.Persona(file)
        self._where = lines.where
        self._voice = ("voice",) if file.voice and file.voice.lexicon else ()
        lexicon = file.lexicon or (file.voice and file.voice.lexicon) or personas.LexiconFile()
        self._avoid = "avoided" if lexicon.avoid is None else "avoid"
        self._preferred = lexicon.preferred
        self._avoided = lexicon.avoid or lexicon.avoided or []
        self._exemplars = "exemplars" if file.exemplars is not None else "examples"
        self._traits = ("traits",) if file.traits else ("voice",)

    def all(self) -> Problems:
        persona = self.persona
        words = len(persona.preferred) + len(persona.avoided)
        if not persona.exemplars and not persona.traits and not words:
            yield "nothing-to-score", self._where(), "has no exemplars, no traits and no lexicon"
        yield from self._words()
        yield from self._replies()
        yield from self._sounds()
        yield from self._unread()

    def _word(self, *path: str | int) -> str:
        return self._where(*self._voice, "lexicon", *path)

    def _words(self) -> Problems:
        persona, avoided = self.persona, set(map(plain, self._avoided))
        for key, listed in (("preferred", self._preferred), (self._avoid, self._avoided)):
            for number, _ in repeated((plain(word), at) for at, word in enumerate(listed)):
                message = f"{listed[number]!r} appears twice under {key}"
                yield "twice", self._word(key, number), message
        for number, word in enumerate(self._preferred):
            form = plain(word)
            if form in avoided:
                message = f"{word!r} is preferred and avoided"
                yield "both-ways", self._word("preferred", number), message
                continue
            for inside in persona.avoided.used(form):
                message = f"{word!r} is preferred and contains {inside!r}, which is avoided"
                yield "avoided-inside", self._word("preferred", number), message
        if (count := len(persona.preferred)) > MANY_WORDS:
            message = f"{count} preferred words; a reply with three of them scores {3 / count:.2f}"
            yield "many-words", self._word("preferred"), message
        used = (persona.preferred.used(plain(text)) for text in persona.exemplars)
        if persona.exemplars and self._preferred and not any(used):
            yield "words-unused", self._word("preferred"), "no exemplar uses any preferred word"

    def _replies(self) -> Problems:
        listed = self.persona.exemplars
        place = self._where(self._exemplars)
        if len(listed) < FEW_EXEMPLARS:
            count = f"{len(listed)} exemplar{'s' if len(listed) != 1 else ''}"
            yield "few-exemplars", place, f"{count}; give at least {FEW_EXEMPLARS}, better ten"
        for number, _ in repeated((plain(text), at) for at, text in enumerate(listed)):
            message = f"the exemplar {_short(listed[number])} appears twice"
            yield "twice", self._where(self._exemplars, number), message
        for number, text in enumerate(listed):
            where = self._where(self._exemplars, number)
            if count_words(text) < SHORT_EXEMPLAR:
                yield "short-exemplar", where, f"the exemplar {_short(text)} is very short"
            for word in self.persona.avoided.used(plain(text)):
                message = f"the exemplar {_short(text)} uses {word!r}, which is avoided"
                yield "exemplar-avoided", where, message

    def _sounds(self) -> Problems:
        for trait in self.persona.traits:
            where = self._where(*self._traits, trait.kind)
            if trait.kind == "tone" and trait.value not in personas.TONES:
                message = f"no detector for the tone {trait.value!r}"
                yield "unheard-trait", where, f"{message}; known tones: {', '.join(personas.TONES)}"
                continue
            detected = [find_traits(text, [trait])[0] for text in self.persona.exemplars]
            clear = [f for f in detected if f.matched is not None]
            against = [f for f in clear if not f.matched]
            if len(clear) >= 2 and 2 * len(against) > len(clear):
                sounds = sorted({sound for f in against for sound in f.detected})
                share = f"{len(against)} of {len(clear)} exemplars do not sound {trait.value}"
                message = f"{share} but {' or '.join(sounds)}; {against[0].reason}"
                yield "trait-contradicted", where, message

    def _unread(self) -> Problems:
        rules = self.file.style_rules
        if isinstance(rules, list):
            message = "style_rules is a list; judgekit does not read it"
            yield "unread-rule", self._where("style_rules"), message
        for key in rules if isinstance(rules, dict) else ():
            if key != "preferred":
                message = f"judgekit does not read style_rules.{key}; use traits or brand_notes"
                yield "unread-rule", self._where("style_rules", key), message


def _short(text: str) -> str:
    return repr(text if len(text) <= 50 else text[:47] + "...")
