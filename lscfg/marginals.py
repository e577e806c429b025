"""Latent features of sentences: parse, tensor inside-outside, features of each rule application."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from lscfg.errors import InputError
from lscfg.formats.ini import LatentFeature, find_file
from lscfg.kernel import Binding, FeatureOptions, Forest, Grammar, Model, ParseOptions, X
from lscfg.log import warn

NAMES = Binding.names


class LatentFeatures:
    """LatentMarginal, LatentEgivenF and LatentFgivenE of the forests of one grammar.

    Raises:
        InputError: the model cannot be opened.
    """

    names = NAMES

    def __init__(self, model: str | os.PathLike[str], grammar: Grammar, options: FeatureOptions | None = None):
        self.options = options or FeatureOptions()
        self.model = Model(model)
        self.binding = Binding(self.model, grammar)
        if not self.binding.known:
            warn(f"{model}: the model knows no rule of the grammar; all latent features are at their floor")

    @classmethod
    def from_ini(cls, feature: LatentFeature, grammar: Grammar, ini: str | os.PathLike[str]) -> LatentFeatures:
        """The features that a feature_function line of an ini file asks for.

        Options: ``model=FILE``, ``log=true|false``, ``floor=X``, ``negative=flip|clamp``.

        Raises:
            InputError: an unknown option or a bad value, or the model cannot be opened.
        """
        options = dict(feature.options)
        name = options.pop("model", "")
        model = find_file(name, ini)
        if model is None:
            raise InputError(f"feature function LSCFG: no model file {name!r}", ini)
        values: dict[str, Any] = {}
        for name, value in options.items():
            if name == "log" and value in ("true", "false"):
                values["log"] = value == "true"
            elif name == "negative":
                values["negative"] = value
            elif name == "floor" and _is_number(value):
                values["floor"] = float(value)
            else:
                raise InputError(
                    f"feature function LSCFG: {name}={value} is not understood; "
                    "options are model=FILE log=true|false floor=X negative=flip|clamp",
                    ini,
                )
        return cls(model, grammar, FeatureOptions(**values))

    def features(self, forest: Forest) -> np.ndarray:
        """float64 [n_apps, 3]; all 0 where no derivation has a probability."""
        inference = self.binding.infer(forest)
        if inference.sign == 0:
            return np.zeros((forest.n_apps, len(NAMES)))
        return self.binding.features(forest, inference.apps, self.options)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def sentence_record(grammar: Grammar, binding: Binding, words: list[str], options: FeatureOptions) -> dict[str, Any]:
    """Everything inference says of one sentence, as ``lscfg marginals`` writes it (docs/FORMATS.md).

    The forest is that of the model's own rules over the whole sentence, unknown words as the OOV rule.
    """
    ids = grammar.vocab.add_line(" ".join(words))
    forest = grammar.parse(ids, ParseOptions(max(len(words), 1), False, 2, X))
    record: dict[str, Any] = {"words": words, "parsed": forest is not None}
    if forest is None:
        return record
    inference = binding.infer(forest)
    features = binding.features(forest, inference.apps, options)
    record |= {
        "sign": inference.sign,
        "log_g": inference.log_g if inference.sign else None,
        "negative_mass": inference.negative_mass,
        "spans": [
            [*span, marginal]
            for span, marginal in zip(forest.node_span.tolist(), inference.nodes.tolist(), strict=True)
        ],
    }
    heads = forest.edge_head[forest.app_edge]
    record["applications"] = [
        {
            "span": forest.node_span[heads[a]].tolist(),
            "tails": [forest.node_span[t].tolist() for t in forest.edge_tail[forest.app_edge[a]] if t >= 0],
            "rule": rule_text(grammar, forest, a),
            "marginal": inference.apps[a].item(),
            **dict(zip(NAMES, features[a].tolist(), strict=True)),
        }
        for a in range(forest.n_apps)
    ]
    return record


def rule_text(grammar: Grammar, forest: Forest, app: int) -> str:
    """The rule of an application as ``source ||| target``."""
    rule, word = int(forest.app_rule[app]), grammar.vocab.word
    if rule >= len(grammar):
        extra = rule - len(grammar)
        if extra < 2:
            return ("[X,1] ||| [X,1]", "[S,1] [X,2] ||| [S,1] [X,2]")[extra]
        source = word(int(forest.words[forest.node_span[forest.edge_head[forest.app_edge[app]], 0]]))
        return f"{source} ||| {source}"
    src, k = [], 0
    for symbol in grammar.src(rule):
        k += symbol < 0
        src.append(word(symbol) if symbol >= 0 else f"[X,{k}]")
    tgt = [word(symbol) if symbol >= 0 else f"[X,{-symbol}]" for symbol in grammar.tgt(rule)]
    return f"{' '.join(src)} ||| {' '.join(tgt)}"
