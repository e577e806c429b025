"""Weights of rules and words learned by hope and fear: features by hand, scores against the decoder, the command."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from biparsing import make_corpus

from lscfg.cli import main
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.errors import InputError
from lscfg.extract.extractor import EXTRACTORS, RuleInputs
from lscfg.formats.ini import DecoderConfig, LatentFeature, read_ini, write_ini
from lscfg.formats.weights import read_weights, write_weights
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.kernel import Grammar, ParseOptions
from lscfg.kernel.base import Vocab
from lscfg.lm.lmplz import build_lm
from lscfg.model.parameters import Parameters
from lscfg.parallel.choose import in_threads
from lscfg.tuning.bleu import SentenceReferences
from lscfg.tuning.experiment.cache import locked
from lscfg.tuning.margin.features import ENDS, NOTHING, SIDES, FeatureNumbers, Links, border_keys, border_of
from lscfg.tuning.margin.folds import Fold, FoldedText, FoldRules, Lexicon, Pair, make_folds
from lscfg.tuning.margin.learn import LearnedWeights, MarginLearner, _gains
from lscfg.tuning.margin.settings import MarginSettings
from lscfg.tuning.margin.system import boundary_model, learn_system, write_weighed
from lscfg.tuning.margin.weights import AveragedWeights
from lscfg.tuning.mira import BACKGROUND

RULES = """\
[X] ||| a ||| p ||| F=1
[X] ||| a ||| q ||| F=0.5
[X] ||| b ||| q ||| F=1
[X] ||| b ||| p q ||| F=0.25 ||| 0-1
[X] ||| [X,1] c [X,2] ||| [2] r [1] ||| F=1
[X] ||| a [X,1] ||| [1] p ||| F=2
[X] ||| c ||| r |||
[X] ||| c c ||| r
"""
OTHERS = """\
[X] ||| b ||| q ||| F=3
[X] ||| a b ||| q p ||| F=1
[X] ||| a ||| p ||| F=1
"""
LEXICON = Lexicon({("a", "p"): 6, ("a", "q"): 2, ("b", "q"): 5, ("c", "r"): 1, ("b", None): 3, (None, "r"): 4})
WEIGHTS = {"F": 0.7, "Glue": -0.3, "LanguageModel": 0.8, "LanguageModel_OOV": -1.0, "WordPenalty": -0.4}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two grammars and a language model of their words."""
    (tmp_path / "one").write_text(RULES)
    (tmp_path / "two").write_text(OTHERS)
    rng = np.random.default_rng(1)
    lines = [" ".join(rng.choice(list("pqr"), rng.integers(1, 6))) for _ in range(200)]
    (tmp_path / "text").write_text("\n".join(lines) + "\n")
    build_lm(tmp_path / "text", tmp_path / "lm.arpa", 3, (), (0.5, 1.0, 1.5), "lscfg")
    return tmp_path


def config_of(place: Path, name: str) -> DecoderConfig:
    lm = place / "lm.arpa"
    return DecoderConfig((place / name,), language_model=lm, word_penalty=True, pass_through=True, pop_limit=10_000)


def opened(place: Path, vocab: Vocab, threads: int = 1) -> tuple[list[Fold], FeatureNumbers]:
    folds = [Fold(config_of(place, name), WEIGHTS, vocab, threads) for name in ("one", "two")]
    return folds, FeatureNumbers([fold.decoder.grammar for fold in folds], Links(LEXICON, vocab))


# ---- features ----


def test_links_are_to_the_best_word_of_the_rule() -> None:
    vocab = Vocab()
    a, b, c, p, q, r = (vocab.add(word) for word in "abcpqr")
    links = Links(LEXICON, vocab)
    assert list(links.of([a, -1, b], [q, -1, p])) == [(b, q), (a, p)]
    assert list(links.of([a], [q])) == [(a, q)]  # 1/4, and b is not there
    assert list(links.of([b], [p])) == [(NOTHING, p), (b, NOTHING)]  # never linked
    assert list(links.of([c], [r, r])) == [(c, r), (c, r)]  # p(r | c) = 1 = p(r | nothing): the first to be so
    assert list(links.of([-1, -2], [-2, -1])) == []


