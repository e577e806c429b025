"""Minimal derivation trees: properties on random alignments, and another program's trees on real text."""

import dataclasses
import gzip
import itertools
import json

import numpy as np
import pytest
from helpers import node_children, reduced_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import aligned_pairs, expand, tight_phrase_pairs

import lscfg.extract.derive
from lscfg.cli import main
from lscfg.corpus.parallel import check_sentences
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations, derive, derive_files
from lscfg.extract.examples import Examples
from lscfg.io import tensors
from lscfg.io.write import write_lines
from lscfg.kernel import BRACKETINGS, DeriveOptions, refused_characters, words_fault
from lscfg.study.inspect import show_tree


def crosses(a, b):
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def derive_pair(pair, **options):
    src, tgt, links = pair
    links = " ".join(f"{i}-{j}" for i, j in links)
    return derive([" ".join(src)], [" ".join(tgt)], [links], options=DeriveOptions(**options))


@settings(max_examples=400, deadline=None)
@given(aligned_pairs(), st.sampled_from(BRACKETINGS))
def test_properties_of_random_alignments(pair, bracketing):
    src, tgt, links = pair
    derivations = derive_pair(pair, bracketing=bracketing)
    below = node_children(derivations, 0)
    assert expand(derivations, below, 0) == (src, tgt)
    phrases = tight_phrase_pairs(len(src), len(tgt), links)
    spans = [tuple(span) for span in derivations.span.tolist()]
    assert spans[0] == (0, len(src), 0, len(tgt))
    assert set(spans[1:]) <= phrases
    # nothing can be decomposed further: a phrase pair that is no node crosses one that is, or is the root
    root = max(phrases, key=lambda p: p[1] - p[0], default=None)
    for phrase in phrases - set(spans[1:]):
        assert phrase == root or any(crosses(phrase, span) for span in spans)


@settings(max_examples=200, deadline=None)
@given(aligned_pairs())
def test_sequences_are_bracketed_to_the_left(pair):
    src, tgt, links = pair
    derivations = derive([" ".join(src)], [" ".join(tgt)], [" ".join(f"{i}-{j}" for i, j in links)])
    below = node_children(derivations, 0)
    span = derivations.span
    borders = {phrase[:2] for phrase in tight_phrase_pairs(len(src), len(tgt), links)}
    for kids in below.values():
        for left, right in itertools.pairwise(kids):
            for part in below[right][:1]:
                # were (left, part) a phrase pair, then it would be a node
                if span[part, 0] == span[right, 0]:
                    assert (span[left, 0], span[part, 1]) not in borders


def shape(derivations, node=0):
    """A tree as nested tuples of its words."""
    kids = node_children(derivations, 0)[node]
    return (
        tuple(shape(derivations, kid) for kid in kids) if kids else derivations.rules.src_text(derivations.rule[node])
    )


@pytest.mark.parametrize("links", ["0-0 1-1 2-2 3-3 4-4", "0-4 1-3 2-2 3-1 4-0"])
@pytest.mark.parametrize(
    ("bracketing", "tree"),
    [
        ("normal", (((("a", "b"), "c"), "d"), "e")),
        ("left", (((("a", "b"), "c"), "d"), "e")),
        ("right", ("a", ("b", ("c", ("d", "e"))))),
        ("balanced", ((("a", "b"), "c"), ("d", "e"))),
    ],
)
def test_bracketings_of_a_sequence(bracketing, tree, links):
    made = derive(["a b c d e"], ["p q r s t"], [links], options=DeriveOptions(bracketing))
    assert shape(made) == tree


def test_sequence_inside_a_sequence_is_bracketed_too():
    links = "0-5 1-4 2-3 3-0 4-1 5-2"
    made = derive(["a b c d e f"], ["p q r s t u"], [links], options=DeriveOptions("right"))
    assert shape(made) == ("a", ("b", ("c", ("d", ("e", "f")))))
    made = derive(["a b c d e f"], ["p q r s t u"], [links], options=DeriveOptions("balanced"))
    assert shape(made) == (("a", "b"), ("c", (("d", "e"), "f")))


