"""Time of learning context models, compared with the same steps in NumPy, and of their features.

    python benchmarks/low_dimensional.py train.ja train.deriv --pairs 5000 --decode dev.ja

From the first sentence pairs: CPU seconds of the whole estimate of each kind. Then, of the first tokens, one pass of
what is learned token by token in C and in NumPy, which have to come to the same parameters before a ratio is printed.
With --decode, milliseconds per sentence of the features of each kind, in forests of phrases.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
from pathlib import Path

import numpy as np
import runs

from lscfg.context.gradient import random_layer
from lscfg.context.learner import CONTEXT_MODELS
from lscfg.context.low_dimensional import Task, ViewSettings
from lscfg.estimate import mle
from lscfg.extract.derive import Derivations
from lscfg.extract.phrases import phrase_tokens
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.read import read_lines
from lscfg.kernel import SENSE_FEATURES, Binding, FeatureOptions, Grammar, Model, ParseOptions, X
from lscfg.kernel.context import ScoreTrainer

CLOSE = 1e-4
"""Largest difference of parameters in C and in NumPy."""


def reference_pass(trainer: ScoreTrainer, order: np.ndarray) -> np.ndarray:
    """The parameters after one pass in NumPy, token by token; those of ``trainer`` stay as they are."""
    parameters, squares = trainer.parameters.copy(), np.zeros(len(trainer.parameters))
    mine = dataclasses.replace(trainer)
    mine.parameters = parameters
    parts = mine.parts()
    places = dataclasses.replace(trainer)
    places.parameters = np.arange(len(parameters), dtype=np.float64)
    where = {name: part.astype(np.int64) for name, part in places.parts().items()}
    match, sums = trainer.loss == "match", np.zeros(len(parameters))

    def move(place: np.ndarray, along: np.ndarray) -> None:
        along = along + trainer.penalty * parameters[place]
        squares[place] += along * along
        parameters[place] -= trainer.rate * along / np.sqrt(squares[place] + 1e-8)

    for number, token in enumerate(order.tolist(), 1):
        rows = np.arange(trainer.first[token], trainer.first[token] + trainer.size[token])
        context, right = trainer.contexts[token], rows == trainer.own[token]
        if match:
            assert trainer.vectors is not None
            layer = np.tanh(parts["hidden"] @ context + parts["hidden_bias"] + trainer.vectors[rows] @ parts["other"].T)
            share = 1 / (1 + np.exp(-(layer @ parts["out"] + parts["bias"][0])))
            along = np.where(right, len(rows) - 1, 1) * (share - right)
            below = along[:, None] * parts["out"] * (1 - layer * layer)
            sums[where["out"]] += along @ layer
            sums[where["other"]] += below.T @ trainer.vectors[rows]
            sums[where["hidden"]] += np.outer(below.sum(axis=0), context)
            sums[where["hidden_bias"]] += below.sum(axis=0)
            sums[where["bias"]] += along.sum()
            if number % 16 == 0 or number == len(order):
                moved = np.nonzero(sums)[0]
                move(moved, sums[moved])
                sums[:] = 0
            continue
        along = parts["rules"][rows] @ context + parts["bias"][rows] - right
        move(where["rules"][rows], np.outer(along, context))
        move(where["bias"][rows], along)
    return parameters


def compare(task: Task, loss: str, tokens: int, hidden: int) -> list[runs.Cell]:
    """A row of the table: seconds in C and in NumPy, and their ratio.

    Raises:
        SystemExit: they do not come to the same.
    """
    asked = task.asked(task.used)[:tokens]
    rng = np.random.default_rng(1)
    contexts, side = rng.normal(size=(len(asked), 100)), task.side[asked]
    first, size = task.begin[side], np.diff(task.begin)[side]
    vectors = rng.normal(size=(task.rows, 100)) if loss == "match" else None
    made = ScoreTrainer(
        loss, contexts, task.own[asked], first, size, np.maximum(task.counts, 0.5), hidden, 0.01, 1e-8, vectors
    )
    for number, name in enumerate(("hidden", "other", "out")):
        part = made.parts()[name]
        part[:] = random_layer((1, *part.shape) if part.ndim < 2 else part.shape, number).reshape(part.shape)
    order = rng.permutation(len(asked))
    begin = time.process_time()
    expected = reference_pass(made, order)
    middle = time.process_time()
    made.learn(order)
    end = time.process_time()
    if not np.abs(made.parameters - expected).max() < CLOSE:
        raise SystemExit(f"{loss}: C and NumPy differ by {np.abs(made.parameters - expected).max():.2g}")
    ratio = (middle - begin) / max(end - middle, 1e-9)
    return [loss, len(asked), end - middle, middle - begin, ratio]


def decode(path: Path, grammar: Grammar, lines: list[str], features: str) -> float:
    """Milliseconds of CPU a sentence."""
    binding, options = Binding(Model(path), grammar), FeatureOptions(names=(features,))
    forests = [
        grammar.parse(ids, ParseOptions(len(ids), False, 1, X))
        for ids in map(grammar.vocab.add_line, lines)
        if len(ids)
    ]
    begin = time.process_time()
    for forest in forests:
        assert forest is not None
        binding.features(forest, None, options)
    return 1000 * (time.process_time() - begin) / len(forests)


def main() -> None:
    parser = runs.parser(__doc__)
    parser.add_argument("source", help="source side of the corpus")
    parser.add_argument("derivations", help="derivations of lscfg derive")
    parser.add_argument("--pairs", type=int, default=5000, help="first sentence pairs that are used")
    parser.add_argument("--tokens", type=int, default=2000, help="tokens that NumPy learns from")
    parser.add_argument("--decode", help="text whose features are timed")
    args = parser.parse_args()
    derivations, source = Derivations.load(args.derivations), read_lines(args.source)
    tokens = phrase_tokens(derivations)
    places = tokens.places[tokens.places[:, 1] < args.pairs]
    kept, numbers = np.unique(places[:, 0], return_inverse=True)
    tokens = RuleTokens(tokens.rules.select(kept), np.column_stack([numbers, places[:, 1:]]).astype(np.int32))
    model = mle.RelativeFrequencies().estimate(derivations, mle.MLESettings())
    run = runs.Run(args)
    run.table(f"{args.pairs} sentence pairs", ["context model", "estimate CPU s", "decoding ms a sentence"])
    grammar = Grammar()
    every = np.arange(len(tokens.rules))
    grammar.read_text(tokens.rules.kernel.text(every, (), np.empty((len(every), 0))).decode("utf-8"))
    grammar.read_text("[X] ||| [X,1] [X,2] ||| [X,1] [X,2]\n[X] ||| [X,1] [X,2] ||| [X,2] [X,1]\n")
    grammar.finish()
    lines = read_lines(args.decode) if args.decode else []
    with tempfile.TemporaryDirectory() as folder:
        for name in (name for name in CONTEXT_MODELS if CONTEXT_MODELS[name].FEATURES == SENSE_FEATURES):
            begin = time.process_time()
            made = CONTEXT_MODELS[name].add(model, tokens, source, CONTEXT_MODELS[name].Settings())
            seconds = time.process_time() - begin
            path = Path(folder) / name
            made.save(path)
            run.row(name, seconds, decode(path, grammar, lines, "sense") if lines else None)
    task = Task.of(tokens, source, ViewSettings())
    run.table("one pass", ["loss", "tokens", "C s", "NumPy s", "ratio"])
    for loss, hidden in (("indicators", 0), ("match", 50)):
        run.row(*compare(task, loss, args.tokens, hidden))
    run.save()


if __name__ == "__main__":
    main()
