"""Features, selection and files of grammars, against counts and searches by hand."""

import dataclasses
import gzip
import itertools
import math
import os
import pickle
import re
import subprocess

import numpy as np
import pytest
from estimates import estimate_mle
from helpers import rule_features, rule_table
from hypothesis import given, settings
from hypothesis import strategies as st

from lscfg.cdec_bridge.decoder import find_cdec
from lscfg.cli import build_parser, main
from lscfg.command_table import COMMANDS
from lscfg.commands import grammar as command
from lscfg.corpus.parallel import check_words
from lscfg.errors import InputError
from lscfg.extract.derive import derive
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.minimal import MinimalRules
from lscfg.grammar import write as grammar_module
from lscfg.grammar.counts import FEATURES, RuleCounts, effective_size
from lscfg.grammar.features import NO_TRANSLATION, RuleFeatures
from lscfg.grammar.select import matching_sides, select_rules
from lscfg.grammar.write import write_grammar, write_sentence_grammars, write_union
from lscfg.io.read import read_bytes
from lscfg.io.write import write_blocks, write_lines
from lscfg.kernel import DeriveOptions, Grammar, Rules
from lscfg.moses_bridge.rule_table import GLUE_FILE, ROOT, escape_words, score_names, write_rule_table

SRC = ["a b", "a b", "a", "a", "b a"]
TGT = ["x y", "y x", "x", "z", "y the x"]
LINKS = ["0-0 1-1", "0-1 1-0", "0-0", "0-0", "0-0 1-2"]


@pytest.fixture
def minimal():
    return MinimalRules.of(derive(SRC, TGT, LINKS))


def features(counted, rule):
    values = rule_features(counted)
    texts = [counted.rules.text(r).removeprefix("[X] ||| ") for r in range(len(counted.rules))]
    return dict(zip(counted.features, values[texts.index(rule)].tolist(), strict=True))


def write(path, counted, **options):
    selection = select_rules(counted, **options)
    write_grammar(path, counted, selection)
    return len(selection.kept)


# ---- features ----


def test_relative_frequencies_and_counts(minimal):
    # a -> x four times, a -> z once
    found = features(minimal, "a ||| x")
    assert math.isclose(found["EgivenF"], -math.log10(4 / 5)) and found["FgivenE"] == 0
    assert math.isclose(found["CountEF"], math.log10(5)) and math.isclose(found["SampleCountF"], math.log10(6))
    assert found["IsSingletonF"] == found["IsSingletonFE"] == 0
    single = features(minimal, "a ||| z")
    assert single["IsSingletonFE"] == 1 and single["IsSingletonF"] == 0


def test_lexical_weights(minimal):
    # x is linked to a every time; "the" never: its best partner is NULL, for which it stands alone
    found = features(minimal, "[X,1] [X,2] ||| [X,1] the [X,2]")
    assert found["MaxLexEgivenF"] == 0 and found["MaxLexFgivenE"] == 0
    assert math.isclose(features(minimal, "a ||| x")["MaxLexEgivenF"], -math.log10(4 / 5))


def test_glue_and_inverse(minimal):
    assert features(minimal, "[X,1] [X,2] ||| [X,1] [X,2]")["Glue"] == 1
    swapped = features(minimal, "[X,1] [X,2] ||| [X,2] [X,1]")
    assert swapped["Glue"] == 0 and swapped["Inverse"] == 1
    assert features(minimal, "[X,1] [X,2] ||| [X,1] the [X,2]")["Glue"] == 0


def test_shares_of_counts_and_single_occurrences_are_different_things():
    rules = rule_table(["a ||| x", "a ||| y", "b ||| x"])
    lexicon = np.array([[0, 1]], np.int32)
    counted = RuleCounts(rules, np.array([0.5, 0.25, 0.5]), np.array([2, 1, 1]), lexicon, np.array([1]))
    assert counted.features == FEATURES
    values = dict(zip(FEATURES, rule_features(counted).T.tolist(), strict=True))
    assert np.allclose(values["EgivenF"], -np.log10([2 / 3, 1 / 3, 1]))
    assert np.allclose(values["CountEF"], np.log10([1.5, 1.25, 1.5]))
    assert values["IsSingletonF"] == [0, 0, 1] and values["IsSingletonFE"] == [0, 1, 1]


