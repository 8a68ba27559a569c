"""Check persona files for mistakes, for `judgekit persona lint`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from judgekit.authoring.lint.finding import SEVERITIES, LintFinding, Problem, Severity, finding
from judgekit.core.errors import ConfigError
from judgekit.core.yaml_file import Lines
from judgekit.metrics.brand_voice.persona import Persona, read_persona
from judgekit.metrics.brand_voice.persona_file import TONES, PersonaFile
from judgekit.metrics.brand_voice.phrases import Phrases, plain
from judgekit.metrics.brand_voice.traits import find_traits
from judgekit.metrics.tokens import count_words

FEW_EXEMPLARS = 3
MANY_WORDS = 15
SHORT_EXEMPLAR = 3
"""Words; a shorter exemplar shows no style."""

RULES: dict[str, tuple[Severity, str]] = {
    "bad-persona": ("error", "judgekit cannot score with a file that it cannot read."),
    "nothing-to-score": ("error", "A voice needs exemplars, traits or words."),
    "both-ways": ("error", "A word that is preferred and avoided has no effect."),
    "avoided-inside": (
        "error",
        "An answer with the preferred phrase also contains the avoided word.",
    ),
    "exemplar-avoided": ("error", "The voice's own reply would lose points."),
    "few-exemplars": (
        "warning",
        "Style is the similarity to the exemplars; a few describe a voice badly.",
    ),
    "short-exemplar": ("warning", "A reply of a few words is similar only to itself."),
    "twice": ("warning", "Repeated entries count once."),
    "many-words": ("warning", "One reply can use only a small share of many words."),
    "trait-contradicted": ("warning", "Exemplars and trait contradict each other in the score."),
    "words-unused": ("note", "The voice itself never uses these words."),
    "unheard-trait": ("note", "No detector knows this trait; only a judge sees it."),
    "unread-rule": ("note", "judgekit does not read this key."),
}
"""LintRule -> how severe it is, and why it matters."""


class LintedPersonas(NamedTuple):
    """The findings in persona files."""

    files: tuple[str, ...]
    findings: tuple[LintFinding, ...]

    def exit_code(self, *, strict: bool) -> int:
        """Return 1 where there is an error, with `strict` also for a warning."""
        failing = {"error", "warning"} if strict else {"error"}
        return int(any(found.severity in failing for found in self.findings))


def lint_personas(paths: Sequence[str | Path]) -> LintedPersonas:
    """Check persona files; an error that stops one from loading is a finding, too.

    Raises:
        ConfigError: a file does not exist.
    """
    found: list[LintFinding] = []
    for path in map(Path, paths):
        if not path.exists():
            read_persona(path)  # raises the error with a suggestion
        found += _lint(path)
    return LintedPersonas(tuple(str(path) for path in paths), tuple(found))


def persona_lint_text(linted: LintedPersonas) -> str:
    """Return one line per finding, why under the first of each rule, and the counts."""
    from judgekit.core.canonical import printable

    lines, explained = [], set()
    for found in linted.findings:
        message = " ".join(printable(found.message).split())
        lines.append(f"{found.file}:{found.line}: {found.severity} {found.rule}: {message}")
        if found.rule not in explained:
            explained.add(found.rule)
            lines.append(f"    why: {RULES[found.rule][1]}")
    counts = {s: sum(f.severity == s for f in linted.findings) for s in SEVERITIES}
    totals = [f"{n} {s}{'s' if n > 1 else ''}" for s, n in counts.items() if n]
    files = f"{len(linted.files)} file{'s' if len(linted.files) != 1 else ''}"
    return "\n".join([*lines, f"{', '.join(totals) or 'no problems'} in {files}"]) + "\n"


def _lint(path: Path) -> list[LintFinding]:
    try:
        file, lines = read_persona(path)
    except ConfigError as exc:
        where = exc.where or str(path)
        message = str(exc).removeprefix(f"{where}: ")
        return [finding(Problem(where, message), rule="bad-persona", severity="error")]
    checks = _PersonaChecks(file, lines)
    found = [
        finding(Problem(where, message), rule=rule, severity=RULES[rule][0])
        for rule, where, message in checks.all()
    ]
    return sorted(found, key=lambda f: (f.line, f.rule, f.message))


Problems = Iterator[tuple[str, str, str]]


class _PersonaChecks:
    """Checks one persona, with the lines of its parts."""

    def __init__(self, file: PersonaFile, lines: Lines) -> None:
        self.file = file
        self.persona = Persona(file)
        self._where = lines.where
        self._voice = ("voice",) if file.voice and file.voice.lexicon else ()
        lexicon = file.lexicon or (file.voice and file.voice.lexicon)
        self._avoid = "avoided" if lexicon and lexicon.avoid is None else "avoid"
        self._preferred = lexicon.preferred if lexicon else []
        self._avoided = (lexicon.avoid or lexicon.avoided or []) if lexicon else []
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

    def _word(self, key: str, number: int) -> str:
        return self._where(*self._voice, "lexicon", key, number)

    def _words(self) -> Problems:
        avoided = {plain(word): word for word in self._avoided}
        for key, listed in (("preferred", self._preferred), (self._avoid, self._avoided)):
            seen: set[str] = set()
            for number, word in enumerate(listed):
                if plain(word) in seen:
                    yield "twice", self._word(key, number), f"{word!r} appears twice under {key}"
                seen.add(plain(word))
        for number, word in enumerate(self._preferred):
            form = plain(word)
            if form in avoided:
                message = f"{word!r} is preferred and avoided"
                yield "both-ways", self._word("preferred", number), message
                continue
            for inside in Phrases(self._avoided).used(form):
                message = f"{word!r} is preferred and contains {inside!r}, which is avoided"
                yield "avoided-inside", self._word("preferred", number), message
        if len(self.persona.preferred) > MANY_WORDS:
            message = (
                f"{len(self.persona.preferred)} preferred words; a reply with three of them"
                f" scores {3 / len(self.persona.preferred):.2f}"
            )
            yield "many-words", self._where(*self._voice, "lexicon", "preferred"), message
        texts = [plain(text) for text in self.persona.exemplars]
        if texts and self._preferred:
            used = {word for text in texts for word in self.persona.preferred.used(text)}
            if not used:
                message = "no exemplar uses any preferred word"
                yield "words-unused", self._where(*self._voice, "lexicon", "preferred"), message

    def _replies(self) -> Problems:
        listed = list(self.file.exemplars or self.file.examples or ())
        place = self._where(self._exemplars)
        if len(listed) < FEW_EXEMPLARS:
            count = f"{len(listed)} exemplar{'s' if len(listed) != 1 else ''}"
            yield "few-exemplars", place, f"{count}; give at least {FEW_EXEMPLARS}, better ten"
        seen: set[str] = set()
        for number, text in enumerate(listed):
            where = self._where(self._exemplars, number)
            form = plain(text)
            if form in seen:
                yield "twice", where, f"the exemplar {_short(text)} appears twice"
            seen.add(form)
            if count_words(text) < SHORT_EXEMPLAR:
                yield "short-exemplar", where, f"the exemplar {_short(text)} is very short"
            for word in self.persona.avoided.used(form):
                message = f"the exemplar {_short(text)} uses {word!r}, which is avoided"
                yield "exemplar-avoided", where, message

    def _sounds(self) -> Problems:
        for trait in self.persona.traits:
            where = self._where(*self._traits, trait.kind)
            if trait.kind == "tone" and trait.wanted not in TONES:
                message = f"no detector for the tone {trait.wanted!r}"
                yield "unheard-trait", where, f"{message}; known tones: {', '.join(TONES)}"
                continue
            found = [find_traits(text, [trait])[0] for text in self.persona.exemplars]
            heard = [f for f in found if f.matched is not None]
            against = [f for f in heard if not f.matched]
            if len(heard) >= 2 and 2 * len(against) > len(heard):
                sounds = sorted({sound for f in against for sound in f.heard})
                message = (
                    f"{len(against)} of {len(heard)} exemplars do not sound {trait.wanted}"
                    f" but {' or '.join(sounds)}; {against[0].reason}"
                )
                yield "trait-contradicted", where, message

    def _unread(self) -> Problems:
        rules = self.file.style_rules
        if isinstance(rules, list):
            yield (
                "unread-rule",
                self._where("style_rules"),
                "style_rules is a list; judgekit does not read it",
            )
        for key in rules if isinstance(rules, dict) else ():
            if key != "preferred":
                message = f"judgekit does not read style_rules.{key}; use traits or brand_notes"
                yield "unread-rule", self._where("style_rules", key), message


def _short(text: str) -> str:
    return repr(text if len(text) <= 50 else text[:47] + "...")