@settings(max_examples=200, deadline=None)
@given(aligned_pairs(), st.sampled_from(BRACKETINGS), st.integers(0, 2))
def test_binarised_trees(pair, bracketing, max_arity):
    plain_tree = derive_pair(pair, bracketing=bracketing)
    tree = derive_pair(pair, bracketing=bracketing, binarise=True, max_arity=max_arity)
    assert expand(tree, node_children(tree, 0), 0) == (pair[0], pair[1])
    assert tree.rules.arity.max() <= max_arity
    nodes = {tuple(span) for span in tree.span.tolist()}
    assert nodes <= {tuple(span) for span in plain_tree.span.tolist()}
    if plain_tree.rules.arity.max() <= max_arity:
        assert np.array_equal(tree.span, plain_tree.span)


def test_binarising_keeps_the_largest_children():
    links = "0-1 1-3 2-4 3-0 4-2"
    made = derive(["a b c d e"], ["p q r s t"], [links], options=DeriveOptions(binarise=True))
    rules = [made.rules.text(int(r)) for r in made.rule]
    assert rules == [
        "[X] ||| [X,1] [X,2] d e ||| p [X,1] r [X,2]",
        "[X] ||| a ||| q",
        "[X] ||| [X,1] [X,2] ||| [X,1] [X,2]",
        "[X] ||| b ||| s",
        "[X] ||| c ||| t",
    ]
    assert made.statistics()["trees with a rule of arity > 2"] == 0


def test_rules_above_the_maximal_arity_are_no_examples():
    src, tgt, links = ["a b c d"], ["p q r s"], ["0-1 1-3 2-0 3-2"]
    for max_arity, kept in ((2, 4), (1, 4), (0, 4)):
        made = derive(src, tgt, links, options=DeriveOptions(max_arity=max_arity))
        examples = Examples.of(made)
        assert len(made.rule) == 5 and examples.n_examples == kept
        assert examples.parent.tolist() == [-1, 0, 0, 0, 0]
        assert made.statistics()[f"trees with a rule of arity > {max_arity}"] == 1
    made = derive(["a b"], ["p q"], ["0-0 1-1"], options=DeriveOptions(max_arity=1))
    assert made.kept.tolist() == [False, True, True]
    assert Examples.of(made).n_examples == 2


@pytest.mark.parametrize("bad", [{"bracketing": "up"}, {"max_arity": 3}, {"max_arity": -1}, {"max_words": -1}])
def test_bad_options_are_refused(bad):
    with pytest.raises(InputError):
        DeriveOptions(**bad)


def test_words_without_links_stay():
    derivations = derive(["a x b y"], ["p q r s"], ["0-1 2-2"])
    rules = [derivations.rules.text(int(r)) for r in derivations.rule]
    assert rules == [
        "[X] ||| [X,1] y ||| p [X,1] s",
        "[X] ||| [X,1] x [X,2] ||| [X,1] [X,2]",
        "[X] ||| a ||| q",
        "[X] ||| b ||| r",
    ]


def test_target_words_at_the_ends_stay_with_the_whole_phrase():
    derivations = derive(["a b"], ["p q r s"], ["0-2 1-1"])
    rules = [derivations.rules.text(int(r)) for r in derivations.rule]
    assert rules == ["[X] ||| [X,1] [X,2] ||| p [X,2] [X,1] s", "[X] ||| a ||| r", "[X] ||| b ||| q"]


def test_no_links_at_all_is_one_rule():
    derivations = derive(["a b"], ["c"], [""])
    assert [derivations.rules.text(int(r)) for r in derivations.rule] == ["[X] ||| a b ||| c"]


def test_lexicon_counts_links_and_words_without():
    derivations = derive(["a b", "a"], ["x y", "x"], ["0-0", "0-0"])
    words = derivations.rules.words
    names = [tuple(words[w] if w >= 0 else None for w in pair) for pair in derivations.lexicon.tolist()]
    pairs = dict(zip(names, derivations.lexicon_count.tolist(), strict=True))
    assert pairs == {("a", "x"): 2, ("b", None): 1, (None, "y"): 1}


