"""Reasons for another translation: derivations of a given one against enumeration, verdicts, the command."""

import itertools
import json
import math
import random
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from forcing import every_way
from little_experiment import run_lscfg
from services import little_system

from lscfg.bundle.system import open_system
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.decode.missing import SWAP, cheapest_derivation, target_of
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig
from lscfg.kernel import EXTRA_RULES, Grammar, GrammarLayer, ParseOptions, X
from lscfg.kernel.forest import REST
from lscfg.kernel.search import PATCH_NEVER as NEVER
from lscfg.kernel.search import PatchOptions, force, patch_costs

ORDER = "the grammar has another order: "
OTHERS = "the grammar has these words with other translations only"
WORDS, TARGETS = "abc", "xyz"


def random_grammar(draw, lines=()):
    """A few rules of up to three nonterminals, and given ones."""
    lines = {*lines}
    for _ in range(draw.randint(3, 9)):
        arity = draw.choice((0, 0, 0, 1, 1, 2, 2, 3))
        gaps = [f"[X,{k}]" for k in range(1, arity + 1)]
        source = gaps + draw.choices(WORDS, k=draw.randint(1, 2))
        draw.shuffle(source)
        numbers = iter(range(1, arity + 1))
        source = [f"[X,{next(numbers)}]" if token in gaps else token for token in source]
        target = [f"[{k}]" for k in range(1, arity + 1)] + draw.choices(TARGETS, k=draw.randint(not arity, 2))
        draw.shuffle(target)
        lines.add(f"[X] ||| {' '.join(source)} ||| {' '.join(target)} ||| A=1\n")
    grammar = Grammar()
    grammar.read_text("".join(sorted(lines)))
    grammar.finish()
    return grammar


def every_derivation(forest, grammar, scores, node, limit=4000):
    """Pairs of words and score of all derivations of a node, by their definition."""
    found = []
    for edge in range(*forest.node_edges[node : node + 2].tolist()):
        tails = forest.tails(edge)
        below = [every_derivation(forest, grammar, scores, tail) for tail in tails]
        for app in range(*forest.edge_apps[edge : edge + 2].tolist()):
            target = target_of(forest, grammar, app)
            for parts in itertools.product(*below):
                words = tuple(word for s in target for word in ([s] if s >= 0 else parts[-1 - s][0]))
                found.append((words, scores[app] + sum(part[1] for part in parts)))
    assert len(found) < limit * 10
    return found


def cheapest(forest, grammar, missing, words, longest, swaps):
    """The cost of the cheapest derivation, from the root down, each node and interval by itself."""

    @cache
    def cost(node, i, j):
        best = math.inf
        for edge in range(*forest.node_edges[node : node + 2].tolist()):
            tails = forest.tails(edge)
            for app in range(*forest.edge_apps[edge : edge + 2].tolist()):
                if missing(int(forest.app_rule[app])):
                    first, last = forest.node_span[node].tolist()
                    best = min(best, last - first + j - i if 0 < j - i <= longest else math.inf)
                else:
                    target = target_of(forest, grammar, app)
                    best = min(best, spell(tuple(target), tuple(tails), i, j))
                    for k in range(1, len(target) if swaps else 0):
                        other = target[: k - 1] + target[k - 1 : k + 1][::-1] + target[k + 1 :]
                        best = min(best, SWAP + spell(tuple(other), tuple(tails), i, j))
        return best

    @cache
    def spell(target, tails, i, j):
        if not target:
            return 0 if i == j else math.inf
        if target[0] >= 0:
            return spell(target[1:], tails, i + 1, j) if i < j and words[i] == target[0] else math.inf
        tail = tails[-1 - target[0]]
        return min((cost(tail, i, k) + spell(target[1:], tails, k, j) for k in range(i + 1, j + 1)), default=math.inf)

    return cost(forest.n_nodes - 1, 0, len(words))


def spelled(forest, grammar, found, missing, words):
    """The words of a derivation, read off its rules, whose holes yield the words of their intervals."""
    steps = iter(zip(found.apps, found.intervals, found.swaps, strict=True))

    def below():
        app, interval, swap = next(steps)
        if missing(int(forest.app_rule[app])):
            return list(words[slice(*interval)])
        target = target_of(forest, grammar, app)
        if swap >= 0:
            target[swap : swap + 2] = target[swap : swap + 2][::-1]
        parts = [below() for _ in forest.tails(int(forest.app_edge[app]))]
        return [word for symbol in target for word in ([symbol] if symbol >= 0 else parts[-1 - symbol])]

    return below()


