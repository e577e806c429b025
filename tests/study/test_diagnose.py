"""Figures of ``lscfg diagnose`` against sums over all derivations."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from categories import RULES, random_parameters, saved, table_of
from estimates import add_context_model, add_loglinear, estimate_mle
from helpers import derivations, sampled_pairs
from hypothesis import given
from hypothesis import strategies as st
from trees import Decomposition

from lscfg.context.mlr import MLRSettings
from lscfg.errors import InputError
from lscfg.estimate.em import EMSettings, ExpectationMaximisation
from lscfg.extract.derive import derive
from lscfg.extract.minimal import tokens_of
from lscfg.kernel import Binding, DeriveOptions, FeatureOptions, Model, ParseOptions, X
from lscfg.model.parameters import Parameters
from lscfg.study.diagnose import ONE_STATE, Diagnosis, Score, format_diagnosis, report
from lscfg.study.rule_questions import MEASURES, SWAPPED, Question, orientation

TRAIN = [
    ("a b", "A B", "0-0 1-1"),
    ("b a", "A B", "0-1 1-0"),
    ("a b a", "A A' B", "0-0 1-2 2-1"),
    ("a a", "A' and A", "0-2 1-0"),
    ("b x a", "B' X A", "0-0 1-1 2-2"),
    ("a no b", "B of A", "0-2 1-1 2-0"),
    ("a b", "A' B'", "0-0 1-1"),
    ("a a", "A A'", "0-0 1-1"),
]
HELD = [
    ("a b b a", "A B B' A'", "0-0 1-2 2-1 3-3"),
    ("b a a", "A B A'", "0-1 1-0 2-2"),
    ("a no b a", "B of A A", "0-2 1-1 2-0 3-3"),
]


def corpus(pairs, **options):
    return derive(*map(list, zip(*pairs, strict=True)), options=DeriveOptions(**options))


def random_model(path, train, m, signed=False):
    """The rules of the training set with random parameters."""
    rng = np.random.default_rng(5)
    like = estimate_mle(train)

    def draw(shape):
        values = rng.random(shape)
        return values - 0.4 if signed else values

    tensors = tuple(draw((len(tensor), *[m] * (k + 1))) for k, tensor in enumerate(like.tensors))
    Parameters(like.rules, tensors, draw(m), draw(m)).save(path, np.float64)
    return Parameters.load(path)


def rule_text(grammar, rule):
    """A rule of the grammar as ``RuleTable.text`` has it."""
    src = [f"[X,{k}]" if s < 0 else grammar.vocab.word(s) for s, k in _numbered(grammar.src(int(rule)))]
    tgt = [f"[X,{-s}]" if s < 0 else grammar.vocab.word(s) for s in grammar.tgt(int(rule))]
    return f"[X] ||| {' '.join(src)} ||| {' '.join(tgt)}"


def all_derivations(diagnosis, model, forest):
    """Each derivation's applications with its value, by plain contraction of its tensors."""
    texts = {model.rules.text(rule): rule for rule in range(len(model.rules))}
    tensors = [model.tensor(texts[rule_text(diagnosis.grammar, rule)]) for rule in forest.app_rule]

    def value(apps):
        app = next(apps)
        tensor = tensors[app]
        below = [value(apps) for tail in forest.edge_tail[forest.app_edge[app]] if tail >= 0]
        for vector in reversed(below):
            tensor = tensor @ vector
        return tensor

    return [(found, float(model.root @ value(iter(found)))) for found in derivations(forest)]


def _numbered(symbols):
    k = 0
    for symbol in symbols:
        k += symbol < 0
        yield symbol, k


def signed_marginals(diagnosis, model, forest):
    """Marginals of the applications, and the sum over all derivations by which they are divided."""
    values = all_derivations(diagnosis, model, forest)
    marginal, total = np.zeros(forest.n_apps), sum(value for _, value in values)
    for apps, value in values:
        marginal[apps] += value
    return marginal / total if total else marginal, total


