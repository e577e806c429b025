"""Hiero extraction against an extractor that tries everything, and as a system of an experiment."""

import itertools
import json
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers import rule_features
from hiero_pairs import extract_pairs
from hypothesis import given, settings
from hypothesis import strategies as st

from lscfg.cli import main
from lscfg.corpus.parallel import stream_aligned
from lscfg.errors import InputError
from lscfg.extract import hiero_parts
from lscfg.extract.hiero import extract_files, mark_insignificant
from lscfg.extract.hiero_parts import Extraction, write_hiero, write_parts
from lscfg.extract.hiero_settings import HieroLimits, HieroSettings
from lscfg.grammar.features import RuleFeatures
from lscfg.grammar.select import select_rules
from lscfg.grammar.write import write_grammar
from lscfg.io.read import stream_lines
from lscfg.io.write import write_lines
from lscfg.kernel import Grammar, HieroExtractor, LineError
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.run import run_experiment


def initial_phrase_pairs(n, m, links, limits):
    """(i, j, k, l) of all phrase pairs within the limits, by trying every pair of spans."""
    found = []
    for i, j in itertools.combinations(range(n + 1), 2):
        for k, last in itertools.combinations(range(m + 1), 2):
            inside = [(s, t) for s, t in links if i <= s < j or k <= t < last]
            if not all(i <= s < j and k <= t < last for s, t in inside):
                continue
            tight = {i, j - 1} <= {s for s, _ in inside} and {k, last - 1} <= {t for _, t in inside}
            if not (tight or (limits.loose and inside)):
                continue
            most = limits.max_target_phrase or (limits.max_phrase if limits.loose else m)
            if j - i <= limits.max_phrase and last - k <= most:
                found.append((i, j, k, last))
    return found


def side(words, begin, end, gaps):
    """The words with each gap (begin, end, symbol) replaced by its symbol."""
    symbols = [(p, words[p]) for p in range(begin, end) if not any(a <= p < b for a, b, _ in gaps)]
    return [symbol for _, symbol in sorted(symbols + [(a, name) for a, _, name in gaps])]


def rules_of(phrase, phrases, src, tgt, links, limits):
    """The rules of one initial phrase pair, with repetition: one for each set of phrase pairs taken out."""
    i, j, k, last = phrase
    long = [p for p in phrases if p != phrase and p[1] - p[0] >= limits.min_hole]
    inner = [p for p in long if i <= p[0] and p[1] <= j and k <= p[2] and p[3] <= last]
    for arity in range(limits.max_arity + 1):
        for chosen in itertools.combinations(sorted(inner), arity):
            if any(a[1] >= b[0] for a, b in itertools.pairwise(chosen)):  # overlapping or adjacent
                continue
            if any(a[2] < b[3] and b[2] < a[3] for a, b in itertools.pairwise(chosen)):  # of loose ones on the target
                continue
            left = [
                (s, t) for s, t in links if i <= s < j and not any(a <= s < b or c <= t < d for a, b, c, d in chosen)
            ]
            f = side(src, i, j, [(a, b, f"[X,{x}]") for x, (a, b, _, _) in enumerate(chosen, 1)])
            if left and len(f) <= limits.max_symbols:
                e = side(tgt, k, last, [(c, d, f"[X,{x}]") for x, (_, _, c, d) in enumerate(chosen, 1)])
                yield f"[X] ||| {' '.join(f)} ||| {' '.join(e)}"


def all_rules(src, tgt, links, limits):
    """Fractional counts and occurrences of rules, and how many initial phrase pairs there are, and give one."""
    phrases = initial_phrase_pairs(len(src), len(tgt), links, limits)
    shares, tokens, used = Counter(), Counter(), 0
    for phrase in phrases:
        rules = list(rules_of(phrase, phrases, src, tgt, links, limits))
        used += bool(rules)
        for rule in rules:
            shares[rule] += Fraction(1, len(rules))
            tokens[rule] += 1
    return shares, tokens, len(phrases), used