def test_rules_of_several_grammars_have_one_number(place: Path) -> None:
    vocab = Vocab()
    folds, features = opened(place, vocab)
    grammars = [fold.decoder.grammar for fold in folds]
    assert features.n_rules == 9 and len(features) == 9 + len(features.words)
    a, b, p, q = (vocab.find(word) for word in "abpq")
    assert features.find([a], [p]) == 0 and features.find([b], [q]) == 2 and features.find([a, b], [q, p]) == 8
    assert features.find([b], [b]) == -1
    for grammar, where in zip(grammars, (0, 1), strict=True):
        rules = np.arange(len(grammar) + 3)  # with some of the decoder's own
        found, lengths = features.rows(where, rules)
        rows = [part.tolist() for part in np.split(found, np.cumsum(lengths)[:-1])]
        assert rows[len(grammar) :] == [[], [], []]
        for rule in range(len(grammar)):
            assert rows[rule] == features.of(grammar.src(rule), grammar.tgt(rule))
            assert rows[rule][0] == features.find(grammar.src(rule), grammar.tgt(rule))
    assert features.of([b], [b]) == []


def test_keys_of_borders(place: Path) -> None:
    vocab = Vocab()
    grammar = Grammar.from_files([place / "one"], vocab)
    words = [vocab.find(word) for word in "abcb"]
    forest = grammar.parse(np.array(words, np.int32), ParseOptions())
    assert forest is not None
    nodes, keys = border_keys(forest, len(vocab))
    around = [NOTHING, *words, NOTHING]
    seen = set()
    for node, (ends, sides) in zip(nodes.tolist(), keys.tolist(), strict=True):
        i, j = forest.node_span[node].tolist()
        assert border_of(ends, len(vocab)) == (ENDS, words[i], words[j - 1])
        assert border_of(sides, len(vocab)) == (SIDES, around[i], around[j + 1])
        seen.add((i, j))
    assert (0, 4) in seen and len(seen) > 4


def test_averages_are_over_batches() -> None:
    rng = np.random.default_rng(3)
    weights, held = AveragedWeights(2), []
    for batch in range(6):
        for _ in range(2):
            weights.grow(5)
            numbers = rng.permutation(5)[:3]
            weights.follow(numbers, rng.normal(size=3), 0.3, batch)
        held.append(weights.value.copy())
    assert weights.average(6) == pytest.approx(np.mean(held, axis=0), abs=1e-12)


# ---- scores and steps ----


def random_weights(features: FeatureNumbers, vocab: Vocab, sentences: list[str], grammar: Grammar) -> LearnedWeights:
    rng = np.random.default_rng(5)
    keys = set()
    for line in sentences:
        forest = grammar.parse(vocab.add_line(line), ParseOptions())
        assert forest is not None
        keys |= set(border_keys(forest, len(vocab))[1].ravel().tolist())
    number = {key: place for place, key in enumerate(sorted(keys))}
    return LearnedWeights(rng.normal(size=len(features)), rng.normal(size=len(number) - 1), number, len(vocab))


SENTENCES = ["a b c a", "b", "a a b c b a"]


def with_random_weights(place: Path) -> tuple[Vocab, list[Fold], FeatureNumbers, LearnedWeights]:
    vocab = Vocab()
    for line in SENTENCES:
        vocab.add_line(line)
    folds, features = opened(place, vocab)
    return vocab, folds, features, random_weights(features, vocab, SENTENCES, folds[0].decoder.grammar)


