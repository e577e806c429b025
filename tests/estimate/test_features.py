"""Feature templates against a slow reading of the trees, thresholds, and the files that features come from."""

import numpy as np
import pytest
from estimates import estimate_spectral
from helpers import node_children
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import aligned_pairs, expand

from lscfg.errors import InputError
from lscfg.estimate.features import (
    INSIDE,
    INSIDE_KNOWN,
    LENGTH_BUCKETS,
    OUTSIDE,
    OUTSIDE_KNOWN,
    FeatureSources,
    extract_features,
    read_classes,
    read_rule_values,
)
from lscfg.estimate.spectral import SpectralSettings
from lscfg.extract.derive import derive
from lscfg.extract.examples import Examples
from lscfg.extract.yields import Yields
from lscfg.io.write import write_lines

PAIRS = [
    ("a b c d", "w x y z", "0-0 1-2 2-1 3-3"),
    ("a c", "x w", "0-1 1-0"),
    ("b a d", "y q w", "0-0 2-2"),
    ("a b c d", "p q r s", "0-1 1-3 2-0 3-2"),
    ("d", "z", "0-0"),
]


def small():
    return derive(*map(list, zip(*PAIRS, strict=True)))


def trees_of(derivations):
    return {node: kids for t in range(len(derivations)) for node, kids in node_children(derivations, t).items()}


@settings(max_examples=100, deadline=None)
@given(st.lists(aligned_pairs(), min_size=1, max_size=4))
def test_yields_are_the_sentences(pairs):
    src, tgt = ([" ".join(pair[k]) for pair in pairs] for k in (0, 1))
    derivations = derive(src, tgt, [" ".join(f"{i}-{j}" for i, j in links) for _, _, links in pairs])
    yields = Yields.of(derivations)
    assert yields.sentences(derivations, 0) == src and yields.sentences(derivations, 1) == tgt
    below, words = trees_of(derivations), derivations.rules.words
    for node in range(len(derivations.rule)):
        for side, text in enumerate(expand(derivations, below, node)):
            first, last = yields.first(side)[node], yields.last(side)[node]
            assert [words[first], words[last]] == [text[0], text[-1]] if text else first == last == -1
            assert yields.length(side)[node] == len(text)


def test_spans_that_do_not_fit_are_refused():
    derivations = small()
    derivations.span[1, 1] += 1
    with pytest.raises(InputError, match="do not fit together"):
        Yields.of(derivations)


def slow_features(derivations, examples, template, inside, classes=None):
    """A set of feature names for each node, from a walk over the trees."""
    rules, below, names = derivations.rules, trees_of(derivations), []

    def bucket(length):
        return sum(length >= least for least in LENGTH_BUCKETS)

    def terminals(node):
        rule = int(derivations.rule[node])
        sides = (rules.src(rule), rules.tgt(rule))
        return [(side, rules.words[s]) for side in (0, 1) for s in sides[side].tolist() if s >= 0]

    def rule_name(node):
        number = int(examples.type[node])
        single = number < len(examples.rules) and examples.singletons()[number]
        return "OOV" if single else rules.text(int(derivations.rule[node]))

    for node in range(len(derivations.rule)):
        parent = int(derivations.parent[node])
        centre = node if inside else parent
        if inside:
            near = [(k, child) for k, child in enumerate(below[node][:2])]
        else:
            others = below.get(parent, [])[:2]
            near = [(k, other) for k, other in enumerate(others) if node in others and other != node]
        found = set()
        if template == "rule":
            found = {rule_name(node)}
        elif template == "parent":
            found = {rule_name(parent)} if parent >= 0 else set()
        elif template in ("children", "sibling"):
            found = {(k, rule_name(other)) for k, other in near}
        elif template == "slot":
            found = {(rule_name(parent), min(int(derivations.slot[node]), 1))} if parent >= 0 else set()
        elif template == "constant":
            found = {1}
        elif template == "arity" and centre >= 0:
            arity = int(rules.arity[derivations.rule[centre]])
            targets = [s for s in rules.tgt(int(derivations.rule[centre])).tolist() if s < 0]
            found = {(min(arity, 3), arity == 2 and targets[0] < targets[1])}
        elif template in ("lexical", "class"):
            found = {("rule", *word) for word in terminals(centre)} if centre >= 0 else set()
            for k, other in near:
                for side, text in enumerate(expand(derivations, below, other)):
                    if text:
                        found |= {(k, "first", side, text[0]), (k, "last", side, text[-1])}
            if template == "class":
                found = {(*f[:-1], classes[f[-2]][f[-1]]) for f in found if f[-1] in classes[f[-2]]}
        elif template == "length" and centre >= 0:
            found = {("self", side, bucket(len(t))) for side, t in enumerate(expand(derivations, below, centre))}
            for k, other in near:
                found |= {(k, side, bucket(len(t))) for side, t in enumerate(expand(derivations, below, other))}
        names.append(found)
    return names


