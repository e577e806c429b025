"""Quality and coverage of candidates and rules, with examples."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from lscfg.errors import InputError, quote
from lscfg.induce.propagated.candidates import ORIGINS
from lscfg.induce.propagated.expansion import COUNTERPARTS, Expansion
from lscfg.induce.propagated.phrases import PhraseFile
from lscfg.io.read import split_fields, stream_lines

EXAMPLES = 20
"""Number of phrases to show."""

SHOWN = 5
"""Number of candidates of each phrase to show."""


def read_gold(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """P(e|f) of the phrase pairs of a fuller grammar; see ``rule_costs``."""
    return rule_costs(path, "EgivenF")


def rule_costs(path: str | os.PathLike[str], feature: str) -> dict[str, dict[str, float]]:
    """Probabilities of a grammar's rules without nonterminals, by source and target side.

    Args:
        feature: -log10 of the probability.

    Raises:
        InputError: no rule has the feature, or a value is not a cost.
    """
    found: dict[str, dict[str, float]] = {}
    known, rules = False, 0
    for number, line in enumerate(stream_lines(path), 1):
        rules = number
        fields = split_fields(line)
        if len(fields) < 4 or fields[0] != "[X]" or "[X," in fields[1]:
            continue
        values = dict(item.split("=", 1) for item in fields[3].split() if "=" in item)
        known |= feature in values
        cost = values.get(feature, "0")  # costs of 0 are not written
        try:
            found.setdefault(fields[1], {})[fields[2]] = 10 ** -float(cost)
        except (ValueError, OverflowError):
            raise InputError(f"{feature}={quote(cost)} is not a cost; create the grammar again", path, number) from None
    if rules and not known:
        raise InputError(f"no rule has the feature {feature}; name a grammar of lscfg", path)
    return found


def diagnose_lists(phrases: PhraseFile, found: Expansion, gold: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Measures the share of phrases whose most probable translation in a fuller grammar is found, by phrase length.

    Only unlabelled phrases of the grammar and the monolingual text count. Returns their number, the shares of phrases
    with the translation in the list (in total and by origin), and the mean reciprocal rank after propagation.
    """
    own = found.spread
    source, target = phrases.source.phrases.texts(phrases.words), phrases.target.phrases.texts(phrases.words)
    lengths = phrases.source.phrases.lengths
    rank_of: dict[int, tuple[int, int]] = {}
    for f in np.flatnonzero(~phrases.labelled & (phrases.source.count > 0)).tolist():
        if source[f] not in gold:
            continue
        best = max(gold[source[f]].items(), key=lambda item: (item[1], item[0]))[0]
        pairs = range(*np.searchsorted(own.row, [f, f + 1]).tolist())
        place = next((at for at in pairs if target[own.column[at]] == best), None)
        rank, origin = 0, 0
        if place is not None:
            values = own.probability[pairs.start : pairs.stop]
            rank, origin = 1 + int((values > own.probability[place]).sum()), int(own.origin[place])
        rank_of[f] = (rank, origin)
    result: dict[str, float] = {}
    for length in sorted({int(lengths[f]) for f in rank_of}):
        ranks = [value for f, value in rank_of.items() if lengths[f] == length]
        name = f"{length}-grams"
        result[f"{name} of the grammar"] = len(ranks)
        result[f"{name}: translation in the list"] = _mean([rank > 0 for rank, _ in ranks])
        for bit, source_name in enumerate(ORIGINS):
            result[f"{name}: in the list from {source_name}"] = _mean([bits >> bit & 1 for _, bits in ranks])
        result[f"{name}: first"] = _mean([rank == 1 for rank, _ in ranks])
        result[f"{name}: mean reciprocal rank"] = _mean([1 / rank if rank else 0 for rank, _ in ranks])
    return {name: round(float(value), 4) for name, value in result.items()}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def gold_lines(phrases: PhraseFile, path: str | os.PathLike[str]) -> Iterator[str]:
    """The rules of a fuller grammar for unlabelled phrases, with the features of new rules."""
    wanted = set(phrases.unlabelled_texts())
    for line in stream_lines(path):
        fields = split_fields(line)
        if len(fields) >= 4 and fields[1] in wanted:
            values = dict(item.split("=", 1) for item in fields[3].split() if "=" in item)
            named = " ".join(f"{name}={values.get(own, '0')}" for name, own in COUNTERPARTS.items())
            target = f"{fields[2]} " if fields[2] else ""  # a rule may delete a phrase
            yield f"[X] ||| {fields[1]} ||| {target}||| {named} Graph=1"


def coverage(phrases: PhraseFile, translated: Collection[str], lines: Sequence[str]) -> dict[str, object]:
    """Counts words of a text outside parallel text, and n-grams with a rule, before and after.

    Args:
        translated: phrases with a new rule.
    """
    known_words = {phrases.words[word] for word in np.unique(phrases.lexicon[:, 0]).tolist() if word >= 0}
    words = Counter(word for line in lines for word in line.split())
    unknown = {word: count for word, count in words.items() if word not in known_words}
    left = {word: count for word, count in unknown.items() if word not in translated}
    result: dict[str, object] = {}
    for name, found in (("unknown words", unknown), ("unknown words without a rule", left)):
        result[f"test text: {name}"] = len(found)
        result[f"test text: tokens of {name}, %"] = _percent(sum(found.values()), sum(words.values()))
    texts = phrases.source.phrases.texts(phrases.words)
    labelled = {text for text, known in zip(texts, phrases.labelled, strict=True) if known}
    for length in sorted({*phrases.source.phrases.lengths.tolist()}):
        grams: Counter[str] = Counter()
        for line in lines:
            own = line.split()
            grams.update(" ".join(own[at : at + length]) for at in range(len(own) + 1 - length))
        for name, covered in (("with a rule of parallel text", labelled), ("with any rule", labelled | {*translated})):
            tokens = sum(count for gram, count in grams.items() if gram in covered)
            result[f"test text: {length}-grams {name}, %"] = _percent(tokens, sum(grams.values()))
    return result


def _percent(part: int, whole: int) -> float:
    return round(100 * part / max(whole, 1), 2)


def examples(phrases: PhraseFile, found: Expansion, gold: Mapping[str, Mapping[str, float]]) -> list[dict[str, object]]:
    """The most probable candidates of frequent unlabelled phrases, with their origins.

    With a fuller grammar, only its phrases are shown, and ``known`` is True for pairs in that grammar.
    """
    own = found.spread
    source, target = phrases.source.phrases.texts(phrases.words), phrases.target.phrases.texts(phrases.words)
    counts = phrases.source.count
    kept = sorted({f for f in own.row.tolist() if not gold or source[f] in gold}, key=lambda f: (-counts[f], f))
    result: list[dict[str, object]] = []
    for f in kept[:EXAMPLES]:
        pairs = np.flatnonzero(own.row == f)
        best = pairs[np.argsort(-own.probability[pairs], kind="stable")][:SHOWN].tolist()
        options = [
            {
                "target": target[own.column[at]],
                "probability": round(float(own.probability[at]), 4),
                "origins": [name for bit, name in enumerate(ORIGINS) if own.origin[at] >> bit & 1],
                "known": target[own.column[at]] in gold[source[f]] if gold else None,
            }
            for at in best
        ]
        result.append({"phrase": source[f], "count": int(counts[f]), "candidates": options})
    return result