@pytest.mark.parametrize(("signed", "negative"), [(False, "flip"), (True, "flip"), (True, "clamp")])
def test_losses_are_those_of_sums_over_all_derivations(tmp_path, signed, negative):
    train = corpus(TRAIN)
    model = random_model(tmp_path / "m", train, 2, signed)
    diagnosis = Diagnosis(train, corpus(HELD), max_targets=0, negative=negative)
    found = diagnosis.measure(tmp_path / "m")
    assert diagnosis.counts == {"pairs": 3, "parsed": 3, "applications": 19, "in the forests": 19}
    asked, floored = dict.fromkeys(MEASURES, 0), 0
    for k, (forest, questions) in enumerate(zip(diagnosis._forests, diagnosis._questions, strict=True)):
        marginal, _ = signed_marginals(diagnosis, model, forest)
        marginal = np.abs(marginal) if negative == "flip" else np.maximum(marginal, 0)
        loss = dict.fromkeys(MEASURES, 0.0)
        for question in questions:
            asked[question.measure] += 1
            weights = marginal[question.options]
            right = question.where if question.where is not None else np.arange(len(weights))
            share = weights[right == question.right].sum() / weights.sum()
            floored += share < diagnosis.floor
            loss[question.measure] -= math.log(max(share, diagnosis.floor))
        for name in MEASURES:
            assert found.scores[name].loss[k] == pytest.approx(loss[name], rel=1e-9), name
    assert min(asked.values()) >= 3 and (floored > 0) == (negative == "clamp")


def test_several_categories_are_refused(tmp_path):
    train = corpus(TRAIN)
    path = saved(random_parameters(table_of(RULES, ("A", "B")), (2, 3), 1), tmp_path / "m")
    with pytest.raises(InputError, match=r"m: has several categories, but choices are those of \[X\] alone"):
        Diagnosis(train, corpus(HELD)).measure_all(path)
    labelled = train.with_categories(("A", "B"), np.arange(len(train.rule), dtype=np.int32) % 2)
    with pytest.raises(InputError, match="the training derivations have several categories"):
        Diagnosis(labelled, corpus(HELD))


def test_whatever_is_in_a_forest_is_right(tmp_path):
    train = corpus(TRAIN)
    model = random_model(tmp_path / "m", train, 2)
    held = derive(*map(list, zip(*HELD, strict=True)), forests=True)
    diagnosis = Diagnosis(train, held, max_targets=0, forests=True)
    found, tree = diagnosis.measure(tmp_path / "m"), Diagnosis(train, held, max_targets=0).measure(tmp_path / "m")
    assert diagnosis.counts["applications"] == diagnosis.counts["in the forests"] > 19
    several = 0
    for k, (forest, pair) in enumerate(zip(diagnosis._forests, HELD, strict=True)):
        marginal, _ = signed_marginals(diagnosis, model, forest)
        reference, loss, asked = Decomposition(*pair), 0.0, 0
        spans = [span[:2] for span in reference.spans]
        right = {
            (span, reference.rules.text(edge.rule), *(spans[tail] for tail in edge.tails))
            for span, edges in zip(spans, reference.edges, strict=True)
            for edge in edges
        }
        texts = [rule_text(diagnosis.grammar, rule) for rule in forest.app_rule]
        at = [tuple(span) for span in forest.node_span.tolist()]
        tails = [[at[t] for t in forest.edge_tail[e].tolist() if t >= 0] for e in forest.app_edge]
        heads = [at[forest.edge_head[e]] for e in forest.app_edge]
        for span in spans:
            here = [a for a in range(forest.n_apps) if heads[a] == span]
            good = [a for a in here if (heads[a], texts[a], *tails[a]) in right]
            several += len(good) > 1
            if len(here) > len(good) or len(good) == 1 < len(here):
                loss -= math.log(max(marginal[good].sum() / marginal[here].sum(), diagnosis.floor))
                asked += 1
        assert found.scores["rule"].loss[k] == pytest.approx(loss, rel=1e-9)
        assert found.scores["rule"].n[k] == asked
    assert several > 1
    assert (found.scores["blind"].loss == tree.scores["blind"].loss).all()
    with pytest.raises(InputError, match="create them with lscfg derive --forests"):
        Diagnosis(train, corpus(HELD), forests=True)


