"""Layouts of arrays, and headers that NumPy has no types or shapes for."""

import gzip
import random
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from helpers import sampled_pairs
from mutations import join_file, split_file

import lscfg
from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.extract.derive import NODES
from lscfg.grammar import table
from lscfg.io import tensors
from lscfg.io.layout import check_layout, check_offsets, check_range
from lscfg.kernel import Model
from lscfg.model import context, parameters
from lscfg.model.parameters import Parameters

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
        tensors.metadata_json({"about": text}, "about")
    with pytest.raises(ValueError, match="metadata 'other'"):
        tensors.metadata_json({"about": text}, "other")
    assert tensors.metadata_json({"about": '{"m": 2}'}, "about") == {"m": 2}
    assert tensors.metadata_json({}, "about", {}) == {}


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


@pytest.mark.parametrize("kind", ["model", "derivations"])
def test_a_file_of_a_newer_version_is_called_so(kind, tmp_path, capsys):
    """Not a file of another kind, whatever the command expects."""
    path = tmp_path / "file"
    tensors.save(path, {"a": np.zeros(1)}, {"lscfg": kind, "format": "99"})
    with pytest.raises(InputError, match=f"the {kind} has format 99, and this version of lscfg reads .*; update it"):
        tensors.file_kind(path)
    for wanted in ("model", "derivations"):
        assert main(["inspect", wanted, str(path)]) == 1
        assert f"the {kind} has format 99" in capsys.readouterr().err
    tensors.save(path, {"a": np.zeros(1)}, {"lscfg": "graph"})
    with pytest.raises(InputError, match="not an lscfg derivations file, but 'graph'"):
        tensors.file_kind(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A model with arrays of every type, as bytes."""
    src, tgt, links, _ = sampled_pairs(20, 1)
    path = tmp_path_factory.mktemp("whole") / "m"
    lscfg.EM(m=2, iterations=1).fit(lscfg.derive(src, tgt, links)).save(path)
    return path.read_bytes()


def test_a_flip_in_any_byte_of_a_model_is_refused(whole, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(whole)
    arrays, metadata = tensors.load(path, "model")
    assert len(Model(path)) and metadata["checksum"] == "crc32" and "checksum" not in arrays
    assert int.from_bytes(whole[-4:], "little") == zlib.crc32(whole[:-4])
    rng = random.Random(1)
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"m: "):
            Model(path)
        with pytest.raises(InputError, match=r"m: "):
            Parameters.load(path)


@pytest.mark.parametrize("size", [0, 1, 3, 15, 16, 17, 1000, 4099])
def test_the_kernel_adds_up_as_zlib_does(whole, tmp_path, size):
    """Files whose length leaves any rest of the sixteen bytes that the kernel takes at a time."""
    metadata, arrays = split_file(whole)
    arrays["filling"] = ["U8", [size], bytes(k * 7 % 256 for k in range(size))]
    arrays["zchecksum"] = ["U8", [4], bytes(4)]
    content = join_file(metadata | {"checksum": "crc32"}, arrays).replace(b'"zchecksum"', b'"checksum" ')
    content = content[:-4] + zlib.crc32(content[:-4]).to_bytes(4, "little")
    (tmp_path / "m").write_bytes(content)
    assert len(Model(tmp_path / "m")) == len(Parameters.load(tmp_path / "m").rules)
    (tmp_path / "m").write_bytes(content[:-4] + bytes(4))
    for read in (Model, Parameters.load):
        with pytest.raises(InputError, match="damaged: the checksum does not fit; copy or make the file again"):
            read(tmp_path / "m")


def test_files_of_older_versions_have_no_checksum(whole, tmp_path):
    (tmp_path / "m").write_bytes(join_file(*split_file(whole)))
    assert len(Model(tmp_path / "m")) == len(Parameters.load(tmp_path / "m").rules)
    (tmp_path / "m.gz").write_bytes(gzip.compress(join_file(*split_file(whole))))
    (tmp_path / "n.gz").write_bytes(gzip.compress(whole))
    new, old = (tensors.load(tmp_path / f"{name}.gz", "model")[0] for name in "nm")
    assert new.keys() == old.keys() and all((new[name] == old[name]).all() for name in new)
    (tmp_path / "n.gz").write_bytes(gzip.compress(whole[:-5] + bytes(5)))
    with pytest.raises(InputError, match="checksum does not fit"):
        tensors.load(tmp_path / "n.gz", "model")
