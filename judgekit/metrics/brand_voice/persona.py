"""Persona: the voice that an assistant should have, read from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.canonical import digest_json
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import validate_file
from judgekit.core.input_file import read_text
from judgekit.core.wrong_file import nearby
from judgekit.core.yaml_file import Lines, parse_yaml
from judgekit.embedders import Chosen, identity_of
from judgekit.metrics.brand_voice.persona_file import LexiconFile, PersonaFile, TraitsFile
from judgekit.metrics.brand_voice.phrases import Phrases

if TYPE_CHECKING:
    from judgekit.metrics.vectors import Vector

MAX_FILE = 1_000_000
"""Bytes of a persona file."""


class Trait(NamedTuple):
    """A trait of the voice of a persona."""

    kind: str
    """formality, tone or verbosity."""
    value: str


class Persona:
    """The voice that an assistant should have: exemplars, traits, preferred and avoided words.

    `digest` covers what is scored and what a judge is shown.
    """

    def __init__(self, file: PersonaFile) -> None:
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
        self.digest = digest_json(
            {
                "name": self.name,
                "description": self.description,
                "exemplars": list(self.exemplars),
                "traits": [list(trait) for trait in self.traits],
                "preferred": list(self.preferred.entries),
                "avoided": list(self.avoided.entries),
                "topics": list(self.topics),
                "notes": self.notes,
                "style_words": list(self.style_words),
            }
        )
        self._vectors: dict[str, Sequence[Vector]] = {}

    def __repr__(self) -> str:
        return f"Persona({self.name!r}, {self.digest[:12]})"

    @property
    def made_with(self) -> dict[str, Any]:
        """Name and digest, for manifests and results."""
        return {"persona": self.name, "persona_digest": self.digest[:16]}

    async def vectors(self, embedder: Chosen) -> Sequence[Vector]:
        """Return the exemplars as vectors of length 1; embedded once."""
        from judgekit.metrics.vectors import unit_vectors

        identity = identity_of(embedder)
        vectors = self._vectors.get(identity)
        if vectors is None:
            vectors = await unit_vectors(embedder, self.exemplars)
            self._vectors[identity] = vectors
        return vectors


def load_persona(path: str | Path) -> Persona:
    """Read a persona file.

    Raises:
        ConfigError: with `file:line`, for anything wrong in it.
    """
    return Persona(read_persona(Path(path))[0])


def read_persona(file: Path) -> tuple[PersonaFile, Lines]:
    """Return a persona file and the line of each value.

    Raises:
        ConfigError: with `file:line`, for anything wrong in it.
    """
    try:
        if file.is_dir():
            raise ConfigError("is a folder; name the persona file in it", where=str(file))
        text = read_text(file, most=MAX_FILE)
    except FileNotFoundError as exc:
        hint = nearby(file) or "; check the path"
        raise ConfigError(f"no such persona file{hint}", where=str(file)) from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"cannot be read: {exc}", where=str(file)) from exc
    data, lines = parse_yaml(text, file=str(file))
    if not isinstance(data, dict):
        message = "a persona is keys and values: name, exemplars, traits, lexicon"
        raise ConfigError(message, where=str(file))
    return validate_file(PersonaFile, data, lines=lines), lines


def persona_of(metric: str, source: object) -> Persona:
    """Return the persona an option names: a file, keys and values, or a persona.

    Raises:
        ConfigError: it is none, or something in it is wrong.
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
    raise ConfigError(f"{metric}: persona must be a file or keys and values, not {source!r}")


def _traits(file: TraitsFile) -> list[Trait]:
    traits = [Trait("formality", file.formality)] if file.formality else []
    traits += [Trait("tone", tone) for tone in dict.fromkeys(file.tone)]
    return traits + ([Trait("verbosity", file.verbosity)] if file.verbosity else [])


def _style_words(rules: object) -> tuple[str, ...]:
    words = rules.get("preferred") if isinstance(rules, dict) else None
    listed = words if isinstance(words, list) else ()
    return tuple(word for word in listed if isinstance(word, str))
