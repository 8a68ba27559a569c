"""Persona: the voice that an assistant should have, read from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

from pydantic import BeforeValidator, Field, model_validator

from judgekit.core.arguments import checked
from judgekit.core.canonical import digest_json
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import FileModel, validate_file
from judgekit.core.input_file import read_named
from judgekit.core.suggest import suggest
from judgekit.core.value import described
from judgekit.core.yaml_file import Lines, parse_yaml
from judgekit.embedders import Chosen, identity_of
from judgekit.metrics.brand_voice.phrases import Phrases

if TYPE_CHECKING:
    from judgekit.metrics.vectors import Vector


MAX_FILE = 1_000_000
"""Maximum size of a persona file, in bytes."""
CALIBRATION_ENDING = ".calibration.yaml"
"""Ending of the name of a calibration file, which is in the folder of its persona."""


class Trait(NamedTuple):
    """A trait of the voice of a persona."""

    kind: str
    """formality, tone or verbosity."""
    value: str


class Persona:
    """The voice that an assistant should have: exemplars, traits, preferred and avoided words.

    `digest` depends on everything that is scored or shown to a judge. `path` is the file; a
    calibration file next to it belongs to the persona.
    """

    def __init__(self, file: PersonaFile, path: Path | None = None) -> None:
        traits = file.traits or file.voice or TraitsFile()
        lexicon = file.lexicon or (file.voice and file.voice.lexicon) or LexiconFile()
        self.name = file.name or file.display_name or file.id or "persona"
        self.description = (file.description or "").strip()
        self.exemplars: tuple[str, ...] = tuple(file.exemplars or file.examples or ())
        self.traits = tuple(_traits(traits))
        self.preferred = Phrases(lexicon.preferred)
        self.avoided = Phrases(lexicon.avoid or lexicon.avoided or ())
        rules = file.safety_rules
        self.topics: tuple[str, ...] = tuple(rules.disallowed_topics) if rules else ()
        """Topics that the assistant must avoid."""
        notes = (file.brand_notes, rules.brand_notes if rules else None)
        self.notes = "\n".join(note.strip() for note in notes if note)
        self.style_words = _style_words(file.style_rules)
        """`style_rules.preferred`, which only `compat: alignmenter` reads."""
        words = {"preferred": self.preferred.entries, "avoided": self.avoided.entries}
        self.digest = digest_json({**vars(self), **words})
        self.path = path
        self._vectors: dict[str, Sequence[Vector]] = {}

    def __repr__(self) -> str:
        return f"Persona({self.name!r}, {self.digest[:12]})"

    @property
    def made_with(self) -> dict[str, Any]:
        """Name and digest, for manifests and results."""
        return {"persona": self.name, "persona_digest": self.digest[:16]}

    async def vectors(self, embedder: Chosen) -> Sequence[Vector]:
        """Return the exemplars as vectors of length 1; they are embedded once."""
        from judgekit.metrics.vectors import unit_vectors

        identity = identity_of(embedder)
        if identity not in self._vectors:
            self._vectors[identity] = await unit_vectors(embedder, self.exemplars)
        return self._vectors[identity]


@checked
def load_persona(path: str | Path) -> Persona:
    """Read a persona file.

    Raises:
        ConfigError: with `file:line`, for anything wrong in it.
    """
    return Persona(read_persona(Path(path))[0], Path(path))


def read_persona(file: Path) -> tuple[PersonaFile, Lines]:
    """Return a persona file and the line of each value.

    Raises:
        ConfigError: with `file:line`, for anything wrong in it.
    """
    if file.name.endswith(CALIBRATION_ENDING):
        message = "is the calibration of a persona; name the persona file next to it"
        raise ConfigError(message, where=str(file))
    data, lines = parse_yaml(read_named(file, what="persona file", most=MAX_FILE), file=str(file))
    if not isinstance(data, dict):
        message = "a persona is keys and values: name, exemplars, traits, lexicon"
        raise ConfigError(message, where=str(file))
    return validate_file(PersonaFile, data, lines=lines), lines


def persona_of(metric: str, source: object) -> Persona:
    """Return the persona of an option: a file, a mapping, or a persona.

    Raises:
        ConfigError: it is none of these, or it is invalid.
    """
    if isinstance(source, Persona):
        return source
    if isinstance(source, (str, Path)):
        return load_persona(source)
    if isinstance(source, Mapping):
        try:
            return Persona(validate_file(PersonaFile, dict(source), lines=Lines(file="")))
        except ConfigError as exc:
            raise ConfigError(f"{metric}: persona: {exc}") from exc
    raise ConfigError(f"{metric}: persona must be a file or a mapping, not {described(source)}")


def _traits(file: TraitsFile) -> list[Trait]:
    tones = [("tone", tone) for tone in dict.fromkeys(file.tone)]
    kinds = [("formality", file.formality), *tones, ("verbosity", file.verbosity)]
    return [Trait(kind, value) for kind, value in kinds if value]


def _style_words(rules: object) -> tuple[str, ...]:
    words = rules.get("preferred") if isinstance(rules, dict) else None
    return tuple(w for w in words if isinstance(w, str)) if isinstance(words, list) else ()


Formality = Literal["formal", "business_casual", "casual"]
Tone = Literal["professional", "friendly", "technical", "conversational"]
Verbosity = Literal["concise", "balanced", "detailed"]
TONES = get_args(Tone)

MAX_ENTRIES = 1000
"""Maximum number of texts in a list of a persona."""


def _words(value: Any) -> Any:
    """Accept one text as a list; explain the result of an unquoted `no` or `on`."""
    if isinstance(value, str):
        return [value]
    for item in value if isinstance(value, list) else ():
        if isinstance(item, bool):
            raise ValueError(f"YAML read a word as {str(item).lower()}; write it in quotes")
        if isinstance(item, str) and not item.strip():
            raise ValueError("contains a blank text; remove it")
    return [] if value is None else value


def _tones(value: Any) -> Any:
    """Accept any word as a tone, except a misspelling of a known one."""
    words = _words(value)
    for word in words if isinstance(words, list) else ():
        known = not isinstance(word, str) or word in TONES
        if not known and (hint := suggest(word, TONES, otherwise="")):
            raise ValueError(f"{word!r} is not a tone{hint}")
    return words


_Entry = Annotated[str, Field(min_length=1, max_length=20_000)]
_List = Annotated[
    list[_Entry],
    Field(max_length=MAX_ENTRIES),
    BeforeValidator(_words, json_schema_input_type=list[str] | str | None),
]
_Tones = Annotated[
    list[_Entry],
    Field(max_length=20),
    BeforeValidator(_tones, json_schema_input_type=list[str] | str | None),
]


class LexiconFile(FileModel):
    """Words and phrases; only whole ones match."""

    preferred: _List = Field(default_factory=list)
    """Words and phrases that the persona likes."""
    avoid: _List | None = None
    """Words and phrases that the persona never uses."""
    avoided: _List | None = None
    """The same as `avoid`."""

    @model_validator(mode="after")
    def _one_spelling(self) -> LexiconFile:
        _not_both(self, "avoid", "avoided")
        return self


class TraitsFile(FileModel):
    """The traits of the persona's voice."""

    formality: Formality | None = None
    tone: _Tones = Field(default_factory=list)
    """professional, friendly, technical, conversational; only a judge uses other words."""
    verbosity: Verbosity | None = None


