"""Embeddings of a model in ONNX form, without torch: the extra `onnx`."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from judgekit.core.canonical import digest_json
from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.embedders import model_files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ids = NDArray[np.int64]

Pooling = Literal["mean", "cls"]
TOKENS = 1024
"""Tokens of a batch, including padding: 256 to 1,024 were fastest, 4,096 a quarter slower."""
MAX_TOKENS = 512
"""Maximum number of tokens of a text, if the settings of the model do not limit it."""
_MODEL_FILES = ("model.onnx", "onnx/model.onnx")
_TOKENIZER = "tokenizer.json"
_HUB_FILES = (
    *_MODEL_FILES, _TOKENIZER, "config.json", "sentence_bert_config.json", "1_Pooling/config.json",
)  # fmt: skip
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


class OnnxEmbedder(model_files.ModelEmbedder):
    """Embeds texts with a sentence model, by onnxruntime.

    The model is a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. The
    embedder reads the settings of sentence-transformers: the maximum number of tokens (longer texts
    are cut), and whether to average the token vectors or to use the first one. Vectors have length
    1; a text without tokens has the zero vector.

    The seventh digit of a vector may depend on the batch, the threads and the machine; scores are
    rounded to four digits.
    """

    extra = "onnx"
    hub_files = _HUB_FILES

    def __init__(
        self,
        model: str,
        *,
        base: Path = Path(),
        threads: int | None = None,
        pooling: Pooling | None = None,
        max_tokens: int | None = None,
        batch_tokens: int = TOKENS,
        sha256: str | None = None,
        download: bool = False,
    ) -> None:
        """Prepare a model; it is loaded on first use.

        Args:
            model: a folder, or `org/name@REVISION` of a hub.
            base: the folder that `model` is relative to.
            threads: number of cores to use; by default all of them.
            pooling: `mean` or `cls`; by default the setting of the folder, or `mean`.
            max_tokens: maximum number of tokens of a text; by default the setting of the folder,
                or 512.
            batch_tokens: number of tokens of a batch, including padding.
            sha256: the expected SHA-256 of the model file.
            download: whether to download a model from a hub.

        Raises:
            ConfigError: the model does not exist, or an option is invalid.
            MissingExtra: onnxruntime or tokenizers is not installed.
        """
        model_files.check_whole("threads", threads)
        model_files.check_whole("max_tokens", max_tokens, low=3)
        model_files.check_whole("batch_tokens", batch_tokens)
        check = model_files.check_option
        check("pooling", pooling, "mean or cls", fits=pooling in (None, *get_args(Pooling)))
        check("sha256", sha256, "a text", fits=sha256 is None or isinstance(sha256, str))
        check("download", download, "true or false", fits=isinstance(download, bool))
        if find_spec("onnxruntime") is None or find_spec("tokenizers") is None:
            raise MissingExtra(feature="embedder onnx", extra="onnx")
        super().__init__(model, base=base, threads=threads, download=download)
        self._batch_tokens = batch_tokens
        self._sha256 = sha256
        self._options = (pooling, max_tokens)
        if not download and not (self._folder / _TOKENIZER).is_file():
            raise ConfigError(f"embedder: {self._folder} has no {_TOKENIZER}")

    # -- the files ------------------------------------------------------------------

    @cached_property
    def _file(self) -> Path:
        for path in (self._folder / name for name in _MODEL_FILES):
            if path.is_file():
                return path
        raise ConfigError(f"embedder: {self._folder} has no {' or '.join(_MODEL_FILES)}")

    @cached_property
    def pooling(self) -> Pooling:
        """How token vectors are combined; ignored if the model returns one vector per text."""
        if self._options[0] is not None:
            return self._options[0]
        file = self._folder / "1_Pooling" / "config.json"
        if not file.is_file():
            said = "embedder: %s is missing; assuming pooling: mean. Set pooling: mean or cls"
            logging.getLogger("judgekit").warning(said, file)
        settings = model_files.read_settings(file)
        modes = [k for k, on in settings.items() if k.startswith("pooling_mode_") and on is True]
        if modes == ["pooling_mode_cls_token"]:
            return "cls"
        if modes not in ([], ["pooling_mode_mean_tokens"]):
            named = ", ".join(modes)
            raise ConfigError(f"embedder: {self._folder} requires {named}; set pooling: mean")
        return "mean"

    @cached_property
    def max_tokens(self) -> int:
        """Maximum number of tokens of a text, with special tokens; the rest is cut off."""
        if self._options[1] is not None:
            return self._options[1]
        settings = model_files.read_settings(self._folder / "sentence_bert_config.json")
        return model_files.whole_number(settings.get("max_seq_length"), low=3) or MAX_TOKENS

    @cached_property
    def dimensions(self) -> int | None:
        """Length of a vector; `None` if the settings of the model do not contain it."""
        size = model_files.read_settings(self._folder / "config.json").get("hidden_size")
        return model_files.whole_number(size, low=1, high=65_536)

    @cached_property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of the model and its tokenizer.

        Raises:
            ConfigError: the SHA-256 of the model is not `sha256`.
        """
        return {
            "model": model_files.file_digest(self._file, expected=self._sha256),
            "tokenizer": model_files.file_digest(self._folder / _TOKENIZER),
        }

    @cached_property
    def identity(self) -> str:
        """`onnx/`, the model's SHA-256, and a digest of other settings that affect a vector."""
        hashes = self.hashes
        rest = digest_json([hashes["tokenizer"], self.pooling, self.max_tokens])
        return f"onnx/{hashes['model']}/{rest[:12]}"

    # -- the model ------------------------------------------------------------------

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path = self._folder / _TOKENIZER
        try:
            tokenizer = Tokenizer.from_file(str(path))
            tokenizer.enable_truncation(self.max_tokens)
            tokenizer.no_padding()
        except Exception as exc:
            # The library raises no more specific exception.
            line = model_files.first_line(exc)
            raise ConfigError(f"embedder: {path} is not a tokenizer: {line}") from exc
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        self.hashes  # noqa: B018 - checks the SHA-256 before the model runs
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors are raised as exceptions
        options.intra_op_num_threads = self._threads or os.cpu_count() or 1
        options.inter_op_num_threads = 1
        # Threads that wait in a busy loop would take the cores from other processes.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            providers = ["CPUExecutionProvider"]
            session = onnxruntime.InferenceSession(str(self._file), options, providers=providers)
        except Exception as exc:
            # The library's exceptions have no common base class.
            line = model_files.first_line(exc)
            raise ConfigError(f"embedder: {self._file} cannot be loaded: {line}") from exc
        unknown = {item.name for item in session.get_inputs()} - _INPUTS
        if unknown:
            named = ", ".join(sorted(unknown))
            raise ConfigError(f"embedder: {self._file} requires {named} in addition to tokens")
        return session

    @cached_property
    def _output(self) -> tuple[str, bool]:
        """The output to read, and whether it has a vector per token."""
        outputs = self._session.get_outputs()
        for rank in (2, 3):
            for output in outputs:
                if len(output.shape) == rank:
                    return output.name, rank == 3
        raise ConfigError(f"embedder: {self._file} has no output with vectors")

    # -- texts ------------------------------------------------------------------------

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a float32 array: a row per text, of Euclidean length 1, or 0 for no tokens.

        Raises:
            ConfigError: the model cannot be loaded, or it is not a sentence model.
        """
        import numpy as np

        batches = [(at, self._vectors(ids, mask)) for at, ids, mask in self._batches(texts)]
        length = batches[0][1].shape[1] if batches else self.dimensions or 1
        rows = np.zeros((len(texts), length), dtype=np.float32)
        for places, batch in batches:
            rows[places] = batch
        # numpy does not declare its arrays as sequences, though they are.
        return cast("Sequence[Sequence[float]]", rows)

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Ids, Ids]]:
        """Yield indices, token ids and masks of texts of similar length, without empty texts."""
        import numpy as np

        # A lone surrogate has no tokens; a tokenizer refuses it.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encodings = self._tokenizer.encode_batch_fast(clean)
        ids = [encoding.ids for encoding in encodings]
        order = sorted(
            (n for n, e in enumerate(encodings) if sum(e.special_tokens_mask) < len(e.ids)),
            key=lambda n: len(ids[n]),
        )
        start = 0
        while start < len(order):
            end = start + 1
            while (
                end < len(order) and (end + 1 - start) * len(ids[order[end]]) <= self._batch_tokens
            ):
                end += 1
            places = order[start:end]
            table = np.zeros((len(places), len(ids[places[-1]])), dtype=np.int64)
            mask = np.zeros_like(table)
            for row, place in enumerate(places):
                table[row, : len(ids[place])] = ids[place]
                mask[row, : len(ids[place])] = 1
            yield places, table, mask
            start = end

    def _vectors(self, ids: Ids, mask: Ids) -> Floats:
        import numpy as np

        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        names = {put.name for put in self._session.get_inputs()}
        name, by_token = self._output
        vectors = self._session.run([name], {key: inputs[key] for key in names})[0]
        if by_token and self.pooling == "cls":
            vectors = vectors[:, 0]
        elif by_token:
            weights = mask[:, :, None].astype(np.float32)
            vectors = (vectors * weights).sum(axis=1) / weights.sum(axis=1)
        vectors = np.asarray(vectors, dtype=np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        norms[norms == 0] = 1.0
        return cast("Floats", vectors / norms)