def pharaoh(links):
    return " ".join(f"{i}-{j}" for i, j in links)


@st.composite
def aligned_pairs(draw):
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    words = draw(st.sampled_from(["a", "abc"]))  # repeated words give a rule in several ways
    src = [draw(st.sampled_from(words)) for _ in range(n)]
    tgt = [draw(st.sampled_from(words.upper())) for _ in range(m)]
    if draw(st.booleans()):  # a permutation has many phrase pairs
        links = set(enumerate(draw(st.permutations(range(min(n, m))))))
    else:
        links = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=10))
    return src, tgt, sorted(links)


some_limits = st.builds(
    HieroLimits,
    st.integers(1, 10),
    st.integers(0, 5),
    st.integers(1, 6),
    st.integers(0, 2),
    st.booleans(),
    st.integers(1, 3),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(aligned_pairs(), min_size=1, max_size=3), st.just(HieroLimits()) | some_limits)
def test_the_same_rules_and_counts_as_trying_everything(pairs, limits):
    made = extract_pairs([(" ".join(src), " ".join(tgt), pharaoh(links)) for src, tgt, links in pairs], limits)
    shares, tokens, phrases, used, bare = Counter(), Counter(), 0, 0, 0
    for pair in pairs:
        found = all_rules(*pair, limits)
        shares.update(found[0])
        tokens.update(found[1])
        phrases, used, bare = phrases + found[2], used + found[3], bare + (not found[3])
    texts = [made.rules.text(rule) for rule in range(len(made.rules))]
    assert len(set(texts)) == len(texts) and set(texts) == set(shares)
    for text, count, occurrences, arity in zip(texts, made.count, made.tokens, made.rules.arity, strict=True):
        assert count == pytest.approx(float(shares[text]), rel=1e-12) and occurrences == tokens[text]
        assert arity == text.split(" ||| ")[1].count("[X,")
    assert (made.sentences, made.phrases, made.used, made.bare) == (len(pairs), phrases, used, bare)
    assert made.count.sum() == pytest.approx(used)


@settings(max_examples=60, deadline=None)
@given(st.lists(aligned_pairs(), min_size=1, max_size=4), st.booleans())
def test_singletons_are_left_out_before_anything_is_counted(pairs, filtered):
    lines = [(" ".join(src), " ".join(tgt), pharaoh(links)) for src, tgt, links in pairs]
    every = extract_pairs(lines)
    words = every.rules.src_length - every.rules.arity
    kept = [r for r in range(len(every.rules)) if every.tokens[r] > 1 or words[r] < 2]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in "fea"]
        for path, column in zip(paths, zip(*lines, strict=True), strict=True):
            path.write_text("".join(f"{line}\n" for line in column))
        wanted = [lines[0][0]] if filtered else None  # which decides no count
        some = extract_files(*paths[:2], paths[2:], HieroLimits(no_singletons=True), places=True, wanted=wanted)
    assert [some.rules.text(r) for r in range(len(some.rules))] == [every.rules.text(r) for r in kept]
    assert (some.tokens == every.tokens[kept]).all() and (some.count == every.count[kept]).all()
    assert (np.bincount(some.places[:, 0], minlength=len(kept)) == some.tokens).all()
    features = rule_features(some)
    by_source = np.bincount(some.rules.source_id, some.count)
    assert np.allclose(10 ** -features[:, 0], some.count / by_source[some.rules.source_id])


def test_what_each_alignment_has_once_is_a_singleton(tmp_path):
    for name, line in (("f", "a b\nc d\nc d"), ("e", "A B\nC D\nC D"), ("a", "0-0 1-1\n0-0 1-1\n0-0 1-1")):
        (tmp_path / name).write_text(line + "\n")
    paths = [tmp_path / name for name in "fea"]
    for alignments in ([paths[2]], [paths[2]] * 3):
        found = extract_files(*paths[:2], alignments, HieroLimits(no_singletons=True))
        texts = {found.rules.src_text(r) for r in range(len(found.rules))}
        assert "c d" in texts and "a b" not in texts and "a" in texts