@pytest.mark.parametrize("seed", range(60))
def test_the_best_derivation_of_a_translation(seed):
    draw = random.Random(seed)
    grammar = random_grammar(draw)
    ids = grammar.vocab.add_line(" ".join(draw.choices(WORDS, k=draw.randint(1, 4))))
    forest = grammar.parse(ids, ParseOptions(10, True, 1))
    scores = np.array([draw.uniform(-1, 1) for _ in range(forest.n_apps)])
    best = {}
    for words, score in every_derivation(forest, grammar, scores, forest.n_nodes - 1):
        best[words] = max(best.get(words, -math.inf), score)
    for words, score in best.items():
        found = force(forest, grammar, scores, words)
        assert found.score == pytest.approx(score)
        assert found.score == pytest.approx(sum(scores[app] for app in found.apps))
    letters = grammar.vocab.add_line("x y z a q").tolist()
    for _ in range(20):
        words = tuple(draw.choices(letters, k=draw.randint(1, 5)))
        assert (force(forest, grammar, scores, words) is None) == (words not in best)


@pytest.mark.parametrize("seed", range(60))
def test_equally_good_derivations_of_repeated_words(seed):
    draw = random.Random(2000 + seed)
    lengths = [f"[X] ||| {word} ||| {'x ' * n}||| A=1\n" for word in WORDS for n in (1, 2, 3)]
    orders = [f"[X] ||| a [X,1] [X,2] ||| {target} ||| A=1\n" for target in ("[1] x [2]", "[2] x [1]", "[2] [1] x")]
    longer = "[X] ||| a [X,1] [X,2] [X,3] ||| [3] [1] x [2] ||| A=1\n"
    grammar = random_grammar(draw, [*lengths, *orders, longer])
    ids = grammar.vocab.add_line(" ".join(draw.choices(WORDS[: draw.randint(1, 3)], k=draw.randint(2, 6))))
    forest = grammar.parse(ids, ParseOptions(10, True, 1))
    scores = np.array([float(draw.randint(-1, 1)) for _ in range(forest.n_apps)])
    letters = grammar.vocab.add_line(" ".join([*TARGETS[: draw.randint(1, 3)], *WORDS])).tolist()
    for k in range(20):
        words = draw.choices(letters[: 1 + k % len(letters)], k=draw.randint(1, 9))
        found, expected = force(forest, grammar, scores, words), every_way(forest, grammar, scores, words)
        assert (found is None) == (expected is None)
        if found is not None:
            assert (found.apps.tolist(), found.intervals.tolist(), found.score) == (
                expected.apps.tolist(),
                expected.intervals.tolist(),
                expected.score,
            )


def test_a_long_translation_of_two_words():
    rules = ["a ||| x", "b ||| y", "[X,1] b ||| y [1]", "[X,1] a [X,2] ||| [2] x [1]", "[X,1] [X,2] ||| [2] [1]"]
    grammar = Grammar()
    grammar.read_text("".join(f"[X] ||| {rule} ||| A=1\n" for rule in rules))
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("a b " * 30), ParseOptions(10, True, 1))
    words = grammar.vocab.add_line("x y " * 30).tolist()
    assert force(forest, grammar, np.zeros(forest.n_apps), words[1:]) is None
    found = force(forest, grammar, np.full(forest.n_apps, -1.0), words)
    assert found.score == -len(found.apps) and found.intervals[0].tolist() == [0, 60]
    steps = SimpleNamespace(apps=found.apps, intervals=found.intervals, swaps=np.full(len(found.apps), -1))
    assert spelled(forest, grammar, steps, lambda rule: False, words) == words


@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_the_fewest_words_of_missing_rules(seed, swaps):
    draw = random.Random(1000 + seed)
    grammar, longest = random_grammar(draw), draw.choice((1, 2, 7))
    ids = grammar.vocab.add_line(" ".join(draw.choices(WORDS, k=draw.randint(1, 4))))
    layer = GrammarLayer(grammar)
    for source in {tuple(ids[i:j].tolist()) for i in range(len(ids)) for j in range(i + 1, len(ids) + 1)}:
        layer.add(X, source, grammar.vocab.add_line("?").tolist())
    layer.finish()
    forest = layer.parse(ids, ParseOptions(10, True, 1))

    def missing(rule):
        return rule >= len(grammar) + EXTRA_RULES

    letters = grammar.vocab.add_line("x y z q").tolist()
    for _ in range(6):
        words = tuple(draw.choices(letters, k=draw.randint(1, 5)))
        found = cheapest_derivation(forest, layer, words, missing, longest, swaps)
        assert (math.inf if found is None else found.cost) == cheapest(forest, layer, missing, words, longest, swaps)
        if found is not None:
            assert spelled(forest, layer, found, missing, words) == list(words)
            assert swaps or {*found.swaps} == {-1}
    assert REST not in forest.node_cat or any(len(forest.tails(edge)) > 2 for edge in range(forest.n_edges))


