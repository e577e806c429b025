"""The examples in the pages of docs/ are read by the code that users run."""

import errno
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from helpers import rule_table, save_model
from hiero_pairs import extract_pairs

from lscfg.cli import main
from lscfg.corpus.parallel import check_plain, check_sentences
from lscfg.decode.derivations import AppliedRule, Translated, derivations_json
from lscfg.decode.glossary import Glossary
from lscfg.errors import InputError, cut, quote
from lscfg.estimate.estimator import ESTIMATORS
from lscfg.estimate.features import read_classes, read_rule_values
from lscfg.estimate.spectral import SpectralSettings
from lscfg.extract.derive import derive
from lscfg.formats.forests import ForestFile
from lscfg.formats.ini import format_ini, read_ini
from lscfg.formats.kbest import Hypothesis, format_hypothesis, parse_hypothesis, read_kbest, read_translations
from lscfg.formats.weights import read_weights, unknown_weights, write_weights
from lscfg.grammar.select import select_rules
from lscfg.grammar.write import write_sentence_grammars
from lscfg.induce.sampled.fragments import Fragments
from lscfg.induce.sampled.productions import Production
from lscfg.io.arpa import check_arpa
from lscfg.io.read import read_bytes, read_lines, split_fields, stream_lines
from lscfg.io.vectors import read_vectors
from lscfg.io.write import atomic_write, check_output, write_lines
from lscfg.kernel import LATENT_FEATURES, Grammar, ParseOptions, S
from lscfg.lm.lmplz import build_lm
from lscfg.moses_bridge.nbest import read_nbest
from lscfg.moses_bridge.rule_table import write_rule_table
from lscfg.study.diagnose import format_diagnosis
from lscfg.study.inspect import show_tree
from lscfg.study.mrr import format_scores
from lscfg.tuning.experiment.config import read_experiment
from lscfg.tuning.experiment.schema import START_WEIGHTS, Chosen
from lscfg.tuning.experiment.steps.latent import Latent

PAGES = "".join(path.read_text("utf-8") for path in sorted((Path(__file__).parents[2] / "docs").rglob("*.md")))
"""All pages of the documentation."""


@pytest.fixture
def example(tmp_path):
    """Writes a named example of the pages to a file."""

    def write(name):
        found = re.search(rf"<!-- example: {name} -->\n```\n(.*?)```", PAGES, re.S)
        assert found, name
        path = tmp_path / name
        path.write_text(found[1], encoding="utf-8")
        return path

    return write


def test_every_example_has_a_test():
    source = Path(__file__).read_text(encoding="utf-8")
    names = re.findall(r"<!-- example: ([\w-]+) -->", PAGES)
    assert "span-grammar" in names and len({*names}) == len(names) == PAGES.count("<!-- example")
    assert [name for name in names if f'example("{name}")' not in source] == []


def test_text_and_alignments(example):
    src = read_lines(example("text"))
    check_sentences(src, "text")
    links = read_lines(example("alignments"))
    tgt = ["i 'd like a quiet room , please .", "where is the station ?"]
    assert len(derive(src, tgt, links)) == 2


def test_tree(example, tmp_path):
    derive(["una habitación tranquila ."], ["a quiet room ."], ["0-0 1-2 2-1 3-3"]).save(tmp_path / "d")
    assert show_tree(tmp_path / "d", 1) == example("tree").read_text(encoding="utf-8").rstrip("\n")


def test_word_classes_and_rule_values(example):
    assert read_classes(example("classes")) == {"una": "determiner", "habitación": "noun"}
    rules = rule_table(["una ||| a", "[X,1] [X,2] ||| [X,2] [X,1]"])
    assert read_rule_values(example("values"), rules).tolist() == [[-0.5, 1], [0.25, 0]]


def test_word_vectors(example):
    assert read_vectors(example("vectors"), ["una", "de"]).tolist() == [[0.25, -1, 0.5], [0, 0, 0]]


def test_glossary(example):
    terms = [entry.term for entry in Glossary.read(example("glossary")).entries]
    assert [(one.source, one.targets, one.mode, one.match) for one in terms] == [
        ("habitación", ("room", "chamber"), "hard", "exact"),
        ("WC", (), "keep", "nocase"),
        ("tranquila", ("calm",), "soft", "exact"),
    ]


def test_grammar(example):
    grammar = Grammar.from_files([example("grammar")])
    assert len(grammar) == 3 and grammar.feature_names == ["EgivenF", "CountEF", "Inverse"]


