"""The joint context model: the kernel's features against their parts, and what only its dense values can know."""

import dataclasses

import numpy as np
import pytest
from composition import MINIMAL
from estimates import add_context_model, add_loglinear, estimate_mle
from helpers import add_context as add_by_command
from helpers import random_context, random_low_dimensional, rule_table

from lscfg.context.joint import JointSettings, estimate_joint
from lscfg.context.loglinear import LoglinearSettings
from lscfg.context.views import Look, Views, number_words, places_in_text
from lscfg.context.word_vectors import given_directions
from lscfg.errors import InputError
from lscfg.extract.derive import derive
from lscfg.extract.minimal import tokens_of
from lscfg.io.write import write_lines
from lscfg.kernel import CONTEXT_FEATURES, Binding, FeatureOptions, Model, ParseOptions, X
from lscfg.model.parameters import OneState, Parameters


def shares(scores):
    return scores - np.log(np.exp(scores).sum())


def test_features_are_shares_of_both_scores(tmp_path):
    """ContextTarget of the file without its scorer and SenseScore, put together by hand."""
    assert sum(check_features(tmp_path, seed) for seed in range(12)) > 20


def check_features(folder, seed):
    """Compares features with their definition; returns the number of edges whose rules have a score."""
    rng = np.random.default_rng(seed)
    rules = rule_table(MINIMAL)
    context = random_context(rule_table(rng.permutation(MINIMAL).tolist()), seed)
    context = dataclasses.replace(context, weights=context.weights / 10)
    sense = random_low_dimensional(context.rules, seed, "joint")
    one = OneState(np.ones(len(rules)), np.array([0.1]))
    tensors = tuple(np.ones(((rules.arity == k).sum(), *[2] * (k + 1))) for k in range(3))
    found = {}
    for kind in ("joint", "dot"):
        own = dataclasses.replace(context, low_dimensional=dataclasses.replace(sense, kind=kind))
        Parameters(rules, tensors, np.ones(2), np.ones(2), {}, one, own).save(folder / kind)
        model = Model(folder / kind)
        grammar = model.grammar()
        words = np.random.default_rng(seed).choice(["a", "b", "other"], 6).tolist()
        forest = grammar.parse(grammar.vocab.add_line(" ".join(words)), ParseOptions(100, False, 1, X))
        options = FeatureOptions(names=(*CONTEXT_FEATURES, "SenseScore"))
        found[kind] = Binding(model, grammar).features(forest, None, options)
    number = {context.rules.text(k): k for k in range(len(context.rules))}
    changed = 0
    for edge in range(forest.n_edges):
        apps = [a for a in range(*forest.edge_apps[edge : edge + 2]) if forest.app_rule[a] < len(rules)]
        if len(apps) < 2 or forest.node_cat[forest.edge_head[edge]] != X:
            continue
        own = [number[rules.text(int(forest.app_rule[a]))] for a in apps]
        plain, parts = np.log(context.counts[own]), found["dot"][apps]
        expected = shares(plain + parts[:, :3].sum(axis=1) + parts[:, 3]) - shares(plain)
        assert found["joint"][apps, :3].sum(axis=1) == pytest.approx(np.clip(expected, -4, 4), abs=1e-4)
        changed += np.abs(parts[:, 3]).max() > 0
    return changed


def topical(n, seed, words):
    """b is B or C by a topic, which the words on both sides are of; some words of a topic are only beside d."""
    rng = np.random.default_rng(seed)
    source, target = [], []
    for _ in range(n):
        topic = int(rng.integers(2))
        middle = "bd"[int(rng.integers(2))]
        left, right = (f"{'pq'[topic]}{rng.integers(words // 2 if middle == 'b' else words)}" for _ in range(2))
        source.append(f"{left} {middle} {right}")
        target.append(f"{left.upper()} {'BC'[topic] if middle == 'b' else 'D'} {right.upper()}")
    return source, target, ["0-0 1-1 2-2"] * n


