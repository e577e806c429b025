"""Comparisons and hashes of the public data classes: those with arrays are compared as objects, others by values."""

import dataclasses
import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import scipy.sparse

import lscfg
from lscfg.formats.kbest import Hypothesis
from lscfg.lm import estimate_ngrams

API = Path(__file__).parents[2] / "docs" / "reference" / "api.md"
MODULES = [*re.findall(r"automodule:: (\S+)", API.read_text(encoding="utf-8")), "lscfg.lm"]
ARRAYS = np.ndarray, scipy.sparse.spmatrix, scipy.sparse.sparray
UNHASHABLE = dict, list, set, Mapping, np.ndarray


def types_in(hint: Any) -> Iterator[type]:
    """The classes in a type."""
    if isinstance(found := get_origin(hint) or hint, type):
        yield found
    for argument in get_args(hint):
        yield from types_in(argument)


def public_data_classes() -> dict[type, dict[str, list[type]]]:
    """The data classes of the API reference and of their fields, with the classes of the fields."""
    found: dict[type, dict[str, list[type]]] = {}
    below = [one for name in MODULES for one in vars(importlib.import_module(name)).values()]
    while below:
        one = below.pop()
        if isinstance(one, type) and dataclasses.is_dataclass(one) and one not in found:
            hints = get_type_hints(one)
            found[one] = {item.name: [*types_in(hints[item.name])] for item in dataclasses.fields(one)}
            below += [kind for kinds in found[one].values() for kind in kinds]
    return found


def with_arrays(classes: dict[type, dict[str, list[type]]]) -> set[type]:
    """The classes with arrays, or with objects that have some."""
    found: set[type] = set()
    while True:
        kinds = (*ARRAYS, *found)
        more = {
            one for one, fields in classes.items() if any(issubclass(k, kinds) for ks in fields.values() for k in ks)
        }
        if more == found:
            return found
        found = more


def test_every_public_class_can_be_compared_and_hashed():
    classes = public_data_classes()
    arrays = with_arrays(classes)
    assert {"Derivations", "Parameters", "Estimate", "NgramModel"} <= {one.__name__ for one in arrays}
    assert not [one for one in arrays if one.__dataclass_params__.eq]
    for one in classes.keys() - arrays:
        if one.__dataclass_params__.frozen:
            wrong = [
                item.name
                for item in dataclasses.fields(one)
                if item.hash is None and item.compare and {*classes[one][item.name]} & {*UNHASHABLE}
            ]
            assert not wrong, one


@pytest.fixture
def made(tmp_path):
    """A function that makes equal objects again."""
    (tmp_path / "t").write_text("a b\nb a\n" * 10)

    def make() -> list[object]:
        trees = lscfg.derive(["a b", "b a", "a"], ["A B", "B A", "A"], ["0-0 1-1", "0-0 1-1", "0-0"])
        model = lscfg.MLE().fit(trees)
        return [trees, trees.rules, model.parameters_, estimate_ngrams(tmp_path / "t", 2, discount_fallback=(0.5,))]

    return make


def test_objects_with_arrays_equal_themselves_only(made):
    for one, other in zip(made(), made(), strict=True):
        assert one == one and one != other and len({one, one, other}) == 2


def test_values_are_equal_and_hashed(tmp_path):
    one, same, other = (Hypothesis("a", {"F": value}, 0.5) for value in (1.0, 1.0, 2.0))
    assert one == same != other and hash(one) == hash(same) and len({one, same, other}) == 2
    (tmp_path / "grammar").write_text("[X] ||| a ||| A ||| F=1\n")
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=grammar\n")
    decoder = lscfg.Decoder(tmp_path / "cdec.ini", {"F": 1.0})
    explained = [decoder.explain(["a"])[0] for _ in range(2)]
    assert explained[0] == explained[1] and len({*explained}) == 1
    trees = lscfg.derive(["a b", "a"], ["A B", "A"], ["0-0 1-1", "0-0"])
    lscfg.EM(m=2, iterations=1).fit(trees).save(tmp_path / "m")
    analyses = [lscfg.load(tmp_path / "m").analyse("a b") for _ in range(2)]
    assert analyses[0] == analyses[1] and len({*analyses}) == 1