def test_the_written_system_scores_as_the_learner(place: Path) -> None:
    """Grammar and model with their features beside the old weights: the same lists, the same scores."""
    vocab, folds, features, learned = with_random_weights(place)
    settings = MarginSettings(kbest=40)
    with in_threads(1) as engine:
        learner = MarginLearner(folds, features, vocab, settings, engine)
        found = [learner._translate(Pair(n, 0, line, "p q r"), learned, 40) for n, line in enumerate(SENTENCES)]
    write_weighed(place / "made.gz", [place / "one"], features, learned, vocab)
    Parameters.without_rules(boundary_model(learned, vocab)).save(place / "b.lscfg")
    latent = LatentFeature({"model": "b.lscfg", "features": "boundary"})
    write_ini(
        place / "cdec.ini",
        DecoderConfig(
            **{**config_of(place, "made.gz").__dict__, "grammars": (Path("made.gz"),), "latent": latent},
        ),
    )
    weights = WEIGHTS | {"MarginRule": 1.0, "MarginWords": 1.0, "SpanBoundary": 1.0}
    with EmbeddedDecoder.from_ini(place / "cdec.ini") as decoder:
        lists = decoder.decode(SENTENCES, weights, 40, unique=True)
    for one, theirs in zip(found, lists, strict=True):
        assert one is not None
        _, ours, _ = one
        assert len(theirs) == len(ours) > 1
        assert [h.score for h in theirs] == pytest.approx(ours.score, abs=2e-5)  # weights are written in six digits
        assert any({"MarginRule", "MarginWords", "SpanBoundary"} <= {*h.features} for h in theirs)
    assert [line.count("|||") for line in read_lines(place / "made.gz")] == [3, 3, 3, 4, 3, 3, 3, 3]
    assert "||| F=0.25 " in read_lines(place / "made.gz")[3] and read_lines(place / "made.gz")[3].endswith("||| 0-1")


@pytest.mark.parametrize(
    "text", ["# begins\n{0}# ends\n", "\n \n{0}", "{1}", "{2}"], ids=["comments", "empty lines", "tabs", "no features"]
)
def test_grammars_of_other_forms_get_the_same_weights(place: Path, text: str) -> None:
    vocab, _, features, learned = with_random_weights(place)
    rules = (place / "one").read_text()
    bare = "".join(" ||| ".join(line.split(" ||| ")[:3]) + "\n" for line in rules.splitlines())
    write_lines(place / "other", text.format(rules, rules.replace(" ||| ", "\t|||\t"), bare).splitlines())
    found = {}
    for name in ("one", "other"):
        write_weighed(place / "made.gz", [place / name], features, learned, vocab)
        made = [line.split(" ||| ") for line in read_lines(place / "made.gz")]
        found[name] = [[value for value in fields[3].split() if value.startswith("Margin")] for fields in made]
    assert found["one"] == found["other"] and any(found["one"])


def test_a_compiled_grammar_is_refused_before_learning(place: Path) -> None:
    config, unread = config_of(place, "one.compiled"), RuleInputs()
    with pytest.raises(InputError, match=r"lscfg tune margin needs 'one\.compiled' as text; use --texts"):
        learn_system(
            unread, FoldRules(EXTRACTORS["hiero"], None, 2), config, WEIGHTS, MarginSettings(), place / "out", 1
        )


