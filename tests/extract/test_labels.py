"""Categories of nodes from parse trees and word classes."""

import re
from pathlib import Path

import numpy as np
import pytest

from lscfg.cli import main
from lscfg.commands import derive as derive_command
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations, derive
from lscfg.extract.labels import LEAST, ParseTree, label
from lscfg.extract.minimal import MinimalRules, tokens_of
from lscfg.formats.ini import read_ini
from lscfg.grammar.select import select_rules
from lscfg.grammar.write import write_grammar
from lscfg.io.read import read_lines, split_fields
from lscfg.moses_bridge.config import write_moses
from lscfg.moses_bridge.rule_table import GLUE

SOURCE = ["das kleine haus ist alt", "ein haus"]
TARGET = ["the small house is old", "a house"]
LINKS = ["0-0 1-1 2-2 3-3 4-4", "0-0 1-1"]
TREES = ["(S (NP (DT the) (JJ small) (NN house)) (VP (VBZ is) (JJ old)))", "(NP (DT a) (NN house))"]


@pytest.fixture
def plain():
    return derive(SOURCE, TARGET, LINKS, forests=True)


def labelled(plain, tmp_path, lines=TREES, **settings):
    (tmp_path / "labels").write_text("".join(line + "\n" for line in lines))
    return label(plain, tmp_path / "labels", **{"least": 1, **settings})


@pytest.mark.parametrize(
    ("span", "name"),
    [
        ((0, 5), "S^"),
        ((0, 3), "NP"),
        ((4, 5), "JJ"),
        ((0, 2), "DT+JJ"),  # two in sequence
        ((0, 4), "NP+VBZ"),
        ((1, 3), "JJ+NN"),
        ((2, 4), "NN+VBZ"),
        ((1, 4), "X"),
    ],
)
def test_labels_of_syntax_augmented_grammars(span, name):
    assert ParseTree.of(TREES[0]).label(*span) == name


def test_labels_of_constituents_without_a_part():
    tree = ParseTree.of("(S (NP (A a) (B b) (C c)) (VP (V v) (W w) (U u)))")
    assert tree.label(0, 2) == "A+B"
    assert ParseTree.of("(S (NP a b c) (VP v w u))").label(0, 3) == "NP"
    flat = ParseTree.of("(T (S a b c d) (V e))")
    assert flat.label(0, 4) == "S^"
    nested = ParseTree.of("(R (Q (P a b c) (N d)) (M e))")
    assert nested.label(3, 5) == "N+M"
    assert ParseTree.of("(S (A a) b (C c))").label(0, 2) == "S^/C"
    assert ParseTree.of("(S (A a) b (C c))").label(1, 3) == "A\\S^"


@pytest.mark.parametrize(
    ("text", "name"),
    [("(NP-SBJ a)", "NP"), ("(, a)", "COMMA"), ("(-LRB- -LRB-)", "LRB"), ("(X a)", "X^"), ("( (NP a))", "NP")],
)
def test_names_that_grammars_can_contain(text, name):
    assert ParseTree.of(text).label(0, 1) == name


def test_derivations_get_the_labels_of_their_spans(plain, tmp_path):
    found = labelled(plain, tmp_path)
    lines = [line.strip() for line in found.derivations[0].splitlines()]
    assert lines == [
        "[S^] ||| [NP+VBZ,1] [JJ,2] ||| [NP+VBZ,1] [JJ,2]",
        "[NP+VBZ] ||| [NP,1] [VBZ,2] ||| [NP,1] [VBZ,2]",
        "[NP] ||| [DT+JJ,1] [NN,2] ||| [DT+JJ,1] [NN,2]",
        "[DT+JJ] ||| [DT,1] [JJ,2] ||| [DT,1] [JJ,2]",
        "[DT] ||| das ||| the",
        "[JJ] ||| kleine ||| small",
        "[NN] ||| haus ||| house",
        "[VBZ] ||| ist ||| is",
        "[JJ] ||| alt ||| old",
    ]
    assert found.side == 1
    assert found.nodes["NN"] == 2


