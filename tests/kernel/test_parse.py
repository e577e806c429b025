"""Grammar reading and chart parsing."""

import numpy as np
import pytest
from forests import grammar_of, paths

from lscfg._kernel import ffi, lib
from lscfg.decode.parsing import read_grammar
from lscfg.errors import InputError, TooLargeError
from lscfg.formats.ini import read_ini
from lscfg.kernel import EPSILON, ForestBuilder, Grammar, GrammarLayer, ParseOptions, Vocab, X
from lscfg.kernel.forest import grammar_sides, live_features
from lscfg.kernel.text import quote_sides


def test_what_looks_like_a_nonterminal_and_is_none_is_a_word():
    """Follows cdec: an index has one or two digits, the first of which is not 0."""
    g = grammar_of("[X] ||| a [X,1] [b,c] [laughter,] ||| [1] [01] [X,01] [,1] [123] [1994] [laughter] |||\n")
    words = {g.vocab.word(k) for k in range(len(g.vocab))}
    assert words == {"a", "[b,c]", "[laughter,]", "[01]", "[X,01]", "[,1]", "[123]", "[1994]", "[laughter]"}


def test_grammars_that_are_not_utf_8(tmp_path):
    (tmp_path / "g").write_bytes(b"[X] ||| a ||| b |||\n[X] ||| p ||| caf\xe9 |||\n")
    with pytest.raises(InputError, match="g:2: not valid UTF-8"):
        Grammar.from_files([tmp_path / "g"])


def test_features_and_sides():
    """Unnamed features are numbered among all of a rule's, and ';' separates them, as in cdec's rule_lexer."""
    g = grammar_of("[X] ||| a [X,1] b [Y,2] ||| [2] c [X,1] ||| A=1;B=-2e3 ; 0.5 ||| 0-0\n\n[X] ||| a ||| ||| \n")
    assert len(g) == 2
    assert g.src(0) == [g.vocab.find("a"), -1, g.vocab.find("b"), -1 - g.category("Y")]
    assert g.tgt(0) == [-2, g.vocab.find("c"), -1]
    assert g.tgt(1) == []
    assert g.feature_names == ["A", "B", "PhraseModel_2"]
    indptr, indices, values = g.features()
    assert indptr.tolist() == [0, 3, 3] and indices.tolist() == [0, 1, 2] and values.tolist() == [1, -2000, 0.5]


def test_words_of_target_sides_are_counted():
    g = grammar_of("[X] ||| a [X,1] b [X,2] ||| [2] c c [1] d |||\n[X] ||| [X,1] a ||| [1] |||\n[X] ||| a ||| |||\n")
    assert g.target_lengths().tolist() == [3, 0, 0] == [sum(s >= 0 for s in g.tgt(rule)) for rule in range(len(g))]
    layer = GrammarLayer(g)
    layer.add(X, [g.vocab.find("a")], [g.vocab.find("c"), g.vocab.find("d")])
    layer.finish()
    assert layer.target_lengths().tolist() == [3, 0, 0]
    for whole in (
        layer.arrays,
        lambda: layer.find(X, [0], [0]),
        lambda: layer.read_text("[X] ||| a ||| b\n"),
        lambda: grammar_sides(layer),
        lambda: quote_sides(layer),
        lambda: live_features(layer),
        layer.features,
    ):
        with pytest.raises((TypeError, InputError), match="the grammar is a layer of rules; give its base"):
            whole()


def test_a_layer_has_the_categories_and_features_of_its_base():
    g = grammar_of("[NP] ||| a [VP,1] ||| [1] ||| Rule=1\n[VP] ||| [NP,1] [VP,2] [X,3] ||| [1] [2] [3] ||| Other=1\n")
    layer = GrammarLayer(g)
    assert layer.categories() == g.categories() and layer.feature_names == g.feature_names == ["Rule", "Other"]
    assert [layer.category(name) for name in ("X", "VP")] == [g.category(name) for name in ("X", "VP")]
    assert layer.wide() == g.wide() != (0, 0)
    with pytest.raises(InputError, match="no category 'ADJ', and a layer of rules adds none"):
        layer.category("ADJ")
    assert layer.categories() == g.categories()
    assert grammar_of("").target_lengths().shape == (0,)