def hard_alignments(n):
    """Alignments for which a stack scan goes far, or again and again, if nothing stops it; their numbers of nodes."""
    identity = [(i, i) for i in range(n)]
    return {
        "monotone": (identity, 2 * n - 1),
        "inverse": ([(i, n - 1 - i) for i in range(n)], 2 * n - 1),
        "only words and the whole": ([(i, 2 * i + 1 if 2 * i + 1 < n else 2 * i - n) for i in range(n)], n + 1),
        "first and last word": ([*identity, (0, n - 1)], 2 * n - 4),
        "last and first word": ([*identity, (n - 1, 0)], 2 * n - 4),
        "middle outwards": ([(i, n // 2 + (i // 2 if i % 2 else -i // 2)) for i in range(n)], 2 * n - 3),
        "from both ends": ([(i, i if i % 2 else n - 1 - i) for i in range(n)], n // 2),
        "overlapping": ([*identity, *((i, i + 1) for i in range(n - 1))], 1),
        "no links": ([], 1),
    }


@pytest.mark.parametrize("n", [8, 32000])
@pytest.mark.parametrize("name", hard_alignments(8))
def test_hard_alignments(name, n):
    links, nodes = hard_alignments(n)[name]
    words = [f"w{i}" for i in range(n)]
    assert len(derive_pair((words, words, links)).rule) == nodes


@pytest.mark.parametrize("links", ["0", "0-", "-0", "a-b", "0-0-0", "0-0,1-1", "0-5", "3-0", "99999999999999999999-0"])
def test_bad_links_name_file_and_line(links):
    with pytest.raises(InputError, match="al:2: "):
        derive(["a b c", "a b c"], ["a b", "a b"], ["0-0", links], "al")


def corpus_files(tmp_path, src, tgt, links, ending=""):
    paths = [tmp_path / (name + ending) for name in ("f", "e", "a")]
    for path, lines in zip(paths, (src, tgt, links), strict=True):
        write_lines(path, lines)
    return paths


RANDOM = np.random.default_rng(1)
SRC = [" ".join(f"f{w}" for w in RANDOM.integers(0, 30, RANDOM.integers(1, 12))) for _ in range(60)]
TGT = [" ".join(f"e{w}" for w in RANDOM.integers(0, 30, RANDOM.integers(1, 12))) for _ in range(60)]
LINKS = [
    " ".join(f"{RANDOM.integers(0, f.count(' ') + 1)}-{RANDOM.integers(0, e.count(' ') + 1)}" for _ in range(8))
    for f, e in zip(SRC, TGT, strict=True)
]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_and_any_block_give_the_same_bytes(tmp_path, monkeypatch, threads):
    derive(SRC, TGT, LINKS).save(tmp_path / "whole")
    paths = corpus_files(tmp_path, SRC, TGT, LINKS)
    for block in (1, 7, 2000):
        monkeypatch.setattr(lscfg.extract.derive, "BLOCK", block)
        sizes = derive_files(*paths, tmp_path / "d", threads=threads)
        assert (tmp_path / "d").read_bytes() == (tmp_path / "whole").read_bytes()
        assert sizes == Derivations.load(tmp_path / "d").statistics()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "d", "e", "f", "whole"]  # no temporary file stays


@pytest.mark.parametrize("threads", [1, 3])
def test_several_alignments_are_as_many_corpora(tmp_path, capsys, threads):
    """The trees of the corpus once with each, one behind the other."""
    other = [" ".join(f"{k}-0" for k in range(f.count(" ") + 1)) for f in SRC]
    src, tgt, first = corpus_files(tmp_path, SRC, TGT, LINKS)
    write_lines(tmp_path / "b", other)
    sizes = derive_files(src, tgt, [first, tmp_path / "b"], tmp_path / "d", threads=threads)
    made, twice = Derivations.load(tmp_path / "d"), derive(SRC * 2, TGT * 2, LINKS + other)
    assert (len(made), made.pairs, made.alignments, twice.alignments) == (120, 60, 2, 1)
    assert sizes == made.statistics() == twice.statistics() | {"sentence pairs": 60}
    for name, array in tensors.load(tmp_path / "d", "derivations")[0].items():
        assert np.array_equal(array, _arrays(twice, tmp_path)[name]), name
    made.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "d").read_bytes()
    arguments = ["derive", *map(str, (src, tgt, first, tmp_path / "b")), "-o", str(tmp_path / "c")]
    assert main(arguments) == 0 and (tmp_path / "c").read_bytes() == (tmp_path / "d").read_bytes()
    write_lines(tmp_path / "b", [*other[:-1], "99-0"])
    assert main(arguments) == 1 and f"{tmp_path}/b:60: " in capsys.readouterr().err
    write_lines(tmp_path / "b", other[:-1])
    assert main(arguments) == 1 and f"{tmp_path}/b: 59 lines for 60 sentence pairs" in capsys.readouterr().err


def _arrays(derivations, folder):
    derivations.save(folder / "other")
    return tensors.load(folder / "other", "derivations")[0]


def test_trees_that_are_not_so_many_for_each_pair(tmp_path):
    dataclasses.replace(derive(SRC, TGT, LINKS), alignments=7).save(tmp_path / "d")
    with pytest.raises(InputError, match="60 trees of 7 alignments"):
        Derivations.load(tmp_path / "d")


def test_compressed_files_in_and_out(tmp_path, capsys):
    paths = corpus_files(tmp_path, SRC, TGT, LINKS, ".gz")
    assert main(["derive", *map(str, paths), "-o", str(tmp_path / "d.gz")]) == 0
    told = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert ["[lscfg]", "sentence", "pairs", "60"] in told and ["[lscfg]", "trees", "60"] in told
    derive(SRC, TGT, LINKS).save(tmp_path / "d")
    assert gzip.decompress((tmp_path / "d.gz").read_bytes()) == (tmp_path / "d").read_bytes()
    assert np.array_equal(Derivations.load(tmp_path / "d.gz").rule, Derivations.load(tmp_path / "d").rule)
    (tmp_path / "cut.gz").write_bytes((tmp_path / "d.gz").read_bytes()[:200])
    with pytest.raises(InputError, match="cut"):
        Derivations.load(tmp_path / "cut.gz")


def test_statistics(tmp_path):
    made = derive(["a b c d", "a b"], ["p q r s", "p q"], ["0-1 1-3 2-0 3-2", "0-0 1-1"])
    assert made.statistics() == {
        "sentence pairs": 2,
        "trees": 2,
        "rule tokens": 8,
        "rule types": 8,
        "types of arity 0": 6,
        "tokens of arity 0": 6,
        "types of arity 1": 0,
        "tokens of arity 1": 0,
        "types of arity 2": 1,
        "tokens of arity 2": 1,
        "types of arity > 2": 1,
        "tokens of arity > 2": 1,
        "trees with a rule of arity > 2": 1,
    }


GOOD = ("a b", "x y", "0-0 1-1")
BAD_LINES = [
    ("f", "", "empty", "empty side"),
    ("e", " ", "empty", "empty side"),
    ("f", "a\tb", r"control character U\+0009", "control or space character"),
    ("e", "a\rb", r"control character U\+000D", "control or space character"),
    ("f", "a \0", r"control character U\+0000", "control or space character"),
    ("f", "a\u200bb", r"invisible character U\+200B", "control or space character"),
    ("e", "a ||| b", r"'\|\|\|' is reserved", "reserved word"),
    ("f", "[X,1] b", r"'\[X,1\]' is reserved", "reserved word"),
    ("a", "0-0 1:1", "'1:1' is not an alignment link", "malformed link"),
    ("a", "0-0 1-1-1", "'1-1-1' is not an alignment link", "malformed link"),
    ("a", "0-0 2-1", "'2-1' points beyond the source sentence of 2 words; are source and target", "link out of range"),
    ("a", "0-0 1-2", "'1-2' points beyond the target sentence of 2 words", "link out of range"),
]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_of_several_bad_lines_the_first_is_named(tmp_path, monkeypatch, threads):
    monkeypatch.setattr(lscfg.extract.derive, "BLOCK", 2)
    sides = {side: [good] * 30 for side, good in zip("fea", GOOD, strict=True)}
    sides["a"][4] = sides["a"][8] = sides["a"][20] = "x"
    with pytest.raises(InputError, match="a:5: 'x' is not"):
        derive_files(*corpus_files(tmp_path, *(sides[side] for side in "fea")), tmp_path / "d", threads=threads)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("name", "bad", "message", "reason"), BAD_LINES)
def test_bad_lines(tmp_path, monkeypatch, threads, name, bad, message, reason):
    monkeypatch.setattr(lscfg.extract.derive, "BLOCK", 2)
    sides = {side: [good] * 7 for side, good in zip("fea", GOOD, strict=True)}
    sides[name][3] = bad
    paths = corpus_files(tmp_path, *(sides[side] for side in "fea"))
    with pytest.raises(InputError, match=f"{name}:4: .*{message}"):
        derive_files(*paths, tmp_path / "d", threads=threads)
    assert not (tmp_path / "d").exists()
    sizes = derive_files(*paths, tmp_path / "d", DeriveOptions(drop=True), threads)
    assert (sizes["sentence pairs"], sizes["trees"], sizes[f"dropped, {reason}"]) == (7, 6, 1)
    made = Derivations.load(tmp_path / "d")
    assert made.statistics() == sizes
    assert np.diff(made.trees).tolist() == [3, 3, 3, 0, 3, 3, 3]
    with pytest.raises(InputError, match="the pair of tree 4 was dropped"):
        show_tree(tmp_path / "d", 4)
    assert len(show_tree(tmp_path / "d", 5).splitlines()) == 3
    assert Examples.of(made).is_root.sum() == 6


def test_the_first_bad_line_is_named_for_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(lscfg.extract.derive, "BLOCK", 1)
    paths = corpus_files(tmp_path, ["a"] * 9, ["x"] * 9, ["0-0"] * 3 + ["0-1"] * 6)
    (tmp_path / "f").write_bytes(b"a\n" * 5 + b"\xff\n" * 4)
    for threads in (1, 2, 8):
        with pytest.raises(InputError, match="a:4: "):
            derive_files(*paths, tmp_path / "d", threads=threads)


def test_long_pairs_can_be_dropped(tmp_path):
    paths = corpus_files(tmp_path, ["a", "a b c"], ["x y", "x"], ["0-0", "0-0"])
    sizes = derive_files(*paths, tmp_path / "d", DeriveOptions(max_words=2))
    assert (sizes["trees"], sizes["dropped, too long"]) == (1, 1)


def test_files_of_different_length(tmp_path, monkeypatch):
    monkeypatch.setattr(lscfg.extract.derive, "BLOCK", 2)
    with pytest.raises(InputError, match=r"e: 4 lines, but .*f has 5"):
        derive_files(*corpus_files(tmp_path, ["a"] * 5, ["x"] * 4, [""] * 5), tmp_path / "d")
    with pytest.raises(InputError, match=r"a: 6 lines for 5 sentence pairs"):
        derive_files(*corpus_files(tmp_path, ["a"] * 5, ["x"] * 5, [""] * 6), tmp_path / "d")
    with pytest.raises(InputError, match="empty"):
        derive_files(*corpus_files(tmp_path, [], [], []), tmp_path / "d")
    with pytest.raises(InputError, match="threads"):
        derive_files(*corpus_files(tmp_path, ["a"], ["x"], [""]), tmp_path / "d", threads=0)


def test_line_ends(tmp_path):
    """CR LF is a line end, a last line without one counts, and a file that is not UTF-8 is named."""
    paths = corpus_files(tmp_path, ["a b", "a"], ["x y", "x"], ["0-0 1-1", ""])
    derive_files(*paths, tmp_path / "d")
    for path in paths:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n") + b"\n" * (path.name == "a"))
    derive_files(*paths, tmp_path / "d2")
    assert (tmp_path / "d").read_bytes() == (tmp_path / "d2").read_bytes()
    paths[1].write_bytes(b"x y\nx\xe9\n")
    with pytest.raises(InputError, match="e:2: not valid UTF-8"):
        derive_files(*paths, tmp_path / "d")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("a[]|X,1é日\u200d\t\r\v\f\0", min_size=1, max_size=5), max_size=3))
