"""Spectral estimates of 300 real pairs against another program's, whose known faults are copied here."""

import dataclasses
import gzip
import json

import numpy as np
import pytest
from helpers import derivations_of, node_children, reduced_tree

from lscfg.estimate.spectral import SpectralSettings, embed, from_embedding
from lscfg.extract.derive import derive
from lscfg.extract.examples import Examples

SETTINGS = SpectralSettings(m=4, inside=("rule", "children"), outside=("parent",))


class WithoutOov(Examples):
    """All singletons for themselves, as without the other program's option -o."""

    def singletons(self):
        return np.zeros(len(self.rules), bool)


def reference_trees(shared):
    """Our trees of the pairs, without the words that the other program loses."""
    with open(shared / "oracle" / "minimal_derivations.jsonl") as file:
        pairs = [json.loads(line) for line in file]
    made = derive([p["src"] for p in pairs], [p["tgt"] for p in pairs], [p["align"] for p in pairs])
    trees = []
    for number, pair in enumerate(pairs):
        links = [tuple(map(int, link.split("-"))) for link in pair["align"].split()]
        below = node_children(made, number)
        tree = reduced_tree(made, below, min(below), max(i for i, _ in links), {j for _, j in links})
        while tree["rule"] == "[X] ||| [X,1] ||| [X,1]":  # a root that held nothing but such words
            tree = tree["children"][0]
        trees.append(tree)
    return derivations_of(trees)


@pytest.mark.parametrize("oov", [True, False])
def test_reference_estimates(shared, oov):
    with gzip.open(shared / "oracle" / f"estimate300_r4_{'' if oov else 'no'}oov.json.gz", "rt") as file:
        expected = json.load(file)
    examples = Examples.of(reference_trees(shared))
    if not oov:
        examples = WithoutOov(**{f.name: getattr(examples, f.name) for f in dataclasses.fields(examples)})
    assert examples.n_examples == expected["num_examples"]
    assert examples.singletons().sum() == expected["singletons"]
    embedding = embed(examples, SETTINGS)
    assert np.allclose(embedding.sigma, expected["singular_values_top12"][:4], rtol=0, atol=1e-9)
    assert embedding.columns["outside"] == {"root": 1, "parent": expected["outside_columns"] - 1}
    if not oov:
        assert sum(embedding.columns["inside"].values()) == expected["inside_columns"]

    # a child that is no example lends its parent the first example's projection, and so does such a root C^S
    first = int(np.nonzero(examples.is_example)[0][0])
    children = examples.children.copy()
    lost = (children >= 0) & ~examples.is_example[children]
    assert lost[examples.is_example].sum() == expected["invalid_child_bug"]
    children[lost] = first
    examples = dataclasses.replace(examples, children=children)
    root_rows = np.where(examples.is_example, np.cumsum(examples.is_example) - 1, 0)[examples.is_root]
    assert root_rows.tolist() == expected["root_rows"]
    rows = np.where(examples.is_example[examples.is_root], np.nonzero(examples.is_root)[0], first)
    root = embedding.y[rows].mean(axis=0)

    model = from_embedding(examples, embedding.y, embedding.z, SETTINGS, {}).parameters()
    signs = np.sign(root) * np.sign(expected["Pi"])
    assert np.abs(root * signs - expected["Pi"]).max() < 1e-9
    params = expected["params"]
    if oov:
        unk = params.pop("[X] ||| <unk> ||| <unk>")
        assert np.abs(model.unk * signs - unk).max() < 1e-9
    assert {model.rules.text(rule) for rule in range(len(model.rules))} == set(params)
    singletons = Examples.singletons(examples)
    for rule in range(len(model.rules)):
        tensor = model.tensor(rule)
        if not oov and singletons[rule]:  # our last step gives singletons equal shares of their mass all the same
            tensor = embedding.z[examples.type == rule].sum(axis=0) / examples.n_examples
        for axis in range(tensor.ndim):
            tensor = tensor * signs.reshape([-1 if k == axis else 1 for k in range(tensor.ndim)])
        text = model.rules.text(rule)
        assert int(examples.counts[rule]) == expected["counts"][text]
        assert np.abs(tensor - np.array(params[text])).max() < 1e-9, text
