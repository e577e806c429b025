"""Layouts of arrays, and headers that NumPy has no types or shapes for."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from mutations import join_file

from lscfg.errors import InputError
from lscfg.extract.derive import NODES
from lscfg.grammar import table
from lscfg.io import tensors
from lscfg.io.layout import check_layout, check_offsets, check_range
from lscfg.model import context, parameters

FORMATS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "formats.md"


def test_layouts_are_those_of_the_documentation():
    """Each declared array stands in a table of docs/reference/formats.md."""
    text = FORMATS.read_text("utf-8")
    named = set(re.findall(r"`([\w.]+)`", "\n".join(re.findall(r"^\|([^|]+)\|", text, re.M))))
    layouts = [NODES, parameters.STATES, parameters.FULL, parameters.LOW_RANK, parameters.ONE]
    layouts.append({f"context.{name}": kind for name, kind in context.LAYOUT.items()})
    for name in (name for layout in layouts for name in layout):
        assert name in named, name
    assert all(name in named or name.startswith("vocab.") for name in table.LAYOUT)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"a": "int32 [n]", "c": "int32 [n]"}, "'c' is missing"),
        ({"a": "int64 [n]"}, r"'a' is int32 \[3\], not int64 \[n\]"),
        ({"a": "int32 [n, 2]"}, r"not int32 \[n, 2\]"),
        ({"a": "int32 [n]", "b": "float32|float64 [n, 2]"}, r"'b' is float64 \[2, 2\], not .*, n = 3"),
        ({"b": "float64 [n, 3]"}, r"'b' is float64 \[2, 2\]"),
        ({"a": "int32 [n + 1]", "b": "float64 [n, n + 1]"}, "'b'"),
    ],
)
def test_arrays_of_another_layout(layout, message):
    arrays = {"a": np.zeros(3, np.int32), "b": np.zeros((2, 2))}
    assert check_layout(arrays, {"a": "int32 [n + 1]", "b": "float32|float64 [n, 2]"}) == {"n": 2}
    with pytest.raises(ValueError, match=message):
        check_layout(arrays, layout)


def test_values_out_of_range():
    check_offsets("x", np.array([0, 2, 2, 5]), 5)
    for wrong in ([1, 5], [0, 4], [0, 3, 2, 5]):
        with pytest.raises(ValueError, match="'x' does not ascend from 0 to 5"):
            check_offsets("x", np.array(wrong), 5)
    check_range("x", np.array([0.0, 1]), 0, 2)
    check_range("x", np.empty(0), 0, 2)
    for value in (-1.0, 2.0, np.nan):
        with pytest.raises(ValueError, match=f"'x' holds {value}"):
            check_range("x", np.array([0.5, value]), 0, 2)


@pytest.mark.parametrize(("dtype", "shape", "data"), [("BF16", [1], b"ab"), ("I32", [2**62, 0, 2], b"")])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_arrays_that_numpy_cannot_have(dtype, shape, data, ending, tmp_path):
    content = join_file({"lscfg": "model"}, {"x": [dtype, shape, data]})
    path = tmp_path / f"m{ending}"
    path.write_bytes(gzip.compress(content) if ending else content)
    with pytest.raises(InputError, match=f"array 'x' is {dtype}"):
        tensors.load(path, "model")


@pytest.mark.parametrize("text", ["[" * 100_000, "[1]", "", "{", "9" * 5000])
def test_metadata_that_is_no_object(text):
    with pytest.raises(ValueError, match="metadata 'about'"):
        tensors.read_json({"about": text}, "about")
    with pytest.raises(ValueError, match="metadata 'other'"):
        tensors.read_json({"about": text}, "other")
    assert tensors.read_json({"about": '{"m": 2}'}, "about") == {"m": 2}
    assert tensors.read_json({}, "about", {}) == {}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"lscfg": "x" * 20_000}, "not an lscfg model file, but 'xxx"),
        ({"lscfg": "model", "format": "x" * 20_000}, "the model has format xxx.* update it"),
    ],
)
def test_long_metadata_is_quoted_in_short(metadata, message, tmp_path):
    path = tmp_path / "m.lscfg"
    tensors.save(path, {"a": np.zeros(1)}, metadata)
    with pytest.raises(InputError, match=message) as refused:
        tensors.load(path, "model")
    assert len(str(refused.value)) < 300