class VoiceFile(TraitsFile):
    """Traits and words, in Alignmenter's documented format."""

    lexicon: LexiconFile | None = None


class SafetyRulesFile(FileModel):
    """The topics that the assistant must avoid; the judge of safety sees them."""

    disallowed_topics: _List = Field(default_factory=list)
    brand_notes: str | None = None


class PersonaFile(FileModel):
    """A persona."""

    schema_: str | None = Field(default=None, alias="$schema")
    """The schema of this file, for editors."""
    id: str | None = None
    name: str | None = None
    """The name in reports; the id by default."""
    display_name: str | None = None
    """The same as `name`."""
    version: str | int | float | None = None
    description: str | None = None
    """The voice in a few sentences; the judge sees it."""
    voice: VoiceFile | None = None
    """Traits, and words if there is no `lexicon`."""
    traits: TraitsFile | None = None
    """Formality, tone and verbosity, if they are not under `voice`."""
    lexicon: LexiconFile | None = None
    """Words and phrases that the persona likes and avoids."""
    exemplars: _List | None = None
    """Replies in the persona's voice."""
    examples: _List | None = None
    """The same as `exemplars`."""
    style_rules: dict[str, Any] | list[Any] | None = None
    """Settings of another tool; `compat: alignmenter` reads its list `preferred`, and the rest is
    ignored."""
    safety_rules: SafetyRulesFile | None = None
    brand_notes: str | None = None
    """Other notes for a judge."""

    @model_validator(mode="after")
    def _one_place(self) -> PersonaFile:
        _not_both(self, "name", "display_name")
        _not_both(self, "exemplars", "examples")
        voice = self.voice
        if voice is not None:
            if voice.lexicon is not None and self.lexicon is not None:
                raise ValueError("give lexicon or voice.lexicon, not both")
            in_voice = voice.model_fields_set & {"formality", "tone", "verbosity"}
            if in_voice and self.traits is not None:
                raise ValueError("give traits, or the same keys under voice, not both")
        return self


def _not_both(file: FileModel, first: str, second: str) -> None:
    if getattr(file, first) is not None and getattr(file, second) is not None:
        raise ValueError(f"give {first} or {second}, not both")
