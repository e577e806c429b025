"""The parser of sentence pairs against an enumeration of all derivations."""

import operator
from itertools import pairwise, product

import numpy as np
import pytest

from lscfg.errors import InputError
from lscfg.kernel.biparse import (
    FIRST,
    LINKS,
    NEIGHBOURS,
    TREE,
    Beams,
    BiparseModel,
    Bitexts,
    ExpectedRules,
    LearningStep,
    Visits,
)
from tests.support.biparse import Weights, edges_of, expectations, pair_derivations, source_derivations

WIDE = 2**30
EXACT = {"pops": WIDE, "nodes": WIDE, "word_items": 60_000, "retries": 0, "max_target": 64, "max_targets": WIDE}
EXACT |= {"beam": float("inf"), "leave_out": False}


def text_of(*pairs: tuple[str, str], lexicon: dict | None = None) -> Bitexts:
    text = Bitexts(64)
    for pair in pairs:
        text.add(*pair)
    if lexicon:
        number = {word: k for k, word in enumerate(words_of(text))} | {None: -1}
        known = [pair for pair in lexicon if number.keys() >= set(pair)]
        text.set_lexicon(np.array([[number[f], number[e]] for f, e in known]), np.array([lexicon[p] for p in known]))
    return text


def words_of(text: Bitexts) -> list[str]:
    arrays = text.arrays()
    data, offsets = arrays["vocab.bytes"].tobytes(), arrays["vocab.offsets"]
    return [data[a:b].decode() for a, b in pairwise(offsets)]


def random_lexicon(src: str, tgt: str, rng: np.random.Generator) -> dict:
    """Probabilities of all pairs of words of two texts."""
    words = [dict.fromkeys([None, *side.split()]) for side in (src, tgt)]
    pairs = [(f, e) for f in words[0] for e in words[1] if f or e]
    return {pair: tuple(rng.uniform(0.01, 0.5, 2).tolist()) for pair in pairs}


COUNTED = {
    (1, 1): (1, 1, 1, 1, 1, 1, 1),
    (1, 2): (1, 3, 3, 3, 1, 3, 1),
    (2, 1): (3, 7, 5, 7, 5, 5, 5),
    (2, 2): (7, 33, 27, 33, 6, 63, 17),
    (2, 3): (13, 121, 109, 119, 6, 693, 60),
    (3, 1): (6, 25, 20, 23, 13, 20, 20),
    (3, 2): (16, 173, 190, 153, 17, 1452, 150),
    (3, 3): (31, 1019, 1257, 937, 17, 102466, 897),
    (4, 2): (28, 703, 1156, 609, 40, 38250, 1008),
    (4, 3): (55, 7347, 11919, 6855, 40, 17699332, 9681),
}
"""By words of both sides, all different: nodes, edges, derivations, rules with their links, source sides, derivations
of the source side; derivations with a strict root."""


@pytest.mark.parametrize("size", COUNTED)
def test_the_space_of_derivations_is_counted_exactly(size: tuple[int, int]) -> None:
    text = text_of((" ".join(f"s{i}" for i in range(size[0])), " ".join(f"t{i}" for i in range(size[1]))))
    found = []
    for strict in (False, True):
        model = BiparseModel(text, Beams(**EXACT, strict_root=strict))
        arrays = model.arrays()
        arrays["dense"][:] = 0
        model.add(arrays)
        visits = model.visit(Visits(), np.array([0]), NEIGHBOURS)
        found.append((visits.results()[0], len(visits.rules()[0])))
    (record, rules), (strict_record, _) = found
    derivations, source = (round(np.exp(record[name])) for name in ("log_pair", "log_source"))
    counted = (record["nodes"], record["kept"], derivations, rules, record["sides"], source)
    assert (*counted, round(np.exp(strict_record["log_pair"]))) == COUNTED[size]
    assert abs(np.exp(record["log_source"]) - source) < 1e-6 * source