def test_a_rule_made_in_two_ways_has_both_shares():
    # a a a a a a a, monotone: "a [X,1] a [X,2] a" comes of the whole in several ways
    made = extract_pairs([("a a a a a a a", "a a a a a a a", pharaoh((i, i) for i in range(7)))])
    texts = [made.rules.text(rule) for rule in range(len(made.rules))]
    wanted = texts.index("[X] ||| a [X,1] a [X,2] a ||| a [X,1] a [X,2] a")
    assert made.tokens[wanted] > 1
    assert made.statistics()["initial phrase pairs"] == 28


def test_lexicon_is_that_of_the_minimal_grammar():
    from lscfg.extract.derive import derive

    lines = (["a b", "a"], ["x y", "x"], ["0-0", "0-0"])
    made, minimal = extract_pairs(zip(*lines, strict=True)), derive(*lines)
    assert made.rules.words == minimal.rules.words
    assert np.array_equal(made.lexicon, minimal.lexicon) and np.array_equal(made.lexicon_count, minimal.lexicon_count)


def test_no_links_give_no_rules(tmp_path):
    made = extract_pairs([("a b", "c", ""), ("a", "x", "0-0")])
    assert made.bare == 1 and len(made.rules) == 1
    write_grammar(tmp_path / "g", made, select_rules(made))
    assert len(Grammar.from_files([tmp_path / "g"])) == 1  # no root rule: the decoder's glue does it
    nothing = extract_pairs([("a b", "c", "")])
    write_grammar(tmp_path / "g.gz", nothing, select_rules(nothing, sentences=["a"]))
    assert len(Grammar.from_files([tmp_path / "g.gz"])) == 0


@pytest.mark.parametrize("shape", ["monotone", "inverted", "one block", "no links"])
def test_long_sentences(shape):
    n = 2000
    line = " ".join(f"w{i}" for i in range(n))
    links = {
        "monotone": [(i, i) for i in range(n)],
        "inverted": [(i, n - 1 - i) for i in range(n)],
        "one block": [(i, j) for i in range(n) for j in (0, n - 1)],
        "no links": [],
    }[shape]
    made = extract_pairs([(line, line, pharaoh(links))])
    assert made.used == (sum(n - k for k in range(10)) if shape in ("monotone", "inverted") else 0)


# ---- bad input ----


@pytest.mark.parametrize("links", ["0", "0-", "-0", "a-b", "0-0-0", "0-0,1-1", "0-5", "3-0", "99999999999999999999-0"])
def test_bad_links_name_file_and_line(links):
    with pytest.raises(InputError, match="al:2: "):
        extract_pairs([("a b c", "a b", "0-0"), ("a b c", "a b", links)])


@pytest.mark.parametrize("limits", [{"max_phrase": 0}, {"max_symbols": 0}, {"max_arity": 3}, {"max_target_phrase": -1}])
def test_limits_out_of_range(limits):
    with pytest.raises(InputError, match=next(iter(limits))):
        HieroLimits(**limits)
    values = {"max_phrase": 10, "max_target_phrase": 0, "max_symbols": 5, "max_arity": 2} | limits
    with pytest.raises(ValueError, match="out of range"):
        HieroExtractor(*values.values())


def aligned_files(tmp_path, src, tgt, links):
    paths = [tmp_path / name for name in ("f", "e.gz", "al")]
    for path, lines in zip(paths, (src, tgt, links), strict=True):
        write_lines(path, lines)
    return paths


BAD = [
    "",
    "  ",
    "a\tb",
    "a ||| b",
    "a [X] b",
    "[X,1]",
    "a\x00",
    "a\x0bb",
    "a\u200b",
    "a\u3000b",
    "\ufeffa",
    "a\x85b",
    "x\ry",
]