def test_input_that_is_refused():
    grammar = Grammar()
    grammar.read_text("[X] ||| a ||| x |||\n")
    grammar.finish()
    forest, words = grammar.parse(grammar.vocab.add_line("a"), ParseOptions()), grammar.vocab.add_line("x").tolist()
    nothing = np.zeros(forest.n_apps, bool)
    found = patch_costs(forest, grammar, nothing, words, PatchOptions(1, 1))
    assert found[-1].tolist() == [[NEVER, 0], [NEVER, NEVER]]
    for text, options, message in (
        ([], (1, 1), "the translation has 0 words; 1 to 1000 are possible"),
        (words * 1001, (1, 1), "the translation has 1001 words"),
        ([-1], (1, 1), "word 0 of the translation has no id"),
        (words, (1, 1001), "a swap costs at most 1000"),
    ):
        with pytest.raises(InputError, match=message):
            patch_costs(forest, grammar, nothing, text, PatchOptions(*options))
        if options == (1, 1):
            with pytest.raises(InputError, match=message):
                force(forest, grammar, np.zeros(forest.n_apps), text)
    for score in (math.inf, -math.inf, math.nan, 1e201):
        with pytest.raises(InputError, match="the score of application 0 is"):
            force(forest, grammar, np.full(forest.n_apps, score), words)
    with pytest.raises(ValueError, match="application scores, got shape"):
        force(forest, grammar, np.zeros(0), words)
    with pytest.raises(ValueError, match="applications, missing"):
        patch_costs(forest, grammar, nothing[1:], words, PatchOptions(1, 1))


# ---- systems ----


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    return little_system(tmp_path_factory.mktemp("system"))


@pytest.fixture(scope="module")
def opened(system):
    found = open_system(system)
    return found, found.decoder()


def test_translations_of_a_list_have_their_scores_or_better_ones(opened):
    found, decoder = opened
    for line in ("una flor roja", "la x roja", "una casa una flor"):
        listed = decoder.decode_arrays([line], found.weights, 100, True)[0]
        for text, score in zip(listed.texts, listed.scores, strict=True):
            why = decoder.why_not(line, text, found.weights)
            assert why.wanted_score >= score - 1e-9 and why.chosen == listed.texts[0]
            assert why.verdict == ("same" if text == listed.texts[0] else "model")
            gap = sum(share for _, share in why.features)
            assert gap == pytest.approx(why.wanted_score - why.chosen_score, abs=1e-9)


def test_the_first_rule_that_differs(opened):
    found, decoder = opened
    why = decoder.why_not("una flor roja", "red a flower", found.weights)
    wanted, chosen = why.first
    assert (wanted.source, wanted.target) != (chosen.source, chosen.target)
    assert wanted.span == chosen.span and why.features[0][1] < 0


def test_the_first_source_word_with_another_rule(tmp_path):
    rules = [
        "ein ||| a ||| A=1",
        "mann ||| man ||| B=1",
        "mann ||| guy ||| C=1",
        "geht ||| goes |||",
        "geht ||| walks |||",
    ]
    (tmp_path / "grammar").write_text("".join(f"[X] ||| {rule}\n" for rule in rules))
    decoder = EmbeddedDecoder(DecoderConfig(grammars=(tmp_path / "grammar",)))
    why = decoder.why_not("ein mann geht", "a guy goes", {"A": 1, "B": 2, "C": 0.5})
    assert [(rule.source, rule.target, rule.span) for rule in why.first] == [
        ("mann", "guy", (1, 2)),
        ("mann", "man", (1, 2)),
    ]
    assert why.features == (("B", -2.0), ("C", 0.5)) and why.verdict == "model"


def test_a_search_error(opened):
    found, _ = opened
    decoder = EmbeddedDecoder.from_config(replace(found.config, pop_limit=1))
    why = decoder.why_not("la x roja", "the red x", found.weights)
    assert why.verdict == "search" and why.wanted_score > why.chosen_score


