"""Induced rules: the lexicon, learning, folds, checkpoints, threads, the command and the system of an experiment."""

import dataclasses
import json
import pickle
import re
import signal
import time

import numpy as np
import pytest
from biparsing import WORDS, ended, make_corpus, started
from helpers import rule_features

from lscfg.cli import main
from lscfg.errors import InputError
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import EXTRACTORS, RuleInputs
from lscfg.grammar.select import select_rules
from lscfg.induce.biparsed import learn
from lscfg.induce.biparsed.learn import Learner
from lscfg.induce.biparsed.lexicon import Lexicon, make_lexicon, read_lexicon, text_words, write_lexicon
from lscfg.induce.biparsed.rules import induce, induced_tokens, induced_trees
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.induce.biparsed.text import read_bitexts
from lscfg.model.parameters import Parameters
from lscfg.settings import SettingError


@pytest.fixture
def corpus(tmp_path):
    return make_corpus(tmp_path)


def model1(pairs, iterations):
    """IBM model 1, cell by cell: p(target | source), NULL is None."""
    table = {}
    for _ in range(iterations):
        count, total = {}, {}
        for source, target in pairs:
            for e in target:
                norm = sum(table.get((f, e), 1.0) for f in [None, *source])
                for f in [None, *source]:
                    share = table.get((f, e), 1.0) / norm
                    count[f, e] = count.get((f, e), 0) + share
                    total[f] = total.get(f, 0) + share
        table = {(f, e): c / total[f] for (f, e), c in count.items()}
    return table


def test_the_lexicon_joins_links_and_model_1(corpus):
    text = read_bitexts(corpus, BiparseSettings())
    lexicon = make_lexicon(text, 0.7, 3)
    arrays = text.arrays()
    names = arrays["vocab.bytes"].tobytes().decode()  # words of one letter each
    pairs = [
        (f.split(), e.split())
        for f, e in zip(corpus.source.read_text().splitlines(), corpus.target.read_text().splitlines(), strict=True)
    ]
    linked, unlinked = {}, {}
    for (f, e), line in zip(pairs, corpus.alignments[0].read_text().splitlines(), strict=True):
        links = [tuple(map(int, link.split("-"))) for link in line.split()]
        for i, j in links:
            linked[f[i], e[j]] = linked.get((f[i], e[j]), 0) + 1
        for side, words in enumerate((f, e)):
            for k in set(range(len(words))) - {link[side] for link in links}:
                key = (words[k], None) if side == 0 else (None, words[k])
                unlinked[key] = unlinked.get(key, 0) + 1
    counts = linked | unlinked
    forward = model1(pairs, 3)
    backward = model1([(e, f) for f, e in pairs], 3)
    assert len(lexicon.words) > 16
    for (f, e), (forth, back) in zip(lexicon.words.tolist(), lexicon.probability.tolist(), strict=True):
        pair = tuple(None if number < 0 else names[number] for number in (f, e))
        for way, probability, table in ((0, forth, forward), (1, back, backward)):
            given = sum(count for key, count in counts.items() if key[way] == pair[way])
            expected = 0.7 * counts.get(pair, 0) / given if given else 0
            expected += 0.3 * table.get(pair if way == 0 else pair[::-1], 0)
            assert probability == pytest.approx(expected, abs=1e-12), pair


def as_counts(found):
    rules = found.rules.rules
    lines = rules.kernel.text(np.arange(len(rules)), [], np.empty((len(rules), 0)))
    return dict(zip(lines.decode().splitlines(), found.rules.count.tolist(), strict=True))


def test_rules_are_found_without_their_links(corpus):
    counts = as_counts(induce(corpus, BiparseSettings(), 1))
    for source, target in WORDS.items():
        translations = {rule: count for rule, count in counts.items() if rule.startswith(f"[X] ||| {source} |||")}
        assert max(translations, key=translations.get) == f"[X] ||| {source} ||| {target} |||"
    assert counts["[X] ||| d [X,1] ||| [X,1] s |||"] > counts["[X] ||| d [X,1] ||| s [X,1] |||"]


