from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from judgekit.core.case import Case
from judgekit.datasets.case_fields import invalid_case
from judgekit.datasets.json_text import JsonFault, json_fault, parse_json, to_json


def test_the_place_of_a_fault_counts_characters():
    data = '{"é": 1,\n "ü" 2}'.encode()

    with pytest.raises(ValueError, match="expected") as caught:
        parse_json(data)

    assert json_fault(caught.value, data)[1:] == (2, 6)


def test_a_fault_without_a_place_is_quoted():
    assert json_fault(ValueError("odd"), b"") == JsonFault("'odd'", 1, 1)


def test_numpy_values_become_plain_ones():
    row = {"n": np.int64(3), "x": np.float32(0.5), "v": np.array([1.0, 2.0]), "b": np.bool_(True)}

    assert to_json(row) == {"n": 3, "x": 0.5, "v": [1.0, 2.0], "b": True}


def test_numpy_nan_is_refused():
    with pytest.raises(ValueError, match="nan is not a JSON number"):
        to_json({"x": np.float32("nan")})


def test_a_fault_pydantic_has_its_own_words_for_is_one_line():
    with pytest.raises(ValidationError) as caught:
        Case.model_validate({"id": "a", "metadata": {"x": object()}})

    error = invalid_case(caught.value, {})

    assert error.field == "metadata.x"
    assert str(error).endswith("input was not a valid JSON value; correct the row")