def test_negative_marginals_and_sums_are_counted(tmp_path):
    """Some sentences have a sum of derivations above 0, some below, and those with "no" of 0."""
    train = corpus(TRAIN)
    held = [*HELD, ("a b", "A B", "0-0 1-1"), ("b a b", "B A B", "0-0 1-1 2-2"), ("a a b", "A A B", "0-0 1-1 2-2")]
    model = random_model(tmp_path / "m", train, 2, signed=True)
    for rule in range(len(model.rules)):
        model.tensor(rule)[...] *= "no" not in model.rules.src_text(rule).split()
    model.save(tmp_path / "m", np.float64)
    diagnosis = Diagnosis(train, corpus(held), max_targets=0)
    signs, masses = [], []
    for forest in diagnosis._forests:
        marginal, total = signed_marginals(diagnosis, model, forest)
        signs.append(int(np.sign(total)))
        absolute = np.abs(marginal).sum()
        masses.append(-marginal[marginal < 0].sum() / absolute if absolute else 0.0)
    found = diagnosis.measure(tmp_path / "m")
    assert (signs.count(1), signs.count(-1), signs.count(0)) == (3, 2, 1)
    assert (found.below, found.zero) == (2, 1)
    assert found.negative_mass == pytest.approx(np.mean(masses), rel=1e-9)
    content = report(diagnosis, [*diagnosis.references(), found])["models"]
    assert [model["sentences below 0"] for model in content] == [0, 0, 2]
    assert [model["sentences at 0"] for model in content] == [0, 0, 1]
    assert [model["negative_mass"] for model in content] == [0, 0, found.negative_mass]


def test_blind_is_the_probability_that_the_smallest_phrase_around_a_border_is_swapped(tmp_path):
    train = corpus(TRAIN)
    model = random_model(tmp_path / "m", train, 2)
    diagnosis = Diagnosis(train, corpus(HELD[:1]), max_targets=0)
    forest = diagnosis._forests[0]
    kind = diagnosis._asked.orientation[forest.app_rule]
    sums = np.zeros((5, 3))
    for apps, value in all_derivations(diagnosis, model, forest):
        for border in range(1, 4):
            spans = {a: forest.node_span[forest.edge_head[forest.app_edge[a]]].tolist() for a in apps}
            around = [a for a, (i, j) in spans.items() if i < border < j]
            smallest = min(around, key=lambda a: spans[a][1] - spans[a][0])
            sums[border, kind[smallest]] += value
    right = {1: 0, 2: 1, 3: 0}  # a | b b | a, in which the two b change places
    expected = [-math.log(sums[k, 1 + right[k]] / sums[k, 1:].sum()) for k in right]
    score = diagnosis.measure(tmp_path / "m").scores["blind"]
    assert score.n.tolist() == [3] and score.loss[0] == pytest.approx(sum(expected), rel=1e-9)


@given(st.permutations(range(6)))
def test_blind_questions_do_not_depend_on_the_bracketing(order):
    words = list("abcdef")
    links = " ".join(f"{f}-{e}" for e, f in enumerate(order))
    pair = (" ".join(words), " ".join(words[k].upper() for k in order), links)
    training = [*TRAIN, *((w, w.upper(), "0-0") for w in words)]
    asked = []
    for bracketing in ("normal", "right", "balanced"):
        diagnosis = Diagnosis(corpus(training), corpus([pair], bracketing=bracketing))
        tails = diagnosis._forests[0].edge_tail[diagnosis._forests[0].app_edge]
        asked.append(
            sorted(
                (int(diagnosis._forests[0].node_span[tails[q.options[0], 0], 1]), q.right)
                for q in diagnosis._questions[0]
                if q.measure == "blind"
            )
        )
    assert asked[0] == asked[1] == asked[2]


def test_trees_of_several_alignments_are_one_pair(tmp_path):
    """Counts, figures of sentences and standard errors are those of pairs."""
    train, pairs = corpus(TRAIN), [HELD[0], ("a b", "A B", "0-9"), *HELD[1:]]
    random_model(tmp_path / "m", train, 2, signed=True)
    once, twice = (
        Diagnosis(train, dataclasses.replace(corpus(pairs * copies, drop=True), alignments=copies), max_targets=0)
        for copies in (1, 2)
    )
    assert once.counts == {"pairs": 3, "parsed": 3, "applications": 19, "in the forests": 19}
    assert twice.counts == {"pairs": 3, "parsed": 3, "applications": 38, "in the forests": 38}
    assert twice.sentences == once.sentences
    (_, base), (_, both_base) = once.references(), twice.references()
    one, both = once.measure(tmp_path / "m"), twice.measure(tmp_path / "m")
    assert (both.negative_mass, both.below, both.zero) == (one.negative_mass, one.below, one.zero)
    for name in MEASURES:
        single, double = one.scores[name], both.scores[name]
        assert double.loss == pytest.approx(2 * single.loss) and double.n.tolist() == (2 * single.n).tolist()
        assert double.gain(both_base.scores[name]) == pytest.approx(single.gain(base.scores[name]))