def weighted(model: BiparseModel, words: list[str], seed: int) -> tuple[BiparseModel, dict, dict]:
    """A model of the same rules with random weights; these by feature; the place of each feature in the arrays."""
    rng = np.random.default_rng(seed)
    arrays = model.arrays()
    for kind in ("ends", "sides"):  # as many features as there are pairs of words
        pairs = [(a, b) for a in range(-1, len(words)) for b in range(-1, len(words))]
        arrays[f"{kind}.words"] = np.array(pairs, np.int32)
        arrays[f"{kind}.weight"] = np.zeros(len(pairs))
        arrays[f"{kind}.squares"] = np.zeros(len(pairs), np.float32)
        arrays[f"{kind}.kept"] = np.zeros(len(pairs))
    for name in ("rule", "pair", "ends", "sides"):
        arrays[f"{name}.weight"][:] = rng.normal(0, 0.5, len(arrays[f"{name}.weight"]))
    arrays["dense"][:] = rng.uniform(0.3, 1.2, 3)
    places = {}
    named = lambda number: None if number < 0 else words[number]  # noqa: E731
    for kind in ("pair", "ends", "sides"):
        for k, pair in enumerate(arrays[f"{kind}.words"].tolist()):
            places[(kind, *map(named, pair))] = (f"{kind}.weight", k)
    offsets, lengths = arrays["rules.offsets"], arrays["rules.src_length"]
    for k, length in enumerate(lengths.tolist()):
        symbols = [s if s < 0 else words[s] for s in arrays["rules.symbols"][offsets[k] : offsets[k + 1]].tolist()]
        places["rule", tuple(symbols[:length]), tuple(symbols[length:])] = ("rule.weight", k)
    for k in range(3):
        places["dense", k] = ("dense", k)
    fresh = BiparseModel(model.text, Beams(**EXACT))
    fresh.add(arrays)
    return fresh, arrays, places


@pytest.mark.parametrize(
    ("src", "tgt"), [("a b", "x y"), ("a b", "x y z"), ("a b c", "x y"), ("a b a", "x x"), ("a a", "x y x")]
)
def test_sums_and_gradient_are_those_of_all_derivations(src: str, tgt: str) -> None:
    lexicon = random_lexicon(src, tgt, np.random.default_rng(5))
    text = text_of((src, tgt), lexicon=lexicon)
    words = words_of(text)
    plain = BiparseModel(text, Beams(**EXACT))
    plain.learn(plain.visit(Visits(), np.array([0]), NEIGHBOURS))
    model, before, places = weighted(plain, words, 7)
    tables = {name: {} for name in ("rule", "pair", "ends", "sides")}
    for (kind, *key), (array, place) in places.items():
        if kind != "dense":
            tables[kind][tuple(key)] = before[array][place]
    weights = Weights(lexicon, tuple(before["dense"]), *tables.values())

    f, e = src.split(), tgt.split()
    edges = edges_of(f, e)
    rules = {edge.rule for edge in edges}
    log_pair, of_pair = expectations(lambda: pair_derivations(f, e, edges, weights), weights)
    log_source, of_source = expectations(lambda: source_derivations(f, rules, weights), weights)

    visits = model.visit(Visits(), np.array([0]), NEIGHBOURS)
    record = visits.results()[0]
    assert record["log_pair"] == pytest.approx(log_pair, abs=1e-12)
    assert record["log_source"] == pytest.approx(log_source, abs=1e-12)
    gradient = {feature: of_pair.get(feature, 0) - of_source.get(feature, 0) for feature in {**of_pair, **of_source}}
    assert visits.dense()[0] == pytest.approx([gradient["dense", k] for k in range(3)], abs=1e-10)
    model.learn(visits)
    model.update(LearningStep(1.0, 1.0))
    after = model.arrays()
    assert set(gradient) <= set(places)
    for feature, (array, place) in places.items():
        change = after[array][place] - before[array][place]
        if feature[0] != "dense":
            assert change == pytest.approx(gradient.get(feature, 0), abs=1.1e-5), feature
    for k in range(3):
        clipped = np.clip(gradient["dense", k], -5, 5)
        assert after["dense"][k] == pytest.approx(max(before["dense"][k] + clipped, 0.1 if k < 2 else -9), abs=1e-10)


