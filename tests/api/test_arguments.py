"""Wrong arguments of the public names: an error of Python's or of lscfg's that names the argument, and nothing else."""

import copy
import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lscfg
from lscfg.api.records import Records
from lscfg.errors import InputError
from lscfg.settings import settings_of

SOURCE = ["das haus", "das buch", "ein buch", "ein haus"] * 10
TARGET = ["the house", "the book", "a book", "a house"] * 5 + ["the home", "the book", "a book", "a home"] * 5
LINKS = ["0-0 1-1"] * 40
ESTIMATORS = [lscfg.MLE, lscfg.Spectral, lscfg.EM, lscfg.FeatureEM, lscfg.Clusters, lscfg.Neural, lscfg.Orientation]

WRONG = {
    "None": lambda: None,
    "int": lambda: 5,
    "huge": lambda: 10**30,
    "negative": lambda: -7,
    "float": lambda: 2.5,
    "nan": lambda: float("nan"),
    "bool": lambda: True,
    "digits": lambda: "2",
    "nul": lambda: "a\0b",
    "half": lambda: "\ud800",
    "bytes": lambda: b"a",
    "nested": lambda: [["a", "b"]],
    "halves": lambda: ["\ud800"] * 40,
    "numbers": lambda: [1, 2],
    "none": lambda: [],
    "dict": lambda: {"a": "b"},
    "generator": lambda: (k for k in range(3)),
    "object": object,
    "array": lambda: np.zeros(3),
    "lambda": lambda: max,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    trees = lscfg.derive(SOURCE, TARGET, LINKS)
    lscfg.EM(m=2, iterations=1).fit(trees).save(folder / "m")
    (folder / "g").write_text("[X] ||| das ||| the ||| EgivenF=0.1\n")
    (folder / "cdec.ini").write_text("formalism=scfg\ngrammar=g\nadd_pass_through_rules=true\n")
    model = lscfg.load(folder / "m")
    decoder = lscfg.Decoder(folder / "cdec.ini", {"EgivenF": 1.0, "PassThrough": -1.0})
    return {"trees": trees, "model": model, "decoder": decoder, "folder": folder}


def calls(world) -> dict[str, tuple]:
    """Each public function: a right call's arguments by name, and the values of ``WRONG`` that some arguments take."""
    folder, trees, model, decoder = (world[name] for name in ("folder", "trees", "model", "decoder"))
    weights = {"EgivenF": 1.0}
    return {
        "align": (
            lscfg.align,
            {"source": SOURCE, "target": TARGET, "aligner": "fast-align", "heuristic": "union", "jobs": 1},
            {"jobs": {"int"}},
        ),
        "align settings": (
            lscfg.align,
            {"source": SOURCE, "target": TARGET, "aligner": "fast-align", "iterations": 2},
            {"iterations": {"int"}},
        ),
        "derive": (lscfg.derive, {"source": SOURCE, "target": TARGET, "alignment": LINKS}, {}),
        "derive options": (
            lscfg.derive,
            {"source": SOURCE, "target": TARGET, "alignment": LINKS, "max_arity": 2, "drop": False},
            {"drop": {"bool"}},
        ),
        "load": (lscfg.load, {"path": folder / "m"}, {}),
        "Decoder": (lscfg.Decoder, {"config": folder / "cdec.ini", "weights": weights}, {}),
        "translate": (
            decoder.translate,
            {"lines": ["das"], "k": 1, "xml_input": "ignore", "grammar": ["[X] ||| das ||| it"]},
            {"lines": {"none", "generator0"}, "k": {"int", "None"}, "xml_input": {"None"}, "grammar": {"none"}},
        ),
        "explain": (
            decoder.explain,
            {"lines": ["das"], "xml_input": "ignore", "grammar": ["[X] ||| das ||| it"]},
            {"lines": {"none"}, "xml_input": {"None"}, "grammar": {"none", "generator0"}},
        ),
        "why_not": (
            decoder.why_not,
            {"source": "das", "wanted": "the"},
            {"source": {"digits"}, "wanted": {"digits"}},
        ),
        "analyse": (
            model.analyse,
            {"sentence": "das haus", "top": 2, "least": 0.5},
            {"sentence": {"digits"}, "top": {"int"}, "least": set()},
        ),
        "derivations": (trees.__getitem__, {"number": 0}, {"number": {"int", "huge", "negative", "bool"}}),
        "Derivations.load": (lscfg.Derivations.load, {"path": folder / "m2"}, {}),
        **{kind.__name__: (kind, kind().get_params(), accepted_settings(kind)) for kind in ESTIMATORS},
        "fit": (lscfg.MLE().fit, {"derivations": trees, "context": SOURCE}, {"context": {"None"}}),
        "save": (lscfg.MLE().fit(trees).save, {"path": folder / "new", "precision": "float32"}, {"path": {"digits"}}),
    }


def accepted_settings(kind) -> dict[str, set[str]]:
    """The values of ``WRONG`` that settings take, by their types and limits."""
    types = {int: {"int"}, float: {"int", "float", "huge"}, bool: {"bool"}, str: set(), Path: {"digits", "None"}}
    found = {item.name: types[item.kind] for item in settings_of(type(kind()._settings))}
    return found | {"threads": {"int"}} | ({"held_out": set()} if "held_out" in found else {})


NAMES = [
    *("align", "align settings", "derive", "derive options", "load", "Decoder", "translate", "analyse"),
    *("explain", "why_not"),
    *("derivations", "MLE", "Spectral", "EM", "Clusters", "fit", "save"),
]


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arguments_are_named(name, world, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    function, right, accepted = calls(world)[name]
    for argument in right:
        for kind, make in WRONG.items():
            value = make()
            given = right | {argument: value}
            error = failure(function, given)
            if kind in accepted.get(argument, ()):
                assert error is None or isinstance(error, IndexError), (argument, kind, error)
                continue
            assert isinstance(error, (TypeError, InputError)), (argument, kind, error)
            message = str(error)
            told = argument in message or (isinstance(error, InputError) and str(value) in message)
            assert "\n" not in message and len(message) < 500, (argument, kind, message)
            assert told or name == "derivations", (argument, kind, message)


def failure(function, arguments) -> Exception | None:
    """The exception of a call."""
    try:
        function(*arguments.values()) if {*arguments} == {"number"} else function(**arguments)
    except Exception as error:
        return error
    return None


def test_objects_are_copied_and_pickled(world, tmp_path):
    trees, model, decoder = (world[name] for name in ("trees", "model", "decoder"))
    len(trees.kernel.words())  # the kernel's view is made again in a copy
    for copied in (pickle.loads(pickle.dumps(trees)), copy.deepcopy(trees)):
        assert [*copied] == [*trees] and (copied.counts == trees.counts).all()
    for kind in ESTIMATORS:
        one = kind(m=2, iterations=1) if kind in (lscfg.EM, lscfg.FeatureEM, lscfg.Clusters) else kind()
        if kind is lscfg.Spectral:
            one.set_params(m=2)
        one.fit(trees)
        one.save(tmp_path / "one")
        for copied in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert copied.get_params() == one.get_params()
            copied.save(tmp_path / "other")
            assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert copied.analyse("das haus").log_g == model.analyse("das haus").log_g
    for copied in (pickle.loads(pickle.dumps(decoder)), copy.deepcopy(decoder)):
        assert copied.translate(["das"]) == decoder.translate(["das"]) == ["the"]
    lscfg.MLE().fit(trees).save(tmp_path / "one")
    kept = pickle.dumps(lscfg.load(tmp_path / "one"))
    lscfg.EM(m=2, iterations=1).fit(trees).save(tmp_path / "one")
    with pytest.raises(InputError, match="one: has changed since the object was pickled"):
        pickle.loads(kept)


@pytest.mark.parametrize("changed", ["grammar", "model", "cdec.ini", "glossary"])
def test_a_copy_notices_every_file_that_changed(world, tmp_path, changed):
    """A copy opens files again, so each of them must be the one of the original, also those that the ini names."""
    lscfg.MLE().fit(world["trees"]).save(tmp_path / "model")
    (tmp_path / "grammar").write_text("[X] ||| das ||| the ||| F=1\n")
    (tmp_path / "glossary").write_text("source\ttarget\nhaus\thouse\n")
    line = "feature_function=LSCFG model=model features=ratios\n"
    (tmp_path / "cdec.ini").write_text(f"formalism=scfg\ngrammar=grammar\n{line}")
    decoder = lscfg.Decoder(tmp_path / "cdec.ini", {"F": 1.0}, tmp_path / "glossary")
    model = lscfg.load(tmp_path / "cdec.ini")
    kept = [pickle.dumps(one) for one in (decoder, model)[: 1 if changed == "glossary" else 2]]
    for one in kept:
        pickle.loads(one)
    path = tmp_path / changed
    path.write_bytes(path.read_bytes() + b"\n")
    for one in kept:
        with pytest.raises(InputError, match=f"{changed}: has changed since the object was pickled"):
            pickle.loads(one)
    for one in (decoder, model)[: len(kept)]:
        with pytest.raises(InputError, match=f"{changed}: was written after the object had opened it"):
            pickle.dumps(one)
    path.unlink()
    with pytest.raises(InputError, match=f"{changed}: cannot read"):
        pickle.loads(kept[0])


def test_a_copy_reads_the_files_of_a_configuration_and_no_others(tmp_path, monkeypatch):
    """Weights travel with the object, words that are no paths are no files, and the name of the ini does not matter."""
    (tmp_path / "grammar").write_text("[X] ||| das ||| the ||| F=1\n")
    (tmp_path / "w").write_text("F 1\n")
    (tmp_path / "config").write_text("formalism=scfg\ngrammar=grammar\ngoal=S\nweights=w\n")
    (tmp_path / "here").mkdir()
    for place in (tmp_path, tmp_path / "here"):
        (place / "S").write_text(place.name)
    monkeypatch.chdir(tmp_path / "here")
    decoder = lscfg.Decoder("../config")
    (tmp_path / "w").write_text("F 2\n")
    kept = pickle.dumps(decoder)
    assert pickle.loads(kept).weights == {"F": 1.0}
    later = (tmp_path / "grammar").stat().st_mtime + 10
    os.utime(tmp_path / "grammar", (later, later))  # the same content
    assert pickle.loads(kept).translate(["das"]) == ["the"]
    (tmp_path / "grammar").write_text("[X] ||| das ||| THE ||| F=1\n")
    with pytest.raises(InputError, match="grammar: has changed since the object was pickled"):
        pickle.loads(kept)


def test_a_copy_finds_the_same_files(tmp_path, monkeypatch):
    """The ini names its grammar as seen from the working directory; elsewhere, that would be another file."""
    for place in ("one", "other"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "grammar").write_text(f"[X] ||| das ||| {place} ||| F=1\n")
    (tmp_path / "ini").mkdir()
    (tmp_path / "ini" / "cdec.ini").write_text("formalism=scfg\ngrammar=grammar\n")
    monkeypatch.chdir(tmp_path / "one")
    kept = pickle.dumps(lscfg.Decoder("../ini/cdec.ini", {"F": 1.0}))
    assert pickle.loads(kept).translate(["das"]) == ["one"]
    (tmp_path / "link").symlink_to(tmp_path / "one")
    monkeypatch.chdir(tmp_path / "link")  # another way to the same files
    assert pickle.loads(kept).translate(["das"]) == ["one"]
    monkeypatch.chdir(tmp_path / "other")
    with pytest.raises(InputError, match="grammar: is named here, but not where the object was pickled"):
        pickle.loads(kept)


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(InputError, match=f"{tmp_path}: cannot read: Is a directory"):
        lscfg.load(tmp_path)


def test_derivations_are_a_sequence_of_trees(world):
    trees = world["trees"]
    assert trees[0] == "[X,1] [X,2] ||| [X,1] [X,2]\n  das ||| the\n  haus ||| house"
    assert trees[-1] == trees[39] and trees[38:] == [trees[38], trees[39]] and len([*trees]) == 40
    assert "\n\n".join([*trees]) + "\n" == "\n".join(trees.text_lines())
    assert repr(trees) == "<Derivations: 40 trees, 120 nodes, 6 rules>"
    with pytest.raises(IndexError):
        trees[40]
    with pytest.raises(TypeError):
        trees["0"]
    dropped = lscfg.derive(["a", "b"], ["A", "B"], ["0-0", "9-9"], drop=True)
    assert [*dropped] == ["a ||| A", "-"]


def test_reprs_have_one_short_line(world):
    fitted = lscfg.Clusters(m=2, iterations=1).fit(world["trees"])
    model = world["model"]
    for one in (*(world[name] for name in ("trees", "model", "decoder")), fitted, model.analyse("das haus")):
        assert "\n" not in repr(one) and len(repr(one)) < 120


def test_unknown_words_are_named(world, caplog):
    model = world["model"]
    found = model.analyse("das Auto")
    assert found.unknown == ("Auto",) and "1 of them unknown" in repr(found) and not caplog.messages
    found = model.analyse("the house")  # of the target language
    assert found.unknown == ("the", "house") and "2 of them unknown" in repr(found)
    assert "no word of the sentence is known ('the house')" in caplog.text
    assert model.analyse("das haus").unknown == () and "unknown" not in repr(model.analyse("das haus"))


def test_half_a_character_is_bad_input(world):
    with pytest.raises(InputError, match=r"lines\[0\] contains half of a surrogate pair"):
        world["decoder"].translate(["\ud83d"])
    with pytest.raises(InputError, match="half of a surrogate pair"):
        lscfg.derive(["\ud83d"], ["a"], ["0-0"])
    assert world["decoder"].translate(["\U0001f600"]) == ["\U0001f600"]


def test_fit_is_quiet(tmp_path):
    code = "import lscfg; t = lscfg.derive(['a b'] * 9, ['A B'] * 9, ['0-0 1-1'] * 9); lscfg.EM(m=2, restarts=2).fit(t)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""


def test_a_missing_pandas_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas: pip install pandas"):
        Records([{"a": 1}]).frame()


def test_misspelt_settings_are_named():
    with pytest.raises(TypeError, match=r"EM has no setting 'iteration'; .* \(did you mean iterations\?\)"):
        lscfg.EM(iteration=3)
    with pytest.raises(TypeError, match=r"Clusters has no setting 'states'; .* \(did you mean m\?\)"):
        lscfg.Clusters(states=8)
    with pytest.raises(TypeError, match=r"the aligner eflomal has no setting 'sead'; .* \(did you mean seed\?\)"):
        lscfg.align(["a"], ["b"], sead=3)
    assert lscfg.EM(m=np.int64(3), shrink_source=np.float64(2)).get_params()["m"] == 3
    assert type(lscfg.EM(m=np.int64(3)).get_params()["m"]) is int


def test_signatures_have_no_new_arguments():
    """``calls`` names every argument of the public functions."""
    assert {*inspect.signature(lscfg.Decoder.translate).parameters} == {"self", "lines", "k", "xml_input", "grammar"}
    assert {*inspect.signature(lscfg.Decoder.explain).parameters} == {"self", "lines", "xml_input", "grammar"}
    assert {*inspect.signature(lscfg.Decoder.why_not).parameters} == {"self", "source", "wanted"}
    assert {*inspect.signature(lscfg.LatentModel.analyse).parameters} == {"self", "sentence", "top", "least"}
    assert {*inspect.signature(lscfg.align).parameters} == {
        *("source", "target", "aligner", "heuristic", "jobs", "settings")
    }
    assert {*inspect.signature(lscfg.derive).parameters} == {"source", "target", "alignment", "options"}
    assert {*inspect.signature(lscfg.MLE.fit).parameters} == {"self", "derivations", "y", "context"}


def test_lines_without_an_order_are_refused():
    """A set would join any lines to pairs; a table iterates over the names of its columns."""

    class Table:
        columns = ("de",)

        def __iter__(self):
            return iter(self.columns)

    for lines, cure in (({"a", "b"}, "has no order"), (frozenset("ab"), "has no order"), (Table(), "give a column")):
        with pytest.raises(TypeError, match=cure):
            lscfg.derive(lines, ["A", "B"], ["0-0", "0-0"])
    assert lscfg.derive({"a": 1, "b": 2}.keys(), ["A", "B"], ["0-0", "0-0"])  # keys are ordered


def test_a_setting_with_a_mistyped_name_is_refused():
    model = lscfg.EM(m=2)
    with pytest.raises(AttributeError, match=r"no setting 'iteratoins' \(did you mean iterations\?\)"):
        model.iteratoins = 3
    for name in ("iters", "treads"):
        with pytest.raises(AttributeError, match="did you mean"):
            setattr(model, name, 8)
    model.note = "of the user"
    model.result, model.source, model.iterations_, model._iteration = 1, 2, 3, 4  # as far from settings

    class Own(lscfg.EM):
        pass

    own = Own()
    own.seeds = [1, 2]
    assert own.seeds == [1, 2] and model.note and model.iterations == lscfg.EM().iterations