def test_the_one_state_model_is_context_free():
    train = corpus(TRAIN * 2)  # no rule occurs once, so that none is left to the OOV rule
    diagnosis = Diagnosis(train, corpus(HELD), max_targets=0)
    frequency, one_state = diagnosis.references()
    for name in ("target", "orient", "blind"):
        assert one_state.scores[name].loss == pytest.approx(frequency.scores[name].loss, rel=1e-9)
    assert one_state.scores["rule"].mean_loss != pytest.approx(frequency.scores["rule"].mean_loss, rel=1e-3)
    counts = {train.rules.text(rule): count for rule, count in enumerate(train.counts.tolist())}
    bare = np.nonzero(orientation(train.rules))[0]
    swapped = sum(counts[train.rules.text(r)] for r in bare if orientation(train.rules)[r] == SWAPPED)
    share = swapped / sum(counts[train.rules.text(r)] for r in bare)
    borders = [-math.log(share if swap else 1 - share) for swap in (0, 1, 0, 1, 0, 1, 1, 0)]
    assert share < 0.5
    assert frequency.scores["blind"].loss.sum() == pytest.approx(sum(borders), rel=1e-9)


def test_states_that_decide_are_seen(tmp_path):
    src, tgt, links, _ = sampled_pairs(600, 1)
    train, held = derive(src[:400], tgt[:400], links[:400]), derive(src[400:], tgt[400:], links[400:])
    ExpectationMaximisation().estimate(train, EMSettings(m=2, iterations=40, init="matsuzaki")).save(tmp_path / "em")
    diagnosis = Diagnosis(train, held)
    results = [*diagnosis.references(), diagnosis.measure(tmp_path / "em")]
    base, latent = results[1:]
    for name in ("rule", "orient", "blind"):
        gain, error = latent.scores[name].gain(base.scores[name])
        assert gain > 0.05 and gain > 4 * error, name
    content = report(diagnosis, results)
    assert content["models"][1]["name"] == ONE_STATE and content["models"][1]["blind"]["gain"] == 0
    assert content["models"][2]["target"] == {
        "n": 0, "loss": None, "gain": None, "error": None, "reciprocal_rank": None
    }  # fmt: skip
    lines = format_diagnosis(content).splitlines()
    blocks = [line.split(",")[0] for before, line in itertools.pairwise(lines) if not before]
    assert blocks == ["rule", "orient", "blind"] and max(map(len, lines)) <= 100
    assert sum(line.startswith("…" if len(str(tmp_path)) > 44 else str(tmp_path)) for line in lines) == 3


def test_context_that_decides_is_seen(tmp_path):
    """B after a, C after d, in equal number: a loss of log 2 each without the words around."""
    source = ["a b x", "d b x", "a b y", "d b y"] * 20
    target = ["A B X", "D C X", "A B Y", "D C Y"] * 20
    links = ["0-0 1-1 2-2"] * 80
    train, held = derive(source, target, links), derive(source[:2], target[:2], links[:2])
    add_loglinear(estimate_mle(train), tokens_of(train), source).save(tmp_path / "context")
    estimate_mle(train).save(tmp_path / "without")
    diagnosis = Diagnosis(train, held)
    plain, context = diagnosis.measure_all(tmp_path / "context")
    (without,) = diagnosis.measure_all(tmp_path / "without")
    assert (plain.name, context.name) == (f"{tmp_path}/context", f"{tmp_path}/context in context")
    for result in (plain, without):
        assert result.scores["target"].loss == pytest.approx([math.log(2)] * 2)
    binding = Binding(Model(tmp_path / "context"), diagnosis.grammar)
    for text, loss in zip(source, context.scores["target"].loss, strict=False):
        forest = diagnosis.grammar.parse(diagnosis.grammar.vocab.add_line(text), ParseOptions(9, False, 2, X))
        features = binding.features(forest, binding.infer(forest), FeatureOptions(names=("context",)))
        assert -math.log(0.5 * math.exp(features.max())) == pytest.approx(loss) and loss < 0.5
    with pytest.raises(InputError, match="has no log-linear context weights"):
        diagnosis.measure(tmp_path / "without", "context")
    settings = MLRSettings(window=1, min_word=1)
    add_context_model("mlr", settings, estimate_mle(train), tokens_of(train), source).save(tmp_path / "scorer")
    plain, scored = diagnosis.measure_all(tmp_path / "scorer")
    assert scored.name == f"{tmp_path}/scorer by its scorer" and scored.scores["target"].mean_loss < 0.5
    assert plain.scores["target"].loss == pytest.approx([math.log(2)] * 2)