def test_segments(example, tmp_path):
    text = ["una habitación tranquila", "una"]
    counted = extract_pairs([(text[0], "a quiet room", "0-0 1-2 2-1")])
    selection = select_rules(counted, sentences=text, separately=True)
    write_sentence_grammars(tmp_path / "g", counted, selection, text)
    written = (tmp_path / "g" / "segments.sgm").read_text(encoding="utf-8")
    assert written.replace(str(tmp_path / "g"), "DIR") == example("segments").read_text(encoding="utf-8")


def test_moses_rule_table(example, tmp_path):
    counted = extract_pairs([("habitación tranquila", "quiet room", "0-1 1-0")])
    write_rule_table(tmp_path / "table", counted, select_rules(counted))
    assert (tmp_path / "table").read_text(encoding="utf-8") == example("moses").read_text(encoding="utf-8")


def test_ini(example, tmp_path):
    for name in ("min.grammar.gz", "lm.arpa"):
        (tmp_path / name).touch()
    path = example("ini")
    config = read_ini(path)
    assert dict(config.latent.options) == {"model": "clusters16.lscfg", "features": "ratios,context"}
    expected = path.read_text(encoding="utf-8").replace("cubepruning_pop_limit=200\n", "")  # a default
    assert "\n".join(format_ini(config)).replace(f"{tmp_path}/", "") + "\n" == expected


def test_weights(example, tmp_path):
    weights = read_weights(example("weights"))
    assert weights == {name: value for name, value in START_WEIGHTS.items() if not name.startswith("Latent")}
    write_weights(tmp_path / "w", weights)
    assert read_weights(tmp_path / "w") == weights
    write_weights(tmp_path / "w", {"T:#": 0.5, "T:می\u200cروم": 1.0})
    (tmp_path / "w").write_text("# words\n" + (tmp_path / "w").read_text() + "A 2 # of rules\nB 3# too\n #C 4\n")
    assert read_weights(tmp_path / "w") == {"T:#": 0.5, "T:می\u200cروم": 1.0, "A": 2.0, "B": 3.0}


@pytest.mark.parametrize("line", ["A", "A x", "A 1 2", "A nan", "B 2"])
def test_malformed_weights(tmp_path, line):
    (tmp_path / "w").write_text(f"B 1\n{line}\n")
    with pytest.raises(InputError, match="w:2: "):
        read_weights(tmp_path / "w")


def test_a_weight_that_is_no_number_is_quoted(tmp_path):
    (tmp_path / "w").write_text("A 1\nB 0.5x\n")
    with pytest.raises(InputError, match=r"w:2: expected 'name value', found 'B 0.5x': '0.5x' is not a number$"):
        read_weights(tmp_path / "w")


def test_kbest(example):
    path = example("kbest")
    lists = read_kbest(path)
    assert [format_hypothesis(0, h) for h in lists[0]] == read_lines(path)
    assert read_translations(path) == {sentence: [h.text for h in own] for sentence, own in lists.items()}


@pytest.mark.parametrize(
    "line", ["0 ||| a ||| A=1", "0 ||| a ||| A ||| 1", "x ||| a ||| ||| 1", "0 ||| a ||| A=nan ||| 1"]
)
def test_malformed_kbest(tmp_path, line):
    (tmp_path / "k").write_text(f"0 ||| a ||| ||| 1\n{line}\n")
    with pytest.raises(InputError, match="k:2: "):
        read_kbest(tmp_path / "k")


@pytest.mark.parametrize("line", ["0 ||| a ||| A=1", "x ||| a ||| ||| 1", "0"])
def test_malformed_translations(tmp_path, line):
    (tmp_path / "k").write_text(f"0 ||| a ||| ||| 1\n{line}\n")
    with pytest.raises(InputError, match="k:2: "):
        read_translations(tmp_path / "k")


def test_a_kbest_list_cut_in_a_number_is_refused(tmp_path):
    (tmp_path / "k").write_text("0 ||| a ||| A=1 ||| -1.25\n0 ||| b ||| A=1 ||| -1.")
    with pytest.raises(InputError, match=r"k:2: .*cut"):
        read_kbest(tmp_path / "k")


def test_translations_of_other_programs_are_words_between_blanks(tmp_path):
    """The readers of k-best lists and of text agree on lines and words."""
    for text in ("a\u2028b", "a\x0b\x0c b", "a\tb", "a  b", "a\u00a0b"):
        (tmp_path / "k").write_text(f"0 ||| {text} ||| A=1 ||| -1\n", encoding="utf-8")
        assert read_translations(tmp_path / "k") == {0: ["a b"]}
        assert read_kbest(tmp_path / "k") == {0: [Hypothesis("a b", {"A": 1.0}, -1.0)]}
        (tmp_path / "n").write_text(f"0 ||| {text} ||| A= 1 ||| -1\n", encoding="utf-8")
        assert read_nbest(tmp_path / "n") == {0: [Hypothesis("a b", {"A": 1.0}, -1.0)]}