def test_new_rules_get_the_gradient_of_known_ones() -> None:
    text = text_of(("a b", "x y"), lexicon=random_lexicon("a b", "x y", np.random.default_rng(3)))
    made = []
    for known in (False, True):
        model = BiparseModel(text, Beams(**EXACT))
        if known:
            model.learn(model.visit(Visits(), np.array([0])))
        model.learn(model.visit(Visits(), np.array([0]), NEIGHBOURS))
        model.update(LearningStep(0.5))
        made.append(model.arrays()["rule.weight"])
    assert np.abs(made[0]).max() > 0.01
    assert made[0] == pytest.approx(made[1], abs=1e-12)


def random_pairs(seed: int, n: int, longest: int) -> tuple[list[tuple[str, str]], dict]:
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(n):
        sides = [" ".join(f"{c}{k}" for k in rng.integers(6, size=rng.integers(1, longest + 1))) for c in "st"]
        pairs.append((sides[0], sides[1]))
    whole = " ".join(p[0] for p in pairs), " ".join(p[1] for p in pairs)
    return pairs, random_lexicon(*whole, rng)


def test_narrow_beams_never_beat_the_exact_parser_and_get_better() -> None:
    pairs, lexicon = random_pairs(1, 25, 4)
    text = text_of(*pairs, lexicon=lexicon)
    numbers = np.arange(len(pairs))

    def best(**beams: object) -> np.ndarray:
        return BiparseModel(text, Beams(**(EXACT | beams))).visit(Visits(), numbers).results()["viterbi"]

    exact = best()
    scores = [best(pops=pops, word_items=pops, nodes=pops, retries=4) for pops in (1, 3, 10, 100)]
    for score in scores:
        assert (score <= exact + 1e-9).all()
    means = [score.mean() for score in scores]
    assert means == sorted(means)
    assert means[0] < means[-1] - 0.01
    assert scores[-1] == pytest.approx(exact, abs=0.5)
    assert best(each_cube=True, pops=30).mean() >= best(pops=30).mean()


def test_pruning_keeps_what_is_near_the_best_derivation() -> None:
    pairs, lexicon = random_pairs(2, 20, 3)
    text = text_of(*pairs, lexicon=lexicon)
    numbers = np.arange(len(pairs))
    whole = BiparseModel(text, Beams(**EXACT)).visit(Visits(), numbers).results()
    near = BiparseModel(text, Beams(**(EXACT | {"beam": 1.0}))).visit(Visits(), numbers).results()
    only = BiparseModel(text, Beams(**(EXACT | {"beam": 0.0}))).visit(Visits(), numbers).results()
    assert (near["kept"] <= whole["kept"]).all()
    assert near["kept"].sum() < whole["kept"].sum() / 2
    assert (near["log_pair"] <= whole["log_pair"] + 1e-12).all()
    assert near["viterbi"] == pytest.approx(whole["viterbi"], abs=1e-12)
    # equally good derivations remain, such as other brackets around the same words
    assert (only["log_pair"] >= only["viterbi"] - 1e-12).all()
    assert (only["log_pair"] < near["log_pair"]).any()


def learned(pairs: list[tuple[str, str]], lexicon: dict, adagrad: bool = True, **beams: object) -> BiparseModel:
    """A model that has made two passes over the pairs."""
    text = text_of(*pairs, lexicon=lexicon)
    model = BiparseModel(text, Beams(**beams))
    for _ in range(2):
        for first in range(0, len(pairs), 8):
            model.learn(model.visit(Visits(), np.arange(first, min(first + 8, len(pairs))), NEIGHBOURS))
            model.update(LearningStep(0.2, 1e-3, 1.0 / len(pairs), adagrad=adagrad))
        model.next_pass()
    return model


def test_a_pair_is_never_more_likely_than_1() -> None:
    pairs, lexicon = random_pairs(3, 60, 7)
    for leave_out in (False, True):
        model = learned(pairs, lexicon, leave_out=leave_out, max_targets=3)
        record = model.visit(Visits(), np.arange(len(pairs)), NEIGHBOURS).results()
        assert (record["tries"] > 0).all()
        assert (record["log_pair"] <= record["log_source"] + 1e-9).all()
        assert (record["log_pair"] < record["log_source"] - 0.1).any()


