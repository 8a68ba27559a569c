"""The shape of a persona file, in both spellings that are in use."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from judgekit.core.file_model import FileModel
from judgekit.core.suggest import suggest

Formality = Literal["formal", "business_casual", "casual"]
Tone = Literal["professional", "friendly", "technical", "conversational"]
Verbosity = Literal["concise", "balanced", "detailed"]
TONES = ("professional", "friendly", "technical", "conversational")

MAX_ENTRIES = 1000
"""Texts one list of a persona may hold."""


def _words(value: Any) -> Any:
    """Take one text for a list of one; say what became of a bare `no` or `on`."""
    if isinstance(value, str):
        return [value]
    for item in value if isinstance(value, list) else ():
        if isinstance(item, bool):
            raise ValueError(f"YAML read a word as {str(item).lower()}; write it in quotes")
        if isinstance(item, str) and not item.strip():
            raise ValueError("holds a text that is blank; remove it")
    return [] if value is None else value


def _tones(value: Any) -> Any:
    """Take any word for a tone, but not one that is all but a known one."""
    words = _words(value)
    for word in words if isinstance(words, list) else ():
        known = not isinstance(word, str) or word in TONES
        if not known and (hint := suggest(word, TONES, otherwise="")):
            raise ValueError(f"{word!r} is no tone{hint}")
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
    """Words and phrases, each matched whole."""

    preferred: _List = Field(default_factory=list)
    """What the persona likes to say."""
    avoid: _List | None = None
    """What it never says."""
    avoided: _List | None = None
    """The same as `avoid`."""

    @model_validator(mode="after")
    def _one_spelling(self) -> LexiconFile:
        _not_both(self, "avoid", "avoided")
        return self


class TraitsFile(FileModel):
    """What the persona sounds like."""

    formality: Formality | None = None
    tone: _Tones = Field(default_factory=list)
    """professional, friendly, technical, conversational; other words are for a judge alone."""
    verbosity: Verbosity | None = None


class VoiceFile(TraitsFile):
    """Traits and words, in the shape that Alignmenter documents."""

    lexicon: LexiconFile | None = None


class SafetyRulesFile(FileModel):
    """What the brand's assistant must keep off; shown to a judge of safety."""

    disallowed_topics: _List = Field(default_factory=list)
    brand_notes: str | None = None


class PersonaFile(FileModel):
    """A persona."""

    schema_: str | None = Field(default=None, alias="$schema")
    """Where editors find the schema of this file."""
    id: str | None = None
    name: str | None = None
    """What reports call it; the id where there is none."""
    display_name: str | None = None
    """The same as `name`."""
    version: str | int | float | None = None
    description: str | None = None
    """The voice in a few sentences; shown to a judge."""
    voice: VoiceFile | None = None
    """Traits, and words where they do not stand under `lexicon`."""
    traits: TraitsFile | None = None
    """Formality, tone and verbosity, where they do not stand under `voice`."""
    lexicon: LexiconFile | None = None
    """Words and phrases it likes and avoids."""
    exemplars: _List | None = None
    """Replies that sound like it."""
    examples: _List | None = None
    """The same as `exemplars`."""
    style_rules: dict[str, Any] | list[Any] | None = None
    """Of another tool; only its list `preferred` is read, and only by `compat: alignmenter`."""
    safety_rules: SafetyRulesFile | None = None
    brand_notes: str | None = None
    """Anything else a judge should know."""

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
                raise ValueError("give traits or the same under voice, not both")
        return self


def _not_both(file: FileModel, first: str, second: str) -> None:
    if getattr(file, first) is not None and getattr(file, second) is not None:
        raise ValueError(f"give {first} or {second}, not both")