def test_derivations_without_their_categories_are_the_old_ones(plain, tmp_path):
    found = labelled(plain, tmp_path).derivations
    blind = found.without_categories()
    assert (blind.rule == plain.rule).all()
    assert (blind.forests.rule == plain.forests.rule).all()
    for old, new in ((plain.rules, blind.rules), (plain.forests.rules, blind.forests.rules)):
        assert new.lhs is None
        assert (old.symbols == new.symbols).all()
    assert (tokens_of(found).places == tokens_of(plain).places).all()


@pytest.mark.parametrize("name", ["d", "d.trees"])
def test_files_keep_categories(plain, tmp_path, name):
    found = labelled(plain, tmp_path).derivations
    (found.write_text if name.endswith("trees") else found.save)(tmp_path / name)
    read = Derivations.load(tmp_path / name)
    assert read[:] == found[:]
    assert (read.category.shape, len(read.rules)) == (found.category.shape, len(found.rules))


def test_rare_labels_become_x(plain, tmp_path):
    found = labelled(plain, tmp_path, most=2, least=2)
    assert set(found.nodes) == {"DT", "JJ", "X"}
    with pytest.raises(InputError, match="no label has 100 nodes of the derivations; the most frequent of 8 is 'DT'"):
        labelled(plain, tmp_path, least=LEAST)


