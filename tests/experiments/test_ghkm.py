"""Minimal rules of parsed text against their definition on random trees and links."""

import itertools
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from lscfg.errors import InputError
from lscfg.extract.derive import Derivations, derive
from lscfg.extract.labels import ParseTree

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
ghkm = import_module("ghkm")
sys.path.remove(str(ROOT / "experiments"))


def random_tree(rng, begin, end):
    """A bracketed tree of the words w_begin ... w_(end - 1), and constituents of one to four parts."""
    if end == begin + 1:
        return f"(T{rng.integers(3)} w{begin})"
    cuts = sorted(rng.choice(range(begin + 1, end), min(rng.integers(1, 4), end - begin - 1), replace=False))
    parts = [random_tree(rng, i, j) for i, j in itertools.pairwise([begin, *cuts, end])]
    return f"(C{rng.integers(3)} {' '.join(parts)})"


def random_pairs(number):
    rng = np.random.default_rng(7)
    for _ in range(number):
        n, m = rng.integers(1, 9), rng.integers(1, 9)
        links = sorted({(int(rng.integers(n)), int(rng.integers(m))) for _ in range(rng.integers(1, n + m))})
        yield ParseTree.of(random_tree(rng, 0, n)).spans, int(n), int(m), links


def nodes_of(root):
    return [root, *itertools.chain.from_iterable(nodes_of(child) for child in root.below)]


def admissible(span, links):
    """The other side of a span whose links and those of that side are the same ones."""
    inside = {j for i, j in links if span[0] <= i < span[1]}
    if not inside:
        return None
    hull = min(inside), max(inside) + 1
    return None if any(hull[0] <= j < hull[1] and not span[0] <= i < span[1] for i, j in links) else hull


@pytest.mark.parametrize("right", [True, False])
def test_binarised_trees_have_the_same_constituents_and_two_parts(right):
    for spans, _, _, _ in random_pairs(100):
        found = ghkm.binarised(spans, right)
        assert found.items() >= spans.items()
        assert all(label.startswith("@") for span, label in found.items() if span not in spans)
        assert all(len(ghkm.parts_of(found, span)) == 2 for span in found if span[1] > span[0] + 1)
        assert not any(a < c < b < d for (a, b), (c, d) in itertools.product(found, repeat=2))
        extra = sum(max(len(ghkm.parts_of(spans, span)) - 2, 0) for span in spans if span[1] > span[0] + 1)
        assert len(found) == len(spans) + extra


def test_parts_are_binarised_from_either_side():
    spans = ParseTree.of("(A (B b) (C c) (D d))").spans
    assert ghkm.binarised(spans, True)[1, 3] == ghkm.binarised(spans, False)[0, 2] == "@A"


@pytest.mark.parametrize("source", [True, False])
def test_rules_are_minimal(source):
    """No admissible constituent lies between a node and the nodes below it, and each rule is one of a grammar."""
    joined = 0
    for spans, n, m, links in random_pairs(400):
        root = ghkm.derivation(spans, n, m, links, source)
        assert (root.parsed, root.other) == ((0, n), (0, m))
        for node in nodes_of(root):
            below = [child.parsed for child in node.below]
            for child in node.below:
                assert spans[child.parsed] == child.label
                assert child.other == admissible(child.parsed, links)
            sides = sorted(child.other for child in node.below)
            assert all(a[1] <= b[0] for a, b in itertools.pairwise(sides))
            own, places = (node.parsed, below) if source else (node.other, sides)
            gone = {k for place in places for k in range(*place)}
            assert len(places) != 1 or {*range(*own)} - gone
            between = [
                span
                for span in spans
                if span != node.parsed
                and node.parsed[0] <= span[0]
                and span[1] <= node.parsed[1]
                and not any(place[0] <= span[0] and span[1] <= place[1] for place in below)
                and admissible(span, links)
            ]
            # only nodes that give their rules to the one above: the same words of an unparsed source side
            assert all(not source and admissible(span, links) == node.other for span in between)
            joined += len(between)
    assert (joined > 0) is not source


def test_the_trees_yield_the_pair():
    for spans, n, m, links in random_pairs(200):
        texts = [f"f{i}" for i in range(m)], [f"e{i}" for i in range(n)]
        lines = ghkm.rule_lines(ghkm.derivation(spans, n, m, links, False), texts, False, {"C0", "T1"})
        assert all(line.split(" ||| ")[0] in ("[X]", "[C0]", "[T1]") for line in lines)
        rules = iter(lines)
        assert read(rules) == [" ".join(side) for side in texts]
        assert next(rules, None) is None


def read(rules):
    """Both sides of the tree that begins with the next line."""
    _, *sides = next(rules).split(" ||| ")
    gaps = [word for word in sides[0].split() if word.startswith("[")]
    below = [read(rules) for _ in gaps]
    filled = [[below[int(w[-2]) - 1][k] if w.startswith("[") else w for w in sides[k].split()] for k in (0, 1)]
    return [" ".join(side) for side in filled]