def test_a_visit_takes_hope_and_fear_of_all_translations(place: Path) -> None:
    """Against an enumeration of the list, features summed rule by rule and span by span."""
    vocab, folds, features, learned = with_random_weights(place)
    pair, settings = Pair(0, 0, SENTENCES[0], "q r p"), MarginSettings(kbest=1000, scale=3.0)
    with in_threads(1) as engine:
        learner = MarginLearner(folds, features, vocab, settings, engine)
        one = learner._translate(pair, learned, 1000)
        visit = learner._visit(pair, learned)
    assert one is not None and visit is not None
    sentence, lists, stats = one
    forest, grammar = sentence.forest, folds[0].decoder.grammar
    assert forest is not None
    total = SentenceReferences([pair.target]).stats([["q", "r", "p"]]) + BACKGROUND
    perfect = np.exp(np.log(total[:, :4] / total[:, 4:8]).mean(1)) * total[:, 9]
    assert _gains(SentenceReferences([pair.target]).stats([["q", "r", "p"]]), BACKGROUND) == pytest.approx(perfect)
    gains = 3.0 * _gains(stats, BACKGROUND)
    pairs = itertools.product(range(len(lists)), repeat=2)
    hope, fear = max(pairs, key=lambda two: lists.score[two[0]] + gains[two[0]] + lists.score[two[1]] - gains[two[1]])
    assert visit.loss == pytest.approx(gains[hope] - gains[fear] - lists.score[hope] + lists.score[fear])
    assert (
        visit.loss > 0 and visit.hope.tolist() == stats[hope].tolist() and visit.fear.tolist() == stats[fear].tolist()
    )
    wanted: dict[tuple[str, int], int] = {}
    nodes, keys = border_keys(forest, len(vocab))
    key_of = dict(zip(nodes.tolist(), keys.tolist(), strict=True))
    for which, sign in ((hope, 1), (fear, -1)):
        for app in lists.apps[lists.app_offsets[which] : lists.app_offsets[which + 1]].tolist():
            rule, head = int(forest.app_rule[app]), int(forest.edge_head[forest.app_edge[app]])
            own = features.of(grammar.src(rule), grammar.tgt(rule)) if rule < len(grammar) else []
            for name, values in (("rule", own), ("border", key_of.get(head, []))):
                for value in values:
                    wanted[name, value] = wanted.get((name, value), 0) + sign
    got = {("rule", n): g for n, g in zip(visit.rules.tolist(), visit.rule_gradient.tolist(), strict=True)}
    got |= {("border", n): g for n, g in zip(visit.borders.tolist(), visit.border_gradient.tolist(), strict=True)}
    assert got == {key: value for key, value in wanted.items() if value}


def test_learning_finds_what_the_features_tell(place: Path) -> None:
    """The weights prefer q for a; the references have p: after a pass the learned weights translate so."""
    lines = ["a b b a b", "b b a b a", "a b a a b b"] * 20
    pairs = [Pair(n, n % 2, line, line.replace("a", "p").replace("b", "q")) for n, line in enumerate(lines)]
    (place / "one").write_text(RULES.replace("||| p ||| F=1", "||| p ||| F=-2"))
    (place / "two").write_text(OTHERS.replace("||| p ||| F=1", "||| p ||| F=-2") + "[X] ||| a ||| q ||| F=0.5\n")
    traces = []
    for threads in (1, 3):
        vocab = Vocab()
        for pair in pairs:
            vocab.add_line(pair.source)
        folds, features = opened(place, vocab, threads)
        with in_threads(threads) as engine:
            learner = MarginLearner(folds, features, vocab, MarginSettings(batch=7, passes=3), engine)
            learned = learner.run(pairs[:48], pairs[48:])
        assert learner.trace[0]["held-out BLEU"] > learner.trace[0]["held-out BLEU without learning"] + 10
        a, p, q = (vocab.find(word) for word in "apq")
        right, wrong = (sum(learned.rules[n] for n in features.of([a], [word])) for word in (p, q))
        assert right > 0 > wrong
        traces.append([{k: v for k, v in record.items() if k != "seconds"} for record in learner.trace])
    assert traces[0] == traces[1]