def test_word_classes_label_by_first_and_last_word(plain, tmp_path):
    classes = ["the D", "a D", "small A", "old A", "house N", "is V"]
    found = labelled(plain, tmp_path, classes)
    assert found.side == 1
    first = found.derivations[0].splitlines()
    assert first[0] == "[D..A] ||| [D..V,1] [A,2] ||| [D..V,1] [A,2]"
    assert first[3].strip() == "[D+A] ||| [D,1] [A,2] ||| [D,1] [A,2]"
    other = labelled(plain, tmp_path, ["haus N", "ein D", "das D", "alt A", "kleine A", "ist V"])
    assert other.side == 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (TREES[:1], "labels: 1 parse tree for 2 sentence pairs; write a line"),
        (["(S the small)", TREES[1]], "labels:1: the words of the parse tree are not those of either side"),
        (["(S (NP the", TREES[1]], "labels:1: expected 'word class' or a bracketed parse tree"),
        ([TREES[0], "(NP a house"], "labels:2: not a parse tree: the tree does not end"),
        ([TREES[0], "(NP a house))"], "labels:2: not a parse tree: .* follows the end"),
        ([TREES[0], "(NP (DT) a house)"], "labels:2: not a parse tree: the constituent .* has no words"),
        ([TREES[0], "(NP ein haus)"], "labels:2: the words of the parse tree are not those of this side"),
        (["the D", "the E"], "labels:2: a second class of"),
        (["the N|P", "a N|P", "is N_P"], r"labels:3: the classes 'N\|P' and 'N_P' would both be the category \[N_P\]"),
        (["the N,P", "is N]P"], r"labels:2: the classes 'N,P' and 'N\]P' would both be"),
        (["the S", "is S^"], r"labels:2: the classes 'S' and 'S\^' would both be the category \[S\^\]; rename one"),
        (["maison N"], "labels: no word of the corpus has a class"),
    ],
)
def test_bad_labels_are_refused(plain, tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        labelled(plain, tmp_path, lines)


def test_invisible_characters_of_labels_become_underscores(plain, tmp_path):
    """Categories cannot contain them; U+200C occurs within words of Persian, U+E000 is for private use."""
    classes = ["the D\u200c", "a D\u200c", "small A\ue000", "old A\ue000", "house N", "is V"]
    assert {"D_", "A_", "N", "V"} <= labelled(plain, tmp_path, classes).nodes.keys()
    with pytest.raises(InputError, match=r"labels:2: the classes 'D\\u200c' and 'D_' would both be the"):
        labelled(plain, tmp_path, ["the D\u200c", "a D_"])
    assert ParseTree.of("(N\u200dP (\ue000 a) (B b))").spans == {(0, 1): "_", (1, 2): "B", (0, 2): "N_P"}


def test_a_pair_with_equal_sides_leaves_the_side_open(tmp_path):
    pairs = derive(["42 .", "ein haus"], ["42 .", "a house"], ["0-0 1-1"] * 2)
    for words, side in (("ein haus", 0), ("a house", 1)):
        first, second = words.split()
        trees = ["(NP (CD 42) (P .))", f"(NP (DT {first}) (NN {second}))"]
        assert labelled(pairs, tmp_path, trees).side == side
        with pytest.raises(InputError, match="labels:3: the words of the parse tree are not those of either side"):
            labelled(derive(*[["42 ."] * 3] * 2, ["0-0 1-1"] * 3), tmp_path, [trees[0], "", trees[1]])


def test_lines_without_a_tree_leave_their_nodes_x(plain, tmp_path):
    assert labelled(plain, tmp_path, [TREES[0], ""]).nodes["X"] == 3


def test_grammars_have_categories_and_glue_for_each(plain, tmp_path):
    found = MinimalRules.of(labelled(plain, tmp_path).derivations)
    kept = select_rules(found, sentences=["das haus"])
    write_grammar(tmp_path / "g", found, kept)
    lines = [line.removesuffix(" |||").split(" ||| ") for line in (tmp_path / "g").read_text().splitlines()]
    rules = [line[:3] for line in lines]
    assert ["[DT]", "das", "the"] in rules
    assert not any(line[1] == "ist" for line in rules)
    assert ["[S]", "[S,1] [NP,2]", "[1] [2]"] in rules
    assert rules.count(["[S]", "[NP,1]", "[1]"]) == 1
    assert all("EgivenF" in line[3] or "CountEF" in line[3] for line in lines if line[0] != "[S]")


def test_moses_gets_the_labels_and_the_glue_of_the_grammar(plain, tmp_path, monkeypatch):
    """As ``lscfg moses convert`` writes them from cdec's format."""
    monkeypatch.chdir(tmp_path)
    labelled(plain, tmp_path, [TREES[0], ""]).derivations.save("d")
    assert main(["grammar", "minimal", "d", "-o", "g"]) == 0
    for _ in range(2):  # the command replaces its own glue
        assert main(["grammar", "minimal", "d", "--format", "moses", "-o", "direct/table"]) == 0
    Path("other").mkdir()
    Path("other/glue-grammar").write_text("\n".join([*GLUE[:-1], GLUE[-1].replace("[X][X]", "[X][NP-SBJ]"), ""]))
    assert main(["grammar", "minimal", "d", "--format", "moses", "-o", "other/table"]) == 0
    assert Path("other/glue-grammar").read_text() == Path("direct/glue-grammar").read_text()
    Path("other/glue-grammar").write_text("mine\n")
    assert main(["grammar", "minimal", "d", "--format", "moses", "-o", "other/table"]) == 1
    (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=g\nscfg_no_hiero_glue_grammar=true\n")
    write_moses("converted", read_ini("cdec.ini"))
    direct, converted = (
        [tuple(split_fields(line)[k] for k in (0, 1, 3)) for line in read_lines(path)]
        for path in ("direct/table", "converted/rule-table.gz")
    )
    assert sorted(direct) == sorted(converted) and ("das [X]", "the [DT]", "") in direct
    assert ("[X][DT] [X][JJ] [X]", "[X][DT] [X][JJ] [DT+JJ]", "0-0 1-1") in direct
    assert [side for side, _, _ in direct] == sorted(side for side, _, _ in direct)
    assert read_lines("direct/glue-grammar") == read_lines("converted/glue-grammar")


def test_rules_without_target_words_keep_their_features(tmp_path):
    texts = {
        "labelled": "[A] ||| [B,1] c ||| [B,1]\n  [B] ||| a |||\n\n[B] ||| a ||| b\n",
        "plain": "[X,1] c ||| [X,1]\n  a |||\n\na ||| b\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.trees").write_text(text)
        assert main(["grammar", "minimal", str(tmp_path / f"{name}.trees"), "-o", str(tmp_path / name)]) == 0
    found, expected = (
        [line for line in read_lines(tmp_path / name) if not line.startswith("[S]")] for name in ("labelled", "plain")
    )
    assert sorted(re.sub(r"\[[AB](?=[],])", "[X", line) for line in found) == sorted(expected)
    assert any(line.startswith("[B] ||| a ||| ||| EgivenF=0.30103 ") for line in found)


def test_unknown_words_pass_as_every_label_but_x(plain, tmp_path):
    labelled(plain, tmp_path, [TREES[0], ""]).derivations.save(tmp_path / "labelled")
    plain.save(tmp_path / "plain")
    (tmp_path / "text").write_text("das auto\n")
    out = ["-o", str(tmp_path / "g"), "--filter", str(tmp_path / "text"), "--oov"]
    assert main(["grammar", "minimal", str(tmp_path / "labelled"), *out]) == 0
    lines = (tmp_path / "g").read_text().splitlines()
    passed = [line for line in lines if "PassThrough" in line]
    assert "[DT] ||| auto ||| auto ||| PassThrough=1" in passed
    assert all("auto" in line and not line.startswith("[X]") for line in passed)
    assert any(line.startswith("[X]") for line in lines)
    assert main(["grammar", "minimal", str(tmp_path / "plain"), *out]) == 1
    assert main(["grammar", "minimal", str(tmp_path / "plain"), "-o", str(tmp_path / "g"), "--oov"]) == 1


def test_damaged_categories_are_refused(plain, tmp_path):
    found = labelled(plain, tmp_path).derivations
    rule = found.rule.copy()
    texts = [found.rules.text(k) for k in range(len(found.rules))]
    rule[8] = texts.index("[NN] ||| haus ||| house")
    derivations = Derivations(
        found.rules,
        found.trees,
        rule,
        *(getattr(found, name) for name in ("parent", "slot", "span", "lexicon", "lexicon_count")),
    )
    derivations.save(tmp_path / "bad")
    with pytest.raises(InputError, match="node 8 is of another category than the rule above it requires"):
        Derivations.load(tmp_path / "bad")
    (tmp_path / "bad.trees").write_text("[A] ||| [B,1] c ||| [B,1]\n  [A] ||| a ||| a\n")
    with pytest.raises(InputError, match=r"bad.trees:2: a rule of \[A\]; the rule above requires \[B\] here"):
        Derivations.load(tmp_path / "bad.trees")
    with pytest.raises(ValueError, match="'S' cannot name a category"):
        plain.with_categories(("S",), np.zeros(len(plain.rule), np.int32))


def test_command_reads_a_file_or_a_number_of_classes():
    assert derive_command._labels("8") == 8
    assert derive_command._labels("./8") == "./8"


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ("0", [], "at least 2 word classes are needed, not 0"),
        ("4", ["--max-labels", "0"], "1 to 1023 labels can become categories, not 0"),
        (None, ["--max-labels", "3"], "--max-labels needs --labels"),
        ("", [], "labels: the file is empty"),
        ("the D\nthe E\n", [], "labels:2: a second class of 'the'"),
        ("the D\na\n", [], "labels:2: expected 'word class'"),
        (f"{TREES[0]}\n", [], "labels: 1 parse tree for 2 sentence pairs"),
    ],
)
def test_labels_are_checked_before_the_text_is_derived(tmp_path, capsys, labels, options, message):
    for name, lines in (("f", "das haus\nein haus\n"), ("e", "the house\na house\n"), ("a", "0-0 1-1\n" * 2)):
        (tmp_path / name).write_text(lines)
    if labels is not None:
        number = labels.isdecimal()
        (tmp_path / "labels").write_text("" if number else labels)
        options = ["--labels", labels if number else str(tmp_path / "labels"), *options]
    assert main(["derive", *(str(tmp_path / name) for name in "fea"), "-o", str(tmp_path / "out"), *options]) == 1
    error = capsys.readouterr().err
    assert message in error and "rule tokens" not in error
    assert not (tmp_path / "out").exists()