def test_dense_values_know_words_that_no_choice_was_seen_beside(tmp_path):
    """b beside words that were seen beside d alone: their topic is known from what stands on the other side of d."""
    text = topical(400, 1, 8)
    source, target, links = text[0] + ["d", "d"], text[1] + ["D", "E"], text[2] + ["0-0"] * 2
    derivations = derive(source, target, links)
    tokens, right = tokens_of(derivations), {}
    plain = add_loglinear(estimate_mle(derivations), tokens, source, LoglinearSettings(min_word=1))
    settings = JointSettings(min_word=1, k=1, window=1)
    joint = add_context_model("joint", settings, estimate_mle(derivations), tokens, source)
    again = add_context_model("joint", settings, estimate_mle(derivations), tokens, source, threads=2)
    assert joint.about["context"]["model"] == "joint"
    for name, model in (("plain", plain), ("joint", joint), ("again", again)):
        model.save(tmp_path / name)
        loaded = Model(tmp_path / name)
        grammar = loaded.grammar()
        binding, right[name] = Binding(loaded, grammar), []
        for topic in range(2):
            line = f"{'pq'[topic]}6 b {'pq'[topic]}7"
            forest = grammar.parse(grammar.vocab.add_line(line), ParseOptions(99, True, 1, X))
            values = binding.features(forest, None, FeatureOptions(names=("ContextTarget0",)))[:, 0]
            by_target = {
                model.rules.tgt_text(int(rule)): value
                for rule, value in zip(forest.app_rule, values, strict=True)
                if rule < len(model.rules) and model.rules.src_text(int(rule)) == "b"
            }
            right[name].append(by_target["BC"[topic]] - by_target["CB"[topic]])
    assert (tmp_path / "joint").read_bytes() == (tmp_path / "again").read_bytes()
    assert min(right["joint"]) > 1 > max(map(abs, right["plain"]))


def half_seen(n, seed):
    """Topical text in which no word of a topic that is on the right is beside b; and text that has all of them."""
    rng = np.random.default_rng(seed)
    source, target, more = [], [], []
    for _ in range(n):
        topic, left, right, end = (int(rng.integers(size)) for size in (2, 3, 4, 3))
        source.append(f"{'pq'[topic]}{left} b e{end}")
        target.append(f"{'PQ'[topic]}{left} {'BC'[topic]} E{end}")
        more += [f"{'pq'[topic]}{right} m {'yz'[topic]}{left}", f"{'pq'[topic]}{right} b e{end}"]
    return source, target, ["0-0 1-1 2-2"] * n, more


@pytest.mark.parametrize("model", ["joint", "residual", "ls"])
def test_views_of_further_text_know_words_without_translations(tmp_path, model, capsys):
    """p3 and q3 are nowhere in the sentence pairs: only further text has them before the words behind p0 to p2."""
    source, target, links, more = half_seen(300, 5)
    derive(source, target, links).save(tmp_path / "d")
    write_lines(tmp_path / "f", source)
    write_lines(tmp_path / "more", more)
    words = ("--model", model, "--set", "window=1", "--set")
    further = (*words, "k=5", "--more", f"{tmp_path}/more")
    code = add_by_command(tmp_path, *further)
    if model == "residual":
        assert code == 1 and "further source text is for the context models" in capsys.readouterr().err
        return
    assert code == 0
    found = {}
    for text in ("more", ""):
        assert add_by_command(tmp_path, *(further if text else (*words, "k=3"))) == 0
        loaded = Model(tmp_path / "m")
        grammar = loaded.grammar()
        binding, values = Binding(loaded, grammar), []
        names = ("ContextTarget0",) if model == "joint" else ("SenseTarget0",)
        for topic in range(2):
            forest = grammar.parse(grammar.vocab.add_line(f"{'pq'[topic]}3 b e0"), ParseOptions(99, True, 1, X))
            rules = Parameters.load(tmp_path / "m").rules
            column = binding.features(forest, None, FeatureOptions(names=names))[:, 0]
            texts = [rules.tgt_text(int(rule)) if rule < len(rules) else "" for rule in forest.app_rule]
            values.append(column[texts.index("BC"[topic])] - column[texts.index("CB"[topic])])
        found[text] = values
    assert min(found["more"]) > 0.5 > max(map(abs, found[""]))


def test_further_text_may_have_words_that_no_grammar_has(tmp_path, capsys):
    """Their number is a warning, and the model is the same as without them."""
    source, target, links, more = half_seen(40, 5)
    derive(source, target, links).save(tmp_path / "d")
    write_lines(tmp_path / "f", source)
    for name, words in (("more", "p0 unknown\u00ad q0"), ("odd", "p0 [1] soft\u00adhyphen [1] q0")):
        write_lines(tmp_path / name, [*more, words])
        options = ("--model", "ls", "--set", "window=1", "--set", "k=2", "--more", f"{tmp_path}/{name}")
        assert add_by_command(tmp_path, *options) == 0
        assert "further text: " in (said := capsys.readouterr().err) and " left out, the first since " in said
        assert Parameters.load(tmp_path / "m").context is not None
    assert "2 words left out, the first since the word '[1]' is reserved" in said