def test_example_of_the_paper():
    """Galley et al. (2004), Figures 1 and 2, without the agreement of the verb."""
    parse = "(S (NP (PRP he)) (VP (AUX does) (RB not) (VB go)))"
    links = "0-0 1-2 2-3 3-2"
    found = ghkm.derive_parsed([parse], (["il ne va pas"], ["he does not go"]), [[links]], right=False)
    assert [line.strip() for line in found.text_lines() if line] == [
        "[S^] ||| [NP,1] [VP,2] ||| [NP,1] [VP,2]",
        "[NP] ||| il ||| he",
        "[VP] ||| ne [VB,1] pas ||| does not [VB,1]",
        "[VB] ||| va ||| go",
    ]


@pytest.mark.parametrize("source", [True, False])
def test_the_file_has_the_words_of_all_links_and_trees(source, tmp_path):
    f, e = ["a b c", "d d", "b a"], ["A B C", "D E", "A B"]
    links, others = ["0-0 1-1", "0-1 1-1", "0-1 1-0"], ["0-0 2-2", "0-0", "1-0"]
    parses = [f"(S {' '.join(f'(W {word})' for word in line.split())})" for line in (f if source else e)]
    parses[1] = ""
    found = ghkm.derive_parsed(parses, (f, e), [links, others])
    found.save(tmp_path / "made.deriv")
    found = type(found).load(tmp_path / "made.deriv")
    assert (found.alignments, found.pairs, dict(found.dropped)) == (2, 3, {"no tree": 2})
    assert [found[1], found[4]] == ["-", "-"]
    plain = derive([*f, *f], [*e, *e], [*links, *others])

    def words(derivations):
        names = [*derivations.rules.words, ""]
        pairs = zip(derivations.lexicon.tolist(), derivations.lexicon_count.tolist(), strict=True)
        return {(names[i], names[j]): n for (i, j), n in pairs}

    here = {pair: n for pair, n in words(plain).items() if not {*pair} & {"d", "D", "E"}}
    assert words(found) == here
    assert sorted(found.rules.categories) == ["@S^", "S^", "W"]


@pytest.mark.parametrize(
    ("parse", "links", "message"),
    [
        ("(S (W C))", "0-0", "not those of either side"),
        ("(S (W B)", "0-0", "not a parse tree"),
        ("(S (W b))", "0-0", "not those of the target side"),
        ("(S (W B))", "0-1", "outside of its 1 source and 1 target words"),
        ("(S (W B))", "0:0", "expected links"),
    ],
)
def test_what_does_not_fit_is_refused(parse, links, message):
    with pytest.raises(InputError, match=f"pair 2: .*{message}"):
        ghkm.derive_parsed(["(S (W A))", parse], (["a", "b"], ["A", "B"]), [["0-0", links]])


@pytest.mark.parametrize(
    ("words", "parses", "most", "message"),
    [
        (["a", "[X,1]"], None, 9, r"pair 2: the word '\[X,1\]' is reserved"),
        (["a", "a ||| b"], None, 9, "pair 2: the word .* is reserved"),
        (["a", "b"], ["", "(())"], 9, "no pair has a parse and a link"),
        (["a", "b"], None, 0, "1 to 1023 labels can become categories, not 0"),
    ],
)
def test_text_that_cannot_become_rules_is_refused(words, parses, most, message):
    parses = parses or ["(S (W A))", "(S (W B))"]
    with pytest.raises(InputError, match=message):
        ghkm.derive_parsed(parses, (words, ["A", "B"]), [["0-0", "0-0"]], most=most)


def test_parses_as_treebanks_write_them():
    """Escaped brackets, a failed parse, a constituent without a label."""
    parses = ["( (A -LRB-) (B x) (C -RRB-))", "(())", "(S (A y))"]
    found = ghkm.derive_parsed(parses, (["a b c", "d", "e"], ["( x )", "D", "y"]), [["0-0 1-1 2-2", "0-0", "0-0"]])
    assert dict(found.dropped) == {"no tree": 1}
    assert found[0].splitlines()[0] == "[X] ||| [A,1] [@X,2] ||| [A,1] [@X,2]"


def test_a_long_sentence_without_structure():
    n = 1500
    parse = f"(S {' '.join(f'(W e{k})' for k in range(n))})"
    texts = [" ".join(f"{side}{k}" for k in range(n)) for side in "fe"]
    found = ghkm.derive_parsed([parse], ([texts[0]], [texts[1]]), [[" ".join(f"{k}-{k}" for k in range(n))]])
    assert len(found.rule) == 2 * n - 1


def test_the_command_writes_derivations(tmp_path, monkeypatch, capsys):
    files = {"p": "(S (W A) (W B))", "f": "a b", "e": "A B", "l": "0-0 1-1"}
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["ghkm.py", "p", "f", "e", "l", "-o", "made"])
    ghkm.main()
    assert "rule types: 3" in capsys.readouterr().out
    assert len(Derivations.load("made")) == 1
    (tmp_path / "l").write_text("0-2 1-1\n")
    with pytest.raises(SystemExit):
        ghkm.main()
    assert "pair 1: a link outside" in capsys.readouterr().err