@pytest.mark.parametrize("adagrad", [True, False])
def test_a_restored_model_goes_on_as_the_other(adagrad: bool) -> None:
    pairs, lexicon = random_pairs(4, 30, 5)
    model = learned(pairs, lexicon, adagrad)
    arrays = model.arrays()
    again = BiparseModel(model.text, Beams())
    again.add(arrays)
    for name, array in again.arrays().items():
        assert array.tobytes() == arrays[name].tobytes(), name
    results = []
    for one in (model, again):
        one.learn(one.visit(Visits(), np.arange(len(pairs)), NEIGHBOURS))
        one.update(LearningStep(0.2, 1e-3, 1.0 / len(pairs), adagrad=adagrad))
        results.append(one.arrays())
    for name, array in results[0].items():
        assert array.tobytes() == results[1][name].tobytes(), name


def test_a_visit_may_have_the_weights_of_the_beginning() -> None:
    pairs, lexicon = random_pairs(4, 30, 5)
    model = learned(pairs, lexicon)
    arrays = model.arrays()
    for kind in ("rule", "pair", "ends", "sides"):
        arrays[f"{kind}.weight"][:] = 0
    arrays["dense"][:] = (1, 1, 0)
    fresh = BiparseModel(model.text, Beams())
    fresh.add(arrays)
    numbers = np.arange(len(pairs))
    found = [one.visit(Visits(), numbers, what) for one, what in ((fresh, NEIGHBOURS), (model, NEIGHBOURS | FIRST))]
    assert found[0].results().tobytes() == found[1].results().tobytes()
    assert found[0].dense().tobytes() == found[1].dense().tobytes()
    assert found[0].results().tobytes() != model.visit(Visits(), numbers, NEIGHBOURS).results().tobytes()


def test_weights_are_kept_and_taken_back() -> None:
    pairs, lexicon = random_pairs(4, 30, 5)
    model = learned(pairs, lexicon)
    before = model.arrays()
    model.keep()
    for _ in range(2):
        model.learn(model.visit(Visits(), np.arange(len(pairs)), NEIGHBOURS))
        model.update(LearningStep(0.2, shrink=0.01))
    changed = model.arrays()
    assert changed["rule.kept"][: len(before["rule.weight"])].tolist() == before["rule.weight"].tolist()
    assert changed["rule.weight"].tolist() != changed["rule.kept"].tolist()
    model.go_back()
    for name in ("rule", "pair", "ends", "sides", "dense"):
        now = model.arrays()[name if name == "dense" else f"{name}.weight"]
        assert now.tobytes() == changed[f"{name}.kept"].tobytes()
    fresh = learned(pairs, lexicon)
    fresh.go_back()  # to the beginning
    assert not fresh.arrays()["rule.weight"].any() and fresh.arrays()["dense"].tolist() == [1, 1, 0]


def test_a_settled_model_weighs_as_before_and_learns_no_more() -> None:
    pairs, lexicon = random_pairs(4, 30, 5)
    model = learned(pairs, lexicon)
    numbers = np.arange(len(pairs))
    found = []
    for settle in (False, True):
        if settle:
            model.settle()
        visits = model.visit(Visits(), numbers, LINKS | TREE)
        counts = ExpectedRules(model.text)
        counts.add(visits, model)
        found.append({name: array.tobytes() for name, array in counts.arrays().items()})
        found[-1]["results"] = visits.results().tobytes()
    assert found[0] == found[1] and np.frombuffer(found[0]["sums"]).any()
    arrays = model.arrays()
    assert len(arrays["ends.weight"]) > 0
    for name in ("aligned.rule", "rules.src_length", "ends.squares", "ends.kept"):
        assert len(arrays[name]) == 0
    visits, other = model.visit(Visits(), numbers, NEIGHBOURS), learned(pairs, lexicon).arrays()
    changes = (
        lambda: model.learn(visits),
        lambda: model.update(LearningStep(0.1)),
        model.keep,
        model.go_back,
    )
    for change in changes:
        with pytest.raises(InputError, match="learning is over"):
            change()
    with pytest.raises(ValueError, match="learning is over"):
        model.add(other)