RULES = ["a b ||| x y", "[X,1] a ||| x [X,1]", "c ||| y y", "b [X,1] a ||| z [X,1]", "a |||"]
RULES += ["[X,1] [X,2] ||| [X,2] [X,1]"]


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), st.integers(1, 9), max_size=20))
def test_lexical_weights_are_the_best_partners(links):
    links.pop((-1, -1), None)
    rules = rule_table(RULES)
    pairs = np.array(list(links), np.int32).reshape(-1, 2)
    counts = np.array(list(links.values()), np.int64)
    counted = RuleCounts(rules, np.ones(len(rules)), np.ones(len(rules), np.int64), pairs, counts)

    def cost(f, e, given):
        total = sum(c for pair, c in links.items() if pair[given] == (f, e)[given])
        return -math.log10(links[f, e] / total) if (f, e) in links else -math.log10(NO_TRANSLATION)

    for rule, weights in enumerate(RuleFeatures(counted).lexical_weights(np.arange(len(rules))).tolist()):
        f = [s for s in rules.src(rule).tolist() if s >= 0]
        e = [s for s in rules.tgt(rule).tolist() if s >= 0]
        assert math.isclose(weights[0], sum(min(cost(s, t, 0) for s in [*f, -1]) for t in e), abs_tol=1e-9)
        assert math.isclose(weights[1], sum(min(cost(s, t, 1) for t in [*e, -1]) for s in f), abs_tol=1e-9)


# ---- selection ----


@pytest.mark.parametrize("most", [0, 1, 2])
def test_grammar_and_model_have_the_same_arities(most):
    """No rule of more nonterminals than the trees were made for gets anywhere."""
    src, tgt, links = [*SRC, "a c", "a b c d"], [*TGT, "x", "w x y z"], [*LINKS, "0-0", "0-1 1-3 2-0 3-2"]
    made = derive(src, tgt, links, options=DeriveOptions(max_arity=most))
    assert {0, 1, 2, 4} == set(made.rules.arity.tolist())
    counted = MinimalRules.of(made)
    selection = select_rules(counted, 0)
    assert np.array_equal(selection.kept, np.flatnonzero(made.kept))
    assert selection.dropped == {f"more than {most} nonterminals": int((~made.kept).sum())}
    model = estimate_mle(made).rules
    texts = {counted.rules.text(rule) for rule in selection.kept}
    assert texts == {model.text(rule) for rule in range(len(model))} and len(texts) == len(model)


def test_most_frequent_targets_stay(minimal, tmp_path):
    write(tmp_path / "g", minimal, max_targets=1)
    lines = (tmp_path / "g").read_text().splitlines()
    assert [line.split(" ||| ")[1:3] for line in lines if line.startswith("[X] ||| a |||")] == [["a", "x"]]
    assert "EgivenF=0.09691" in lines[1]  # of all targets
    selection = select_rules(minimal, 1)
    assert sum(selection.dropped.values()) + len(selection.kept) == len(minimal.rules)
    assert len(select_rules(minimal, 0).kept) == len(minimal.rules)
    with pytest.raises(InputError, match="at least 1"):
        select_rules(minimal, -1)


def test_rules_of_three_nonterminals_are_left_out(tmp_path):
    counted = MinimalRules.of(derive(["a b c d"], ["p q r s"], ["0-1 1-3 2-0 3-2"]))
    assert write(tmp_path / "g", counted) == 4
    assert select_rules(counted).dropped["more than 2 nonterminals"] == 1


def matches(src, words):
    """True if the source side can cover a part of the sentence, by a regular expression over words."""
    parts = [r"(?:\S+ )+" if symbol.startswith("[X,") else re.escape(symbol) + " " for symbol in src.split()]
    return re.search("(?:^|(?<= ))" + "".join(parts), "".join(w + " " for w in words)) is not None


SOURCES = [" ".join(p) for n in (1, 2, 3, 4) for p in itertools.product("abX", repeat=n) if p.count("X") < 3]
SOURCES.remove("X")


def numbered(source):
    numbers = itertools.count(1)
    return " ".join(f"[X,{next(numbers)}]" if symbol == "X" else symbol for symbol in source.split())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=40), st.lists(st.text("abc", max_size=8), max_size=4))
