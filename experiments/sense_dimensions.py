"""Dimensions of a low-dimensional context model as features of whole translations, as columns for lscfg rescore.

    lscfg decode -c cdec.ini -w weights dev.ja -k 200 --derivations dev.json.gz -o dev.lists
    python experiments/sense_dimensions.py model.lscfg dev.json.gz -o dev
    lscfg rescore dev.lists --scores D1=dev.1 --scores D2=dev.2 -w weights --tuned tuned --reference dev.en

SenseScore is the dot product (or cosine) of a vector of the words around a rule and a vector of the rule. Column j
contains the sum over the rules of a translation of the products c_j r_j, so that tuning can give each dimension its
own weight; with --values rules the sum of r_j, and with --values signs the sum of the signs of the products.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from lscfg.context.views import Look, Views, number_words
from lscfg.errors import InputError
from lscfg.kernel import CONTEXT_EXTRA_WORDS
from lscfg.model.low_dimensional import LowDimensionalModel, first_gap_item
from lscfg.model.parameters import Parameters

KINDS = ("dot", "cosine")
"""Score functions that are sums over dimensions."""

VALUES = ("products", "rules", "signs")


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
            raise InputError(f"no context model whose score is a {' or a '.join(KINDS)}", path)
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
        """
        if not line["derivations"]:
            return np.zeros((1, self.model.vectors.shape[1]))
        places, rows, owners = [], [], []
        for owner, found in enumerate(line["derivations"]):
            for rule in found["rules"]:
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
        signs: np.ndarray = np.sign(products)
        return signs if values == "signs" else products


def _text(source: str, target: str) -> str:
    return f"{source} ||| {target}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the columns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="model with a low-dimensional context model")
    parser.add_argument("derivations", type=Path, help="derivations of lscfg decode --derivations, .gz allowed")
    parser.add_argument("--values", choices=VALUES, default=VALUES[0])
    parser.add_argument("-o", "--output", required=True, help="start of the names of the columns")
    args = parser.parse_args(arguments)
    try:
        dimensions = Dimensions.load(args.model)
    except InputError as error:
        parser.error(str(error))
    opened = gzip.open if args.derivations.suffix == ".gz" else open
    with opened(args.derivations, "rt", encoding="utf-8") as file:
        table = np.concatenate([dimensions.columns(line, args.values) for line in map(json.loads, file)])
    for k, column in enumerate(table.T, 1):
        Path(f"{args.output}.{k}").write_text("".join(f"{value:.9g}\n" for value in column), encoding="utf-8")


if __name__ == "__main__":
    main()
