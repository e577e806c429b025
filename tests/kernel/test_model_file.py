"""The model file as the kernel reads it: every kind of damage is one clear error."""

import bz2
import gzip
import json
import lzma
import random
import struct

import numpy as np
import pytest
from damage import damaged_copies
from helpers import rule_table, save_model
from mutations import join_file, split_file

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.kernel import Binding, FeatureOptions, Grammar, Model, ParseOptions, X
from lscfg.kernel.base import words_fault
from lscfg.model.parameters import OneState, Parameters


@pytest.fixture
def model_file(tmp_path):
    table = rule_table(["a ||| x", "b [X,1] ||| [X,1] y", "[X,1] [X,2] ||| [X,2] [X,1]"])
    tensors = [np.ones([2] * (a + 1)) for a in table.arity]
    one = OneState(np.full(3, 0.25), np.array([0.25]))
    return save_model(tmp_path / "m.lscfg", table, tensors, np.ones(2), np.ones(2), one)


def rewritten(path, change):
    """The file with its header, a dict, and its data changed by ``change(header, data)``; without a checksum."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), bytearray(data[8 + length :])
    del header["__metadata__"]["checksum"], header["checksum"], body[-4:]
    change(header, body)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(body))
    return path


def test_whole_file_opens(model_file):
    model = Model(model_file)
    assert (model.rank, len(model)) == (2, 3)
    grammar = model.grammar()
    assert [grammar.arity(r) for r in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("format", ["5", "11", ""])
def test_another_format_is_refused(model_file, capsys, format):
    """By the kernel, and so by all that bind a model, and by what reads tensors into memory."""

    def change(header, data):
        assert header["__metadata__"]["format"] == "1"
        header["__metadata__"]["format"] = format

    rewritten(model_file, change)
    message = f"the model has format {format}, and this version of lscfg reads formats 1 to 4; update it"
    with pytest.raises(InputError, match=message):
        Model(model_file)
    with pytest.raises(InputError, match=message):
        Parameters.load(model_file)
    (model_file.parent / "text").write_text("a\n")
    assert main(["inspect", "marginals", str(model_file), str(model_file.parent / "text")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_files_without_a_format_are_of_the_first(model_file):
    Model(rewritten(model_file, lambda header, data: header["__metadata__"].pop("format")))
    assert len(Parameters.load(model_file).rules) == 3


def test_missing_and_empty_files(tmp_path):
    with pytest.raises(InputError, match="cannot open"):
        Model(tmp_path / "none")
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        Model(tmp_path / "empty")


def test_every_cut_is_refused(model_file, tmp_path):
    data = model_file.read_bytes()
    for size in range(0, len(data), 7):
        (tmp_path / "cut").write_bytes(data[:size])
        with pytest.raises(InputError):
            Model(tmp_path / "cut")


def test_random_damage_never_crashes(model_file, tmp_path):
    data = model_file.read_bytes()
    opened = 0
    for damaged in damaged_copies(data, 600, seed=3):
        (tmp_path / "d").write_bytes(damaged)
        try:
            model = Model(tmp_path / "d")
        except InputError:
            continue
        opened += 1
        try:
            grammar = model.grammar()
        except InputError:
            continue
        forest = grammar.parse(grammar.vocab.add_line("b a"), ParseOptions(9, True, 1))
        if forest is not None:
            binding = Binding(model, grammar)
            inference = binding.infer(forest)
            try:
                found = binding.features(forest, inference, FeatureOptions(names=("ratios",)))
            except InputError:
                continue
            assert np.isfinite(found).all()
    assert 0 < opened < 600


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, d: h.pop("CS"), "'CS' is missing"),
        (lambda h, d: h["C1"].update(dtype="F32"), "'C1' is F32"),
        (lambda h, d: h.pop("one.unk"), "'one.unk' is missing"),
        (lambda h, d: h.update({"one.rules": h["one.unk"]}), "'one.rules' and 'one.unk' do not fit the model's rules"),
        (lambda h, d: h["C0"].update(shape=[3, 2]), "size of its shape"),
        (lambda h, d: h["C0"].update(shape=[2**62, 2**62]), "impossible dimensions"),
        (lambda h, d: h["unk"].update(shape=[2, 1]), "'unk' is F64 with 2 dimensions"),
        (lambda h, d: d.__setitem__(slice(h["C0"]["data_offsets"][0], None), b""), "cut off"),
    ],
)
def test_damaged_header(model_file, change, message):
    with pytest.raises(InputError, match=rf"{message}.*; create the model again$"):
        Model(rewritten(model_file, change))
    with pytest.raises(InputError, match=f"^{model_file}: not a .*; make it again"):
        Parameters.load(model_file)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("C0", struct.pack("<d", float("nan")), "not finite"),
        ("one.rules", struct.pack("<d", float("inf")), "'one.rules' holds a value that is not finite"),
        ("one.unk", struct.pack("<d", float("nan")), "'one.unk' holds a value that is not finite"),
        ("rules.symbols", struct.pack("<i", 99), "rule 0 of the model is malformed"),
        ("rules.offsets", struct.pack("<q", 1), "does not cover"),
        ("rules.src_length", struct.pack("<i", 0), "malformed"),
        ("vocab.offsets", struct.pack("<q", 2**40), "not in order"),
        ("vocab.bytes", b"\xff", "'vocab.bytes' holds an invalid word at 0"),
        ("vocab.bytes", b"\n", "'vocab.bytes' holds an invalid word at 0"),
    ],
)
def test_damaged_values(model_file, name, value, message):
    def change(header, data):
        begin = header[name]["data_offsets"][0]
        data[begin : begin + len(value)] = value

    with pytest.raises(InputError, match=message):
        Model(rewritten(model_file, change))
    with pytest.raises(InputError, match=f"^{model_file}: not a "):
        Parameters.load(model_file)


def test_a_model_without_states_is_refused(model_file):
    def change(header, data):
        begin = header["CS"]["data_offsets"][0]
        header["CS"] |= {"shape": [0], "data_offsets": [begin, begin]}

    with pytest.raises(InputError) as error:
        Model(rewritten(model_file, change))
    assert str(error.value) == f"{model_file}: 0 hidden states; 1 to 1024 are possible"


@pytest.mark.parametrize(
    ("compress", "program"),
    [
        (gzip.compress, "gzip"),
        (lzma.compress, "xz"),
        (bz2.compress, "bzip2"),
        (lambda data: b"\x28\xb5\x2f\xfd" + data, "zstd"),
    ],
)
def test_a_compressed_model_is_called_so(model_file, compress, program):
    model_file.write_bytes(compress(model_file.read_bytes()))
    with pytest.raises(InputError) as error:
        Model(model_file)
    assert str(error.value) == f"{model_file}: the file is compressed; decompress it with {program} -d"


@pytest.mark.parametrize("length", [0, 1, 2**62])
def test_a_header_that_cannot_be_one_is_refused(tmp_path, length):
    (tmp_path / "m").write_bytes(struct.pack("<Q", length) + b"{")
    with pytest.raises(InputError, match="not a safetensors file, or cut off in its header"):
        Model(tmp_path / "m")


EDGES = bytes([0, 0x1F, 0x20, 0x7E, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF])
LEADS = EDGES + bytes([0xE0, 0xE2, 0xE3, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF])


def is_word(data):
    try:
        word = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return " " not in word and not words_fault(word)


@pytest.mark.parametrize("length", range(1, 5))
def test_words_are_text(tmp_path, length):
    """A word that is not, in the decoder's output, would end a line there or the program that reads it."""
    path = save_model(tmp_path / "m", rule_table(["Z" * length + " ||| x"]), [np.ones(2)], np.ones(2), np.ones(2))
    whole, rng = join_file(*split_file(path.read_bytes())), random.Random(length)
    words = [(lead,) for lead in LEADS] if length == 1 else []
    words += [(rng.choice(LEADS), *rng.choices(EDGES, k=length - 1)) for _ in range(1000 * (length > 1))]
    taken = 0
    for word in map(bytes, words):
        path.write_bytes(whole.replace(b"Z" * length, word))
        if is_word(word):
            taken += len(Model(path))
        else:
            with pytest.raises(InputError, match="an invalid word"):
                Model(path)
    assert 0 < taken < len(words)