def test_filter_is_exact(sources, sentences):
    sources = [numbered(source) for source in sources]
    rules = rule_table([f"{s} ||| {' '.join(t for t in s.split() if t[0] == '[')} x" for s in sources])
    lines = [" ".join(s) for s in sentences]
    found = list(matching_sides(rules, lines))
    for line, sides in zip(lines, found, strict=True):
        for rule in range(len(rules)):
            assert (rules.source_id[rule] in sides) == matches(rules.src_text(rule), line.split())


def test_filter_keeps_relative_frequencies_of_the_whole(minimal, tmp_path):
    selection = select_rules(minimal, sentences=["b"])
    assert [minimal.rules.src_text(r) for r in selection.kept] == ["b"]
    assert selection.dropped["no match in the filter text"] == len(minimal.rules) - 1
    write_grammar(tmp_path / "all", minimal, select_rules(minimal))
    write_grammar(tmp_path / "some", minimal, selection)
    assert set((tmp_path / "some").read_text().splitlines()) < set((tmp_path / "all").read_text().splitlines())


def test_effective_size():
    counted = MinimalRules.of(derive(SRC, TGT, LINKS))
    arity, tokens = counted.rules.arity, counted.tokens
    repeated = ((arity == 0) & (tokens > 1)).sum()
    assert effective_size(counted, 3) == 3 * (1 + repeated) + 9 * (arity == 1).sum() + 27 * (arity == 2).sum()


# ---- files ----


def test_written_grammar_is_read_back(minimal, tmp_path):
    count = write(tmp_path / "g.gz", minimal)
    grammar = Grammar.from_files([tmp_path / "g.gz"])
    assert len(grammar) == count + 1 == len(minimal.rules) + 1  # and the root rule
    assert grammar.lhs(count) == 1
    indptr, indices, values = grammar.features()
    for rule, row in enumerate(rule_features(minimal)):
        named = zip(minimal.features, row, strict=True)
        expected = {name: pytest.approx(value, rel=1e-5) for name, value in named if value}
        here = slice(indptr[rule], indptr[rule + 1])
        names = [grammar.feature_names[f] for f in indices[here]]
        assert dict(zip(names, values[here].tolist(), strict=True)) == expected


def test_threads_do_not_change_the_file(minimal, tmp_path, monkeypatch):
    monkeypatch.setattr(grammar_module, "BLOCK", 2)
    selection = select_rules(minimal)
    for name, threads in (("a.gz", 1), ("b.gz", 3), ("plain", 2)):
        write_grammar(tmp_path / name, minimal, selection, threads)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert read_bytes(tmp_path / "a.gz") == (tmp_path / "plain").read_bytes()


def test_blocks_are_one_gzip_stream(tmp_path):
    parts = [b"a" * 1000, b"", os.urandom(3000)]
    write_blocks(tmp_path / "f.gz", [lambda part=part: part for part in parts], 2)
    data = (tmp_path / "f.gz").read_bytes()
    assert gzip.decompress(data) == b"".join(parts) and data.count(b"\x1f\x8b\x08\0\0\0\0\0") == 1
    write_blocks(tmp_path / "empty.gz", [])
    assert gzip.decompress((tmp_path / "empty.gz").read_bytes()) == b""

    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_blocks(tmp_path / "f.gz", [lambda: b"x", fails])
    assert (tmp_path / "f.gz").read_bytes() == data and len(list(tmp_path.iterdir())) == 2


def test_sentence_grammars(minimal, tmp_path):
    sentences = ["b", "", "b a c"]
    selection = select_rules(minimal, sentences=sentences, separately=True)
    write_sentence_grammars(tmp_path / "g", minimal, selection, sentences, threads=2)
    lines = (tmp_path / "g" / "segments.sgm").read_text().splitlines()
    assert lines[1:] == [f'<seg grammar="{tmp_path}/g/grammar.2.gz" id="2">b a c</seg>']
    for n, sentence in enumerate(sentences):
        write_grammar(tmp_path / "alone", minimal, select_rules(minimal, sentences=[sentence]))
        assert read_bytes(tmp_path / "g" / f"grammar.{n}.gz") == (tmp_path / "alone").read_bytes()
    with pytest.raises(InputError, match="seg"):
        write_sentence_grammars(tmp_path / "g", minimal, selection, ["</seg>", "", ""])
    with pytest.raises(InputError, match="brackets"):
        write_sentence_grammars(tmp_path / "<g>", minimal, selection, sentences)