@pytest.mark.parametrize(
    "rule",
    [
        "[X] ||| a",
        "X ||| a ||| b",
        "[X] ||| ||| b",
        "[X] ||| [X,1] ||| b",
        "[X] ||| [X,2] a ||| [1]",
        "[X] ||| [X,1] a ||| [1] [1]",
        "[X] ||| [X,1] a ||| [2]",
        "[X] ||| a [X,1] b [X,2] c [X,3] ||| [1] [2]",
        "[X] ||| a [X,1] b [X,2] c [X,3] ||| [1] [2] [4]",
        "[X] ||| a [X,1] ||| b [Y,1]",
        "[X] ||| a [X,1] b [Y,2] ||| [Y,1] b [Y,2]",
        "[X] ||| a ||| b ||| LT:=:b=1",
        "[X] ||| a ||| b ||| A=nan",
        "[X] ||| a ||| b ||| A=x",
        "[X] ||| a ||| b ||| A=",
    ],
)
def test_malformed_rule_names_its_line(rule, tmp_path):
    path = tmp_path / "g"
    path.write_text(f"[X] ||| a ||| b\n{rule}\n")
    with pytest.raises(InputError, match=f"{path}:2: "):
        Grammar().read(path)


def test_unary_cycle_is_refused():
    g = Grammar()
    g.read_text("[X] ||| [Y,1] ||| a [1]\n[Y] ||| [X,1] ||| [1]\n")
    for _ in range(2):  # asked again, it is no better
        with pytest.raises(InputError, match=r"lead from \[Y\] back to itself"):
            g.finish()


@pytest.mark.parametrize(
    ("rules", "category"),
    [
        ("[X] ||| [X,1] ||| a [1]", "X"),
        ("[Z] ||| [Y,1] ||| [1]\n[Y] ||| [W,1] ||| [1]\n[W] ||| [Y,1] ||| [1] b", "Y"),
        ("[X] ||| [S,1] ||| [1]", "X"),
    ],
)
def test_unary_cycle_names_its_file_and_a_category_on_it(rules, category, tmp_path):
    (tmp_path / "g").write_text(f"[X] ||| a ||| b\n{rules}\n")
    with pytest.raises(InputError, match=rf"^{tmp_path / 'g'}: rules .* lead from \[{category}\] back to itself"):
        Grammar.from_files([tmp_path / "g"])
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=g\n")
    with pytest.raises(InputError, match=rf"^{tmp_path / 'g'}: rules .* lead from \[{category}\] back to itself"):
        read_grammar(read_ini(tmp_path / "cdec.ini"))


def test_grammars_share_a_vocabulary_that_is_still_empty():
    vocabulary = Vocab()
    assert Grammar(vocabulary).vocab is vocabulary


def test_glue_only():
    g = grammar_of("[X] ||| a ||| b\n[X] ||| a ||| c\n")
    forest = g.parse(g.vocab.add_line("a a z"), ParseOptions())
    assert forest is not None
    # three X nodes (a, a, z) and three S nodes; a word has its rules and the pass-through rule
    assert forest.n_nodes == 6
    assert paths(forest) == 3 * 3 * 1
    assert forest.node_span[-1].tolist() == [0, 3]
    assert sorted(np.diff(forest.edge_apps).tolist()) == [1] * 6 + [2, 2]


def test_pass_through_only_where_no_rule_translates_the_word():
    g = grammar_of("[X] ||| a ||| b\n[X] ||| z z ||| c\n")
    forest = g.parse(g.vocab.add_line("a z z"), ParseOptions(pass_through=2))
    assert forest is not None and paths(forest) == 2


def test_binary_bracketings_are_counted():
    g = grammar_of("[X] ||| a ||| b\n[X] ||| [X,1] [X,2] ||| [1] [2]\n[X] ||| [X,1] [X,2] ||| [2] [1]\n")
    for n, catalan in ((1, 1), (2, 1), (3, 2), (4, 5), (7, 132)):
        forest = g.parse(g.vocab.add_line(" ".join("a" * n)), ParseOptions(100, False, 0, X))
        assert forest is not None and paths(forest) == catalan * 2 ** (n - 1)


def test_span_limit_and_no_parse():
    g = grammar_of("[X] ||| a ||| b\n[X] ||| [X,1] [X,2] ||| [1] [2]\n")
    words = g.vocab.add_line("a a a")
    assert g.parse(words, ParseOptions(2, False, 0, X)) is None
    assert g.parse(words[:0], ParseOptions()) is None
    forest = g.parse(words, ParseOptions(2, True, 0))
    assert forest is not None
    # glue over three words: a|a|a, aa|a, a|aa
    assert paths(forest) == 3


def test_topological_order_with_unary_rules():
    g = grammar_of("[S] ||| [X,1] ||| [1]\n[X] ||| [Y,1] ||| [1] x\n[Y] ||| a ||| b\n[S] ||| [S,1] a ||| [1] c\n")
    forest = g.parse(g.vocab.add_line("a a"), ParseOptions(10, False, 0))
    assert forest is not None and paths(forest) == 1
    tails = forest.edge_tail
    assert all(t < h for ts, h in zip(tails, forest.edge_head, strict=True) for t in ts if t >= 0)