@pytest.mark.parametrize("bad", BAD)
def test_bad_sentences_name_file_and_line(tmp_path, bad):
    with pytest.raises(InputError, match="f:2: "):
        list(stream_aligned(*aligned_files(tmp_path, ["a", bad], ["x", "y"], ["", ""])))
    with pytest.raises(InputError, match=r"e\.gz:2: "):
        list(stream_aligned(*aligned_files(tmp_path, ["a", "b"], ["y", bad], ["", ""])))


def test_a_refused_pair_leaves_nothing():
    extractor = HieroExtractor(10, 0, 5, 2)
    for pair in (("a b", "x [X]", "0-0"), ("a b", "", ""), ("a b", "x", "0-0 0-1")):
        with pytest.raises(LineError) as caught:
            extractor.add(*pair)
        assert caught.value.stream == (2 if pair[1] == "x" else 1)
    assert extractor.sizes() == (0, 0, 0) and not any(extractor.arrays()[name].sum() for name in extractor.arrays())


def test_files_of_different_length(tmp_path):
    with pytest.raises(InputError, match=r"e\.gz: 1 line, but .*f has more"):
        list(stream_aligned(*aligned_files(tmp_path, ["a", "b"], ["x"], ["", ""])))
    with pytest.raises(InputError, match=r"f: 1 line, but .*al has more"):
        list(stream_aligned(*aligned_files(tmp_path, ["a"], ["x"], ["", ""])))
    with pytest.raises(InputError, match="empty"):
        list(stream_aligned(*aligned_files(tmp_path, [], [], [])))


def test_streams_name_file_and_line(tmp_path):
    (tmp_path / "t").write_bytes(b"good\r\n\nb\xe4d\n")
    lines = stream_lines(tmp_path / "t")
    assert [next(lines), next(lines)] == ["good", ""]
    with pytest.raises(InputError, match="t:3: not valid UTF-8"):
        next(lines)
    write_lines(tmp_path / "z.gz", ["a" * 1000])
    (tmp_path / "z.gz").write_bytes((tmp_path / "z.gz").read_bytes()[:-9])
    with pytest.raises(InputError, match="cut off"):
        list(stream_lines(tmp_path / "z.gz"))
    with pytest.raises(InputError, match="cannot read"):
        list(stream_lines(tmp_path / "none"))


# ---- experiments ----


@pytest.fixture
def experiment(tmp_path):
    src = ["la casa roja", "la casa verde", "la flor roja", "la flor verde", "una casa", "una flor"] * 3
    tgt = ["the red house", "the green house", "the red flower", "the green flower", "a house", "a flower"] * 3
    links = ["0-0 1-2 2-1"] * 4 + ["0-0 1-1"] * 2
    for name, lines in (("f", src), ("e", tgt), ("al", links * 3), ("dev.f", src[:4]), ("dev.e", tgt[:4])):
        write_lines(tmp_path / name, lines)
    write_lines(tmp_path / "test.f", ["una casa verde", "la flor"])
    write_lines(tmp_path / "test.e", ["a green house", "the flower"])

    def write(systems):
        (tmp_path / "x.toml").write_text(
            f"""[corpus]
source = "f"
target = "e"
alignment = "al"
dev_source = "dev.f"
dev_reference = "dev.e"
test_source = "test.f"
test_reference = "test.e"
[language_model]
order = 2
estimator = "lscfg"
discount_fallback = true
[hiero]
max_span = 12
[tuning]
iterations = 2
kbest = 10
[evaluation]
samples = 20
{systems}
"""
        )
        return tmp_path / "x.toml"

    return write