def test_rule_twice(tmp_path):
    table = rule_table(["a ||| x", "a ||| x", "a ||| x", "a ||| x", "b [X,1] ||| [X,1] y"])
    path = save_model(tmp_path / "m", table, [np.ones([2] * (a + 1)) for a in table.arity], np.ones(2), np.ones(2))
    with pytest.raises(InputError, match="rules 0 and 1 of the model are the same"):
        Model(path)


def test_products_that_are_not_finite(tmp_path):
    table = rule_table(["a ||| x", "b [X,1] ||| [X,1] y"])
    tensors = [np.full([4] * (a + 1), 1e308) for a in table.arity]
    model = Model(save_model(tmp_path / "m", table, tensors, np.ones(4), np.ones(4)))
    grammar = model.grammar()
    forest = grammar.parse(grammar.vocab.add_line("b a"), ParseOptions(9, False, 0, X))
    with pytest.raises(InputError, match="are not finite"):
        Binding(model, grammar).infer(forest)


def test_rules_that_the_model_does_not_know_have_no_mass(model_file):
    model = Model(model_file)
    grammar = Grammar()
    grammar.read_text("[X] ||| a ||| x\n[X] ||| a ||| new\n[X] ||| [X,1] [X,2] ||| [2] [1]\n")
    grammar.finish()
    binding = Binding(model, grammar)
    assert binding.known == 2
    forest = grammar.parse(grammar.vocab.add_line("a a"), ParseOptions(9, False, 0, X))
    result = binding.infer(forest)
    by_rule = [result.apps[forest.app_rule == r].sum() for r in range(3)]
    assert np.allclose(by_rule, [2, 0, 1])