def test_derivation(example):
    """Compares the objects of a sentence, except for the numbers."""
    written = json.loads(example("derivation").read_text(encoding="utf-8"))
    features = [Hypothesis(d["translation"], d["features"], d["score"]) for d in written["derivations"]]
    rules = [tuple(AppliedRule(**rule) for rule in d["rules"]) for d in written["derivations"]]
    translated = Translated(" ".join(written["words"]), features, tuple(rules))
    assert json.loads(derivations_json(written["id"], translated)) == written


def test_nbest(example):
    assert read_nbest(example("nbest"))[0][0].features["TM_1"] == -0.5


def test_arpa(example, tmp_path):
    assert check_arpa(example("arpa"), 2) == 2
    write_lines(tmp_path / "text", ["a b", "a c"])
    build_lm(tmp_path / "text", tmp_path / "made", 2, (), (0.5, 1.0, 1.5), "lscfg")
    assert (tmp_path / "made").read_text(encoding="utf-8") == example("arpa").read_text(encoding="utf-8")


def test_ranks(example):
    content = json.loads(example("ranks").read_text(encoding="utf-8"))
    assert "+0.0310 ± 0.0060" in format_scores(content)


def test_diagnosis(example):
    content = json.loads(example("diagnosis").read_text(encoding="utf-8"))
    assert "m = 1" in format_diagnosis(content)


def test_marginals(example, tmp_path):
    """They are read as forests, and ``lscfg inspect marginals`` writes the very same of a model with this one rule."""
    path = example("marginals")
    (stored,) = ForestFile(path)
    assert (stored.words, stored.forest.node_span.tolist(), stored.forest.n_apps) == (["una"], [[0, 1]], 1)
    assert stored.names == LATENT_FEATURES[:3] and stored.features.tolist() == [[0, 0, 0]]
    save_model(tmp_path / "m", rule_table(["una ||| a"]), [np.exp([-1.5])], np.ones(1), np.zeros(1))
    write_lines(tmp_path / "text", ["una", "", "nueva"])
    assert main(["inspect", "marginals", str(tmp_path / "m"), str(tmp_path / "text"), "-o", str(tmp_path / "out")]) == 0
    written, empty, unknown = map(json.loads, read_lines(tmp_path / "out"))
    record = json.loads(path.read_text(encoding="utf-8"))
    assert written == record | {"log_g": pytest.approx(-1.5)} and record["log_g"] == -1.5
    assert empty == {"id": 1, "words": [], "parsed": False}
    assert (unknown["sign"], unknown["log_g"], unknown["edges"][0]["pass"]) == (0, None, True)
    assert len(list(ForestFile(tmp_path / "out"))) == 3


def test_forest(example):
    (stored,) = ForestFile(example("forest"))
    assert (stored.words, stored.forest.n_nodes, stored.forest.n_apps) == (["una"], 2, 4)
    assert sorted(stored.features[:, 0]) == [0, 0, 0.30103, 0.60206]


def test_fragments(example):
    productions = [
        Production("S", (0, 1), (0, 1), ("NP", "VP")),
        Production("VP", ("saw", 0), ("vio", 0), ("NP",)),
    ]
    found = Fragments(productions, {(0, -1, 1, -1): 1.75}, [], {}, 1, 8)
    assert [*found.lines()] == read_lines(example("fragments"))


def test_span_grammar(example):
    grammar = Grammar.from_files([example("span-grammar")])
    forest = grammar.parse(grammar.vocab.add_line("una habitación"), ParseOptions(10, False, 0, S))
    assert forest is not None and forest.node_span.tolist() == [[0, 1], [0, 2], [0, 2]]
    assert {*LATENT_FEATURES[:3]} <= {*grammar.feature_names}


def test_experiment(example, tmp_path):
    for name in ("train.ja", "train.en", "dev.ja", "dev.en", "test.ja", "test.en"):
        (tmp_path / name).touch()
    experiment = read_experiment(example("experiment"))
    assert experiment.systems["SPECTRAL"].step(Latent).estimator == Chosen(
        "spectral", SpectralSettings(m=8), ESTIMATORS["spectral"].VERSION
    ) and experiment.corpus.dev_reference == [tmp_path / "dev.en"]