def test_rules_are_counted_with_weights_or_without() -> None:
    pairs, lexicon = random_pairs(4, 30, 5)
    model = learned(pairs, lexicon)
    visits, counts = model.visit(Visits(), np.arange(len(pairs))), ExpectedRules(model.text)
    counts.add(visits)
    assert counts.arrays()["sums"].shape == (0, 2)
    with pytest.raises(InputError, match="with weights or without"):
        counts.add(visits, model)


def test_counts_are_those_of_all_derivations() -> None:
    """Expected counts of rules and of linked words, and the pairs that have a rule, by enumeration. Rules with several
    kinds of links, or at two places, are in a pair once.
    """
    pairs = [("a b", "x y"), ("a a", "x x"), ("a b a", "x x"), ("a b", "x y"), ("b", "y")]
    lexicon = {(f, e): (0.3 + 0.1 * (f == "a"), 0.4 - 0.1 * (e == "x")) for f in "ab" for e in "xy"}
    lexicon |= {(f, None): (0.2, 0.2) for f in "ab"} | {(None, e): (0.1, 0.1) for e in "xy"}
    text = text_of(*pairs, lexicon=lexicon)
    model = BiparseModel(text, Beams(**EXACT))
    counts = ExpectedRules(text)
    counts.add(model.visit(Visits(), np.arange(len(pairs)), NEIGHBOURS))
    weights, expected, seen = Weights(lexicon, tuple(model.arrays()["dense"])), {}, {}
    for src, tgt in pairs:
        edges = edges_of(src.split(), tgt.split())
        _, found = expectations(
            lambda s=src, t=tgt, e=edges: pair_derivations(s.split(), t.split(), e, weights), weights
        )
        for feature, value in found.items():
            if feature[0] == "rule":
                expected[feature[1:]] = expected.get(feature[1:], 0) + value
                seen[feature[1:]] = seen.get(feature[1:], 0) + 1
    arrays, words, found = counts.arrays(), words_of(text), {}
    offsets, lengths = arrays["rules.offsets"], arrays["rules.src_length"].tolist()
    for rule, length in enumerate(lengths):
        symbols = arrays["rules.symbols"][offsets[rule] : offsets[rule + 1]].tolist()
        named = tuple(symbol if symbol < 0 else words[symbol] for symbol in symbols)
        found[named[:length], named[length:]] = (arrays["expected"][rule], arrays["pairs"][rule])
    assert found.keys() == expected.keys() and len(found) > 30
    for key, (value, n) in found.items():
        assert value == pytest.approx(expected[key], rel=1e-6, abs=1e-9) and n == seen[key], key
    assert seen[("a",), ("x",)] == 4
    for (source, target), bare in zip(found, arrays["bare"].tolist(), strict=True):  # in the order of their numbers
        tails = [isinstance(symbol, int) for symbol in source]
        wordless = all(tails) or all(isinstance(symbol, int) for symbol in target)
        assert bare == (wordless or any(map(operator.and_, tails, tails[1:])))
    assert 0 < arrays["bare"].sum() < len(found)


def test_rules_of_one_pair_have_no_weight_for_it() -> None:
    partners = {"a": "x", "b": "y", "c": "z"}
    lexicon = {(f, e): (0.9, 0.9) if partners[f] == e else (0.01, 0.01) for f in "abc" for e in "xyz"}
    alone, twice, others = ("a b", "x y"), ("a b", "x y"), [("a b", "z y"), ("a c", "x z")]
    for pairs, some in (([alone], False), ([alone, twice], False), ([alone, *others], True)):
        model = learned(pairs, lexicon)
        arrays = model.arrays()
        assert (arrays["rule.weight"] != 0).any() == some, pairs
        assert (arrays["rule.only"] == -1).any() == some
        assert arrays["aligned.shown"].max() > 1 if some else arrays["aligned.shown"].max() == 1


