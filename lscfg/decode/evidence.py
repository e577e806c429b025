"""Evidence for the words of a translation: figures from which a calibration computes their confidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from lscfg.decode.derivations import Derivation
from lscfg.kernel.lm import LanguageModel

RULE = "rule."
"""Name prefix of rule features."""

PASSED = "PassThrough"
"""Feature of the rule that passes an unknown word through."""

SMALLEST = 1e-4
"""Limit of probabilities in log odds."""


def log_odds(probability: float) -> float:
    """The logarithm of the odds, within limits."""
    kept = min(max(probability, SMALLEST), 1 - SMALLEST)
    return math.log(kept / (1 - kept))


def word_evidence(
    derivation: Derivation,
    values: Sequence[Mapping[str, float] | None],
    words: Sequence[int],
    shares: Sequence[tuple[float, float]],
    model: LanguageModel | None,
) -> list[dict[str, float]]:
    """The evidence for each word of a translation, by name.

    Args:
        values: features of the rules of the derivation; None for a rule outside the grammar, whose words get no
            evidence.
        words: words of the translation, by their numbers in the vocabulary.
        shares: posterior of each word with its source words, and expected number of such words anywhere in the
            translation.
    """
    maker = {position: number for number, rule in enumerate(derivation) for position in rule.target_words}
    n_source = max(rule.span[1] for rule in derivation)
    passed = {
        position
        for number, rule in enumerate(derivation)
        if PASSED in (values[number] or ())
        for position in rule.target_words
    }
    linked = {target for rule in derivation for _, target in rule.links}
    counts = Counter(words)
    scores = [[0.0, 0.0]] * len(words)
    alone = scores
    if model is not None:
        scores, alone = (model.word_scores(words, in_context).tolist() for in_context in (True, False))
    found: list[dict[str, float]] = []
    for position, word in enumerate(words):
        number = maker[position]
        features, rule = values[number], derivation[number]
        if features is None:
            found.append({})
            continue
        posterior, expected = shares[position]
        after = scores[position + 1] if position + 1 < len(words) else [0.0, 0.0]
        found.append(
            {
                "posterior": log_odds(posterior),
                "anywhere": log_odds(expected / counts[word]),
                "lm": scores[position][0],
                "lm reach": scores[position][1],
                "lm of next": after[0],
                "lm alone": alone[position][0],
                "length": math.log(n_source),
                "position": position / len(words),
                "last": float(position + 1 == len(words)),
                "repeated": float(counts[word] > 1),
                "unlinked": float(position not in linked),
                "passed": float(position in passed),
                "next to passed": float(bool({position - 1, position + 1} & passed)),
                "source words": float(len(rule.source_words)),
                "target words": float(len(rule.target_words)),
                "arity": float(len(rule.children)),
                **{RULE + name: value for name, value in features.items()},
            }
        )
    return found
