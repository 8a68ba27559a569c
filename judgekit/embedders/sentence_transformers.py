"""Embeddings of any sentence-transformers model: the extra `sentence-transformers`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from judgekit.core.canonical import digest_json
from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.embedders import model_files

_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*/config.json", "*/*.safetensors")
"""The files to read; none of them is a pickle."""
BATCH = 32


class SentenceTransformersEmbedder(model_files.ModelEmbedder):
    """Embeds texts with a model, by sentence-transformers on torch.

    Use it for models without an ONNX form; `onnx` gives the same vectors faster, in a third of the
    memory. Weights must be safetensors, and code of a model is never run.
    """

    extra = "sentence-transformers"
    hub_files = _FILES

    def __init__(
        self,
        model: str,
        *,
        base: Path = Path(),
        device: str = "cpu",
        threads: int | None = None,
        download: bool = False,
    ) -> None:
        """Prepare a model; it is loaded on first use.

        Args:
            model: a folder, or `org/name@REVISION` of a hub.
            base: the folder that `model` is relative to.
            device: the device, by torch's name.
            threads: number of cores to use; by default torch decides.
            download: whether to download a model from a hub.

        Raises:
            ConfigError: the model does not exist, or an option is invalid.
            MissingExtra: sentence-transformers is not installed.
        """
        model_files.check_whole("threads", threads, high=4096)
        check = model_files.check_option
        check("download", download, "true or false", fits=isinstance(download, bool))
        is_text = isinstance(device, str) and bool(device.strip())
        check("device", device, "a text such as cpu", fits=is_text)
        if find_spec("sentence_transformers") is None:
            raise MissingExtra(feature="embedder sentence_transformers", extra=self.extra)
        super().__init__(model, base=base, threads=threads, download=download)
        self._device = device
        if not download:
            self._folder  # noqa: B018 - fail early if the model is missing

    @cached_property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file of the model that is read."""
        files = sorted({path for pattern in _FILES for path in self._folder.glob(pattern)})
        if not any(path.suffix == ".safetensors" for path in files):
            raise ConfigError(f"embedder: {self._folder} has no weights as safetensors")
        return {
            path.relative_to(self._folder).as_posix(): model_files.file_digest(path)
            for path in files
        }

    @cached_property
    def identity(self) -> str:
        """`sentence_transformers/` and a digest of the model's files."""
        return f"sentence_transformers/{digest_json(self.hashes)}"

    @cached_property
    def _loaded(self) -> Any:
        self.hashes  # noqa: B018 - hash the files before they are loaded
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
            line = model_files.first_line(exc)
            raise ConfigError(f"embedder: {self._folder} cannot be loaded: {line}") from exc

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a float32 array: a row per text, of Euclidean length 1.

        Raises:
            ConfigError: the model cannot be loaded.
        """
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        vectors = self._loaded.encode(
            clean, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return cast("Sequence[Sequence[float]]", vectors)