def test_threads_change_nothing(corpus):
    settings = BiparseSettings(passes=2, folds=2, batch=16, seed=3)
    one, three = (induce(corpus, settings, jobs) for jobs in (1, 3))
    assert one.rules.rules.symbols.tobytes() == three.rules.rules.symbols.tobytes()
    for name in ("count", "weights", "lexicon_count"):
        assert getattr(one.rules, name).tobytes() == getattr(three.rules, name).tobytes()
    assert one.edges.tobytes() == three.edges.tobytes()
    assert one.best_links.tobytes() == three.best_links.tobytes()
    other = induce(corpus, BiparseSettings(passes=2, folds=2, batch=16, seed=4), 1)
    assert other.rules.weights.tobytes() != one.rules.weights.tobytes()


def test_learning_makes_held_out_pairs_likelier_and_is_told(corpus):
    found = induce(corpus, BiparseSettings(passes=3, held_out=0.2), 1)
    assert found.trace[0]["held-out ln p"] > found.trace[0]["held-out ln p without learning"] + 0.1
    assert {record["above 1"] for record in found.trace} == {0}
    assert found.rules.features[-2:] == ("RuleWeight", "WordPairs")
    columns = rule_features(found.rules)[:, -2:]
    assert columns.tolist() == (found.rules.weights + 0.0).tolist()
    assert (np.abs(columns).max(0) > 0.01).all()


def test_counts_are_those_of_the_beginning_or_of_what_was_learned(corpus):
    plain = as_counts(induce(corpus, BiparseSettings(), 1))
    initial = as_counts(induce(corpus, BiparseSettings(passes=1), 1))
    learned = as_counts(induce(corpus, BiparseSettings(passes=1, counts="learned"), 1))
    assert initial == plain
    assert len(learned) < len(plain)


def test_a_pass_that_held_out_pairs_lose_by_is_taken_back(corpus):
    worse = BiparseSettings(passes=3, held_out=0.3, rate=50, adagrad=False, counts="learned")
    found = induce(corpus, worse, 1)
    assert len(found.trace) == 1
    assert found.trace[0]["over"]
    assert as_counts(found) == as_counts(induce(corpus, BiparseSettings(), 1))
    assert not found.rules.weights.any()


@pytest.mark.parametrize("why", ["no parse", "no pair"])
def test_without_a_held_out_pair_to_judge_by_nothing_is_learned(corpus, tmp_path, monkeypatch, caplog, why):
    if why == "no parse":
        monkeypatch.setattr(Learner, "_held_out", lambda *_: -np.inf)
    else:
        monkeypatch.setattr(learn, "split", lambda pairs, *_: learn.Split(pairs, pairs[:0]))
    plain = as_counts(induce(corpus, BiparseSettings(), 1))
    settings = BiparseSettings(passes=2, held_out=0.2, counts="learned")
    found = induce(corpus, settings, 1, tmp_path)
    assert caplog.text.count("no held-out pair has a parse, so nothing is learned") == 2
    assert as_counts(found) == plain and not found.rules.weights.any()
    assert not any(key.startswith("held-out") for record in found.trace for key in record)
    again = induce(corpus, settings, 1, tmp_path, resume=True)  # the checkpoint contains no NaN
    assert as_counts(again) == plain and again.trace == found.trace


def test_folds_without_pairs_are_refused(tmp_path):
    """Equal pairs are in one fold, so that others can be empty."""
    for name, line in (("s", "a b c"), ("t", "A B C"), ("l", "0-0 1-1 2-2")):
        (tmp_path / name).write_text(f"{line}\n" * 6)
    inputs = RuleInputs(tmp_path / "s", tmp_path / "t", (tmp_path / "l",))
    with pytest.raises(InputError, match="only 1 of 2 folds contain pairs"):
        induce(inputs, BiparseSettings(folds=2), 1)


def test_folds_weigh_rules_without_their_own_pairs(tmp_path):
    """One pair that is unlike all others: no other fold knows its rules."""
    inputs = make_corpus(tmp_path, 40)
    for path, lines in (
        (inputs.source, "x y x\nx y x\n"),
        (inputs.target, "u v u\nu v u\n"),
        (inputs.alignments[0], "0-0 1-1 2-2\n0-1 1-0 2-2\n"),
    ):
        path.write_text(path.read_text() + lines)
    settings = {"passes": 1, "held_out": 0.0, "leave_one_out": False}
    whole, folds = (induce(inputs, BiparseSettings(**settings, folds=folds), 1) for folds in (1, 2))
    for found, weighs in ((whole, True), (folds, False)):
        rules = found.rules.rules
        own = [k for k in range(len(rules)) if "x" in rules.src_text(k)]
        assert bool(found.rules.weights[own].any()) == weighs