def test_rules_of_one_pair_alone_can_be_forgotten() -> None:
    pairs, lexicon = random_pairs(6, 30, 5)
    model = learned(pairs, lexicon)
    before = model.arrays()
    model.forget(len(before["aligned.rule"]))
    assert len(model.arrays()["aligned.rule"]) == len(before["aligned.rule"])
    model.forget(len(before["aligned.rule"]) - 1)
    after = model.arrays()
    kept = (before["rules.arity"] == 0) | (before["rule.only"] < 0)
    assert len(after["rule.weight"]) == kept.sum() < len(kept)
    assert after["rule.weight"].tolist() == before["rule.weight"][kept].tolist()
    with pytest.raises(InputError, match="cache is too small"):
        model.forget(3)


def test_the_best_derivation_is_a_tree_over_the_pair() -> None:
    pairs, lexicon = random_pairs(7, 20, 6)
    text = text_of(*pairs, lexicon=lexicon)
    model = BiparseModel(text, Beams())
    visits = model.visit(Visits(), np.arange(len(pairs)), TREE | LINKS)
    counts = ExpectedRules(text)
    counts.add(visits, model)
    arrays = counts.arrays()
    edges, links = arrays["edges"], visits.links()
    assert ((links["probability"] > 0) & (links["probability"] < 1 + 1e-9)).all()
    for number, (src, tgt) in enumerate(pairs):
        own = edges[edges["visit"] == number]
        assert own["span"][0].tolist() == [0, len(src.split()), 0, len(tgt.split())]
        assert own["parent"][0] == -1
        for edge in own[1:]:
            parent = edges[edge["parent"]]
            assert parent["tails"][edge["slot"]].tolist() == edge["span"][:2].tolist()
        yields = [arrays["rules.symbols"][slice(*arrays["rules.offsets"][r : r + 2])] for r in own["rule"]]
        assert sum((symbols >= 0).sum() for symbols in yields) == len(src.split()) + len(tgt.split())
        marked = links[links["visit"] == number]
        assert set(marked["best"]) <= {0, 1}
        within = set()  # pairs of words of one rule
        for index in np.flatnonzero(edges["visit"] == number):
            words = [set(range(*side)) for side in edges["span"][index].reshape(2, 2)]
            for below in edges["span"][edges["parent"] == index]:
                words = [side - set(range(*span)) for side, span in zip(words, below.reshape(2, 2), strict=True)]
            within |= set(product(*words))
        assert set(marked[marked["best"] > 0][["source", "target"]].tolist()) <= within
    assert arrays["expected"].sum() == pytest.approx(visits.rules()[0]["expected"].sum())
    words = arrays["lexicon.words"]
    n_source = sum(len(src.split()) for src, _ in pairs)
    alone = arrays["linked"][words[:, 1] < 0].sum()
    assert 0 < alone < n_source


def test_pairs_without_a_parse_are_tried_again_and_told() -> None:
    src, tgt = " ".join(f"s{k}" for k in range(14)), " ".join(f"t{k}" for k in range(14))
    text = text_of((src, tgt))
    narrow = {"pops": 1, "nodes": 1, "word_items": 1, "max_target": 1}
    assert BiparseModel(text, Beams(**narrow, retries=0)).visit(Visits(), np.array([0])).results()["tries"] == [-1]
    assert BiparseModel(text, Beams(**narrow, retries=2)).visit(Visits(), np.array([0])).results()["tries"] != [1]


def test_long_pairs_are_left_out() -> None:
    text = Bitexts(3)
    text.add("a b c d", "x")
    text.add("a b c", "x y z")
    assert text.left_out == 1
    model = BiparseModel(text, Beams())
    assert model.visit(Visits(), np.array([0, 1]), NEIGHBOURS).results()["tries"].tolist() == [0, 1]


