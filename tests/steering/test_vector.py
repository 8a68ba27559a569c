"""Files of steering vectors; the last tests need torch."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.input_file import MAX_PLAIN
from judgekit.steering.vector import Steering, read_steering, vector_bytes
from tests.tiny_model import libraries

VECTOR = (0.5, -1.25, 3.0, 0.0)


def file_of(tmp_path, data, name="v.pt"):
    (tmp_path / name).write_bytes(data)
    return read_steering(tmp_path / name, layer=2, strength=1.5)


def test_a_vector_is_a_safetensors_file_with_the_same_bytes_each_time():
    data = vector_bytes(VECTOR, layer=12, metadata={"weights": "ab", "trait": "dry"})
    size = int.from_bytes(data[:8], "little")

    assert data == vector_bytes(VECTOR, layer=12, metadata={"trait": "dry", "weights": "ab"})
    assert size % 8 == 0
    assert json.loads(data[8 : 8 + size]) == {
        "__metadata__": {"trait": "dry", "weights": "ab"},
        "layer.12": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
    }
    assert data[8 + size :] == bytes.fromhex("0000003f 0000a0bf 00004040 00000000")


def test_vector_layer_and_strength_are_part_of_the_key():
    steering = Steering(b"a", 3, 2.0)
    others = [Steering(b"b", 3, 2.0), Steering(b"a", 4, 2.0), Steering(b"a", 3, 1.0)]

    assert steering.param["layer"] == 3
    assert all(other.param != steering.param for other in others)
    assert Steering(b"a", 3, 2.0, "elsewhere.pt").param == steering.param


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "no such file of a steering vector"),
        (b"", "is no steering vector"),
        (b"\x80\x04\x95pickled", "is no steering vector"),
        (b'{"vector": [1, 2]}', "is no steering vector"),
        (b"PK\x03\x04" + b"0" * MAX_PLAIN, "larger than"),
    ],
)
def test_a_file_that_is_no_vector_is_refused(tmp_path, data, message):
    if data is not None:
        (tmp_path / "v").write_bytes(data)
    with pytest.raises(ConfigError, match=message) as raised:
        read_steering(tmp_path / "v", layer=1, strength=1.0)
    assert str(tmp_path / "v") in str(raised.value)


@pytest.mark.parametrize("strength", [float("nan"), float("inf")])
def test_a_strength_is_finite(tmp_path, strength):
    with pytest.raises(ConfigError, match="finite"):
        read_steering(tmp_path / "v", layer=1, strength=strength)


# -- with torch -----------------------------------------------------------------------


def saved(data):
    torch, *_ = libraries()
    file = io.BytesIO()
    torch.save(data, file)
    return file.getvalue()


def test_our_own_file_is_read_by_the_library_and_by_us(tmp_path):
    libraries()
    from safetensors.torch import load

    data = vector_bytes(VECTOR, layer=2, metadata={"weights": "ab"})

    assert load(data)["layer.2"].tolist() == list(VECTOR)
    assert file_of(tmp_path, data).tensor(width=4, weights="ab").tolist() == list(VECTOR)


@pytest.mark.parametrize("shape", ["tensor", "name", "layer", "row"])
def test_files_of_torch_save_are_read(tmp_path, shape):
    torch, *_ = libraries()
    vector = torch.tensor(VECTOR, dtype=torch.float64)
    data = {
        "tensor": vector,
        "name": {"direction": vector},
        "layer": {1: vector * 2, 2: vector, 12: vector * 3},
        "row": vector.reshape(1, 1, 4),
    }
    read = file_of(tmp_path, saved(data[shape])).tensor(width=4, weights="x")

    assert read.tolist() == list(VECTOR)
    assert read.dtype == torch.float32


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda torch: {1: torch.ones(4), 3: torch.ones(4)}, "no vector of layer 2; it has: 1, 3"),
        (lambda torch: {"a": torch.ones(4), "b": torch.ones(4)}, "does not name the layers"),
        (lambda torch: torch.ones(5), "has 5 numbers, and the model takes 4"),
        (lambda torch: torch.ones(1).expand(10**12), "has 1000000000000 numbers"),
        (lambda torch: torch.tensor([1, float("nan"), 1, 1]), "not finite"),
        (lambda torch: {}, "does not name"),
        (lambda torch: "text", "can be read"),
    ],
)
def test_what_is_no_vector_of_this_layer_is_refused_in_one_line(tmp_path, make, message):
    torch, *_ = libraries()
    steering = file_of(tmp_path, saved(make(torch)))

    with pytest.raises(ConfigError, match=message) as raised:
        steering.tensor(width=4, weights="x")
    assert "\n" not in str(raised.value)


def test_a_vector_of_other_weights_is_refused(tmp_path):
    libraries()
    steering = file_of(tmp_path, vector_bytes(VECTOR, layer=2, metadata={"weights": "ab"}))

    with pytest.raises(ConfigError, match="names the weights ab, and the model has cd"):
        steering.tensor(width=4, weights="cd")


class Hostile:
    def __reduce__(self):
        return (pytest.fail, ("code of a file was executed",))


def test_code_in_a_file_is_not_executed(tmp_path):
    with pytest.raises(ConfigError, match="can be read"):
        file_of(tmp_path, saved({"vector": Hostile()})).tensor(width=4, weights="x")


def test_a_file_that_unpacks_to_more_is_refused(tmp_path):
    libraries()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("v/data/0", bytes(MAX_PLAIN + 1))

    with pytest.raises(ConfigError, match="unpacks to more than"):
        file_of(tmp_path, file.getvalue()).tensor(width=4, weights="x")
