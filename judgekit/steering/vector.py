"""A steering vector, which is added to the output of one layer of a model, and its file.

The file is in safetensors format or was written by `torch.save`; no code in it is executed. It
contains one tensor, or one tensor per layer with a name that ends in the layer number, such as
`layer.12`.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import ConfigError
from judgekit.core.input_file import MAX_PLAIN, read_bytes
from judgekit.core.value import Json

_LAYER = re.compile(r"(?:^|\D)(\d{1,4})$")
_ZIP = b"PK\x03\x04"
"""The first bytes of a file of `torch.save`."""


class Steering(NamedTuple):
    """The steering of a model's answers."""

    data: bytes
    """The file of the vector. A replay only needs its digest."""
    layer: int
    """Index of the decoder block whose output the vector is added to, from 0."""
    strength: float
    """Factor of the vector."""
    where: str = "the steering vector"
    """The name of the file, for messages."""

    @property
    def param(self) -> dict[str, Json]:
        """The part of the request parameters, and so of the key, that describes the steering."""
        return {"vector": digest(self.data), "layer": self.layer, "strength": self.strength}

    def tensor(self, *, width: int, weights: str) -> Any:
        """Return the vector as a torch tensor.

        Args:
            width: hidden size of the model.
            weights: digest of the model's weights, as in `LoadedModel`.

        Raises:
            ConfigError: the file cannot be read, or its vector is for another layer or model.
        """
        try:
            named, trained_on = self._tensors()
            layers = {int(match[1]): n for n in named if (match := _LAYER.search(n))}
            if layers and self.layer not in layers:
                known = ", ".join(map(str, sorted(layers)))
                raise self._wrong(f"has no vector of layer {self.layer}; it has: {known}")
            if not layers and len(named) != 1:
                raise self._wrong("does not name the layers of its vectors, such as layer.12")
            tensor = named[layers.get(self.layer, next(iter(named)))]
            # Checked before any arithmetic: a small file may describe a huge tensor.
            if tensor.numel() != width or trained_on not in (None, weights):
                difference = f"its vector has {tensor.numel()} numbers, and the model takes {width}"
                if tensor.numel() == width:
                    difference = f"it names the weights {trained_on}, and the model has {weights}"
                raise self._wrong(f"was trained on another model: {difference}")
            vector = tensor.detach().float().reshape(-1)
            if not vector.isfinite().all():
                raise self._wrong("has a number that is not finite")
        except ConfigError:
            raise
        except Exception as exc:
            line = " ".join(str(exc).split())[:200]
            raise self._wrong(f"is no steering vector that can be read: {line}") from exc
        return vector

    def _wrong(self, message: str) -> ConfigError:
        return ConfigError(message, where=self.where)

    def _tensors(self) -> tuple[dict[str, Any], str | None]:
        """Return the tensors by name, and the digest of the weights they were trained on."""
        if not self.data.startswith(_ZIP):
            from safetensors.torch import load

            named = load(self.data)
            header = json.loads(self.data[8 : 8 + int.from_bytes(self.data[:8], "little")])
            return named, header.get("__metadata__", {}).get("weights")
        import torch

        # A compressed entry could expand to any size.
        entries = zipfile.ZipFile(io.BytesIO(self.data)).infolist()
        if sum(entry.file_size for entry in entries) > MAX_PLAIN:
            raise self._wrong(f"unpacks to more than {MAX_PLAIN:,} bytes")
        data = torch.load(io.BytesIO(self.data), map_location="cpu", weights_only=True)
        named = data if isinstance(data, dict) else {"vector": data}
        return {str(name): tensor for name, tensor in named.items()}, None


def read_steering(path: Path, *, layer: int, strength: float) -> Steering:
    """Return a steering with the vector in a file.

    Raises:
        ConfigError: the file is missing, too large or of another format, or the strength is not
            finite.
    """
    if not math.isfinite(strength):
        raise ConfigError(f"--strength must be a finite number, not {strength}")
    try:
        data = read_bytes(path, most=MAX_PLAIN)
    except FileNotFoundError as exc:
        message = "no such file of a steering vector; check the path"
        raise ConfigError(message, where=str(path)) from exc
    except OSError as exc:
        raise ConfigError(f"cannot be read: {exc.strerror}", where=str(path)) from exc
    if not data.startswith(_ZIP) and data[8:9] != b"{":
        message = "is no steering vector; name a .safetensors file, or a .pt file of torch.save"
        raise ConfigError(message, where=str(path))
    return Steering(data, layer, strength, str(path))


def vector_bytes(vector: Sequence[float], *, layer: int, metadata: Mapping[str, str]) -> bytes:
    """Return the safetensors file of one vector; the same arguments give the same bytes."""
    data = struct.pack(f"<{len(vector)}f", *vector)
    entry = {"dtype": "F32", "shape": [len(vector)], "data_offsets": [0, len(data)]}
    header = canonical_json({"__metadata__": dict(metadata), f"layer.{layer}": entry}).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data