@pytest.mark.parametrize(
    ("line", "wanted", "rules"),
    [
        ("la x roja", "the red box", [("x", "box", (1, 2), "unknown word x")]),
        ("la flor", "the rose", [("flor", "rose", (1, 2), "the grammar has these words with other translations only")]),
        ("la y z", "the big house", [("y z", "big house", (1, 3), "unknown words y z")]),
        ("la flor", "the rose " * 8, []),
    ],
)
def test_the_smallest_missing_rules(opened, line, wanted, rules):
    found, decoder = opened
    why = decoder.why_not(line, wanted, found.weights)
    assert (why.verdict, why.wanted_score) == ("unreachable", None)
    sides = [(rule.source, rule.target, rule.span, rule.reason) for rule in why.missing]
    if line == "la y z":  # two rules of two words cost as much as one of four
        assert sum(len(side[0].split()) + len(side[1].split()) for side in sides) == 4
    else:
        assert sides == rules


@pytest.mark.parametrize(
    ("wanted", "rules"),
    [
        ("the flower red", [("flor roja", "flower red", (1, 3), ORDER + "[X,1] roja → red [X,1]")]),
        ("red flower the", [("la flor roja", "red flower the", (0, 3), ORDER + "[S,1] [X,2] → [S,1] [X,2]")]),
        (
            "the rose red",
            [
                ("flor", "rose", (1, 2), OTHERS),
                ("flor roja", "rose red", (1, 3), ORDER + "[X,1] roja → red [X,1]"),
            ],
        ),
    ],
)
def test_swapped_neighbours(wanted, rules, tmp_path):
    lines = ["la ||| the |||", "flor ||| flower |||", "[X,1] roja ||| red [X,1] |||"]
    (tmp_path / "grammar").write_text("".join(f"[X] ||| {rule}\n" for rule in lines))
    decoder = EmbeddedDecoder(DecoderConfig(grammars=(tmp_path / "grammar",)))
    why = decoder.why_not("la flor roja", wanted, {})
    assert why.verdict == "unreachable"
    assert [(rule.source, rule.target, rule.span, rule.reason) for rule in why.missing] == rules


@pytest.mark.parametrize(("line", "wanted"), [("", "a"), ("a", ""), ("a " * 61, "a"), ("a", "a " * 61)])
def test_lengths(opened, line, wanted):
    found, decoder = opened
    with pytest.raises(InputError, match="words; 1 to 60 can be compared"):
        decoder.why_not(line, wanted, found.weights)


def test_the_command(system):
    def run(*words):
        return run_lscfg("inspect", "sentence", *words, cwd=system)

    common = ("cdec.ini", "la x roja", "-w", "weights", "--why-not")
    text = run(*common, "the red box").stdout
    assert "the grammar cannot derive the wanted translation; the smallest missing rule:" in text
    assert "  [1,2) x → box\n         unknown word x" in text
    text = run(*common, "red the x").stdout
    assert "the model scores its own translation higher" in text and "LanguageModel" in text and "first rule" in text
    found = json.loads(run(*common, "the red x", "--format", "json").stdout)
    assert found["verdict"] == "same" and found["missing"] == []
    assert json.loads(run(*common, "red the x", "--format", "json").stdout)["first"][0]["target"]
    packed = run_lscfg("pack", ".", "-o", "bundle", cwd=system)
    assert packed.returncode == 0, packed.stderr
    for folder in ("bundle", "."):
        again = run(folder, "la x roja", "--why-not", "red the x", "--format", "json")
        assert json.loads(again.stdout)["first"][0]["target"] and again.returncode == 0
    assert run("bundle", "la roja").returncode == 0  # an explanation, too
    for words, message in (
        ([*common, "the", "--format", "svg"], "--format text or json"),
        (["spectral.lscfg", "la", "--why-not", "the"], "--why-not takes one system"),
        (["/", "la", "--why-not", "the"], "has neither bundle.json nor cdec.ini"),
        (["cdec.ini", "la", "--why-not", "the"], "no weights"),
        (["cdec.ini", "la", "-w", "weights"], "-w needs --why-not"),
        ([*common, ""], "--why-not needs the translation that you expected"),
    ):
        refused = run(*words)
        assert refused.returncode == 1 and message in refused.stderr, refused.stderr


def test_rules_with_an_empty_target_side(tmp_path):
    rules = ["la ||| the |||", "flor ||| flower |||", "oh ||| |||"]
    (tmp_path / "grammar").write_text("".join(f"[X] ||| {rule}\n" for rule in rules))
    decoder = EmbeddedDecoder(DecoderConfig(grammars=(tmp_path / "grammar",)))
    assert decoder.why_not("oh la flor", "the flower", {}).verdict == "same"
    why = decoder.why_not("oh la flor", "the rose", {})
    assert [(rule.source, rule.target) for rule in why.missing] == [("flor", "rose")]