@pytest.mark.parametrize("folds", [1, 2])
def test_weights_of_spans_are_means_of_the_folds(corpus, folds):
    settings = BiparseSettings(passes=1, held_out=0, folds=folds)
    found = induce(corpus, settings, 1).boundary
    assert len(found.ends) > 5 and len(found.sides) > 5
    whole = induce(corpus, BiparseSettings(passes=1, held_out=0), 1).boundary
    assert (found.arrays()["boundary.ends.weights"].tolist() == whole.ends_weights.tolist()) == (folds == 1)
    assert set(found.words) == {"a", "b", "c", "d"}  # of the source


def test_the_command_writes_weights_of_spans_that_a_model_takes_over(corpus, tmp_path, capsys):
    text = [str(path) for path in (corpus.source, corpus.target, *corpus.alignments)]
    files = {name: str(tmp_path / name) for name in "gbdmnx"}
    assert run(*text, "-o", files["g"], "--passes", 1, "--write", f"boundary={files['b']}", "--set", "held_out=0") == 0
    assert main(["derive", *text, "-o", files["d"]]) == 0
    assert main(["estimate", "mle", files["d"], "--boundary", files["b"], "-o", files["m"]]) == 0
    alone, model = (Parameters.load(tmp_path / name) for name in "bm")
    assert not len(alone.rules) and len(model.rules)
    assert model.boundary.arrays()["boundary.ends.weights"].tolist() == alone.boundary.ends_weights.tolist()
    assert main(["estimate", "mle", str(tmp_path / "d"), "-o", str(tmp_path / "n")]) == 0
    for args, fault in (
        (
            ["estimate", "mle", tmp_path / "d", "--boundary", tmp_path / "n", "-o", tmp_path / "x"],
            "no span-boundary weights",
        ),
        (
            ["grammar", "biparsed", *text, "--write", f"boundary={tmp_path / 'x'}", "-o", tmp_path / "g"],
            "ask for some --passes",
        ),
    ):
        assert main([*map(str, args)]) == 1 and fault in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("passes", [0, 1])
def test_a_text_to_translate_leaves_fewer_rules_with_the_same_features(corpus, passes):
    text = ["a b new", "d c d", "", "c"]
    settings = BiparseSettings(passes=passes, held_out=0)
    written = []
    for wanted in (None, text):
        found = induce(dataclasses.replace(corpus, wanted=wanted), settings, 1)
        selection = select_rules(found.rules, 30, text)
        values = rule_features(found.rules)[selection.kept]
        rows = zip(map(found.rules.rules.text, selection.kept.tolist()), values.tolist(), strict=True)
        written.append((len(found.rules.rules), dict(rows), induced_trees(found)))
    (every, one, trees), (few, other, same) = written
    assert few < every and len(one) > 20 and one.keys() == other.keys()
    for rule, values in one.items():
        assert other[rule] == pytest.approx(values, abs=1e-12), rule
    assert trees.span.tolist() == same.span.tolist() and len(trees.rules) == len(same.rules)


def test_no_text_to_translate_leaves_rules_of_best_derivations(corpus):
    """No sentence leaves as many as an empty one."""
    found = [induce(dataclasses.replace(corpus, wanted=wanted), BiparseSettings(), 1) for wanted in (None, [""], [])]
    every, one, none = (len(each.rules.rules) for each in found)
    assert every > one == none > 0 and found[2].best_links.tolist() == found[0].best_links.tolist()


def test_trees_are_derivations_of_the_text(corpus, tmp_path):
    found = induce(corpus, BiparseSettings(folds=2), 1)
    trees = induced_trees(found)
    trees.save(tmp_path / "trees")
    read = Derivations.load(tmp_path / "trees")
    assert read.counts.all()
    words = read.kernel.words()
    for side, path in zip(words, (corpus.source, corpus.target), strict=True):
        assert [read.rules.words[w] for w in side.tolist()] == path.read_text().split()
    assert read.lexicon_count.sum() >= max(len(side) for side in words)
    links = found.link_lines(found.best_links)
    assert len(links) == 60
    pairs = sorted(tuple(map(int, link.split("-"))) for link in links[0].split())
    assert all(0 <= i < 5 and 0 <= j < 5 for i, j in pairs)


