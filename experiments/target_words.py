"""Scores of whole translations by the neural model of target words, as columns for lscfg rescore.

    lscfg decode -c cdec.ini -w weights dev.ja -k 100 -r --derivations dev.json.gz -o dev.lists
    python experiments/target_words.py network.lscfg dev.json.gz -o dev
    lscfg rescore dev.lists --scores Joint=dev.2 -w weights --tuned tuned --reference dev.en

Column ``dev.h`` contains, for each translation, the sum of the scores of its words and of the end, given
the source words around each and the h target words before it (Devlin et al. 2014). ``dev.h.normalised`` contains log
probabilities: the scores less log Z. Several networks are averaged. Places of words come from the rules of the
derivation, as in the features ``neural``, so that history 0 is their NeuralSource and the end of the sentence.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lscfg.kernel.neural import TARGET_NONE
from lscfg.model.parameters import Parameters
from lscfg.tuning.target_network import Contexts, Network, contexts

BATCH = 4096
"""Contexts whose scores of all words are in memory together."""


def log_z(network: Network, c: Contexts) -> np.ndarray:
    """Log Z of each word's context, [words]."""
    each, number = np.unique(np.column_stack((c.places, c.before)), axis=0, return_inverse=True)
    found = np.empty(len(each))
    for begin in range(0, len(each), BATCH):
        part = each[begin : begin + BATCH]
        values = network.hidden(c.sums, part[:, 0], part[:, 1:]) @ network.parts["output"].T
        values += network.parts["output.bias"]
        most = values.max(1)
        found[begin : begin + len(part)] = most + np.log(np.exp(values - most[:, None]).sum(1))
    return found[number.ravel()]


def columns(network: Network, line: Mapping[str, Any]) -> np.ndarray:
    """Scores and log probabilities of the translations of a sentence, [translations, histories, 2].

    The one translation of a sentence without a parse gets 0.
    """
    if not line["derivations"]:
        return np.zeros((1, network.model.history + 1, 2))
    all_known, history = contexts(network, line), network.model.history
    found = np.zeros((len(line["derivations"]), history + 1, 2))
    for h in range(history + 1):
        known = np.where(np.arange(history) < h, all_known.before, TARGET_NONE)
        c = dataclasses.replace(all_known, before=known)
        scores = network.scores(c.sums, c.places, c.before, c.words)
        np.add.at(found[:, h, 0], c.owner, scores)
        np.add.at(found[:, h, 1], c.owner, scores - log_z(network, c))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the columns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="+", help="models with a network; several are averaged")
    parser.add_argument("derivations", type=Path, help="derivations of lscfg decode --derivations, .gz allowed")
    parser.add_argument("-o", "--output", required=True, help="start of the names of the columns")
    args = parser.parse_args(arguments)
    models = [Parameters.load(path).neural for path in args.model]
    if lacking := [str(path) for path, model in zip(args.model, models, strict=True) if model is None]:
        sys.exit(f"no network: {', '.join(lacking)}")
    networks = [Network(model) for model in models if model is not None]
    opened = gzip.open if args.derivations.suffix == ".gz" else open
    with opened(args.derivations, "rt", encoding="utf-8") as file:
        found = [np.mean([columns(network, line) for network in networks], axis=0) for line in map(json.loads, file)]
    table = np.concatenate(found)
    for h in range(table.shape[1]):
        for kind, ending in enumerate(("", ".normalised")):
            text = "".join(f"{value:.9g}\n" for value in table[:, h, kind])
            Path(f"{args.output}.{h}{ending}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