@pytest.mark.parametrize(
    ("template", "inside"),
    [
        *((name, True) for name in sorted({*INSIDE_KNOWN} - {"real"})),
        *((name, False) for name in sorted({*OUTSIDE_KNOWN} - {"real"})),
    ],
)
def test_templates_are_what_a_walk_over_the_trees_sees(tmp_path, template, inside):
    derivations = small()
    examples = Examples.of(derivations)
    classes = ({"a": "1", "b": "1", "c": "2", "d": "3"}, {"w": "1", "x": "1", "y": "2", "z": "2", "q": "2"})
    for name, table in zip("fe", classes, strict=True):
        write_lines(tmp_path / name, (f"{word} {kind}" for word, kind in table.items()))
    features = extract_features(examples, (template,), inside, FeatureSources(tmp_path / "f", tmp_path / "e"))
    matrix = features.matrix.toarray()
    if not inside:
        assert (matrix[:, 0] == examples.is_root).all() and features.columns.pop("root") == 1
        matrix = matrix[:, 1:]
    assert features.columns == {template: matrix.shape[1]} and set(np.unique(matrix)) <= {0, 1}
    names = slow_features(derivations, examples, template, inside, classes)
    seen_by_examples = set().union(*(names[n] for n in np.nonzero(examples.is_example)[0]))
    # columns have no names: the same sets of nodes, as often
    expected = sorted(tuple(name in found for found in names) for name in seen_by_examples)
    assert sorted(map(tuple, matrix.T.astype(bool).tolist())) == expected


def test_threshold_drops_rare_columns():
    examples = Examples.of(small())
    for inside, templates in ((True, INSIDE), (False, OUTSIDE)):
        all_columns = extract_features(examples, templates, inside).matrix.toarray()
        seen = (all_columns[examples.is_example] != 0).sum(axis=0)
        kept = extract_features(examples, templates, inside, None, 2).matrix.toarray()
        assert np.array_equal(kept, all_columns[:, seen >= 2]) and 0 < kept.shape[1] < len(seen)
    with pytest.raises(InputError, match="no inside feature occurs 1000 times"):
        extract_features(examples, INSIDE, True, None, 1000)


def test_real_values(tmp_path):
    derivations = small()
    rules, examples = derivations.rules, Examples.of(derivations)
    values = {r: [r + 0.5, -1.0 * r] for r in range(len(rules)) if rules.arity[r] <= 2}
    lines = [f"{rules.src_text(r)} ||| {rules.tgt_text(r)} ||| {v[0]} {v[1]}" for r, v in values.items()]
    write_lines(tmp_path / "v", [*lines, "not in ||| the corpus ||| 1 2"])
    sources = FeatureSources(rule_values=tmp_path / "v")
    inside = extract_features(examples, ("real",), True, sources).matrix.toarray()
    outside = extract_features(examples, ("real",), False, sources).matrix.toarray()[:, 1:]
    for node, rule in enumerate(derivations.rule.tolist()):
        parent = int(derivations.parent[node])
        assert inside[node].tolist() == values.get(rule, [0, 0])
        assert outside[node].tolist() == (values.get(int(derivations.rule[parent]), [0, 0]) if parent >= 0 else [0, 0])
    everything = SpectralSettings(
        m=3, inside=(*INSIDE, "real", "length", "constant"), rule_values=tmp_path / "v", min_count=2, smoothing=2.0
    )
    about = estimate_spectral(derivations, everything).about
    assert about["features by template"]["inside"]["real"] == 2 and about["rule_values file"] == "v"
    assert about["condition"] >= 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["d ||| z"], "v:1: expected 'source"),
        (["d ||| z ||| 1 x"], "v:1: the values of a rule must be finite numbers: 'x' is not a number"),
        (["d ||| z ||| 1", "a ||| w ||| nan"], "v:2: the values of a rule must be finite"),
        (["d ||| z ||| inf"], "v:1: the values of a rule must be finite"),
        (["d ||| z ||| 1_0"], "v:1: the values of a rule must be finite"),
        (["d ||| z ||| "], "v:1: no values; the values"),
        (["d ||| z ||| 1", "a ||| w ||| 1 2"], "v:2: 2 values, but 1"),
        (["d ||| z ||| 1", "d ||| z ||| 2"], "v:2: the rule d ||| z has other values"),
        (["d ||| z ||| 1"], "no values for"),
    ],
)
def test_bad_rule_values(tmp_path, lines, message):
    write_lines(tmp_path / "v", lines)
    with pytest.raises(InputError, match=message):
        read_rule_values(tmp_path / "v", small().rules)


@pytest.mark.parametrize(
    ("lines", "message"),
    [(["a"], "c:1: expected 'word class'"), (["a 1", "a 2"], "c:2: the word 'a' has the classes 1 and 2")],
)
def test_bad_classes(tmp_path, lines, message):
    write_lines(tmp_path / "c", lines)
    with pytest.raises(InputError, match=message):
        read_classes(tmp_path / "c")


@pytest.mark.usefixtures("terminal")
def test_classes_that_do_not_match_the_corpus(tmp_path, capsys):
    write_lines(tmp_path / "c", ["zebra 1"])
    examples = Examples.of(small())
    with pytest.raises(InputError, match="no word of the corpus has a class"):
        extract_features(examples, ("class",), True, FeatureSources(tmp_path / "c"))
    with pytest.raises(InputError, match="needs a file of word classes"):
        extract_features(examples, ("class",), True)
    with pytest.raises(InputError, match="needs a file of rule values"):
        extract_features(examples, ("real",), True)
    write_lines(tmp_path / "c", ["a 1"])
    extract_features(examples, ("class",), True, FeatureSources(tmp_path / "c"))
    assert "3 of 4 words have no class, such as 'b'" in capsys.readouterr().err