def test_cdec_reads_sentence_grammars(tmp_path):
    program = find_cdec()
    if program is None:
        pytest.skip("no cdec: not on PATH and CDEC_ROOT is not set")
    words = ["[", "|a|", "x]", "<b>", "a=1", "日本"]
    line = " ".join(words)
    links = " ".join(f"{i}-{i}" for i in range(len(words)))
    counted = MinimalRules.of(derive([line], [" ".join(w + "t" for w in words)], [links]))
    selection = select_rules(counted, sentences=[line], separately=True)
    write_sentence_grammars(tmp_path / "g", counted, selection, [line])
    (tmp_path / "ini").write_text("formalism=scfg\nscfg_no_hiero_glue_grammar=true\nscfg_max_span_limit=100\n")
    with open(tmp_path / "g" / "segments.sgm") as text:
        done = subprocess.run([program, "-c", tmp_path / "ini"], stdin=text, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == " ".join(w + "t" for w in words)


# ---- bad input ----


BROKEN = ["", "a b", "a\tb", "a\r", "a\n", "|||", "[X]", "[X,1]", "[a]", "\x85", "\u200b", "a\u3000b", "\u2028"]


@pytest.mark.parametrize("word", BROKEN)
def test_no_grammar_is_written_with_a_word_that_breaks_it(minimal, tmp_path, word):
    words = [*minimal.rules.words[:-1], word]
    broken = dataclasses.replace(minimal, rules=dataclasses.replace(minimal.rules, words=words))
    for write_it in (write_grammar, write_rule_table):
        with pytest.raises(InputError, match="cannot appear in a grammar"):
            write_it(tmp_path / "g", broken, select_rules(broken))
    assert not list(tmp_path.iterdir())


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4)
WORDS |= st.text("[]|X,1=#-\u200b\u3000 \t", min_size=1, max_size=5)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4, unique=True))
def test_what_is_written_is_what_is_read(tmp_path_factory, words):
    try:
        check_words(words)
    except InputError:
        return
    line = " ".join(words)
    counted = MinimalRules.of(derive([line], [line], [" ".join(f"{i}-{i}" for i in range(len(words)))]))
    path = tmp_path_factory.mktemp("g") / "g"
    count = write(path, counted)
    grammar = Grammar.from_files([path])
    assert len(grammar) == count + 1
    rules = counted.rules
    for rule in range(count):
        sides = (grammar.src(rule), rules.src(rule).tolist()), (grammar.tgt(rule), rules.tgt(rule).tolist())
        for side, expected in sides:
            found = [grammar.vocab.word(s) if s >= 0 else s for s in side]
            assert found == [rules.words[s] if s >= 0 else s for s in expected]


def test_long_sentences(tmp_path):
    line = " ".join(f"w{i}" for i in range(2000))
    for links in ("", " ".join(f"{i}-{i}" for i in range(2000))):
        counted = MinimalRules.of(derive([line], [line], [links]))
        selection = select_rules(counted, sentences=[line])
        write_grammar(tmp_path / "g", counted, selection)
        assert len(Grammar.from_files([tmp_path / "g"])) == len(selection.kept) + 1 == len(counted.rules) + 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rules.offsets", [0, 5, 3]),
        ("rules.offsets", [1, 3, 4]),
        ("rules.src_length", [9, 1]),
        ("rules.src_length", [-1, 1]),
        ("rules.symbols", [7, 1, 0, 2]),
        ("vocab.offsets", [0, 9]),
    ],
)
def test_arrays_that_do_not_fit_never_reach_the_kernel(name, value):
    arrays = rule_table(["a ||| b", "a ||| c"]).arrays()
    assert len(Rules(arrays)) == 2
    with pytest.raises(ValueError, match="rule table"):
        Rules({**arrays, name: np.array(value, arrays[name].dtype)})


def test_a_table_that_the_kernel_has_seen_can_be_copied():
    rules = rule_table(["a ||| b", "a ||| c"])
    assert rules.source_id.tolist() == [0, 0]
    assert pickle.loads(pickle.dumps(rules)).target_id.tolist() == [0, 1]


# ---- Moses ----


