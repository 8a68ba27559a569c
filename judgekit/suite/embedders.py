"""The embedders of a suite: each opened once, however many metrics name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.store_opener import store_opener
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import validate_file
from judgekit.core.protocols import Judge
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import Lines
from judgekit.embedders import DEFAULT, embeds_at_once, open_embedder
from judgekit.suite.file import JudgeFile, SuiteFile

if TYPE_CHECKING:
    from judgekit.embedders.shared import SharedEmbedder

Seat = Callable[..., Judge]
"""Makes a judge of what a suite says of it and puts it behind the cassette (see `Bench.seat`)."""

TOGETHER = 64
"""Texts whose requests may be under way for each call; a batch holds no more of them."""

LITELLM = "litellm:"
"""Stands before the name of a hosted model where an embedder is one text."""


class SuiteEmbedders:
    """Opens what metrics name under `embedder`, relative to the suite, with the store behind it.

    A hosted one, `{model: openai/text-embedding-3-small, api_base: ...}` or `{role: ROLE}` of
    the judges, is asked behind the suite's cassette.

    Raises:
        ConfigError: the suite's own `embedder` is wrong; with `file:line`.
    """

    def __init__(
        self,
        file: SuiteFile,
        *,
        base: Path,
        lines: Lines,
        roles: Mapping[str, JudgeFile],
        seat: Seat,
    ) -> None:
        self._base = base
        self._lines = lines
        self._roles = roles
        self._seat = seat
        self._opened: dict[str, SharedEmbedder] = {}
        self._default: Any = None
        self.hosted: dict[str, JudgeFile] = {}
        """What is asked on servers, by model."""
        spec = _written(file.embedder)
        if spec is not None and spec != DEFAULT:
            try:
                # A server is not asked, and needs no key, unless a metric takes it.
                hosted = _is_hosted(spec) and self._file(spec)
                self._default = spec if hosted else self.open(spec)
            except ConfigError as exc:
                raise ConfigError(str(exc), where=lines.where("embedder")) from exc

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a metric with its embedder opened, or the suite's one.

        Raises:
            ConfigError: what it names is no embedder.
        """
        spec = options.get("embedder", self._default)
        if "embedder" not in options and spec is None:
            return dict(options)
        return {**options, "embedder": self.open(spec)}

    def open(self, spec: Any) -> Any:
        """Return an embedder; one that is a name and nothing else stays the name.

        Raises:
            ConfigError: it is no embedder.
        """
        from judgekit.embedders.shared import SharedEmbedder

        spec = _written(spec)
        if isinstance(spec, SharedEmbedder):
            return spec
        if not isinstance(spec, (str, Mapping)):
            raise ConfigError(f"embedder must be a name or a mapping, not {spec!r}")
        hosted = _is_hosted(spec)
        if not hosted and embeds_at_once(spec):
            return spec
        written = canonical_json(dict(spec) if isinstance(spec, Mapping) else spec)
        if written not in self._opened:
            self._opened[written] = (
                self._asked(self._file(spec))
                if hosted
                else open_embedder(spec, base=self._base, store=store_opener(self._base))
            )
        return self._opened[written]

    def _file(self, spec: Any) -> JudgeFile:
        """Return what a suite says of a hosted embedder.

        Raises:
            ConfigError: a setting is wrong, or no judge has the role.
        """
        if "role" not in spec:
            if "api_key" in spec:
                raise ConfigError(
                    "embedder: a key does not belong in a file; name its environment variable: "
                    "api_key_env: MY_KEY"
                )
            return validate_file(JudgeFile, dict(spec), lines=Lines(file=""))
        role = spec["role"]
        if len(spec) > 1:
            raise ConfigError("embedder: a role says all there is; what it is stands under judges")
        if role not in self._roles:
            hint = suggest(str(role), list(self._roles))
            raise ConfigError(f"embedder: no judge has the role {role!r}{hint}")
        return self._roles[role]

    def _asked(self, file: JudgeFile) -> SharedEmbedder:
        if file.model.startswith("manual/"):
            raise ConfigError(f"embedder: {file.model} is a person, who gives verdicts only")
        from judgekit.embedders.hosted import HostedEmbedder  # most suites have none
        from judgekit.embedders.shared import SharedEmbedder

        self.hosted[file.model] = file
        judge = self._seat(file, at=("embedder",), together=TOGETHER)
        return SharedEmbedder(HostedEmbedder(judge))


def _written(spec: Any) -> Any:
    """Return a hosted embedder that is one text as the mapping it is short for."""
    if isinstance(spec, str) and spec.startswith(LITELLM):
        return {"model": spec.removeprefix(LITELLM).strip()}
    return spec


def _is_hosted(spec: Any) -> bool:
    return isinstance(spec, Mapping) and ("model" in spec or "role" in spec)
