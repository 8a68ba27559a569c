"""A sentence model of a few hundred bytes, written field by field as ONNX's protobuf has them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

VOCABULARY = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "sea": 4, "land": 5, "sky": 6}
TABLE = [
    [9.0, 9.0, 9.0, 9.0],  # padding, which must not count
    [0.0, 0.0, 0.0, 1.0],
    [0.5, 0.0, 0.0, 0.0],
    [0.0, 0.5, 0.0, 0.0],
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
]
FLOAT, INT64 = 1, 7


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, data: bytes | str) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _port(name: str, kind: int, shape: list[str | int]) -> bytes:
    sizes = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size)) for size in shape
    )
    tensor = _number(1, kind) + _bytes(2, sizes)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


def model(
    *, pooled: bool = False, inputs: tuple[str, ...] = ("input_ids", "attention_mask")
) -> bytes:
    """Return a model that looks tokens up in TABLE, and averages them all if `pooled`."""
    rows = [number for row in TABLE for number in row]
    table = (
        _number(1, len(TABLE)) + _number(1, 4) + _number(2, FLOAT) + _bytes(8, "table")
        + _bytes(9, struct.pack(f"<{len(rows)}f", *rows))
    )  # fmt: skip
    look_up = (
        _bytes(1, "table") + _bytes(1, "input_ids") + _bytes(2, "tokens") + _bytes(4, "Gather")
    )
    nodes = [look_up]
    if pooled:
        axes = _bytes(1, "axes") + _number(8, 1) + _number(20, 7)
        keep = _bytes(1, "keepdims") + _number(3, 0) + _number(20, 2)
        nodes.append(
            _bytes(1, "tokens") + _bytes(2, "sentence") + _bytes(4, "ReduceMean")
            + _bytes(5, axes) + _bytes(5, keep)
        )  # fmt: skip
    output = (
        _port("sentence", FLOAT, ["batch", 4])
        if pooled
        else _port("tokens", FLOAT, ["batch", "length", 4])
    )
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, "tiny") + _bytes(5, table)
    for name in inputs:
        graph += _bytes(11, _port(name, INT64, ["batch", "length"]))
    graph += _bytes(12, output)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))


def write_folder(folder: Path, **options: object) -> Path:
    """Write the model and a tokenizer of whole words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["[PAD]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(model(**options))  # type: ignore[arg-type]
    (folder / "config.json").write_text(json.dumps({"hidden_size": 4}), encoding="utf-8")
    return folder