def test_places_are_where_the_best_derivations_have_the_rules(corpus):
    found = induce(corpus, BiparseSettings(), 1)
    tokens = induced_tokens(found)
    lines = corpus.source.read_text().splitlines()
    assert len(tokens.places) > 60 and {*tokens.places[:, 0].tolist()} == {*range(len(tokens.rules))}
    for rule, pair, i, j, *gaps in tokens.places.tolist():
        words = lines[pair].split()[i:j]
        for a, b in ((gaps[2], gaps[3]), (gaps[0], gaps[1])):
            if a >= 0:
                words[a - i : b - i] = ["[X]"]
        text = tokens.rules.src_text(rule).replace("[X,1]", "[X]").replace("[X,2]", "[X]")
        assert " ".join(words) == text


@pytest.mark.parametrize("settings", [{"held_out": 0.1}, {"held_out": 0.0, "adagrad": False}])
def test_a_killed_learner_goes_on_with_the_same_bytes(corpus, tmp_path, settings):
    settings = settings | {"batch": 16}
    whole = induce(corpus, BiparseSettings(passes=3, **settings), 1)
    induce(corpus, BiparseSettings(passes=1, **settings), 1, tmp_path / "state")
    rest = induce(corpus, BiparseSettings(passes=3, **settings), 1, tmp_path / "state", resume=True)
    assert whole.rules.weights.any() and rest.rules.weights.tobytes() == whole.rules.weights.tobytes()
    assert [record["pass"] for record in rest.trace] == [record["pass"] for record in whole.trace]
    with pytest.raises(InputError, match=r"fold\.0001: already has . passes; ask for as many, or start again"):
        induce(corpus, BiparseSettings(passes=len(whole.trace) - 1, **settings), 1, tmp_path / "state", resume=True)
    with pytest.raises(InputError, match="other text or settings"):
        induce(corpus, BiparseSettings(passes=3, seed=9, **settings), 1, tmp_path / "state", resume=True)
    path = tmp_path / "state" / "fold.0001"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"fold.0001"):
        induce(corpus, BiparseSettings(passes=3, **settings), 1, tmp_path / "state", resume=True)


def test_an_interrupted_learner_leaves_its_checkpoint(corpus, tmp_path):
    process = started(corpus, tmp_path, "--passes", 1000)
    state = tmp_path / "state" / "fold.0001"
    while not state.exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    code, told = ended(process)
    assert code == 130
    assert "Traceback" not in told and not (tmp_path / "grammar").exists()
    code, told = ended(started(corpus, tmp_path, "--passes", 1, "--resume"))
    if done := re.search(r"already has (\d+) passes", told):  # before the signal
        code, told = ended(started(corpus, tmp_path, "--passes", done[1], "--resume"))
    assert (code, told) == (0, "")
    assert (tmp_path / "grammar").exists()


def test_a_full_disk_is_told_and_spares_the_last_checkpoint(corpus, tmp_path):
    assert ended(started(corpus, tmp_path, "--passes", 1)) == (0, "")
    before = {path.name: path.read_bytes() for path in (tmp_path / "state").iterdir()}
    code, told = ended(started(corpus, tmp_path, "--passes", 2, "--resume", largest=2000))
    assert code == 1 and len(told.splitlines()) == 1 and "fold.0001" in told, told
    assert {path.name: path.read_bytes() for path in (tmp_path / "state").iterdir()} == before


@pytest.mark.parametrize(
    "setting",
    [
        {"passes": -1},
        {"pops": 0},
        {"nodes": 0},
        {"word_items": 0},
        {"beam": -1.0},
        {"beam": float("nan")},
        {"decay": 0.0},
        {"decay": 1.5},
        {"strength": -1.0},
        {"max_words": 129},
        {"held_out": 1.0},
        {"prior": "none"},
    ],
)
def test_settings_out_of_range_are_refused(setting):
    with pytest.raises(SettingError, match=next(iter(setting))):
        BiparseSettings(**setting)


def run(*args):
    return main(["grammar", "biparsed", *map(str, args), "--quiet"])