def test_moses_rule_table(minimal, tmp_path):
    write_rule_table(tmp_path / "rule-table.gz", minimal, select_rules(minimal), 2)
    lines = read_bytes(tmp_path / "rule-table.gz").decode().splitlines()
    assert len(lines) == len(minimal.rules) and lines == sorted(lines, key=lambda line: line.split(" ||| ")[0].encode())
    bare = [line for line in lines if line.startswith("[X][X] [X][X] [X] ||| [X][X] [X][X] [X]")]
    swapped = next(line for line in bare if "0-1 1-0" in line)
    fields = swapped.split(" ||| ")
    assert fields[3] == "0-1 1-0" and swapped.endswith(" ||| ||| |||")
    expected = features(minimal, "[X,1] [X,2] ||| [X,2] [X,1]")
    assert score_names(minimal)[:4] == ["FgivenE", "MaxLexFgivenE", "EgivenF", "MaxLexEgivenF"]
    for name, score in zip(score_names(minimal), map(float, fields[2].split()), strict=True):
        assert math.isclose(score, 10 ** -expected[name], rel_tol=1e-5)
    assert fields[4].split()[:3] == ["1", "3", "1"]
    assert (tmp_path / GLUE_FILE).read_text().splitlines() == list(ROOT)
    plain = RuleCounts(minimal.rules, minimal.count, minimal.tokens, minimal.lexicon, minimal.lexicon_count)
    write_rule_table(tmp_path / "rule-table", plain, select_rules(plain))
    assert len((tmp_path / GLUE_FILE).read_text().splitlines()) == 3


def test_moses_scores_have_a_logarithm(tmp_path):
    line = " ".join(f"w{i}" for i in range(100))
    counted = MinimalRules.of(derive([line], [line], [" ".join(f"{i}-0 0-{i} " for i in range(100))]))
    costly = dataclasses.replace(counted, lexicon=counted.lexicon[:1], lexicon_count=counted.lexicon_count[:1])
    write_rule_table(tmp_path / "t", costly, select_rules(costly))
    scores = [float(s) for row in (tmp_path / "t").read_text().splitlines() for s in row.split(" ||| ")[2].split()]
    assert min(scores) == 1e-30 and np.float32(min(scores)) > 0


def test_moses_escapes_can_be_undone():
    words = ["a", "|", "x]", "[y", "a|b"]
    assert escape_words(words) == ["a", "&#124;", "x&#93;", "&#91;y", "a&#124;b"]
    with pytest.raises(InputError, match=r"both the word '\|' and"):
        escape_words(["|", "&#124;"])


# ---- the command ----


def lscfg_grammar(*arguments):
    args = build_parser(COMMANDS, "grammar").parse_args(["grammar", *map(str, arguments)])
    command.run(args)


@pytest.fixture
def corpus(tmp_path):
    for name, lines in (("f", SRC), ("e", TGT), ("al", LINKS)):
        write_lines(tmp_path / name, lines)
    derive(SRC, TGT, LINKS).save(tmp_path / "d")
    return [tmp_path / name for name in ("f", "e", "al")]


def test_command_writes_both_grammars(corpus, tmp_path, minimal):
    lscfg_grammar("minimal", tmp_path / "d", "-o", tmp_path / "min.gz")
    write(tmp_path / "expected", minimal)
    assert read_bytes(tmp_path / "min.gz") == (tmp_path / "expected").read_bytes()
    write_lines(tmp_path / "text", ["b", ""])
    lscfg_grammar(
        "hiero", *corpus, "--filter", tmp_path / "text", "-o", tmp_path / "h", "--per-sentence", tmp_path / "g"
    )
    assert [line.split(" ||| ")[1] for line in (tmp_path / "h").read_text().splitlines()] == ["b"]
    assert {path.name for path in (tmp_path / "g").iterdir()} == {"grammar.0.gz", "grammar.1.gz", "segments.sgm"}


def test_command_prints_sizes(corpus, tmp_path, capsys):
    lscfg_grammar("minimal", tmp_path / "d", "--sizes")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["grammar", "MIN", "LV m = 1", "LV m = 8", "LV m = 16"]
    assert lines[1].split() == ["MIN", "3", "0", "3", "6"]
    lscfg_grammar("hiero", *corpus, "--sizes")
    assert [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()] == ["grammar", "HIERO"]


