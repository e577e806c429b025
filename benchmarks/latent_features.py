"""Other definitions of latent features, tuned and tested with the embedded decoder.

    lscfg run ja-en.toml -o ja-en
    lscfg estimate mle train.deriv -o mle.lscfg
    python benchmarks/latent_features.py ja-en.toml --system ja-en/systems/MIN --model clusters16.lscfg \\
        --one-state mle.lscfg --features Target,Ordered,Swapped --seeds 1 2 3

``--system`` is a finished system without latent features; tuning begins at its weights, with 0 for the latent ones. The
share of a rule application a in its span is a product,

    mu(a) / mu(span) = (source side and tails | span) x (order of bare nonterminals | those) x (target side | all that),

and each feature is the logarithm of a factor's ratio between the latent model and one state, that is, what the states
add to context-free statistics: positive where they think better of a than one state does. It is 0 outside its class of
rules: Target for source sides with words, TargetBare for ``[X,1] [X,2]`` alone, Ordered and Swapped (order) for those
by orientation, Source0, SourceN and SourceBare for rules without, with, and of nothing but nonterminals. Marginal0,
MarginalN, MarginalOrdered and MarginalSwapped are the ratio of mu(a) itself. ``none`` and ``latent`` stand for no
feature and for the three that the decoders have.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from lscfg import log
from lscfg.decode import EmbeddedDecoder, FeatureProvider, read_grammar
from lscfg.diagnose import NEITHER, ORDERED, SWAPPED
from lscfg.formats.ini import read_ini
from lscfg.formats.weights import read_weights
from lscfg.kernel import Binding, Forest, Grammar, Model, X
from lscfg.marginals import LatentFeatures
from lscfg.text import read_lines, write_lines
from tuning.bleu import SentenceReferences, corpus_bleu
from tuning.experiment.config import read_experiment
from tuning.tune import TuneSettings, tune

CLIP = 4.0
"""Largest absolute value of a ratio's logarithm: the search should not hang on one doubtful estimate."""

FLOOR = 1e-6
"""No logarithm is taken of less."""


class Ratios:
    """Logarithms of ratios between a latent model and one state, for ``EmbeddedDecoder``."""

    def __init__(self, model: str, one_state: str, grammar: Grammar, names: list[str]):
        self.names = tuple(names)
        self._bindings = [Binding(Model(path), grammar) for path in (model, one_state)]
        self._lhs = np.zeros(len(grammar) + 3, np.int64)
        self._lhs[len(grammar) : len(grammar) + 2] = 1  # the decoder's glue
        self._arity = np.zeros(len(grammar) + 3, np.int64)
        self._order = np.zeros(len(grammar) + 3, np.int64)
        for rule in range(len(grammar)):
            source = grammar.src(rule)
            self._lhs[rule], self._arity[rule] = grammar.lhs(rule), grammar.arity(rule)
            if grammar.lhs(rule) == X and len(source) == 2 and max(source) < 0:
                first = next(symbol for symbol in grammar.tgt(rule) if symbol < 0)
                self._order[rule] = ORDERED if first == -1 else SWAPPED

    def features(self, forest: Forest) -> np.ndarray:
        """float64 [n_apps, len(names)]; 0 where the model gives no derivation a probability."""
        inferences = [binding.infer(forest) for binding in self._bindings]
        if not all(inference.sign for inference in inferences):
            return np.zeros((forest.n_apps, len(self.names)))
        order, arity = self._order[forest.app_rule], self._arity[forest.app_rule]
        here = self._lhs[forest.app_rule] == X
        latent, plain = (self._logarithms(forest, inference.apps, order) for inference in inferences)
        target, orders, source = (np.clip(a - b, -CLIP, CLIP) for a, b in zip(latent[:3], plain[:3], strict=True))
        marginal = np.clip(sum(latent) - sum(plain), -CLIP, CLIP)
        words, bare = order == NEITHER, order != NEITHER
        columns = {
            "Target": (target, words),
            "TargetBare": (target, bare),
            "Ordered": (orders, order == ORDERED),
            "Swapped": (orders, order == SWAPPED),
            "Source0": (source, arity == 0),
            "SourceN": (source, words & (arity > 0)),
            "SourceBare": (source, bare),
            "Marginal0": (marginal, arity == 0),
            "MarginalN": (marginal, words & (arity > 0)),
            "MarginalOrdered": (marginal, order == ORDERED),
            "MarginalSwapped": (marginal, order == SWAPPED),
        }
        return np.stack([columns[name][0] * (columns[name][1] & here) for name in self.names], 1)

    def _logarithms(self, forest: Forest, apps: np.ndarray, order: np.ndarray) -> list[np.ndarray]:
        """Of target, order, source and span, float64 [n_apps] each; their sum is that of the marginal."""
        marginal, edge = np.abs(apps), forest.app_edge
        by_edge = np.bincount(edge, marginal, forest.n_edges)
        by_node = np.bincount(forest.edge_head, by_edge, forest.n_nodes)
        by_order = by_edge[edge]
        for way in (ORDERED, SWAPPED):
            chosen = order == way
            by_order[chosen] = np.bincount(edge, marginal * chosen, forest.n_edges)[edge][chosen]
        node = by_node[forest.edge_head]
        return [
            _log(marginal, by_order),
            _log(by_order, by_edge[edge]),
            _log(by_edge, node)[edge],
            np.log(np.maximum(node, FLOOR))[edge],
        ]


