"""A configuration of the embedded decoder with a little grammar and language model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lscfg.formats.ini import DecoderConfig
from lscfg.kernel import Forest, Grammar

GRAMMAR = """[X] ||| la casa ||| the house ||| P=1.5 Count=1
[X] ||| casa ||| house ||| P=1
[X] ||| [X,1] verde ||| green [X,1] ||| P=0.5
[X] ||| [X,1] verde ||| [X,1] green ||| P=0.25
[X] ||| la ||| the ||| P=0.125
[X] ||| verde ||| green |||
"""
ARPA = """\\data\\
ngram 1=6
ngram 2=3

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.25
-0.75\t</s>
-1\tthe\t-0.5
-1.25\thouse\t-0.125
-1.125\tgreen\t-0.0625

\\2-grams:
-0.25\t<s> the
-0.5\tthe house
-0.375\tgreen house

\\end\\
"""
SENTENCES = ["la casa verde", "verde casa", "otra casa", "la casa verde", "casa"]
WEIGHTS = {
    "P": 1.0,
    "Glue": -0.5,
    "PassThrough": -2.0,
    "WordPenalty": 0.3,
    "LanguageModel": 0.9,
    "Latent": 0.75,
    "Half": 1.0,
}


def small_config(folder: Path) -> DecoderConfig:
    """Of the grammar and the language model, whose files are written into the folder."""
    (folder / "grammar").write_text(GRAMMAR)
    (folder / "lm").write_text(ARPA)
    return DecoderConfig(
        grammars=(folder / "grammar",), language_model=folder / "lm", word_penalty=True, pass_through=True
    )


class Provider:
    """The width of each application's head as a feature; counts how often it is asked."""

    names: tuple[str, ...] = ("Latent", "Half")

    def __init__(self, grammar: Grammar) -> None:
        self.calls = 0

    def features(self, forest: Forest) -> np.ndarray:
        self.calls += 1
        spans = forest.node_span[forest.edge_head[forest.app_edge]]
        return np.stack([spans[:, 1] - spans[:, 0], np.full(forest.n_apps, 0.5)], axis=1).astype(float)