def test_rules_of_several_alignments(tmp_path, capsys):
    src, tgt, first, second = ["a b c", "c a"], ["A B C", "C A"], ["0-0 1-1 2-2", "0-0 1-1"], ["0-2 1-1 2-0", "0-0 0-1"]
    for name, lines in (("f", src), ("e", tgt), ("1", first), ("2", second)):
        write_lines(tmp_path / name, lines)
    ours = extract_files(tmp_path / "f", tmp_path / "e", [tmp_path / "1", tmp_path / "2"])
    theirs = extract_pairs(zip(src * 2, tgt * 2, first + second, strict=True))
    texts = ([counted.rules.text(rule) for rule in range(len(counted.rules))] for counted in (ours, theirs))
    assert next(texts) == next(texts)
    assert np.array_equal(ours.count, theirs.count) and ours.statistics() == theirs.statistics()
    write_lines(tmp_path / "2", ["0-0", "5-0"])
    with pytest.raises(InputError, match="2:2: "):
        extract_files(tmp_path / "f", tmp_path / "e", [tmp_path / "1", tmp_path / "2"])
    assert main(["grammar", "hiero", "f", "e", "-o", str(tmp_path / "g")]) == 1
    assert "hiero needs three files or more" in capsys.readouterr().err


@pytest.fixture
def aligned_twice(tmp_path):
    """Files of a corpus with two alignments."""
    random = np.random.default_rng(7)
    words = ["a", "b", "c", "d", "e", "f", "g"]
    lines = [[], [], [], []]
    for _ in range(60):
        n, m = random.integers(1, 12, 2)
        lines[0].append(" ".join(random.choice(words, n)))
        lines[1].append(" ".join(word.upper() for word in random.choice(words, m)))
        for links in lines[2:]:
            links.append(pharaoh((random.integers(n), random.integers(m)) for _ in range(8)))
    paths = [tmp_path / name for name in ("f", "e", "1", "2")]
    for path, text in zip(paths, lines, strict=True):
        write_lines(path, text)
    return paths


def test_rules_for_a_text_are_those_of_the_whole_grammar(aligned_twice):
    """Filtered while they are extracted or afterwards: the same rules, in the same order, with the same features."""
    paths = aligned_twice
    text = ["a b z c d e f g a", "", "g  g g c"]
    limits = HieroLimits(max_symbols=7)
    every = extract_files(*paths[:2], paths[2:], limits)
    some = extract_files(*paths[:2], paths[2:], limits, wanted=text)
    assert 0 < len(some.rules) < len(every.rules) and len(some.target_count) == some.rules.target_id.max() + 1
    found = []
    for counted in (every, some):
        kept = select_rules(counted, 3, text).kept
        found.append(
            [(counted.rules.text(rule), *row) for rule, row in zip(kept, RuleFeatures(counted)(kept), strict=True)]
        )
    assert [row[0] for row in found[0]] == [row[0] for row in found[1]]
    assert np.allclose([row[1:] for row in found[0]], [row[1:] for row in found[1]], rtol=1e-12, atol=1e-12)
    assert every.statistics()["initial phrase pairs"] == some.statistics()["initial phrase pairs"]
    for other in (["z"], []):
        nothing = extract_files(*paths[:2], paths[2:], wanted=other)
        assert not len(nothing.rules) and len(nothing.lexicon) == len(every.lexicon)


@pytest.mark.parametrize("text", [None, ["a b z c d e f g a", "", "g  g g c"]])
@pytest.mark.parametrize(("parts", "significance"), [(2, None), (5, None), (40, None), (5, -3.0)])
def test_parts_give_the_same_file(aligned_twice, tmp_path, parts, significance, text):
    source, target, *alignments = aligned_twice
    limits = HieroSettings(max_symbols=7, significance=significance)
    counted = mark_insignificant(extract_files(source, target, alignments, limits, wanted=text), source, target, limits)
    selection = select_rules(counted, 2, text)
    write_grammar(tmp_path / "whole.gz", counted, selection)
    corpus = Extraction(source, target, alignments, limits, text)
    written = write_parts(tmp_path / "parts.gz", corpus, parts, 2)
    assert (tmp_path / "parts.gz").read_bytes() == (tmp_path / "whole.gz").read_bytes()
    assert written.rules == len(selection.kept) > 10
    assert written.statistics == counted.statistics()
    assert written.dropped == selection.dropped