def _log(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    share = np.divide(part, whole, out=np.ones_like(part), where=whole > 0)
    return np.log(np.maximum(share, FLOOR))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", help="experiment file: development and test set")
    parser.add_argument("--system", required=True, help="folder of a finished system: cdec.ini and weights")
    parser.add_argument("--model", help="latent model")
    parser.add_argument("--one-state", help="model of lscfg estimate mle")
    parser.add_argument("--features", default="none", help="names, comma-separated; none; latent")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="of MIRA")
    parser.add_argument("--iterations", type=int, default=8, help="decoding runs of each tuning")
    parser.add_argument("-o", "--output", metavar="DIR", help="write test translations there, for lscfg evaluate")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    log.quiet = True
    corpus = read_experiment(args.experiment).corpus
    config = read_ini(Path(args.system) / "cdec.ini")
    grammar = read_grammar(config)
    provider: FeatureProvider | None = None
    if args.features == "latent":
        provider = LatentFeatures(args.model, grammar)
    elif args.features != "none":
        provider = Ratios(args.model, args.one_state, grammar, args.features.split(","))
    start = dict.fromkeys(provider.names if provider else (), 0.0) | read_weights(Path(args.system) / "weights")
    references = [[read_lines(path) for path in paths] for paths in (corpus.dev_reference, corpus.test_reference)]
    dev, test = read_lines(corpus.dev_source), read_lines(corpus.test_source)
    with EmbeddedDecoder(config, provider, grammar, args.jobs) as decoder:
        for seed in args.seeds:
            began = time.perf_counter()
            settings = TuneSettings(iterations=args.iterations, patience=args.iterations, seed=seed)
            result = tune(decoder, dev, references[0], start, settings)
            scores = sorted(record.dev_bleu for record in result.history)
            output = [found[0].text for found in decoder.decode(test, result.weights)]
            stats = [
                SentenceReferences(lines).stats([text.split()])[0]
                for text, *lines in zip(output, *references[1], strict=True)
            ]
            if args.output:
                name = f"{Path(args.model or 'none').stem}.{args.features}.{seed}"
                write_lines(Path(args.output) / name, output)
            latent = " ".join(f"{name} {result.weights[name]:+.2f}" for name in (provider.names if provider else ()))
            print(
                f"{args.features} {Path(args.model or '-').name} seed {seed}: dev {scores[-1]:.2f}, "
                f"three best {np.mean(scores[-3:]):.2f}; test {corpus_bleu(np.sum(stats, axis=0)):.2f}; "
                f"{latent} ({time.perf_counter() - began:.0f} s)",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
