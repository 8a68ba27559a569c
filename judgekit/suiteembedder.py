"""The embedders of a suite: each opened once, however many metrics name it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgekit.canonical import canonical_json
from judgekit.cassette.cassette import lazy_store
from judgekit.embedders import DEFAULT, embeds_at_once, open_embedder
from judgekit.embedders.shared import SharedEmbedder
from judgekit.errors import ConfigError
from judgekit.registry import find
from judgekit.suitefile import SuiteFile
from judgekit.yamlfile import Lines


class SuiteEmbedders:
    """Opens what metrics name under `embedder`, relative to the suite, with the store behind it.

    Raises:
        ConfigError: the suite's own `embedder` is wrong; with `file:line`.
    """

    def __init__(self, file: SuiteFile, *, base: Path, lines: Lines) -> None:
        self._base = base
        self._opened: dict[str, SharedEmbedder] = {}
        self._default: Any = None
        if file.embedder is not None and file.embedder != DEFAULT:
            try:
                self._default = self.open(file.embedder)
            except ConfigError as exc:
                raise ConfigError(str(exc), where=lines.where("embedder")) from exc

    def options(self, kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a metric with its embedder opened, or the suite's given to it.

        Raises:
            ConfigError: what it names is no embedder.
        """
        found = dict(options)
        if "embedder" in found:
            if find(kind).takes("embedder"):
                found["embedder"] = self.open(found["embedder"])
        elif self._default is not None and find(kind).takes("embedder"):
            found["embedder"] = self._default
        return found

    def open(self, spec: Any) -> Any:
        """Return an embedder; one that is a name and nothing else stays the name.

        Raises:
            ConfigError: it is no embedder.
        """
        if not isinstance(spec, (str, Mapping)):
            raise ConfigError(f"embedder must be a name or a mapping, not {spec!r}")
        if embeds_at_once(spec):
            return spec
        written = canonical_json(dict(spec) if isinstance(spec, Mapping) else spec)
        if written not in self._opened:
            self._opened[written] = open_embedder(
                spec, base=self._base, store=lazy_store(self._base)
            )
        return self._opened[written]
