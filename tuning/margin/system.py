"""A new system with learned weights as features of its decoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.decode.sentence import SentenceDecoder
from lscfg.errors import InputError, quote
from lscfg.extract.extractor import RuleInputs
from lscfg.formats.ini import DecoderConfig, LatentFeature, write_ini
from lscfg.formats.weights import warn_of_weights, write_weights
from lscfg.io.folders import path_from, temporary_folder
from lscfg.io.json_files import write_json
from lscfg.io.read import split_fields, stream_lines
from lscfg.io.write import write_lines
from lscfg.kernel import BOUNDARY_FEATURES, Grammar, X
from lscfg.kernel.base import Vocab
from lscfg.kernel.compiled import is_compiled
from lscfg.model.boundary import BoundaryModel
from lscfg.model.parameters import Parameters
from lscfg.parallel.choose import in_threads
from lscfg.tuning.margin.features import ENDS, SIDES, FeatureNumbers, Links, border_of
from lscfg.tuning.margin.folds import FoldedText, FoldRules, make_folds
from lscfg.tuning.margin.learn import LearnedWeights, MarginLearner
from lscfg.tuning.margin.settings import MarginSettings

MARGIN_RULE, MARGIN_WORDS = "MarginRule", "MarginWords"
"""Features of rules in a grammar: weights of the rule, and of its linked words."""

GRAMMAR, MODEL, INI, START, TRACE = "grammar.gz", "boundary.lscfg", "cdec.ini", "start.weights", "trace.json"
FILES = (GRAMMAR, MODEL, INI, START, TRACE)


def learn_system(
    inputs: RuleInputs,
    rules: FoldRules,
    config: DecoderConfig,
    weights: Mapping[str, float],
    settings: MarginSettings,
    folder: Path,
    jobs: int,
) -> None:
    """Learns weights on the training text, and writes the system that has them as features into a folder.

    Args:
        inputs: the training text and its alignments.
        rules: settings of the rules and language models of folds.
        config: configuration of the system without learned weights, with paths from the working directory.
        weights: tuned weights of this system.

    Raises:
        InputError: the configuration has latent features, a compiled grammar or no language model; see
            ``make_folds``.
    """
    if config.latent is not None:
        raise InputError(
            "already has a latent model, and lscfg tune margin adds one; name a system without one", config.path
        )
    config.check_common("lscfg tune margin")
    for path in config.grammars:
        if is_compiled(path):
            raise InputError(
                f"lscfg tune margin needs {quote(path.name)} as text; use --texts in lscfg pack", config.path
            )
    if config.language_model is None:
        raise InputError("has no language model, which ranks translations", config.path)
    decoder = SentenceDecoder(config, None, 0)
    warn_of_weights(weights, decoder.feature_names, decoder.columns.live, config.path or "weights")
    del decoder
    vocab, text = Vocab(), FoldedText.read(inputs, settings)
    pairs, held_out = text.pairs(settings)
    with temporary_folder(folder) as place, in_threads(jobs) as engine:
        own = replace(config, pop_limit=settings.pop_limit)
        folds, lexicon = make_folds(text, [*pairs, *held_out], rules, own, weights, place, vocab, jobs)
        features = FeatureNumbers([fold.decoder.grammar for fold in folds], Links(lexicon, vocab))
        learner = MarginLearner(folds, features, vocab, settings, engine)
        learned = learner.run(pairs, held_out)
    write_weighed(folder / GRAMMAR, config.grammars, features, learned, vocab)
    Parameters.without_rules(boundary_model(learned, vocab)).save(folder / MODEL)
    lm = Path(path_from(folder, config.language_model))
    latent = LatentFeature({"model": MODEL, "features": "boundary"})
    write_ini(folder / INI, replace(config, grammars=(Path(GRAMMAR),), language_model=lm, latent=latent, weights=None))
    # The learned weights are on the scale of the model score under these weights.
    write_weights(folder / START, {**weights, MARGIN_RULE: 1.0, MARGIN_WORDS: 1.0, BOUNDARY_FEATURES[0]: 1.0})
    write_json(folder / TRACE, learner.trace)


def write_weighed(
    path: Path, grammars: Sequence[Path], features: FeatureNumbers, learned: LearnedWeights, vocab: Vocab
) -> None:
    """Writes the rules of grammars with two more features, unless these are 0.

    Raises:
        InputError: a grammar cannot be read.
    """
    write_lines(path, (line for grammar in grammars for line in _lines(grammar, features, learned, vocab)))


def _lines(path: Path, features: FeatureNumbers, learned: LearnedWeights, vocab: Vocab) -> Iterator[str]:
    grammar, rule = Grammar(vocab), 0
    grammar.read(path)
    for line in stream_lines(path):
        if not line.lstrip().startswith("["):  # an empty line or a comment
            continue
        values = _values(grammar, rule, features, learned)
        rule += 1
        if values:
            fields = split_fields(line)
            fields[3:4] = [" ".join([*filter(None, fields[3:4]), *values])]
            line = " ||| ".join(fields)
        yield line


def _values(grammar: Grammar, rule: int, features: FeatureNumbers, learned: LearnedWeights) -> list[str]:
    source, target = grammar.src(rule), grammar.tgt(rule)
    if grammar.lhs(rule) != X or any(symbol < -1 - X for symbol in source):
        return []
    numbers = np.array(features.of(source, target), np.int64)
    own, of_rule = learned.rules[numbers], numbers < features.n_rules
    sums = {MARGIN_RULE: float(own[of_rule].sum()), MARGIN_WORDS: float(own[~of_rule].sum())}
    return [f"{name}={value:.6g}" for name, value in sums.items() if value]


def boundary_model(learned: LearnedWeights, vocab: Vocab) -> BoundaryModel:
    """Makes a model of the weights of words at borders of spans."""
    words = [vocab.word(number) for number in range(len(vocab))]
    found: dict[int, list[tuple[int, int, float]]] = {ENDS: [], SIDES: []}
    for key, weight in learned.border_items():
        kind, first, second = border_of(key, learned.words)
        found[kind].append((first, second, weight))
    tables: list[Any] = []
    for kind in (ENDS, SIDES):
        rows = found[kind]
        pairs = np.array([row[:2] for row in rows], np.int32).reshape(-1, 2)
        tables.append((pairs, np.array([row[2] for row in rows], np.float64)))
    return BoundaryModel.of(words, *tables)
