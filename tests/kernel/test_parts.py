"""Networks, orientations and weights of context in the kernel: words of one side, damaged files, odd sentences."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers import random_boundary, random_context, random_network, random_orientation, rule_table, save_model

from lscfg.errors import InputError
from lscfg.io import tensors
from lscfg.kernel import Binding, FeatureOptions, Forest, ForestBuilder, Grammar, Model, ParseOptions, S, X
from lscfg.kernel.neural import SOURCE_WORDS, TARGET_WORDS
from lscfg.model.parameters import OneState, Parameters

FAMILIES = {name: FeatureOptions(names=(name,)) for name in ("neural", "orientation", "boundary", "context")}
RULES = ("a ||| A", "a [X,1] ||| [X,1] A", "[X,1] [X,2] ||| [X,2] [X,1]")


def grammar_of(rules: tuple[str, ...]) -> Grammar:
    grammar = Grammar()
    grammar.read_text("".join(f"[X] ||| {rule} ||| F=1\n" for rule in rules))
    grammar.finish()
    return grammar


def saved(folder: Path, words: tuple[list[str], list[str]]) -> Model:
    """A model with all parts; words: of the network and the orientations."""
    table = rule_table(RULES)
    tensors = [np.ones((1,) * (int(arity) + 1)) for arity in table.arity]
    parts = (
        random_context(table, 1),
        random_boundary(table, 1),
        random_orientation(words, 1),
        random_network(words, 1),
    )
    one = OneState(np.full(len(table), 0.5), np.ones(1))
    return Model(save_model(folder / "m", table, tensors, np.ones(1), np.ones(1), one, *parts))


def parsed(grammar: Grammar, line: str) -> Forest:
    return grammar.parse(grammar.vocab.add_line(line), ParseOptions(100, True, 1, S))


@pytest.mark.parametrize("family", ["neural", "orientation"])
def test_source_words_that_only_the_target_side_knows_are_unknown(tmp_path, family):
    """The target side adds far more words to the grammar than the source side."""
    model = saved(tmp_path, (["a"], ["A", *(f"t{number}" for number in range(30_000))]))
    grammar = grammar_of(RULES)
    binding = Binding(model, grammar)
    forests = [parsed(grammar, f"a {word} a a") for word in ("unseen", "t5", "t15000", "t29999")]
    found = [binding.features(forest, None, FAMILIES[family]) for forest in forests]
    rules = forests[0].app_rule < len(grammar)  # a word that is passed through is a target word, too
    assert found[0][rules].any()
    for other in found[1:]:
        assert other[rules].tobytes() == found[0][rules].tobytes()


def test_sentences_with_too_many_places_are_refused(tmp_path):
    """A place and three words before are one number of 63 bits, given the longest vocabulary."""
    words, most = (["a"], ["A", *(f"t{number}" for number in range(2**16 - 1))]), 2**63 // (2**16 + 4) ** 3
    Parameters.without_rules(neural=random_network(words, 1, 3, 0)).save(tmp_path / "m")
    grammar = grammar_of(RULES[:1])
    binding = Binding(Model(tmp_path / "m"), grammar)

    def features(length: int) -> np.ndarray:
        """Features of a forest that a decoder built: the parser has no room for so many words."""
        builder, left = ForestBuilder(np.full(length, grammar.vocab.find("a"), np.int32)), -1
        for k in range(length):
            node = builder.add_node(X, k, k + 1)
            builder.add_application(0)
            root = builder.add_node(S, 0, k + 1)
            builder.add_application(len(grammar) + int(k > 0), *([left, node] if k else [node]))
            left = root
        forest, _ = builder.finish(grammar)
        return binding.features(forest, None, FAMILIES["neural"])[forest.app_rule == 0]

    found = features(most)
    assert len(found) == most and (found == features(1)).all()
    with pytest.raises(InputError, match=f"a sentence of {most + 1} words is too long for the neural network"):
        features(most + 1)


@pytest.mark.parametrize("family", ["neural", "orientation", "boundary"])
def test_words_around_count_in_sentences_alone(tmp_path, family):
    """Not in a lattice, nor in a forest that a decoder has built of one: it has more words than its root covers."""
    grammar = grammar_of(RULES)
    binding = Binding(saved(tmp_path, (["a"], ["A"])), grammar)

    def built(words: list[int]) -> Forest:
        builder = ForestBuilder(np.array(words, np.int32))
        builder.add_node(X, 1, 2)
        builder.add_application(0)
        builder.add_node(X, 0, 2)
        builder.add_application(1, 0)
        return builder.finish(grammar)[0]

    a = grammar.vocab.find("a")
    assert binding.features(built([a, a]), None, FAMILIES[family]).any()
    arcs = np.array([(0, 1, a), (1, 2, a)], np.int32)
    for lattice in (built([-1, -1, -1]), grammar.parse_lattice(arcs, 3, ParseOptions(100, False, 1, X))):
        assert not binding.features(lattice, None, FAMILIES[family]).any()


# ---- damaged files ----


def grown(array: np.ndarray, axis: int, by: int) -> np.ndarray:
    """The array with its last row on an axis left out or said twice."""
    size = array.shape[axis]
    return np.take(array, [*range(size + min(by, 0)), *[size - 1] * max(by, 0)], axis)


def changed(array: np.ndarray, at: int, value: float) -> np.ndarray:
    made = array.copy()
    made.flat[at] = value
    return made


def damages(arrays: dict[str, np.ndarray], name: str) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Copies of the arrays with one damage to one of them, and its name."""
    array = arrays[name]
    yield "missing", {other: values for other, values in arrays.items() if other != name}
    made = {
        "flat": array.ravel(),
        "one more axis": array[None],
        "other type": array.astype(np.float64 if array.dtype == np.float32 else np.float32),
    }
    for axis in range(array.ndim):
        made |= {f"axis {axis} by {by}": grown(array, axis, by) for by in (-1, 1) if array.size}
        made[f"axis {axis} is 0"] = np.take(array, [], axis)
    values = {
        np.dtype(np.float32): (np.nan, np.inf, -np.inf, 1e16, -3e38, 1.5, -0.25, 1e15),
        np.dtype(np.int32): (-2, -1, 0, 2, 3, 4, 5, 100, 101, 2**31 - 1, -(2**31)),
        np.dtype(np.float64): (np.nan, np.inf, -1.0, 0.0, 1e308),
        np.dtype(np.int64): (-1, 0, 1, 2, 2**62, -(2**62)),
        np.dtype(np.uint8): (0, 32, 255),
    }[array.dtype]
    places = range(array.size) if array.size < 20 else (0, array.size // 2, array.size - 1)
    made |= {f"{value} at {at}": changed(array, at, value) for value in values for at in places}
    if name.endswith("links"):
        for column, end in enumerate((2 + SOURCE_WORDS, 2 + TARGET_WORDS)):
            made |= {
                f"row {row} in column {column}": changed(array, 2 * at + column, row)
                for row in (end - 1, end)
                for at in range(len(array))
            }
        made |= {"descending": array[::-1].copy(), "twice": array[np.maximum(np.arange(len(array)) - 1, 0)]}
    for kind, values_ in made.items():
        yield kind, arrays | {name: np.ascontiguousarray(values_)}


def resized(arrays: dict[str, np.ndarray], layer: str) -> dict[str, np.ndarray]:
    """The network without hidden units, or without dimensions: all its arrays agree."""
    hidden = {"neural.hidden": 0, "neural.hidden.bias": 0, "neural.output": 1, "neural.fertility": 1}
    axes = hidden if layer == "hidden" else {"neural.source": 1, "neural.target": 1, "neural.hidden": 1}
    return arrays | {name: np.take(arrays[name], [], axis) for name, axis in axes.items()}


ABSENT = {
    "neural": ("neural.shape", "no neural network"),
    "orientation": ("orientation.words", "no orientations"),
    "boundary": ("boundary.ends.weights", "no span-boundary weights"),
    "context": ("context.weights", "no log-linear context weights"),
}
"""An array without which a file lacks the part, and what the kernel says then."""


def outcome(path: Path, family: str, grammar: Grammar, forest: Forest) -> str:
    """The answer of Python and the kernel: both refuse an array, the kernel lacks the part, or both use the file."""
    refused = {}
    for read in (Parameters.load, Model):
        try:
            read(path)
        except InputError as error:
            refused[read] = str(error)
    texts, names = [*refused.values()], (f"{family}.", "rule ") if family == "context" else (f"{family}.",)
    assert all(any(name in text for name in names) and "\n" not in text for text in texts), texts
    if Model in refused:
        assert len(refused) == 2, texts
        return "refused"
    model = Model(path)
    if refused or getattr(Parameters.load(path), family) is None:
        with pytest.raises(InputError, match=ABSENT[family][1]):
            model.check_features(FAMILIES[family])
        return "absent"
    assert np.isfinite(Binding(model, grammar).features(forest, None, FAMILIES[family])).all()
    return "used"


@pytest.mark.parametrize("family", FAMILIES)
def test_damaged_arrays_are_refused_or_used_by_python_and_kernel(tmp_path, family):
    """Each length, each index, values that are not finite or too large, other types, arrays that are missing."""
    saved(tmp_path, (["a", "b"], ["A", "B"]))
    arrays, metadata = tensors.load(tmp_path / "m", "model")
    metadata.pop("checksum", None)
    grammar, found = grammar_of(RULES), {}
    forest = parsed(grammar, "a b a x")
    cases = [
        (f"{name} {kind}", made) for name in arrays if name.startswith(family) for kind, made in damages(arrays, name)
    ]
    if family == "neural":
        cases += [(f"no {layer}", resized(arrays, layer)) for layer in ("hidden", "dims")]
    for kind, made in cases:
        tensors.save(tmp_path / "d", made, metadata)
        try:
            found[kind] = outcome(tmp_path / "d", family, grammar, forest)
        except AssertionError as error:
            error.add_note(kind)
            raise
    absent = {kind for kind, result in found.items() if result == "absent"}
    assert absent <= {f"{ABSENT[family][0]} {kind}" for kind in ("missing", "one more axis", "other type")}
    for kind in found:
        if kind.startswith("no ") or kind.endswith(("missing", "one more axis", "other type", "nan at 0", "is 0")):
            assert found[kind] == "refused" or kind in absent, kind
    assert list(found.values()).count("used") > 20 and list(found.values()).count("refused") > 60
