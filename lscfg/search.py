"""Cube pruning over a forest: the Python side of lscfg_search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lscfg._kernel import ffi, lib
from lscfg.kernel import Forest, Grammar, check, view
from lscfg.lm.automaton import LanguageModel


@dataclass(frozen=True)
class SearchOptions:
    """Limits and weights of a search.

    Attributes:
        pop_limit: candidates taken at each node (cubepruning_pop_limit).
        k: derivations wanted.
        unique: only the best derivation of each translation.
        lm_weight: weight of the sum of log10 p; oov_weight: weight of the number of words that the model does not know.
    """

    pop_limit: int = 200
    k: int = 1
    unique: bool = False
    lm_weight: float = 0.0
    oov_weight: float = 0.0


@dataclass(frozen=True)
class KBest:
    """Derivations of a sentence, best first; hypothesis h has words ``words[word_offsets[h] : word_offsets[h + 1]]``.

    Attributes:
        score: float64 [n], model scores; lm: float64 [n], sums of log10 p; oov: float64 [n], unknown words.
        word_offsets: int64 [n + 1]; words: int32, vocabulary ids.
        app_offsets: int64 [n + 1]; apps: int32, applications of the forest.
    """

    score: np.ndarray
    lm: np.ndarray
    oov: np.ndarray
    word_offsets: np.ndarray
    words: np.ndarray
    app_offsets: np.ndarray
    apps: np.ndarray

    def __len__(self) -> int:
        return len(self.score)


def search(
    forest: Forest, grammar: Grammar, model: LanguageModel | None, app_scores: np.ndarray, options: SearchOptions
) -> KBest:
    """The k best derivations that cube pruning finds.

    Args:
        forest: a forest of the grammar.
        grammar: the finished grammar.
        model: the language model, None for none; its lock is held meanwhile.
        app_scores: [n_apps], each application's score without the language model; finite.
        options: limits and weights.

    Raises:
        InputError: a score is not finite, or a limit is below 1.
        Exception: what the language model raised.
    """
    scores = np.ascontiguousarray(app_scores, np.float64)
    if scores.shape != (forest.n_apps,):
        raise ValueError(f"{forest.n_apps} application scores wanted, got shape {scores.shape}")
    settings = ffi.new(
        "lscfg_search_options *",
        (options.pop_limit, options.k, int(options.unique), options.lm_weight, options.oov_weight),
    )
    buffer = ffi.from_buffer("double[]", scores)
    if model is None:
        return _call(forest, grammar, ffi.NULL, buffer, settings)
    with model.lock:
        model.failure = None
        try:
            return _call(forest, grammar, model.pointer, buffer, settings)
        except Exception:
            if model.failure is not None:
                raise model.failure from None
            raise


def _call(forest: Forest, grammar: Grammar, lm: Any, scores: Any, settings: Any) -> KBest:
    error = ffi.new("lscfg_error *")
    result = ffi.new("lscfg_kbest **")
    check(lib.lscfg_search(forest.pointer, grammar.pointer, lm, scores, settings, result, error), error)
    owner = ffi.gc(result[0], lib.lscfg_kbest_free)
    v = ffi.new("lscfg_kbest_view *")
    lib.lscfg_kbest_get(owner, v)
    word_offsets = view(v.word_offsets, v.n + 1, np.int64, owner)
    app_offsets = view(v.app_offsets, v.n + 1, np.int64, owner)
    return KBest(
        score=view(v.score, v.n, np.float64, owner),
        lm=view(v.lm, v.n, np.float64, owner),
        oov=view(v.oov, v.n, np.float64, owner),
        word_offsets=word_offsets,
        words=view(v.words, int(word_offsets[-1]), np.int32, owner),
        app_offsets=app_offsets,
        apps=view(v.apps, int(app_offsets[-1]), np.int32, owner),
    )