def test_the_command_writes_all_that_is_asked_for(corpus, tmp_path):
    files = {name: tmp_path / name for name in ("g", "links", "likely", "trees", "trace")}
    options = ["--passes", "1", "--set", "held_out=0.1", "--set", "batch=8", "--filter", corpus.source]
    for content, name in (("best-links", "links"), ("likely-links", "likely"), ("derivations", "trees")):
        options += ["--write", f"{content}={files[name]}"]
    assert not run(
        corpus.source,
        corpus.target,
        *corpus.alignments,
        "-o",
        files["g"],
        "--write",
        f"trace={files['trace']}",
        *options,
    )
    assert "[X] ||| a ||| p |||" in files["g"].read_text()
    assert "RuleWeight=" in files["g"].read_text()
    assert "[X] ||| [X,1] [X,2] |||" not in files["g"].read_text()
    assert len(files["links"].read_text().splitlines()) == len(files["likely"].read_text().splitlines()) == 60
    assert json.loads(files["trace"].read_text())["pass"] == 1
    assert len(Derivations.load(files["trees"])) == 60


def spoil(path, line, text):
    lines = path.read_text().splitlines()
    lines[line] = text
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("what", "text", "fault"),
    [
        ("source", "", "f:3: empty line"),
        ("target", "p ||| q", "e:3: "),
        ("source", "a\tb", "f:3: control character"),
        ("source", "[X]", "f:3: "),
        ("alignment", "0-x", "a:3: "),
        ("alignment", "0-99", "a:3: "),
    ],
)
def test_bad_lines_are_named(corpus, tmp_path, capsys, what, text, fault):
    spoil({"source": corpus.source, "target": corpus.target, "alignment": corpus.alignments[0]}[what], 2, text)
    assert run(corpus.source, corpus.target, *corpus.alignments, "-o", tmp_path / "g") == 1
    told = capsys.readouterr().err
    assert fault in told
    assert len(told.strip().splitlines()) == 1
    assert not (tmp_path / "g").exists()


def test_bad_corpora_and_options_are_told(corpus, tmp_path, capsys):
    short = tmp_path / "short"
    short.write_text(corpus.target.read_text().splitlines()[0] + "\n")
    cases = [
        ((corpus.source, short, *corpus.alignments), "both need the same number of lines"),
        ((corpus.source, corpus.target, *corpus.alignments, "--set", "max_words=1"), "raise max_words"),
        ((corpus.source, corpus.target, *corpus.alignments, "--set", "folds=61", "--passes", 1), "ask for fewer"),
        ((corpus.source, corpus.target, *corpus.alignments, "--resume"), "--resume needs --checkpoint"),
        ((corpus.source, corpus.target, *corpus.alignments, "--max-targets", -1), "not -1"),
        (
            (corpus.source, corpus.target, *corpus.alignments, "--passes", 1, "--set", "rule_cache=5"),
            "cache is too small",
        ),
    ]
    for arguments, fault in cases:
        assert run(*arguments, "-o", tmp_path / "g") == 1, fault
        assert fault in capsys.readouterr().err


def test_odd_pairs_are_parsed(tmp_path):
    lines = [("a", "p", "0-0"), ("a a a a", "p p", ""), ("unknown", "words of another kind", ""), ("a", "p", "0-0")]
    for name, side in zip("fea", zip(*lines, strict=True), strict=True):
        (tmp_path / name).write_text("\n".join(side) + "\n")
    inputs = RuleInputs(tmp_path / "f", tmp_path / "e", (tmp_path / "a",))
    found = induce(inputs, BiparseSettings(passes=1, held_out=0), 1)
    assert found.rules.parsed == 4


def test_the_source_of_rules_takes_glue_of_the_decoder(corpus):
    source = EXTRACTORS["biparsed"]
    settings = source.Settings(max_span=7)
    assert source.decoding(settings).glue
    assert source.decoding(settings).max_span == 7
    assert len(source.rules(corpus, settings).rules) > 20
    assert len(source.tokens(corpus, settings).places) > 60