def test_sizes_count_rules_of_many_nonterminals():
    """Rules of samples have up to nine."""
    rules = rule_table(["a ||| x", "b ||| x", "[X,1] a [X,2] b [X,3] ||| [X,3] y [X,1] [X,2]"])
    lexicon = np.empty((0, 2), np.int32), np.empty(0, np.int64)
    counted = RuleCounts(rules, np.ones(3), np.ones(3, np.int64), *lexicon, max_arity=9)
    rows = [line.split() for line in command.size_table("sampled", counted, RuleInputs()).splitlines()]
    assert rows[0][-3:] == ["arity", "3", "size"] and rows[1] == ["SAMPLED", "2", "0", "0", "1", "3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["minimal", "d"], "nothing to do"),
        (["minimal", "f", "e", "al", "-o", "g"], "minimal needs one file"),
        (["hiero", "f", "e", "-o", "g"], "hiero needs three files or more"),
        (["hiero", "f", "e", "al", "--join", "d", "--filter", "f", "--per-sentence", "g"], "--join needs an output"),
        (["minimal", "d", "--per-sentence", "g"], "needs the sentences"),
        (
            ["minimal", "d", "--join", "d", "--filter", "f", "-o", "h", "--per-sentence", "g"],
            "leave out --per-sentence",
        ),
        (["minimal", "d", "--oov", "--filter", "f", "-o", "h", "--per-sentence", "g"], "leave out --per-sentence"),
        (["minimal", "d", "-o", "g", "--max-targets", "-1"], "keeps at least 1 target side"),
        (["hiero", "f", "e", "al", "-o", "g", "--set", "max_arity=3"], "--set max_arity: max_arity must be at most 2"),
        (["hiero", "f", "e", "f", "-o", "g"], "f:1: 'a' is not an alignment link"),
        (["sampled", "f", "e", "al", "-o", "g", "--write", "tarce=t"], "did you mean trace"),
    ],
)
def test_command_refuses(corpus, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        lscfg_grammar(*arguments)
    assert not (tmp_path / "g").exists()


def test_union_has_each_rule_once_with_the_features_of_the_first(tmp_path):
    first = ["[X] ||| a ||| b ||| A=1", "[X] ||| a ||| c", "[X] ||| c [X,1] ||| [X,1] d ||| A=1"]
    second = [
        "[X] ||| a ||| b ||| A=2",
        "[X] ||| a ||| c ||| A=2",
        "[X] ||| e ||| f ||| A=2 ||| 0-0",
        "[S] ||| [X,1] ||| [1] |||",
    ]
    (tmp_path / "first").write_text("\n".join(first))  # without a last newline
    write_lines(tmp_path / "second.gz", second)
    assert write_union(tmp_path / "both.gz", tmp_path / "first", tmp_path / "second.gz") == 5
    assert gzip.decompress((tmp_path / "both.gz").read_bytes()).decode().splitlines() == first + second[2:]
    assert write_union(tmp_path / "threads.gz", tmp_path / "first", tmp_path / "second.gz", threads=2) == 5
    assert (tmp_path / "threads.gz").read_bytes() == (tmp_path / "both.gz").read_bytes()
    with pytest.raises(InputError, match="cannot read"):
        write_union(tmp_path / "none", tmp_path / "first", tmp_path / "third")
    assert not (tmp_path / "none").exists()


def test_command_writes_hiero_and_minimal_rules_in_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, lines in (("f", SRC), ("e", TGT), ("a", LINKS)):
        write_lines(tmp_path / name, lines)
    derive(SRC, TGT, LINKS).save("d")
    hiero = ["hiero", "f", "e", "a"]
    for arguments in (
        ["minimal", "d", "-o", "minimal"],
        [*hiero, "-o", "hiero"],
        [*hiero, "--join", "minimal", "-o", "both"],
    ):
        assert main(["grammar", *arguments]) == 0
    said = capsys.readouterr().err.splitlines()
    rules = {name: (tmp_path / name).read_text().splitlines() for name in ("minimal", "hiero", "both")}
    texts = {name: [line.rsplit(" |||", 1)[0] for line in lines] for name, lines in rules.items()}
    assert texts["both"] == texts["hiero"] + [text for text in texts["minimal"] if text not in texts["hiero"]]
    assert {*rules["both"]} <= {*rules["hiero"], *rules["minimal"]} and len(rules["both"]) > len(rules["hiero"]) > 0
    assert said[-1].endswith(f"both: {len(rules['both'])} rules")
