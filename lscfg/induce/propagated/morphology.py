"""Candidates that are inflected forms of known translations (thesis, section 5.1.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy import sparse

from lscfg.induce.propagated.phrases import PhraseFile

TOP = 30
"""Most candidates of a phrase."""

ROUNDS = 5
"""Iterations of expectation maximisation for the translations of stems and affixes."""

FLOOR = 1e-9
"""Probability of an affix without a translation."""


def from_stems(
    phrases: PhraseFile, source_stem: Callable[[str], str], target_stem: Callable[[str], str]
) -> sparse.csr_matrix:
    """Target phrases with the stems of a translation of a phrase with the same stems, [phrases, targets].

    The score is p(stems of e | stems of f) × the product over morphs of e of the most probable translation of any
    morph of f × the share of e in the text, divided by the largest score of the phrase. The first factor comes from
    counts of labelled phrases, the second from IBM model 1 on linked words, split into stem and affix.
    """
    sides = (phrases.source, source_stem), (phrases.target, target_stem)
    texts = [side.phrases.texts(phrases.words) for side, _ in sides]
    stems = [[" ".join(map(stem, text.split())) for text in own] for (_, stem), own in zip(sides, texts, strict=True)]
    morphs = [_split(phrases.words, stem) for _, stem in sides]
    table = _morph_table(phrases, morphs)
    targets = defaultdict(list)
    for e, stem in enumerate(stems[1]):
        if phrases.target.count[e] > 0:
            targets[stem].append(e)
    joint: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    labels = phrases.labels
    for f in np.flatnonzero(phrases.labelled).tolist():
        for at in range(labels.indptr[f], labels.indptr[f + 1]):
            joint[stems[0][f]][stems[1][labels.indices[at]]] += labels.data[at] * max(phrases.source.count[f], 1)
    numbers = [list(side.phrases.tuples()) for side, _ in sides]
    share = phrases.target.count / max(phrases.target.count.sum(), 1)
    found: dict[tuple[int, int], float] = {}
    for f in np.flatnonzero(~phrases.labelled).tolist():
        options = joint.get(stems[0][f])
        if not options:
            continue
        total = sum(options.values())
        own = [part for word in numbers[0][f] for part in morphs[0][word]]
        scored: dict[int, float] = {}
        for stem, weight in options.items():
            for e in targets[stem]:
                logs = [np.log(weight / total), np.log(share[e])]
                parts = [part for word in numbers[1][e] for part in morphs[1][word]]
                logs += [np.log(max((table.get((a, b), FLOOR) for a in own), default=FLOOR)) for b in parts]
                scored[e] = max(scored.get(e, -np.inf), float(sum(logs)))
        best = sorted(scored, key=lambda e: (-scored[e], e))[:TOP]
        found |= {(f, e): float(np.exp(max(scored[e] - scored[best[0]], -600))) for e in best}
    rows, columns = np.array([*found] or np.zeros((0, 2)), np.int64).T
    return sparse.csr_matrix(([*found.values()], (rows, columns)), shape=labels.shape)


def _split(words: Sequence[str], stem: Callable[[str], str]) -> list[tuple[str, ...]]:
    """Stem and affix of each word; only the word if it does not begin with the stem."""
    found: list[tuple[str, ...]] = []
    for word in words:
        own = stem(word)
        found.append((own, "+" + word[len(own) :]) if word != own and word.startswith(own) else (own,))
    return found


def _morph_table(phrases: PhraseFile, morphs: Sequence[Sequence[tuple[str, ...]]]) -> Mapping[tuple[str, str], float]:
    """t(morph of a target word | morph of a source word), by pairs of source and target morph: IBM model 1."""
    names: list[dict[str, int]] = [{}, {}]
    link, pair = [], []
    count: list[int] = []
    for (f, e), times in zip(phrases.lexicon.tolist(), phrases.lexicon_count.tolist(), strict=True):
        if f < 0 or e < 0:
            continue
        for b in morphs[1][e]:
            for a in morphs[0][f]:
                link.append(len(count))
                pair.append((names[0].setdefault(a, len(names[0])), names[1].setdefault(b, len(names[1]))))
            count.append(times)
    if not pair:
        return {}
    which, place = np.unique(np.array(pair), axis=0, return_inverse=True)
    place, weight, of = place.ravel(), np.array(count, float), np.array(link)
    t = np.full(len(which), 1.0)
    for _ in range(ROUNDS):
        share = t[place]
        share *= (weight / np.bincount(of, share, len(weight)))[of]
        expected = np.bincount(place, share, len(which))
        t = expected / np.bincount(which[:, 0], expected)[which[:, 0]]
    known = [list(one) for one in names]
    return {(known[0][a], known[1][b]): value for (a, b), value in zip(which.tolist(), t.tolist(), strict=True)}