# ---- the command ----


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with a Hiero system of it."""
    folder = tmp_path_factory.mktemp("system")
    make_corpus(folder, 300)
    files = [str(folder / name) for name in "fea"]
    main(["grammar", "hiero", *files, "-o", str(folder / "grammar.gz"), "--quiet"])
    build_lm(folder / "e", folder / "lm.arpa", 3, (), (0.5, 1.0, 1.5), "lscfg")
    write_ini(
        folder / "cdec.ini", DecoderConfig((Path("grammar.gz"),), Path("lm.arpa"), word_penalty=True, max_span=15)
    )
    write_weights(folder / "weights", {"LanguageModel": 1.0, "EgivenF": 0.5, "WordPenalty": -0.5})
    return folder


def learn(system: Path, out: Path, *more: str) -> int:
    files = [str(system / name) for name in "fea"]
    options = ["--rules", "hiero", "-c", str(system / "cdec.ini"), "-w", str(system / "weights"), "-o", str(out)]
    return main(["tune", "margin", *files, *options, "--quiet", *more])


def test_command_makes_a_system(system: Path, tmp_path: Path) -> None:
    for name, jobs in (("one", "1"), ("three", "3")):
        assert not learn(system, tmp_path / name, "--passes", "1", "-j", jobs)
    for name in ("grammar.gz", "boundary.lscfg", "start.weights", "cdec.ini"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "three" / name).read_bytes()
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        ".lock", "boundary.lscfg", "cdec.ini", "grammar.gz", "start.weights", "trace.json",
    ]  # fmt: skip
    (record,) = json.loads((tmp_path / "one" / "trace.json").read_text())
    assert record["held-out BLEU"] > record["held-out BLEU without learning"] and record["pairs"] > 250
    weights = read_weights(tmp_path / "one" / "start.weights")
    assert weights == read_weights(system / "weights") | {"MarginRule": 1, "MarginWords": 1, "SpanBoundary": 1}
    assert read_ini(tmp_path / "one" / "cdec.ini").max_span == 15
    rules = [line.split(" ||| ")[:3] for line in read_lines(system / "grammar.gz")]
    assert rules == [line.split(" ||| ")[:3] for line in read_lines(tmp_path / "one" / "grammar.gz")]
    with EmbeddedDecoder.from_ini(tmp_path / "one" / "cdec.ini") as decoder:
        ((best, *_),) = decoder.decode(["a d b"], weights)
    assert {"MarginRule", "MarginWords"} & {*best.features}


def test_one_command_at_a_time_fills_a_folder(system: Path, tmp_path: Path, capsys) -> None:
    with locked(tmp_path):
        assert learn(system, tmp_path) == 1
    assert f"{tmp_path}: another run is at work in this folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (("cdec.ini", "feature_function=LSCFG model=x.lscfg"), (), "no model file|already has a latent model"),
        (("e", "p q"), (), "301 lines, but .* has 300"),
        (("a", "0-0"), (), "301 lines, but .* has 300"),
        (None, ("--set", "margin.folds=101"), "at most 100"),
        (None, ("--set", "margin.folds=99", "--set", "margin.held_out=0.9"), "different pairs cannot form 99 folds"),
        (None, ("--set", "margin.kbest=1"), "at least 2"),
        (None, ("--set", "hiero.passes=2"), "unknown key 'passes'"),
        (None, ("--set", "margin.held_out=1"), "less than 1"),
    ],
)
def test_bad_input(system: Path, tmp_path: Path, capsys, change, options, message: str) -> None:
    for path in system.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    if change:
        with open(tmp_path / change[0], "a") as file:
            file.write(change[1] + "\n")
    assert learn(tmp_path, tmp_path / "out", *options) != 0
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "out" / "grammar.gz").exists()


def test_a_system_without_language_model_is_refused(system: Path, tmp_path: Path, capsys) -> None:
    for path in system.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    write_ini(tmp_path / "cdec.ini", DecoderConfig((Path("grammar.gz"),), max_span=15))
    assert learn(tmp_path, tmp_path / "out") == 1
    assert "no language model" in capsys.readouterr().err


def test_equal_pairs_are_in_one_fold(system: Path, tmp_path: Path) -> None:
    inputs = RuleInputs(system / "f", system / "e", (system / "a",))
    text = FoldedText.read(inputs, MarginSettings(folds=3))
    folds: dict[tuple[str, str], set[int]] = {}
    assert text.held_out == 3
    for pair, fold in zip(zip(text.source, text.target, strict=True), text.fold.tolist(), strict=True):
        folds.setdefault(pair, set()).add(fold)
    assert len(folds) < 300 and all(len(found) == 1 for found in folds.values())
    assert {fold for found in folds.values() for fold in found} == {0, 1, 2, 3}
    for without, kept in ((1, {0, 2}), (3, {0, 1, 2})):  # what is held out is among no rules
        others = text.write_others(without, tmp_path)
        lines = [line for line, fold in zip(text.source, text.fold.tolist(), strict=True) if fold in kept]
        assert read_lines(others.source) == lines
    every, held_out = text.pairs(MarginSettings(folds=3))
    assert sorted(pair.number for pair in (*every, *held_out)) == [*range(300)]
    assert {pair.fold for pair in held_out} == {3} and 3 not in {pair.fold for pair in every}
    few, held_out = text.pairs(MarginSettings(folds=3, pairs=40))
    assert (len(few), len(held_out)) == (40, 2) and all(text.source[pair.number] == pair.source for pair in few)
    assert [pair.number for pair in few] == sorted({pair.number for pair in few})


def four_pairs(folder: Path) -> RuleInputs:
    """The first pair twice."""
    for name, lines in (("f", "aabcd"), ("e", "ppqrs"), ("a", ["0-0"] * 5)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return RuleInputs(folder / "f", folder / "e", (folder / "a",))


def test_there_may_be_as_many_folds_as_pairs(tmp_path: Path) -> None:
    inputs = four_pairs(tmp_path)
    text = FoldedText.read(inputs, MarginSettings(folds=3, held_out=0.25))
    assert sorted(text.fold[1:].tolist()) == [0, 1, 2, 3] and text.fold[0] == text.fold[1]
    with pytest.raises(InputError, match="3 different pairs cannot form 4 folds"):
        FoldedText.read(inputs, MarginSettings(folds=4, held_out=0.25))


def test_a_fold_has_rules_for_its_own_pairs(tmp_path: Path) -> None:
    text = FoldedText.read(four_pairs(tmp_path), MarginSettings(folds=3, held_out=0.25))
    pairs, held_out = text.pairs(MarginSettings(folds=3, held_out=0.25))
    asked: list[str] = []

    def rules(inputs: RuleInputs, _: object) -> None:
        asked.extend(inputs.wanted or ())
        raise InterruptedError

    made = FoldRules(SimpleNamespace(rules=rules), None, 2)  # type: ignore[arg-type]
    with pytest.raises(InterruptedError):
        make_folds(text, [*pairs, *held_out], made, DecoderConfig((Path("g"),)), {}, tmp_path, Vocab(), 1)
    own = [line for line, fold in zip(text.source, text.fold.tolist(), strict=True) if fold == 0]
    assert sorted(asked) == sorted(own)


def test_a_fold_without_sampled_pairs_has_no_rules(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Links are those of the whole text all the same."""
    text = FoldedText.read(make_corpus(tmp_path, 40), MarginSettings(folds=3, held_out=0))
    every, _ = text.pairs(MarginSettings(folds=3, held_out=0))
    hiero, config, sizes, lexicons = EXTRACTORS["hiero"], DecoderConfig((Path("g"),), max_span=15), [], []

    def counted(inputs: RuleInputs, settings: object) -> object:
        found = hiero.rules(inputs, settings)
        sizes.append(len(found.rules))
        return found

    rules = FoldRules(SimpleNamespace(rules=counted), hiero.Settings(), 2)  # type: ignore[arg-type]
    for name, pairs in (("all", every), ("some", [pair for pair in every if pair.fold != 1])):
        (tmp_path / name).mkdir()
        folds, lexicon = make_folds(text, pairs, rules, config, {}, tmp_path / name, Vocab(), 1)
        lexicons.append(lexicon)
    assert lexicons[0] == lexicons[1] and [size > 10 for size in sizes] == [True] * 4 + [False, True]
    assert sizes[4] == 0 and [len(fold.decoder.grammar) > 10 for fold in folds] == [True, False, True]
    assert "contains no rule" not in caplog.text