def test_what_is_learned_once_gives_the_same_bytes_everywhere(corpus, tmp_path):
    """Rules, places, trees and weights of spans of a folder equal those of separate runs."""
    source = EXTRACTORS["biparsed"]
    settings = source.Settings(passes=2, folds=2, held_out=0.1, batch=16)
    source.learn(corpus, source.Settings.of(source.learning(settings)), tmp_path / "learned", 2)
    files = {path.name: path.read_bytes() for path in (tmp_path / "learned").iterdir()}
    assert sorted(files) == ["fold.0001", "fold.0002"]
    given = dataclasses.replace(corpus, learned={"biparsed": tmp_path / "learned"})
    for name in ("rules", "tokens", "trees", "boundary"):
        learned, taken = (pickle.dumps(getattr(source, name)(inputs, settings)) for inputs in (corpus, given))
        assert learned == taken, name
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "learned").iterdir()}
    assert source.learning(source.Settings()) == {}
    for chosen in ({"counts": "learned"}, {"max_targets": 3}, {"max_span": 3}):
        assert source.learning(dataclasses.replace(settings, **chosen)) == source.learning(settings)
    with pytest.raises(InputError, match="other text or settings"):
        source.rules(given, dataclasses.replace(settings, rate=0.1))


def test_words_like_the_mark_of_a_lexicon_come_back(tmp_path):
    words = ["a", "<NULL>", "\\<NULL>", "\\\\<NULL>", "\\a", "\\"]
    pairs = [(f, e) for f in range(-1, len(words)) for e in range(-1, len(words)) if (f, e) != (-1, -1)]
    made = Lexicon(np.array(pairs, np.int32), np.full((len(pairs), 2), 0.5))
    write_lexicon(tmp_path / "lex", made, words)
    assert read_lexicon(tmp_path / "lex", words).words.tolist() == [*map(list, pairs)]
    assert "<NULL> \\<NULL> 0.5 0.5" in (tmp_path / "lex").read_text().splitlines()


def test_a_lexicon_of_more_text_is_a_file(corpus, tmp_path, capsys):
    """Its probabilities are those of that text; of this text it is as none; its words that a text lacks do no harm."""
    whole = tmp_path / "whole.gz"
    texts = [str(path) for path in (corpus.source, corpus.target, *corpus.alignments)]
    assert run(*texts, "--write", f"lexicon={whole}") == 0
    text = read_bitexts(corpus, BiparseSettings())
    made, read = make_lexicon(text), read_lexicon(whole, text_words(text))
    for one, other in ((made.words, read.words), (made.probability, read.probability)):
        assert one.tolist() == other.tolist()
    settings = BiparseSettings()
    given = dataclasses.replace(settings, lexicon=whole)
    assert as_counts(induce(corpus, given, 1)) == as_counts(induce(corpus, settings, 1))
    first = tmp_path / "first"
    first.mkdir()
    for path in (corpus.source, corpus.target, *corpus.alignments):
        (first / path.name).write_text("".join(path.read_text().splitlines(keepends=True)[:9]))
    inputs = RuleInputs(*(first / path.name for path in (corpus.source, corpus.target)), (first / "a",))
    wide, narrow = (as_counts(induce(inputs, chosen, 1)) for chosen in (given, settings))
    assert len(wide) > 20 and wide != narrow
    own = as_counts(induce(inputs, dataclasses.replace(settings, lexicon=whole, passes=1, held_out=0, shards=2), 1))
    assert own == as_counts(induce(inputs, dataclasses.replace(settings, lexicon=whole), 1))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("a p 0.5", ":2: expected two words and two probabilities"),
        ("a p 0.5 nan", ":2: 'nan' is not a probability"),
        ("a p 0.5 1.5", ":2: '1.5' is not a probability"),
        ("a p x 0.5", ":2: 'x' is not a probability"),
        ("a q 0.5 0.5", ":2: the pair 'a q' occurs twice"),
    ],
)
def test_bad_lexicons_are_told(corpus, tmp_path, capsys, line, fault):
    (tmp_path / "lex").write_text(f"a q 0.5 0.5\n{line}\n")
    texts = (corpus.source, corpus.target, *corpus.alignments)
    assert run(*texts, "--set", f"lexicon={tmp_path / 'lex'}", "-o", tmp_path / "g") == 1
    told = capsys.readouterr().err
    assert f"lex{fault}" in told and len(told.strip().splitlines()) == 1
    (tmp_path / "lex").write_text("x y 0.5 0.5\n")
    assert run(*texts, "--set", f"lexicon={tmp_path / 'lex'}", "-o", tmp_path / "g") == 1
    assert "contains no pair of words from the text" in capsys.readouterr().err
