"""experiments/network_designs.py: each design changes the point that it names."""

import json
import math
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from lscfg.estimate.neural import Design, NeuralText
from lscfg.extract.derive import Derivations, derive_files
from lscfg.kernel.neural import SOURCE_UNKNOWN, SOURCE_WORDS
from lscfg.model.parameters import Parameters

EXPERIMENTS = str(Path(__file__).resolve().parents[2] / "experiments")
sys.path.insert(0, EXPERIMENTS)
network_designs = import_module("network_designs")
sys.path.remove(EXPERIMENTS)

SMALL = Design(dims=32, epochs=2)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A corpus of 150 pairs with two alignments, and its derivations."""
    folder, draw = tmp_path_factory.mktemp("designs"), np.random.default_rng(5)
    pairs = []
    for number in range(150):
        words = [f"w{k}" for k in draw.integers(0, 9, draw.integers(2, 7))]
        pairs.append(([*words, f"rare{number}ing"], [word.upper() for word in words] + ["End"]))
    files = [folder / name for name in ("f", "e", "one", "two")]
    for file, side in zip(files[:2], (0, 1), strict=True):
        file.write_text("".join(" ".join(pair[side]) + "\n" for pair in pairs), encoding="utf-8")
    for file, left_out in zip(files[2:], (0, 1), strict=True):
        lines = (" ".join(f"{k}-{k}" for k in range(len(words) - left_out)) + "\n" for words, _ in pairs)
        file.write_text("".join(lines), encoding="utf-8")
    derive_files(*files[:2], files[2:], folder / "d")
    return files, folder / "d"


@pytest.fixture(scope="module")
def derivations(files):
    return Derivations.load(files[1])


@pytest.mark.parametrize(
    ("links", "n", "places"),
    [("0-0 1-1", 2, [0, 1]), ("0-1 2-1 3-1", 3, [2, 2, 2]), ("4-0 7-3", 4, [4, 4, 7, 7]), ("", 2, [0, 0])],
)
def test_a_word_stands_at_the_middle_of_its_links_or_at_a_neighbour_s(links, n, places):
    assert network_designs.linked_places(links, n) == places


def test_places_of_links_are_for_training_alone(files, derivations):
    corpus = network_designs.aligned(files[0][:2], files[0][2:])
    text, base = corpus(derivations, SMALL), NeuralText(derivations, SMALL)
    for pair in range(text.pairs):
        for version in (0, 1):
            tree = version * text.pairs + pair
            begin, n = text.starts[tree, 1], text.lengths[tree, 1]
            found = text.place[begin : begin + n].tolist()
            if pair in text.held_out:
                assert found == base.place[begin : begin + n].tolist()
            elif n:
                assert found == [*range(n - version), *[n - 2] * version]


def test_rare_words_share_the_longest_frequent_ending(derivations):
    text, base = network_designs.Endings(derivations, SMALL), NeuralText(derivations, SMALL)
    added = text.words[0][len(base.words[0]) :]
    assert text.words[1] == base.words[1] and sorted(added) == added and "…ing" in added
    rare = base.rows[0] == SOURCE_UNKNOWN
    assert rare.any() and (text.rows[0][~rare] == base.rows[0][~rare]).all()
    assert set(text.rows[0][rare]) == {SOURCE_WORDS + text.words[0].index("…ing")}


def test_history_alone_and_no_fertility_leave_out_what_they_name(derivations):
    alone, bare = (kind(derivations, SMALL) for kind in (network_designs.HistoryAlone, network_designs.NoFertility))
    base = NeuralText(derivations, SMALL)
    expected, labels = base.words_of(base.train, 2)
    inputs, own = alone.words_of(alone.train, 2)
    window = 2 * SMALL.reach + 1
    assert (inputs[:, :window] == SOURCE_UNKNOWN).all() and (own == labels).all()
    assert (inputs[:, window:] == expected[:, window:]).all()
    assert bare.fertilities_of(bare.train)[0].shape == (0, window + 2)
    assert (bare.words_of(bare.train, 2)[0] == expected).all()


def test_the_figures_are_those_of_the_networks(files, derivations, tmp_path, monkeypatch):
    monkeypatch.setattr(network_designs, "Design", lambda **changes: SMALL)
    monkeypatch.setattr(network_designs, "learn", counted := Counted(network_designs.learn))
    arguments = [str(files[1]), "-o", str(tmp_path), "--designs"]
    network_designs.main([*arguments, "base"])
    network_designs.main([*arguments, "base,seed 2"])
    assert counted.number == 2
    found = json.loads((tmp_path / "designs.json").read_text(encoding="utf-8"))
    assert list(found) == ["base", "seed 2", "two networks"]
    text, logs = NeuralText(derivations, SMALL), []
    for name in ("base", "seed 2"):
        model = Parameters.load(tmp_path / f"{name.replace(' ', '-')}.lscfg")
        inputs, labels = text.words_of(text.held_out, 1)
        logs.append(network_designs.log_probabilities(model.neural, inputs, labels))
        assert math.exp(-logs[-1].mean()) == pytest.approx(found[name]["held-out perplexity"][1], rel=1e-4)
    assert math.exp(-np.mean(logs)) == pytest.approx(found["two networks"]["held-out perplexity"][1], rel=1e-12)
    assert found["base"]["held-out perplexity"] != found["seed 2"]["held-out perplexity"]


def test_wrong_calls_are_refused(files, tmp_path, capsys):
    names, arguments = [str(path) for path in files[0]], [str(files[1]), "-o", str(tmp_path)]
    corpus = ["--corpus", *names[:2]]
    for options in (corpus, [*corpus, "--alignment", names[2]], ["--alignment", names[2]]):
        with pytest.raises(SystemExit):
            network_designs.main([*arguments, *options])
        assert "give --corpus and each of the 2 alignments of the trees" in capsys.readouterr().err
    arguments += ["--designs", "base"]
    (tmp_path / "designs.json").write_text(json.dumps({"base": {}}))  # as of an older run
    network_designs.main(arguments)
    (tmp_path / "designs.json").write_text(json.dumps({"base": {"derivations": "0a1b"}}))
    with pytest.raises(SystemExit):
        network_designs.main(arguments)
    assert "designs.json: contains figures of other derivations" in capsys.readouterr().err


class Counted:
    """A function and the number of its calls."""

    def __init__(self, function):
        self.function, self.number = function, 0

    def __call__(self, *arguments):
        self.number += 1
        return self.function(*arguments)
