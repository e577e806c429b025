"""Scores by skip-grams of rules and the words around them (thesis, section 4.1.2, SG, Eq. 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lscfg import log
from lscfg.context.learner import PassSettings
from lscfg.context.low_dimensional import Fitted, LowDimensionalLearner, Task, ViewSettings
from lscfg.context.views import repeated_items
from lscfg.errors import InputError
from lscfg.estimate.svd import normalised_rows
from lscfg.kernel import CONTEXT_EXTRA_WORDS
from lscfg.kernel.context import skip_grams
from lscfg.settings import setting

SCORES = ("cosine", "dot")
LAST_RATE = 1e-4
"""Smallest rate as a fraction of the first rate, from word2vec."""

FLATTENING = 0.75
"""Power of a word's frequency in the distribution of negative samples, from word2vec."""


@dataclass(frozen=True)
class SkipGramSettings(ViewSettings, PassSettings, defaults={"rate": 0.025}):
    """Settings of skip-grams, with the defaults of word2vec. The rate falls to a ten-thousandth."""

    dims: int = setting(50, "dimensions of the vectors", least=1, most=10_000)
    score: str = setting(
        "cosine", "score of a rule: cosine with the sum of the words' unit vectors, or dot product", choices=SCORES
    )
    negatives: int = setting(5, "negative samples for each observed word", least=1)
    sample: float = setting(0.0, "share of all words above which a word is subsampled; 0: no subsampling", least=0)


class SkipGram(LowDimensionalLearner[SkipGramSettings]):
    """Skip-gram vectors of words and rules."""

    HELP = "skip-grams of rules and the words around them, with negative samples"
    VERSION = 1
    Settings = SkipGramSettings

    def fit(self, task: Task, settings: SkipGramSettings) -> Fitted:
        """Learns from the words around the used tokens at any position; only frequent words count.

        Raises:
            InputError: no such word is frequent, or the vectors diverged.
        """
        views = task.views
        word = views.items % (len(task.tokens.rules.words) + CONTEXT_EXTRA_WORDS)
        plain = views.is_word(len(task.tokens.rules.words))
        names, number = np.unique(word[plain], return_inverse=True)
        of_item = np.full(len(views.items), -1)
        of_item[plain] = number
        used = np.nonzero(task.used & (task.own >= 0))[0]
        around = repeated_items(views.matrix[used])
        items, token = of_item[around.indices], np.repeat(np.arange(len(used)), np.diff(around.indptr))
        token, items = token[items >= 0], items[items >= 0]
        if not len(items):
            raise InputError("no word near a rule is frequent; lower min_word, or give more text")
        begin = np.searchsorted(token, np.arange(len(used) + 1))
        counts = np.bincount(items, minlength=len(names)).astype(np.float64)
        keep = np.ones(len(names))
        if settings.sample:
            share = settings.sample * counts.sum() / np.maximum(counts, 1)
            keep = np.minimum(1, np.sqrt(share) + share)
        rng = np.random.default_rng(settings.seed)
        rules = rng.uniform(-0.5, 0.5, (task.rows, settings.dims)) / settings.dims
        words = np.zeros((len(names), settings.dims))
        fall = np.linspace(1, LAST_RATE, settings.passes + 1) * settings.rate
        for number_of_pass in range(settings.passes):
            rates = (fall[number_of_pass], fall[number_of_pass + 1])
            order = rng.permutation(len(used))
            sizes = np.diff(begin)[order]
            shuffled = np.concatenate([[0], np.cumsum(sizes)])
            places = np.arange(shuffled[-1]) - np.repeat(shuffled[:-1] - begin[order], sizes)
            seed = settings.seed + number_of_pass
            loss = skip_grams(
                task.own[used][order],
                shuffled,
                items[places],
                keep,
                counts**FLATTENING,
                (rules, words),
                rates,
                settings.negatives,
                seed,
            )
            log.info(f"sg, pass {number_of_pass + 1}: loss {loss / max(len(items), 1):.4f} per word")
            if not np.isfinite(loss):
                raise InputError(f"sg diverged in pass {number_of_pass + 1}; choose a smaller rate")
        vectors = np.zeros((len(views.items), settings.dims))
        vectors[plain] = (normalised_rows(words) if settings.score == "cosine" else words)[number]
        rules = normalised_rows(rules) if settings.score == "cosine" else rules
        return Fitted(settings.score, vectors, np.zeros(settings.dims), rules, np.zeros(task.rows))
