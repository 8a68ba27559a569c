"""Embeddings of any sentence-transformers model: the extra `sentence-transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from judgekit.core.canonical import digest_json
from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.embedders.modelfiles import file_digest, find_folder, whole_number

EXTRA = "sentence-transformers"
_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*/config.json", "*/*.safetensors")
"""No pickle is among what is read of a model."""
BATCH = 32


class SentenceTransformersEmbedder:
    """Turns texts into the vectors of a model, by sentence-transformers on torch.

    For models that have no ONNX form; with one, `onnx` gives the same vectors in a third of the
    memory, some times faster. Weights must be safetensors, and no code of a model is run.
    """

    def __init__(
        self,
        model: str,
        *,
        base: Path = Path(),
        device: str = "cpu",
        threads: int | None = None,
        download: bool = False,
    ) -> None:
        """Take a model; it is read when it is first used.

        Args:
            model: a folder, or `org/name@REVISION` of a hub.
            base: what a folder is relative to.
            device: as torch names it.
            threads: cores to compute on; torch decides by default.
            download: whether a hub's model may be fetched.

        Raises:
            ConfigError: there is no such model, or an option is wrong.
            MissingExtra: sentence-transformers is not installed.
        """
        if threads is not None and whole_number(threads, low=1, high=4096) is None:
            raise ConfigError(
                f"embedder: threads must be a whole number of at least 1, not {threads!r}"
            )
        if not isinstance(download, bool):
            raise ConfigError(f"embedder: download must be true or false, not {download!r}")
        if not isinstance(device, str) or not device.strip():
            raise ConfigError(f"embedder: device must be a text such as cpu, not {device!r}")
        if find_spec("sentence_transformers") is None:
            raise MissingExtra(feature="embedder sentence_transformers", extra=EXTRA)
        self._model = model
        self._base = base
        self._device = device
        self._threads = threads
        self._download = download
        if not download:
            self._folder  # noqa: B018 - a model that is not there is said at once

    @cached_property
    def _folder(self) -> Path:
        return find_folder(
            self._model, base=self._base, extra=EXTRA, download=self._download, files=_FILES
        )

    @cached_property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file that is read of the model."""
        files = sorted({path for pattern in _FILES for path in self._folder.glob(pattern)})
        if not any(path.suffix == ".safetensors" for path in files):
            raise ConfigError(f"embedder: {self._folder} has no weights as safetensors")
        return {path.relative_to(self._folder).as_posix(): file_digest(path) for path in files}

    @cached_property
    def identity(self) -> str:
        """`sentence_transformers/` and a digest of the model's files."""
        return f"sentence_transformers/{digest_json(self.hashes)}"

    @cached_property
    def _loaded(self) -> Any:
        self.hashes  # noqa: B018 - only what was hashed is loaded
        import torch
        from sentence_transformers import SentenceTransformer

        if self._threads is not None:
            torch.set_num_threads(self._threads)
        try:
            return SentenceTransformer(
                str(self._folder),
                device=self._device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
        except (OSError, ValueError, RuntimeError, KeyError) as exc:
            first = " ".join(str(exc).split())[:300]
            raise ConfigError(f"embedder: {self._folder} cannot be loaded: {first}") from exc

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a float32 array: a row per text, of Euclidean length 1.

        Raises:
            ConfigError: the model cannot be loaded.
        """
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        made = self._loaded.encode(
            clean, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return cast("Sequence[Sequence[float]]", made)