def test_as_many_parts_as_it_takes(aligned_twice, tmp_path, monkeypatch):
    """By what the beginning of the corpus has; and none where all rules fit."""
    source, target, *alignments = aligned_twice
    corpus = Extraction(source, target, alignments, HieroSettings())
    every = len(corpus.extract().rules)
    asked = []
    monkeypatch.setattr(hiero_parts, "write_parts", lambda path, corpus, parts, *_: asked.append(parts))
    assert write_hiero(tmp_path / "whole", corpus, every, 0).rules == every
    assert not asked
    for share in (2, 10):
        write_hiero(tmp_path / "parts", corpus, every // share, 0)
    assert 2 <= asked[0] <= 4 and 10 <= asked[1] <= 20
    each = [len(corpus.extract(part=(p, asked[1])).rules) for p in range(asked[1])]
    assert sum(each) == every and max(each) < every // 5


def test_grammar_in_little_memory(aligned_twice, tmp_path, capsys):
    corpus = [str(path) for path in aligned_twice]
    for name, more in (("whole", []), ("parts", ["--memory", "0.00005"])):
        assert main(["grammar", "hiero", *corpus, "-o", str(tmp_path / name), *more]) == 0
    assert "part 2 of" in capsys.readouterr().err
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    for wrong, message in (
        (["--sizes", "--memory", "1"], "--memory works only with -o"),
        (["--memory", "0"], "--memory must be above 0"),
        (["--memory", "nan"], "--memory must be above 0"),
        (["--memory", "1", "--set", "no_singletons=true"], "no_singletons needs all rules at once"),
        (["--memory", "1e-9"], "the memory is too small for a single rule"),
    ):
        assert main(["grammar", "hiero", *corpus, "-o", str(tmp_path / "none"), *wrong]) == 1
        assert message in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_hiero_system_of_an_experiment(experiment, tmp_path):
    path = experiment('[systems.MIN]\n[systems.HIERO]\ngrammar = "hiero"')
    run_experiment(path, tmp_path / "out", 1)
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["systems"]
    rules = {row["system"]: row["rules"] for row in rows}
    assert rules["HIERO"] > rules["MIN"] > 0
    ini = (tmp_path / "out" / "systems" / "HIERO" / "cdec.ini").read_text()
    assert "scfg_max_span_limit=12" in ini and "scfg_no_hiero_glue_grammar" not in ini
    assert "scfg_no_hiero_glue_grammar=true" in (tmp_path / "out" / "systems" / "MIN" / "cdec.ini").read_text()
    assert len((tmp_path / "out" / "systems" / "HIERO" / "test.output").read_text().splitlines()) == 2


def test_experiment_refuses_other_grammars(experiment):
    systems = '[systems.MIN]\ngrammar = "songs"'
    with pytest.raises(
        InputError,
        match=r"x\.toml:21: unknown grammar 'songs'; choose from [a-z, ]*hiero, [a-z, ]*both, and joined ones such",
    ):
        read_experiment(experiment(systems))


def test_hiero_limits_of_an_experiment_are_checked(experiment):
    path = experiment("[systems.MIN]")
    text = path.read_text()
    for key, value in (("max_arity", 3), ("max_phrase", 0), ("max_targets", 0)):
        path.write_text(text.replace("max_span = 12", f"{key} = {value}"))
        with pytest.raises(InputError, match=rf"x\.toml:\d+: (Hiero limit )?{key} must be"):
            read_experiment(path)


def test_loose_phrase_pairs_around_few_links_are_bounded():
    pair = (" ".join(f"s{k}" for k in range(30)), " ".join(f"t{k}" for k in range(30)), "7-7 15-15")
    bounded, any_number = (
        extract_pairs([pair], HieroLimits(loose=True, min_hole=2, max_target_phrase=limit)) for limit in (0, 1000)
    )
    assert 1000 < len(bounded.rules) < len(any_number.rules) / 20
    longest = max(len(bounded.rules.tgt(rule)) for rule in range(len(bounded.rules)))
    assert longest == HieroLimits().max_phrase