@pytest.mark.parametrize(
    ("lhs", "src", "tgt", "message"),
    [
        (2, [0], [0], "not a category"),
        (-1, [0], [0], "not a category"),
        (0, [1], [0], "neither a word nor a category"),
        (0, [-3], [-1], "neither a word nor a category"),
        (0, [-(2**31)], [-1], "neither a word nor a category"),
        (0, [0], [1], "not a word"),
        (0, [-1], [-(2**31)], "names nonterminal 2147483648 of 1"),
    ],
)
def test_symbols_that_are_none(lhs, src, tgt, message):
    g = Grammar()
    assert g.vocab.add_line("a") == [0]
    with pytest.raises(InputError, match=message):
        g.add(lhs, src, tgt)


def test_feature_without_a_name():
    with pytest.raises(InputError, match="'=1' is not a feature"):
        grammar_of("[X] ||| a ||| b ||| =1\n")


def test_words_without_an_id_are_not_empty_arcs():
    g = grammar_of("[X] ||| a ||| b\n")
    for unknown in (-1, -2, -(2**31)):  # only -1 passes the checks
        words = ffi.new("int32_t[]", [0, unknown])
        assert g._parse(lib.lscfg_parse, ParseOptions(9, False, 0, X), words, 2) is None
    assert g.parse([0, -1], ParseOptions(9, False, 0, X)) is None


WRONG_WORDS = [
    (np.zeros((2, 2), np.int32), ValueError, r"words of shape \(2, 2\), not \[n\]"),
    (np.int32(0), ValueError, r"words of shape \(\), not \[n\]"),
    ([0.5], TypeError, "words must be integers, not float64"),
    ([float("nan")], TypeError, "words must be integers, not float64"),
    ([True], TypeError, "words must be integers, not bool"),
    (["a"], TypeError, "words must be integers, not <U1"),
    ([None], TypeError, "words must be integers, not object"),
    ([2**32], InputError, "words must be 32-bit integers, not 4294967296 to 4294967296"),
    (np.array([2**64 - 1], np.uint64), InputError, "words must be 32-bit integers"),
    ([0, -9], InputError, "words contain the word id -9; ids are 0 to"),
    ([0, EPSILON], InputError, "words contain the word id -2; ids are 0 to"),
    ([0, 3], InputError, "words contain the word id 3; ids are 0 to 1, or -1 for unknown words"),
]


@pytest.mark.parametrize(("words", "kind", "message"), WRONG_WORDS)
def test_wrong_words_are_refused(words, kind, message):
    g = grammar_of("[X] ||| a ||| b\n")
    with pytest.raises(kind, match=message):
        g.parse(words, ParseOptions())
    with pytest.raises(kind, match=message):
        builder = ForestBuilder(words)
        builder.add_node(X, 0, 1)
        builder.add_application(0)
        builder.finish(g)


def test_integers_of_any_type_are_words():
    g = grammar_of("[X] ||| a ||| b\n")
    for words in ([0], (0,), np.zeros(1, np.uint8), np.zeros(1, np.int64), np.zeros(3, np.int32)[::2][:1]):
        assert g.parse(words, ParseOptions()) is not None
    assert g.parse([], ParseOptions()) is None


def test_forests_have_a_largest_size():
    g = grammar_of("[X] ||| a ||| b\n[X] ||| a ||| c\n[X] ||| [X,1] [X,2] ||| [1] [2]\n")
    words = g.vocab.add_line("a a a a")

    def size(most):
        return g.parse(words, ParseOptions(9, False, 0, X, most)).n_apps

    full = size(0)
    assert full == 8 + 10
    least = next(most for most in range(25, 200) if not _is_too_large(g, words, most))
    assert least > full and size(least) == size(1000) == full
    with pytest.raises(TooLargeError, match="more than 24 rule applications or spans"):  # there are 25 spans
        size(24)
    arcs = [[k, k + 1, words[0]] for k in range(4)]
    assert g.parse_lattice(arcs, 5, ParseOptions(9, False, 0, X, 1000)).n_apps == full
    for most in (24, full):
        with pytest.raises(TooLargeError):
            g.parse_lattice(arcs, 5, ParseOptions(9, False, 0, X, most))


def _is_too_large(grammar, words, most):
    try:
        grammar.parse(words, ParseOptions(9, False, 0, X, most))
    except TooLargeError:
        return True
    return False


def test_a_sentence_of_very_many_words_is_refused_at_once():
    g = grammar_of("[X] ||| a ||| b\n")
    with pytest.raises(TooLargeError):
        g.parse(np.zeros(1_000_000, np.int32), ParseOptions())