@pytest.mark.parametrize("reverse", [False, True])
def test_words_behind_the_64th_are_linked_too(reverse: bool) -> None:
    """A lexicon in which each word of a long pair has one translation leaves one derivation's links."""
    n = 100
    src, tgt = ([f"{letter}{k}" for k in range(n)] for letter in "st")
    lexicon = dict.fromkeys(zip(src, tgt, strict=True), (0.9, 0.9))
    text = Bitexts(128)
    text.add(" ".join(src), " ".join(reversed(tgt) if reverse else tgt))
    number = {word: k for k, word in enumerate(words_of(text))}
    text.set_lexicon(np.array([[number[f], number[e]] for f, e in lexicon]), np.array(list(lexicon.values())))
    visits = BiparseModel(text, Beams(retries=0)).visit(Visits(), np.array([0]), NEIGHBOURS | LINKS | TREE)
    (record,) = visits.results()
    assert record["tries"] == 1 and record["log_pair"] <= record["log_source"] + 1e-9
    best = visits.links()[visits.links()["best"] > 0]
    where = [n - 1 - k if reverse else k for k in range(n)]
    assert best[["source", "target"]].tolist() == list(enumerate(where))


def test_the_widest_pair_fits_into_the_masks() -> None:
    side = " ".join(["w"] * 64)
    text = text_of((side, side), ("w", side), (side, "w"))
    found = (
        BiparseModel(text, Beams(max_target=64, retries=0))
        .visit(Visits(), np.arange(3), NEIGHBOURS | LINKS | TREE)
        .results()
    )
    assert found["tries"][0] != 0 and found["tries"][1] == 1

    def tries(words: int) -> list[int]:
        text = Bitexts(words)
        for pair in (("w", " ".join(["w"] * words)), (" ".join(["w"] * words), "w")):
            text.add(*pair)
        model = BiparseModel(text, Beams(max_target=words, retries=0))
        found: list[int] = model.visit(Visits(), np.arange(2), NEIGHBOURS | LINKS).results()["tries"].tolist()
        return found

    # one word takes all target words; most of many source words would need a rule without a target word
    assert tries(128) == tries(32) == [1, -1]


@pytest.mark.parametrize(
    ("words", "probability", "fault"),
    [
        ([[0, 9]], [[0.5, 0.5]], "is in no text"),
        ([[9, 0]], [[0.5, 0.5]], "is in no text"),
        ([[-2, 0]], [[0.5, 0.5]], "is in no text"),
        ([[0, -2]], [[0.5, 0.5]], "is in no text"),
        ([[0, 1]], [[float("nan"), 0.5]], "without valid probabilities"),
        ([[0, 1]], [[1.5, 0.5]], "without valid probabilities"),
        ([[0, 1], [0, 1]], [[0.5, 0.5], [0.5, 0.5]], "twice"),
    ],
)
def test_bad_lexicons_are_refused(words: list, probability: list, fault: str) -> None:
    text = text_of(("a", "x"))
    with pytest.raises(ValueError, match=fault):
        text.set_lexicon(np.array(words), np.array(probability))


def test_weights_that_grow_without_end_are_told() -> None:
    text = text_of(("a b", "x y"), lexicon=random_lexicon("a b", "x y", np.random.default_rng(3)))
    model = BiparseModel(text, Beams(**EXACT))
    model.learn(model.visit(Visits(), np.array([0]), NEIGHBOURS))
    with pytest.raises(InputError, match="diverges; lower the rate"):
        model.update(LearningStep(1e9))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("aligned.rule", 0, 10_000),
        ("links.items", (0, 0), 9),
        ("links.offsets", 1, -1),
        ("pair.words", (0, 0), 99),
        ("rules.src_length", 0, 99),
        ("rules.symbols", 0, 99),
    ],
)
def test_damaged_models_are_refused(name: str, place: object, value: int) -> None:
    pairs, lexicon = random_pairs(4, 5, 4)
    arrays = learned(pairs, lexicon).arrays()
    arrays[name][place] = value
    fresh = BiparseModel(text_of(*pairs, lexicon=lexicon), Beams())
    with pytest.raises(ValueError, match=r"."):
        fresh.add(arrays)
