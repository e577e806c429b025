"""experiments/target_words.py: scores of whole translations equal those of the definition."""

import dataclasses
import gzip
import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from helpers import random_network
from plain_neural import PlainNeural, plain_contexts

from lscfg.kernel.neural import TARGET_NONE, TARGET_WORDS
from lscfg.model.parameters import Parameters

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
target_words = import_module("target_words")
sys.path.remove(str(ROOT / "experiments"))

SOURCE, TARGET = ["a", "b", "c", "d"], ["A", "B", "C", "D", "E"]
DERIVATIONS = [
    [
        ("S", (0, 5), "[X,1]", "[X,1]", [1]),
        ("X", (0, 5), "[X,1] c [X,2]", "[X,2] C unlinked [X,1] D", [2, 3]),
        ("X", (0, 2), "a b", "B A", []),
        ("X", (3, 5), "d [X,1]", "E [X,1]", [4]),
        ("X", (4, 5), "new", "new", []),
    ],
    [
        ("S", (0, 5), "[S,1] [X,2]", "[S,1] [X,2]", [1, 2]),
        ("S", (0, 3), "[X,1]", "[X,1]", [3]),
        ("X", (3, 5), "d new", "D unlinked E", []),
        ("X", (0, 3), "[X,1] b c", "q [X,1]", [4]),
        ("X", (0, 1), "a", "A A", []),
    ],
]


def network(history, seed=1):
    """A network with random parameters and a few links."""
    made = random_network((SOURCE, TARGET), seed, history)
    links = [(-1, 5, 0.4), (3, 4, 0.7), (3, 5, 0.2), (4, 5, 0.6), (5, 6, 0.5), (5, 8, 0.5), (6, 7, 0.3), (6, 8, 0.1)]
    own = {
        "links": np.array([link[:2] for link in links], np.int32),
        "share": np.array([link[2] for link in links], np.float32),
    }
    return dataclasses.replace(made, parameters={**made.parameters, **own})


def derivation(rules):
    """Rules as in the JSON of derivations, and the symbols of the translation with their places by the definition."""
    found, made = [], []

    def translate(k, begin):
        _, span, source, target, children = rules[k]
        words, at = [], begin
        positions = []
        for symbol in target.split():
            if symbol.startswith("["):
                below = translate(children[int(symbol[-2]) - 1], at)
                words, at = words + below, at + len(below)
            else:
                words.append(symbol)
                positions.append(at)
                at += 1
        at, own = span[0], []
        for symbol in source.split():
            if symbol.startswith("["):
                at = rules[children[int(symbol[-2]) - 1]][1][1]
            else:
                own.append(at)
                at += 1
        found.append((k, own, positions))
        return words

    words = translate(0, 0)
    for k, own, positions in sorted(found):
        _, span, source, target, children = rules[k]
        made.append(
            {
                "span": list(span),
                "source": source,
                "target": target,
                "source_words": own,
                "target_words": positions,
                "children": children,
            }
        )
    return {"translation": " ".join(words), "rules": made}


@pytest.mark.parametrize("history", range(4))
def test_scores_are_those_of_the_definition(history, tmp_path):
    words = ["a", "b", "c", "d", "new"]
    line = {"id": 0, "words": words, "derivations": [derivation(rules) for rules in DERIVATIONS]}
    empty = {"id": 1, "words": ["x"], "derivations": []}
    file = tmp_path / "d.json.gz"
    file.write_bytes(gzip.compress("".join(json.dumps(one) + "\n" for one in (line, empty)).encode()))
    model = network(history)
    Parameters.without_rules(neural=model).save(tmp_path / "m")
    target_words.main([str(tmp_path / "m"), str(file), "-o", str(tmp_path / "c")])
    plain, rows = PlainNeural(model), target_words.Network(model).rows
    sentence = [rows[0].get(word, 0) for word in words]
    for h in range(history + 1):
        found = [np.loadtxt(tmp_path / f"c.{h}{ending}") for ending in ("", ".normalised")]
        expected = [np.zeros(3), np.zeros(3)]
        for number, one in enumerate(line["derivations"]):
            for place, all_before, word in plain_contexts(plain, rows, sentence, one):
                before = [row if j < h else TARGET_NONE for j, row in enumerate(all_before[:history])]
                every = [plain.score(sentence, place, before, e) for e in range(len(TARGET) + TARGET_WORDS)]
                expected[0][number] += every[word]
                expected[1][number] += every[word] - np.log(np.exp(every).sum())
        assert found[0] == pytest.approx(expected[0], abs=1e-5)
        assert found[1] == pytest.approx(expected[1], abs=1e-5)
        assert found[0][2] == 0


def test_several_networks_are_averaged(tmp_path):
    words = ["a", "b", "c", "d", "new"]
    line = {"id": 0, "words": words, "derivations": [derivation(rules) for rules in DERIVATIONS]}
    (tmp_path / "d.json").write_text(json.dumps(line) + "\n", encoding="utf-8")
    for seed in (1, 2):
        Parameters.without_rules(neural=network(2, seed)).save(tmp_path / f"m{seed}")
        target_words.main([str(tmp_path / f"m{seed}"), str(tmp_path / "d.json"), "-o", str(tmp_path / f"c{seed}")])
    target_words.main([*(str(tmp_path / f"m{k}") for k in (1, 2)), str(tmp_path / "d.json"), "-o", str(tmp_path / "c")])
    both = [np.loadtxt(tmp_path / f"c{seed}.2") for seed in (1, 2)]
    assert np.loadtxt(tmp_path / "c.2") == pytest.approx(np.mean(both, axis=0), abs=1e-6)


def test_a_model_without_a_network_is_refused(tmp_path):
    Parameters.without_rules().save(tmp_path / "m")
    (tmp_path / "d.json").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match="no network"):
        target_words.main([str(tmp_path / "m"), str(tmp_path / "d.json"), "-o", str(tmp_path / "c")])