def test_kernel_and_corpus_reader_refuse_the_same_words(words):
    line = " ".join(words)
    try:
        check_sentences([line], "f")
    except InputError:
        with pytest.raises(InputError, match="sentence pair 1"):
            derive([line], ["x"], [""])
    else:
        assert derive([line], ["x"], [""]).rules.src_text(0) == line


def test_only_the_blank_is_a_space():
    """Of all characters those at which one program or another would end a word or a line."""
    refused = [code for code in [*range(0xD800), *range(0xE000, 0x10000)] if words_fault(f"a{chr(code)}b")]
    spaces = [0x00A0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
    invisible = [0x00AD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF]
    invisible += range(0xFFF9, 0xFFFC)
    assert refused == sorted([*range(0x20), *range(0x7F, 0xA0), *spaces, *invisible])
    assert [*map(ord, refused_characters())] == refused
    assert words_fault("".join(map(chr, range(0x10000, 0x110000)))) is None
    assert words_fault("a\u202bb") == "invisible character U+202B; remove it, as lscfg prepare does"
    assert words_fault("a\u3000b") == "space character U+3000; separate words by single blanks, as lscfg prepare does"
    assert words_fault("a\0") == "control character U+0000; separate words by single blanks, as lscfg prepare does"
    assert words_fault("a [b]") == "the word '[b]' is reserved in grammars; replace it, as lscfg prepare does"
    assert words_fault("") is words_fault("  ") is words_fault("[ ] [] || x]") is None


def test_saved_derivations_come_back(tmp_path):
    made = derive(["a é 日"], ["x y"], ["0-1 1-0 2-0"])
    made.save(tmp_path / "d")
    back = Derivations.load(tmp_path / "d")
    assert back.rules.words == made.rules.words
    for name in ("trees", "rule", "parent", "slot", "span", "lexicon", "lexicon_count"):
        assert np.array_equal(getattr(made, name), getattr(back, name))
    made.save(tmp_path / "again")
    assert (tmp_path / "d").read_bytes() == (tmp_path / "again").read_bytes()


def test_options_are_in_the_file(tmp_path):
    options = DeriveOptions("balanced", 1, True, 9, True)
    made = derive(["a", ""], ["x", "y"], ["0-0", ""], options=options)
    made.save(tmp_path / "d")
    back = Derivations.load(tmp_path / "d")
    assert back.options == options and back.dropped == {"empty side": 1}
    arrays, metadata = tensors.load(tmp_path / "d", "derivations")
    tensors.save(tmp_path / "d", arrays, {**metadata, "options": '{"colour": "red"}'})
    with pytest.raises(InputError, match="another version"):
        Derivations.load(tmp_path / "d")


def test_cut_derivation_file_is_refused(tmp_path):
    derive(["a"], ["b"], ["0-0"]).save(tmp_path / "d")
    data = (tmp_path / "d").read_bytes()
    for size in (0, 5, 40, len(data) - 1):
        (tmp_path / "cut").write_bytes(data[:size])
        with pytest.raises(InputError, match="cut"):
            Derivations.load(tmp_path / "cut")


def test_reference_trees(shared):
    """300 real pairs: the same trees as another program's, which drops unaligned target and final source words."""
    with open(shared / "oracle" / "minimal_derivations.jsonl") as file:
        pairs = [json.loads(line) for line in file]
    assert len(pairs) == 300
    made = derive([p["src"] for p in pairs], [p["tgt"] for p in pairs], [p["align"] for p in pairs])
    for number, pair in enumerate(pairs):
        links = [tuple(map(int, link.split("-"))) for link in pair["align"].split()]
        below = node_children(made, number)
        kept_src, kept_tgt = max(i for i, _ in links), {j for _, j in links}
        tree = reduced_tree(made, below, min(below), kept_src, kept_tgt)
        while tree["rule"] == "[X] ||| [X,1] ||| [X,1]":  # a root that held nothing but such words
            tree = tree["children"][0]
        assert tree == plain(pair["tree"])


def plain(tree):
    return {"rule": tree["rule"], "children": [plain(child) for child in tree["children"]]}