def test_gzip_by_name_and_equal_bytes(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_lines(tmp_path / name, ["é", "日"])
    assert read_lines(tmp_path / "a.gz") == ["é", "日"]
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_bad_text_names_file_and_line(tmp_path):
    (tmp_path / "t").write_bytes(b"good\nb\xe4d\n")
    with pytest.raises(InputError, match="t:2: not valid UTF-8"):
        read_lines(tmp_path / "t")
    write_lines(tmp_path / "z.gz", ["a" * 1000])
    data = (tmp_path / "z.gz").read_bytes()
    for damaged in (data[:-9], data[:12] + b"\xff\xff\xff" + data[15:]):
        (tmp_path / "z.gz").write_bytes(damaged)
        with pytest.raises(InputError, match=r"z\.gz: compressed file is cut off or damaged|z\.gz: cannot read"):
            read_bytes(tmp_path / "z.gz")


def test_bars_within_words():
    assert split_fields("1 ||| a|||b |||| ||| |||") == ["1", "a|||b ||||", "", ""]
    hypothesis = Hypothesis("a|||b ||||", {"A": 1.0}, -2.0)
    assert parse_hypothesis(format_hypothesis(1, hypothesis)) == (1, hypothesis)


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
def test_lines_may_end_as_in_windows(tmp_path, end):
    (tmp_path / "t").write_bytes(f"una casa\r\nla\n\r\nla casa{end}".encode())
    assert read_lines(tmp_path / "t") == list(stream_lines(tmp_path / "t")) == ["una casa", "la", "", "la casa"]


def test_outputs_that_cannot_be_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    for name, message in ((".", "is a folder; name a file in it"), ("file/x", "file: cannot make the folder")):
        with pytest.raises(InputError, match=message):
            write_lines(name, ["a"])
        with pytest.raises(InputError, match=message):
            check_output(name)
    check_output("file")
    check_output("new/file")
    assert [path.name for path in (tmp_path / "new").iterdir()] == []


def test_pipes_and_devices_are_written_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit((tmp_path / "pipe").read_text)
        write_lines(tmp_path / "pipe", ["a"])
        assert found.result() == "a\n" and (tmp_path / "pipe").is_fifo()
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full to be a full disk")
    with pytest.raises(InputError, match="/dev/full: cannot write: No space left"):
        write_lines("/dev/full", ["a" * 100_000])


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/dev/../dev//fd/{}", "/proc/self/fd/{}"])
def test_an_open_file_is_continued_and_not_truncated(tmp_path, name):
    if not os.path.isdir(os.path.dirname(name)):
        pytest.skip("a system without /proc")
    with open(tmp_path / "f", "w") as file:
        path = name.format(file.fileno())
        file.write("head\n")
        file.flush()
        check_output(path)
        write_lines(path, ["a"])
        file.write("tail\n")
    assert (tmp_path / "f").read_text() == "head\na\ntail\n"
    with open(tmp_path / "f") as file:
        path = name.format(file.fileno())
        for write in (check_output, lambda path: write_lines(path, ["b"])):
            with pytest.raises(InputError, match=f"{file.fileno()}: is not open for writing; name another output"):
                write(path)
    with pytest.raises(InputError, match=f"cannot write: {os.strerror(errno.EBADF)}"):
        check_output(name.format(999_999_999))
    assert (tmp_path / "f").read_text() == "head\na\ntail\n"


def test_a_failed_write_leaves_the_old_file(tmp_path):
    write_lines(tmp_path / "f", ["old"])
    with pytest.raises(ZeroDivisionError), atomic_write(tmp_path / "f") as file:
        file.write("new")
        raise ZeroDivisionError
    assert read_lines(tmp_path / "f") == ["old"] and [p.name for p in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize(
    ("line", "kind"), [("((('una',0,1),),(('casa',0,1),),)", "lattice"), ('<seg id="3">una casa</seg>', "segment")]
)
def test_input_of_cdec_is_not_taken_for_words(line, kind):
    check_plain(["una casa", "", "( ( a", "( ( ( b"], "text")
    with pytest.raises(InputError, match=f"text:2: a {kind} of cdec's"):
        check_plain(["una casa", line], "text")


def test_what_a_message_quotes_is_short_and_in_one_line():
    assert quote("a") == "'a'" and cut("a" * 80) == "a" * 80
    assert quote("b" * 81) == f"'{'b' * 79}…'" and cut(10**100) == "1" + "0" * 78 + "…"
    assert quote("a\r\n\x1b[31m\u202e") == r"'a\r\n\x1b[31m\u202e'"
    assert str(InputError("one\rtwo\nthree", "a\nb\r", 3)) == r"a\nb\r:3: one\rtwo" + "\nthree"


def test_unknown_weights_are_named_with_near_names():
    known = ["LanguageModel", "LanguageModel_OOV", "WordPenalty"]
    assert unknown_weights({"LanguageModel": 1.0, "Zero": 0.0}, known) == ""
    weights = {"LanguageModle": 2.0, "wordpenalty\r": 1.0, "Quite": 1.0}
    named = "'LanguageModle' (did you mean LanguageModel?), 'Quite', 'wordpenalty\\r' (did you mean WordPenalty?)"
    assert unknown_weights(weights, known) == named
