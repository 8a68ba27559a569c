"""Write all-MiniLM-L6-v2 as ONNX from its safetensors, without torch, if it is the real one.

Attention and normalisation become the fused operators of onnxruntime; token types, always 0
here, are folded into the positions; the mean over tokens is part of the graph. Needs numpy and
onnx:

    python benchmarks/export_minilm.py ORIGINAL_FOLDER NEW_FOLDER
"""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""SHA-256 of the files of the model's revision 1110a243."""
BESIDE = ("tokenizer.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json")
LAYERS, HEADS, WIDTH, EPSILON = 6, 12, 384, 1e-12
FUSED = "com.microsoft"


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a safetensors file: a length, a JSON header, raw numbers."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    found = {}
    for name, about in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__" and about["dtype"] == "F32":
            start, end = (8 + size + offset for offset in about["data_offsets"])
            found[name] = np.frombuffer(data[start:end], "<f4").reshape(about["shape"])
    return found


class Graph:
    """A graph under construction; every node has one output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, **settings: Any) -> str:
        name = f"{kind}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **settings))
        return name


def build(weights: dict[str, np.ndarray]) -> Any:
    """Return the model: token ids and mask in, one vector a text out."""
    graph = Graph()
    node, constant = graph.node, graph.constant

    def linear(x: str, name: str) -> str:
        return node("MatMul", x, constant(weights[f"{name}.weight"].T))

    def added(x: str, other: str, bias: str, norm: str) -> str:
        """Add what went around a block and the block's bias, and normalise."""
        names = (f"{norm}.weight", f"{norm}.bias", bias)
        tensors = [constant(weights[name]) for name in names]
        return node("SkipLayerNormalization", x, other, *tensors, domain=FUSED, epsilon=EPSILON)

    places = weights["embeddings.position_embeddings.weight"]
    places = places + weights["embeddings.token_type_embeddings.weight"][0]
    zero, one, two = (constant(np.array([number])) for number in (0, 1, 2))
    length = node("Shape", "input_ids", start=1, end=2)
    words = node("Gather", constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
    x = node(
        "LayerNormalization",
        node("Add", words, node("Slice", constant(places), zero, length, zero)),
        constant(weights["embeddings.LayerNorm.weight"]),
        constant(weights["embeddings.LayerNorm.bias"]),
        epsilon=EPSILON,
    )
    mask = node("Cast", "attention_mask", to=TensorProto.INT32)
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        self_attention = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        together = np.concatenate([weights[f"{name}.weight"].T for name in self_attention], axis=1)
        biases = np.concatenate([weights[f"{name}.bias"] for name in self_attention])
        inputs = (x, constant(together), constant(biases), mask)
        attention = node("Attention", *inputs, domain=FUSED, num_heads=HEADS)
        out = f"{at}.attention.output"
        x = added(linear(attention, f"{out}.dense"), x, f"{out}.dense.bias", f"{out}.LayerNorm")
        wide = linear(x, f"{at}.intermediate.dense")
        bias = constant(weights[f"{at}.intermediate.dense.bias"])
        wide = node("BiasGelu", wide, bias, domain=FUSED)
        out = f"{at}.output"
        x = added(linear(wide, f"{out}.dense"), x, f"{out}.dense.bias", f"{out}.LayerNorm")
    weight = node("Cast", "attention_mask", to=TensorProto.FLOAT)
    kept = node("Mul", x, node("Unsqueeze", weight, two))
    total = node("ReduceSum", kept, one, keepdims=0)
    mean = node("Div", total, node("ReduceSum", weight, one, keepdims=1))
    graph.nodes.append(helper.make_node("Identity", [mean], ["sentence_embedding"]))
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info(
        "sentence_embedding", TensorProto.FLOAT, ["batch", WIDTH]
    )
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", ids, [output], graph.constants)
    versions = [helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(made, opset_imports=versions, ir_version=9)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    original, new = map(Path, sys.argv[1:])
    for name, digest in DIGESTS.items():
        found = hashlib.sha256((original / name).read_bytes()).hexdigest()
        if found != digest:
            sys.exit(f"{original / name}: has the SHA-256 {found}, not {digest}")
    for name in BESIDE:
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(original / name, new / name)
    onnx.save(build(read_weights(original / "model.safetensors")), str(new / "model.onnx"))
    print(f"{new}: ready")


if __name__ == "__main__":
    main()