def test_differences_are_sums_of_the_answers(tmp_path):
    """Rules B and C after their own neighbours gain; the answers of a sentence add up to its gain."""
    source = ["a b x", "d b x", "a b y", "d b y"] * 20
    target = ["A B X", "D C X", "A B Y", "D C Y"] * 20
    train = derive(source, target, ["0-0 1-1 2-2"] * 80)
    add_loglinear(estimate_mle(train), tokens_of(train), source).save(tmp_path / "context")
    diagnosis = Diagnosis(train, derive(source[:3], target[:3], ["0-0 1-1 2-2"] * 3))
    results = [*diagnosis.references(), *diagnosis.measure_all(tmp_path / "context")]
    found = diagnosis.differences(results[-1], results[1], 5)
    assert [(one["text"], one["n"]) for one in found["rules"]] == [("b ||| B", 2), ("b ||| C", 1)]
    assert {one["text"] for one in found["sentences"]} == {*source[:3]}
    gains = results[1].scores["target"].loss - results[-1].scores["target"].loss
    assert gains.sum() > 1 and sum(one["gain"] for one in found["sentences"]) == pytest.approx(gains.sum())
    assert [one["gain"] for one in found["rules"]] == sorted((one["gain"] for one in found["rules"]), reverse=True)
    worse = diagnosis.differences(results[1], results[-1], 1)
    assert [one["text"] for one in worse["rules"]] == ["b ||| B"] and worse["rules"][0]["gain"] < 0
    content = report(diagnosis, results, 5)
    assert content["models"][-1]["differences"] == found and not content["models"][1]["differences"]["rules"]
    text = format_diagnosis(content)
    assert f"  {found['rules'][0]['gain']:+8.2f}     2  b ||| B" in text.splitlines()
    assert max(map(len, text.splitlines())) <= 100


def test_answers():
    scores = np.array([0.0, 2.0, 1.0, 1.0, 0.0, 0.0])
    alone = Question("rule", np.arange(4), None, 2)
    assert alone.answer(scores, 1e-6) == pytest.approx((-math.log(0.25), 1 / 2.5))
    summed = Question("blind", np.arange(4), np.array([0, 1, 0, 1]), 0)
    assert summed.answer(scores, 1e-6) == pytest.approx((-math.log(0.25), 1 / 2))
    impossible = Question("rule", np.arange(4), None, 0)
    assert impossible.answer(scores, 1e-3) == pytest.approx((-math.log(1e-3), 1 / 4))
    unknown = Question("rule", np.array([4, 5]), None, 0)
    assert unknown.answer(scores, 1e-6) == pytest.approx((math.log(2), 1 / 1.5))


def test_gain_and_its_error_by_hand():
    """Sentences of 2, 3 and 1 questions gain 1, 2 and -1 nats: 1/3 a question, and 1/3, 1 and -4/3 more than that."""
    n, rank = np.array([2, 3, 1]), np.zeros(3)
    own, reference = Score(np.array([2.0, 3, 2]), rank, n), Score(np.array([3.0, 5, 1]), rank, n)
    assert own.gain(reference) == pytest.approx((1 / 3, math.sqrt(1 / 9 + 1 + 16 / 9) / 6))
    assert reference.gain(own) == pytest.approx((-1 / 3, math.sqrt(26) / 18))
    assert own.gain(own) == (0, 0)
    empty = Score(rank, rank, np.zeros(3, np.int64))
    assert np.isnan(empty.gain(empty)).all()


def test_unknown_rules_and_dropped_pairs_are_counted(tmp_path):
    train = corpus(TRAIN)
    held = corpus([*HELD, ("zzz a", "Z A", "0-0 1-1"), ("a b", "A B", "0-9")], drop=True)
    diagnosis = Diagnosis(train, held)
    assert diagnosis.counts == {"pairs": 4, "parsed": 4, "applications": 22, "in the forests": 21}
    # known rules, but no way to derive the span of the second nonterminal
    train = corpus([("a no b", "B of A", "0-2 2-0"), ("a no b q", "Z B", "0-0 1-0 3-0 2-1")])
    diagnosis = Diagnosis(train, corpus([("a no b q", "C of A", "0-2 2-0 3-0")]))
    assert diagnosis.counts == {"pairs": 1, "parsed": 1, "applications": 3, "in the forests": 0}
    with pytest.raises(InputError, match="no held-out sentence has a parse"):
        Diagnosis(train, corpus([("a b", "A B", "0-0 1-1")]))
    with pytest.raises(InputError, match="floor must be"):
        Diagnosis(train, held, floor=0)
    with pytest.raises(InputError, match="negative marginals"):
        Diagnosis(train, held, negative="keep")
