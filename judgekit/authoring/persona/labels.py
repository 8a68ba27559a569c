"""Labels of replies: does a reply sound like the persona? A JSON Lines file.

    {"text": "No worries, it's on us!", "label": 1, "persona_id": "tamarind", "labeller": "ann"}

Only `text` and `label` (1: on brand, 0: off brand) are needed. A line without a label, or with
`null`, is undecided.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field

from judgekit.core.canonical import digest_json
from judgekit.core.errors import ConfigError, place, placed
from judgekit.core.file_model import FileModel, none_yet, validate_file
from judgekit.core.input_file import bounded_lines
from judgekit.core.suggest import closest, suggest
from judgekit.core.yaml_file import Lines
from judgekit.datasets.json_text import json_fault, parse_json
from judgekit.datasets.labels import reading_labels
from judgekit.metrics.brand_voice.persona import Persona, read_persona

MAX_LINE = 1_000_000
"""Maximum size of a line, in bytes."""
MAX_LABELS = 50_000
SCENARIO = "scenario:"
"""The prefix of a tag that names a scenario."""


def _label(value: Any) -> Any:
    if value is not None and value not in (0, 1):
        raise ValueError(f"must be 1 (on brand) or 0 (off brand), not {value!r}")
    return value


class VoiceLabelRow(FileModel, extra="ignore"):
    """One line; other keys are ignored."""

    text: str
    label: Annotated[int | None, BeforeValidator(_label)] = None
    persona_id: str | None = None
    session_id: str | None = None
    turn_index: int | None = None
    labeller: str | None = None
    labeler: str | None = None
    """Alias of `labeller`."""
    confidence: float | str | None = None
    notes: str | None = None
    scenario_tags: list[str] = Field(default_factory=none_yet)
    tags: list[str] = Field(default_factory=none_yet)


class VoiceLabel(NamedTuple):
    """A labelled reply."""

    text: str
    label: int
    id: str
    """Session and turn, or else the line number."""
    session: str | None
    scenarios: tuple[str, ...]

    @property
    def group(self) -> str:
        """The group that a split keeps together: the session, or equal texts."""
        return f"session {self.session}" if self.session else f"text {self.text}"


class VoiceLabels(NamedTuple):
    """The labels of one persona in a file."""

    labels: list[VoiceLabel]
    undecided: int
    """Number of lines without a label."""
    others: int
    """Number of lines for another persona."""

    @property
    def digest(self) -> str:
        """The digest of texts and labels."""
        return digest_json([[each.text, each.label, each.session] for each in self.labels])[:16]

    @property
    def values(self) -> list[int]:
        """The labels alone."""
        return [each.label for each in self.labels]


def load_with_labels(persona: Path, labels: Path) -> tuple[Persona, VoiceLabels]:
    """Return a persona and its labels.

    Raises:
        ConfigError: a file is wrong, or there are no labels for the persona.
    """
    if persona.suffix in (".jsonl", ".json"):
        message = "is no persona but a file of data; name the persona first, then the labels"
        raise ConfigError(message, where=str(persona))
    file, _ = read_persona(persona)
    loaded = Persona(file, persona)
    names = dict.fromkeys((file.id or persona.stem, loaded.name, persona.stem))
    return loaded, read_voice_labels(labels, persona=list(names))


def read_voice_labels(path: Path, *, persona: Collection[str]) -> VoiceLabels:
    """Return the labels of a persona, including lines without `persona_id`.

    Args:
        path: the file.
        persona: the names of the persona in lines.

    Raises:
        ConfigError: a line is not a label, with `file:line`; or there are no labels for the
            persona.
    """
    labels, undecided, names = [], 0, []
    with reading_labels(path), path.open("rb") as file:
        for number, line in enumerate(bounded_lines(file, most=MAX_LINE), start=1):
            if not line.strip():
                continue
            with placed(place(path, number)):
                row = _row(line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n"))
            if row.persona_id is not None and row.persona_id not in persona:
                names.append(row.persona_id)
            elif row.label is None:
                undecided += 1
            else:
                labels.append(_voice_label(row, number, row.label))
            if len(labels) > MAX_LABELS:
                raise ConfigError(f"more than {MAX_LABELS:,} labels; give a part", where=str(path))
    if not labels and names:
        known = ", ".join(map(repr, sorted(set(names))[:3]))
        hint = suggest(names[0], persona, otherwise=f"; the persona is {' or '.join(persona)}")
        raise ConfigError(f"all labels are about persona_id {known}{hint}", where=str(path))
    if not labels:
        raise ConfigError("has no labels: no line has `label` 0 or 1", where=str(path))
    return VoiceLabels(labels, undecided, len(names))


def _row(line: bytes) -> VoiceLabelRow:
    example = '{"text": "...", "label": 1}'
    try:
        data = parse_json(line)
    except ValueError as exc:
        fault = json_fault(exc, line).what
        raise ConfigError(f"not JSON: {fault}; a label is {example}") from exc
    if not isinstance(data, dict):
        raise ConfigError(f"not a label; write {example}")
    fields = VoiceLabelRow.model_fields
    for key in sorted(data.keys() - fields.keys()):
        absent = fields.keys() - data.keys() - {"labeler"}
        if close := closest(key, sorted(absent), alike=0.8):
            raise ConfigError(f"unknown key {key!r}; did you mean {close[0]!r}?")
    row = validate_file(VoiceLabelRow, data, lines=Lines(file=""))
    if not row.text.strip():
        raise ConfigError("text: must not be blank")
    return row


def _voice_label(row: VoiceLabelRow, number: int, label: int) -> VoiceLabel:
    turn = "" if row.turn_index is None else f":{row.turn_index}"
    tags = [*row.scenario_tags, *(tag for tag in row.tags if tag.startswith(SCENARIO))]
    id = f"{row.session_id}{turn}" if row.session_id else f"line {number}"
    scenarios = tuple(dict.fromkeys(tag.removeprefix(SCENARIO) for tag in tags))
    return VoiceLabel(row.text, label, id, row.session_id, scenarios)
