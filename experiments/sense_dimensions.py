"""Dimensions of a low-dimensional context model as features of whole translations, as columns for lscfg rescore.

    lscfg decode -c cdec.ini -w weights dev.ja -k 200 --derivations dev.json.gz -o dev.lists
    python experiments/sense_dimensions.py model.lscfg dev.json.gz -o dev
    lscfg rescore dev.lists --scores D1=dev.1 --scores D2=dev.2 -w weights --tuned tuned --reference dev.en

SenseScore is the dot product (or cosine) of a vector of the words around a rule and a vector of the rule. Column j
contains the sum over the rules of a translation of the products c_j r_j, without the rules' biases, so that tuning can
give each dimension its own weight; with --values rules the sum of r_j, and with --values signs the sum of the signs of
the products.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from lscfg.context.views import Look, Views, number_words
from lscfg.errors import InputError
from lscfg.io.read import stream_lines
from lscfg.io.write import write_lines
from lscfg.kernel import CONTEXT_EXTRA_WORDS
from lscfg.model.low_dimensional import LowDimensionalModel, first_gap_item
from lscfg.model.parameters import Parameters

KINDS = ("dot", "cosine")
"""Score functions that are sums over dimensions."""

VALUES = ("products", "rules", "signs")

_NONTERMINAL = re.compile(r"(?<!\S)\[[^\s\[\],|]+,([0-9]+)\](?!\S)")


@dataclass(frozen=True)
class Dimensions:
    """A context model whose score is a sum over dimensions.

    Attributes:
        model: the model; views: its items, as the training saw them.
        rules: number of each rule by its text; vocabulary: words of the rules.
    """

    model: LowDimensionalModel
    views: Views
    rules: Mapping[str, int]
    vocabulary: Sequence[str]

    @classmethod
    def load(cls, path: Path) -> Dimensions:
        """Reads a model.

        Raises:
            InputError: it has no low-dimensional context model, or one of another kind.
        """
        context = Parameters.load(path).context
        low = context.low_dimensional if context else None
        if context is None or low is None or low.kind not in KINDS:
            raise InputError("the model contains no context model whose score is a sum over dimensions", path)
        words = context.rules.words
        whole = 2 * low.window * (len(words) + CONTEXT_EXTRA_WORDS)
        first_gap = first_gap_item(low.window, len(words))
        if (low.items >= first_gap).any():
            raise InputError("words in gaps are not supported", path)
        look = Look(low.window, low.bag, 1, sentence=bool((low.items >= whole).any()))
        views = Views(look, low.items, 0, len(low.items), sparse.csr_matrix((0, len(low.items))))
        texts = {_text(context.rules.src_text(k), context.rules.tgt_text(k)): k for k in range(len(context.rules))}
        return cls(low, views, texts, words)

    def columns(self, line: Mapping[str, Any], values: str = VALUES[0]) -> np.ndarray:
        """Values of the translations of a sentence, float64 [translations, dimensions].

        The one translation of a sentence without a parse gets 0.

        Raises:
            InputError: the sentence is a lattice.
        """
        if not line["derivations"]:
            return np.zeros((1, self.model.vectors.shape[1]))
        if line["words"] is None:
            raise InputError(f"sentence {line['id'] + 1} is a lattice, whose spans are not words")
        places, rows, owners = [], [], []
        for owner, found in enumerate(line["derivations"]):
            for rule in found["rules"]:
                if "PassThrough" in rule["features"]:  # a rule of no grammar, whatever its words
                    continue
                number = self.rules.get(_text(rule["source"], rule["target"]), -1)
                row = int(self.model.row[number]) if number >= 0 else -1
                if row >= 0:
                    places.append((0, *rule["span"]))
                    rows.append(row)
                    owners.append(owner)
        result = np.zeros((len(line["derivations"]), self.model.vectors.shape[1]))
        if rows:
            products = self.rule_values(line["words"], np.array(places), np.array(rows), values)
            np.add.at(result, np.array(owners), products)
        return result

    def rule_values(self, words: Sequence[str], places: np.ndarray, rows: np.ndarray, values: str) -> np.ndarray:
        """Values of rules of a sentence, float64 [rules, dimensions].

        Args:
            places: int [rules, 3], 0 and the span of each; rows: int [rules], its vector.
        """
        rules: np.ndarray = self.model.rules[rows].astype(np.float64)
        if values == "rules":
            return rules
        each, number = np.unique(places, axis=0, return_inverse=True)
        items = self.views.matrix_of(number_words([" ".join(words)], self.vocabulary), len(self.vocabulary), each)
        context = items @ self.model.vectors.astype(np.float64) + self.model.shift
        if self.model.kind == "cosine":
            context /= np.maximum(np.linalg.norm(context, axis=1, keepdims=True), 1e-12)
        products: np.ndarray = context[number.ravel()] * rules
        return np.sign(products, out=products) if values == "signs" else products


def _text(source: str, target: str) -> str:
    """A rule without its categories, which context models ignore."""
    return _NONTERMINAL.sub(r"[\1]", f"{source} ||| {target}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the columns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="model with a low-dimensional context model")
    parser.add_argument("derivations", type=Path, help="derivations of lscfg decode --derivations, .gz allowed")
    parser.add_argument("--values", choices=VALUES, default=VALUES[0])
    parser.add_argument("-o", "--output", required=True, help="prefix of the names of the column files")
    args = parser.parse_args(arguments)
    try:
        dimensions = Dimensions.load(args.model)
        parts = [dimensions.columns(line, args.values) for line in map(json.loads, stream_lines(args.derivations))]
    except InputError as error:
        parser.error(str(error))
    except (ValueError, KeyError, TypeError) as error:
        parser.error(f"{args.derivations}: not the output of lscfg decode --derivations: {error}")
    table = np.concatenate([np.zeros((0, dimensions.model.vectors.shape[1])), *parts])
    for k, column in enumerate(table.T, 1):
        write_lines(f"{args.output}.{k}", (f"{value:.9g}" for value in column))


if __name__ == "__main__":
    main()