def test_text_without_a_choice():
    tokens = tokens_of(derive(["a b"], ["A B"], ["0-0 1-1"]))
    for more in ([], ["a b"]):
        with pytest.raises(InputError, match="no source side has two target sides"):
            estimate_joint(tokens, ["a b"], JointSettings(), more=more)


@pytest.mark.parametrize("model", ["joint", "softmax"])
def test_word_vectors_know_words_without_translations(tmp_path, model):
    """No text tells p3 and q3 apart: their vectors do, which those of p0 to p2 and of q0 to q2 are near."""
    source, target, links, _ = half_seen(300, 5)
    derive(source, target, links).save(tmp_path / "d")
    write_lines(tmp_path / "f", source)
    write_lines(tmp_path / "more", ["p3 q3 p3"])
    noise = np.random.default_rng(1).normal(size=(8, 3)) / 9
    lines = [f"{'pq'[k % 2]}{k // 2} {row[0] + k % 2} {row[1] + 1 - k % 2} {row[2]}" for k, row in enumerate(noise)]
    write_lines(tmp_path / "vectors", ["8 3", *lines])
    further = ("--more", f"{tmp_path}/more", "--model", model, "--set", f"vectors={tmp_path}/vectors")
    assert add_by_command(tmp_path, *further) == 0
    context = Parameters.load(tmp_path / "m").context
    assert context.low_dimensional.vectors.shape[1] == 6
    loaded = Model(tmp_path / "m")
    grammar = loaded.grammar()
    names = ("ContextTarget0",) if model == "joint" else ("SenseTarget0",)
    for topic in range(2):
        forest = grammar.parse(grammar.vocab.add_line(f"{'pq'[topic]}3 b e0"), ParseOptions(99, True, 1, X))
        column = Binding(loaded, grammar).features(forest, None, FeatureOptions(names=names))[:, 0]
        rules = Parameters.load(tmp_path / "m").rules
        texts = [rules.tgt_text(int(rule)) if rule < len(rules) else "" for rule in forest.app_rule]
        assert column[texts.index("BC"[topic])] - column[texts.index("CB"[topic])] > 0.5


def test_vectors_of_items_are_divided_by_their_distance(tmp_path):
    write_lines(tmp_path / "vectors", ["a 3 4", "c 0 2"])
    words = number_words(["a b x c a"], ["a", "b", "c"])
    views = Views.of(words, 3, np.array([[0, 2, 3]]), Look(2, False, 1))
    found = given_directions(tmp_path / "vectors", views, ["a", "b", "c"])
    assert found.left == pytest.approx(np.array([[0, 0], [0.3, 0.4]]))  # b has none; a is the word before it
    assert found.right == pytest.approx(np.array([[0, 1], [0.3, 0.4]]))


def test_spans_of_text_are_as_long_as_tokens():
    words, first = number_words(["a b", "c d e", "f"], ["a", "c", "f"])
    assert words.tolist() == [0, -1, 1, -1, -1, 2] and first.tolist() == [0, 2, 5, 6]
    assert places_in_text(first, 1, np.array([1]), 1).tolist() == [[1, 0, 1], [1, 1, 2], [1, 2, 3], [2, 0, 1]]
    assert places_in_text(first, 1, np.array([2]), 1).tolist() == [[1, 0, 2], [1, 1, 3]]


def test_command(tmp_path, capsys):
    source, target, links = topical(50, 3, 4)
    derive(source, target, links).save(tmp_path / "d")
    write_lines(tmp_path / "f", source)
    assert add_by_command(tmp_path, "--model", "joint", "--set", "k=2", "--set", "window=2") == 0
    context = Parameters.load(tmp_path / "m").context
    assert (
        context.low_dimensional.kind == "joint"
        and context.low_dimensional.vectors.shape[1] == 4
        and len(context.weights)
    )
    write_lines(tmp_path / "vectors", ["other 1 2"])
    assert add_by_command(tmp_path, "--model", "joint", "--set", f"vectors={tmp_path}/vectors") == 1
    assert "vectors: no word of the text has a vector" in capsys.readouterr().err
    assert add_by_command(tmp_path, "--model", "joint", "--set", "k=99") == 1
    assert "99 dimensions for views of" in capsys.readouterr().err
    (tmp_path / "m").rename(tmp_path / "plain")
    assert add_by_command(tmp_path, "--model", "ls", "--set", "k=2") == 1
    assert "already has a joint or low-dimensional context model" in capsys.readouterr().err
