"""The learner of ``lscfg tune margin`` against a plain one: dictionaries, one pair after the other."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from lscfg.formats.ini import DecoderConfig
from lscfg.kernel.base import Vocab
from lscfg.lm.lmplz import build_lm
from lscfg.parallel.choose import in_threads
from lscfg.tuning.margin.features import FeatureNumbers, Links, border_keys
from lscfg.tuning.margin.folds import Fold, Lexicon, Pair
from lscfg.tuning.margin.learn import LearnedWeights, MarginLearner
from lscfg.tuning.margin.settings import MarginSettings

RULES = """\
[X] ||| a ||| p ||| F=-1
[X] ||| a ||| q ||| F=0.5
[X] ||| b ||| q ||| F=-1
[X] ||| b ||| p ||| F=0.25
[X] ||| b ||| p q ||| F=0.25
[X] ||| [X,1] c [X,2] ||| [2] r [1] ||| F=1
[X] ||| a [X,1] ||| [1] p ||| F=0.5
[X] ||| c ||| r |||
"""
WEIGHTS = {"F": 0.7, "Glue": -0.3, "LanguageModel": 0.8, "LanguageModel_OOV": -1.0, "WordPenalty": -0.4}
LEXICON = Lexicon({("a", "p"): 6, ("a", "q"): 2, ("b", "q"): 5, ("b", "p"): 1, ("c", "r"): 1, ("b", None): 3})
TARGET = {"a": "p", "b": "q", "c": "r"}
Key = tuple[str, int]


class World:
    """A fold with a language model, and a learner for its search."""

    def __init__(self, folder: Path, sources: list[str], settings: MarginSettings):
        (folder / "rules").write_text(RULES)
        rng = np.random.default_rng(1)
        lines = [" ".join(rng.choice(list("pqr"), rng.integers(1, 6))) for _ in range(200)]
        (folder / "text").write_text("\n".join(lines) + "\n")
        build_lm(folder / "text", folder / "lm.arpa", 3, (), (0.5, 1.0, 1.5), "lscfg")
        config = DecoderConfig((folder / "rules",), folder / "lm.arpa", word_penalty=True, max_span=8)
        self.vocab = Vocab()
        for line in sources:
            self.vocab.add_line(line)
        self.fold = Fold(config, WEIGHTS, self.vocab, 1)
        self.features = FeatureNumbers([self.fold.decoder.grammar], Links(LEXICON, self.vocab))
        self.settings = settings
        self.pairs = [Pair(n, 0, line, " ".join(TARGET[w] for w in line.split())) for n, line in enumerate(sources)]

    def learner(self, engine) -> MarginLearner:
        return MarginLearner([self.fold], self.features, self.vocab, self.settings, engine)


def bleu_words(stats: list[float], background: list[float]) -> float:
    """BLEU of a translation and its background, times the reference length of both; counts as of ``lscfg.tuning.bleu``:
    four of n-grams that are right, four of all n-grams, and the lengths of translation and reference.
    """
    total = [one + other for one, other in zip(stats, background, strict=True)]
    logs = sum(math.log(total[k] / total[4 + k]) for k in range(4)) / 4
    return math.exp(logs + min(0.0, 1 - total[9] / total[8])) * total[9]


def derivation_features(world: World, sentence, lists, hypothesis: int) -> dict[Key, int]:
    """The features of a hypothesis, application by application."""
    forest, grammar, found = sentence.forest, world.fold.decoder.grammar, defaultdict(int)
    nodes, keys = border_keys(forest, len(world.vocab))
    borders = dict(zip(nodes.tolist(), keys.tolist(), strict=True))
    for app in lists.apps[lists.app_offsets[hypothesis] : lists.app_offsets[hypothesis + 1]].tolist():
        rule, head = int(forest.app_rule[app]), int(forest.edge_head[forest.app_edge[app]])
        for number in world.features.of(grammar.src(rule), grammar.tgt(rule)) if rule < len(grammar) else []:
            found["rule", number] += 1
        for key in borders.get(head, []):
            found["border", key] += 1
    return found


def plain(world: World, learner: MarginLearner, passes: int) -> tuple[dict[Key, float], list[float]]:
    """The mean of the weights after each batch, and the last background: hope and fear of each pair, AdaGrad."""
    settings, background = world.settings, [4, 3, 2, 1, 4, 3, 2, 1, 4, 4]
    value: dict[Key, float] = defaultdict(float)
    squares: dict[Key, float] = defaultdict(float)
    total: dict[Key, float] = defaultdict(float)
    batches = 0
    for number in range(1, passes + 1):
        order = np.random.default_rng([settings.seed, 2, number]).permutation(len(world.pairs)).tolist()
        for begin in range(0, len(order), settings.batch):
            rules = np.array([value["rule", k] for k in range(len(world.features))])
            keys = [key for kind, key in value if kind == "border"]
            borders = np.array([value["border", key] for key in keys])
            weights = LearnedWeights(rules, borders, {key: k for k, key in enumerate(keys)}, len(world.vocab))
            changes, hopes = [], []
            for k in order[begin : begin + settings.batch]:
                sentence, lists, stats = learner._translate(world.pairs[k], weights, settings.kbest)
                scores = lists.score.tolist()
                gains = [settings.scale * bleu_words(one, background) for one in stats.tolist()]
                hope = max(range(len(scores)), key=lambda h: scores[h] + gains[h])
                fear = max(range(len(scores)), key=lambda h: scores[h] - gains[h])
                change: dict[Key, int] = defaultdict(int)
                if gains[hope] - gains[fear] > scores[hope] - scores[fear]:
                    for which, sign in ((hope, 1), (fear, -1)):
                        for key, count in derivation_features(world, sentence, lists, which).items():
                            change[key] += sign * count
                changes.append(change)
                hopes.append(stats[hope].tolist())
            for change, hope_stats in zip(changes, hopes, strict=True):
                background = [0.999 * old + new for old, new in zip(background, hope_stats, strict=True)]
                for key, gradient in change.items():
                    squares[key] += gradient**2
                    value[key] += settings.rate * gradient / math.sqrt(1 + squares[key])
            batches += 1
            for key, weight in value.items():
                total[key] += weight
    return {key: weight / batches for key, weight in total.items()}, background


def test_the_average_is_that_of_a_plain_learner(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    sources = [" ".join(rng.choice(list("abbac"), rng.integers(1, 6))) for _ in range(24)]
    world = World(tmp_path, sources, MarginSettings(batch=5, passes=2, kbest=20, rate=0.3, scale=2.0))
    with in_threads(1) as engine:
        learner = world.learner(engine)
        found = learner.run(world.pairs)
        expected, background = plain(world, world.learner(engine), 2)
    assert learner._background == pytest.approx(background, rel=1e-12)  # a share of 0.999 of it is left at each pair
    rules = {key: weight for (kind, key), weight in expected.items() if kind == "rule" and weight}
    borders = {key: weight for (kind, key), weight in expected.items() if kind == "border" and weight}
    assert len(rules) > 5 and len(borders) > 5
    assert {k: w for k, w in enumerate(found.rules.tolist()) if w} == pytest.approx(rules, abs=1e-12)
    assert dict(found.border_items()) == pytest.approx(borders, abs=1e-12)


def test_passes_end_where_held_out_bleu_stays_equal(tmp_path: Path) -> None:
    """The held-out pair has one translation only, before and after each pass."""
    world = World(tmp_path, ["a b", "b a", "a a", "c c c c c"], MarginSettings(batch=2, passes=4, kbest=20))
    with in_threads(1) as engine:
        learner = world.learner(engine)
        found = learner.run(world.pairs[:3], world.pairs[3:])
    (only,) = learner.trace
    assert only["held-out BLEU"] == only["held-out BLEU without learning"] > 0
    assert not found.rules.any() and not len(found.borders)


def test_held_out_pairs_without_a_parse_are_empty_translations(tmp_path: Path) -> None:
    """The other pair is right, so BLEU is the brevity penalty of 5 words of 8."""
    world = World(tmp_path, ["c c c c c"], MarginSettings(kbest=20))
    unparsed = Pair(1, 0, "c d c", "r s r")
    world.vocab.add_line(unparsed.source)
    with in_threads(1) as engine:
        learner = world.learner(engine)
        nothing = learner._learned(np.zeros(len(world.features)), np.empty(0))
        assert learner._translate(unparsed, nothing, 1) is None
        found = [learner._bleu(pairs, nothing) for pairs in (world.pairs, [*world.pairs, unparsed], [unparsed])]
    assert found == pytest.approx([100.0, 100 * math.exp(1 - 8 / 5), 0.0])
