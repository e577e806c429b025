"""Measures a transliteration of unknown words: right words and chrF, of an oracle and of a joint-sequence model.

python experiments/small/spelling.py DIR LANGUAGE experiments/small/LANGUAGE.tsv prints a row for each confidence of the
model (Bisani & Ney 2008, here with graphones of one source letter and 4 graphones of history). DIR contains train,
dev.1 and dev.2, see README.md. The model learns from words of train and dev.1 that resemble a word of the translation.
Each word of dev.2 that these lack is replaced in the source, whose chrF against the reference is the measure: by the
most similar word of the reference (the oracle), or by the best output of the model.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from sacrebleu.metrics import CHRF

from lscfg.io.read import read_lines
from lscfg.prepare.orthography import read_orthography

ORDER, BEAM = 5, 15
LEAST_LETTERS = 4
"""Minimum letters of a word; shorter ones resemble others by chance."""
FREQUENT = 200
"""Occurrences from which on a source word teaches nothing: names and loans are rarer."""
LEAST, ORACLE = 0.55, 0.5
"""Minimum similarity of the words of a pair, and of the oracle's word."""
CONFIDENCES = 0.0, 0.5, 0.7, 0.9

WORD = re.compile(r"[^\W\d_][\w'’´+-]*")

Graphone = tuple[str, str]
"""A source letter and its target letters."""


def words(line: str) -> list[str]:
    """The words of a line."""
    return WORD.findall(line)


def replaced(line: str, word: str, new: str) -> str:
    """The line with another word; longer words that contain the word stay."""
    return WORD.sub(lambda found: new if found[0] == word else found[0], line)


def similarity(one: str, other: str) -> float:
    """One minus the edits per letter of the longer word."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return 1 - row[-1] / max(len(one), len(other))


def similar_pairs(pairs: Iterable[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """Words of the source with the most similar word of the translation, in small letters."""
    text = [tuple({w.lower() for w in words(side) if len(w) >= LEAST_LETTERS} for side in pair) for pair in pairs]
    counts = Counter(word for source, _ in text for word in source)
    found = Counter[tuple[str, str]]()
    for source, target in text:
        for word in source:
            if word in target:
                found[word, word] += 1
            elif counts[word] <= FREQUENT and (best := _nearest(word, target))[0] >= LEAST:
                found[word, best[1]] += 1
    return found


def _nearest(word: str, others: Iterable[str]) -> tuple[float, str]:
    own = _bigrams(word)
    near = (x for x in others if 2 * len(own & _bigrams(x)) >= min(len(word), len(x)) - 1)
    return max(((similarity(word, x), x) for x in near), default=(0.0, ""))


def _bigrams(word: str) -> set[str]:
    return {word[i : i + 2] for i in range(len(word) - 1)}


def align(source: str, target: str, cost: Callable[[Graphone], float]) -> list[Graphone]:
    """The cheapest alignment of letters; letters that only the target contains join the graphone before."""
    best: dict[tuple[int, int], tuple[float, tuple[int, int]]] = {(0, 0): (0.0, (0, 0))}
    for i in range(len(source) + 1):
        for j in range(len(target) + 1):
            ways = [(i - 1, j - 1), (i - 1, j), (i, j - 1)]
            tried = [(best[a, b][0] + cost((source[a:i], target[b:j])), (a, b)) for a, b in ways if a >= 0 and b >= 0]
            if tried:
                best[i, j] = min(tried)
    steps, at = list[Graphone](), (len(source), len(target))
    while at != (0, 0):
        before = best[at][1]
        steps.append((source[before[0] : at[0]], target[before[1] : at[1]]))
        at = before
    found, first = list[Graphone](), ""
    for letter, letters in reversed(steps):
        if letter:
            found.append((letter, first + letters))
            first = ""
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + letters)
        else:
            first += letters
    return found


class Joint:
    """A model of graphones with Witten-Bell smoothing, from alignments by two rounds of hard EM."""

    def __init__(self, pairs: Sequence[tuple[str, str]]):
        cost: Callable[[Graphone], float] = lambda one: float(one[0] != one[1])  # noqa: E731
        for _ in range(2):
            aligned = [align(source, target, cost) for source, target in pairs]
            cost = _costs(Counter(one for found in aligned for one in found))
        self._counts = [defaultdict[tuple[Graphone, ...], Counter[Graphone]](Counter) for _ in range(ORDER)]
        self._targets = defaultdict[str, set[str]](set)
        for found in aligned:
            padded = [("", "")] * (ORDER - 1) + found + [("", "$")]
            for i in range(ORDER - 1, len(padded)):
                for order in range(ORDER):
                    self._counts[order][tuple(padded[i - order : i])][padded[i]] += 1
            for letter, letters in found:
                self._targets[letter].add(letters)

    def _log(self, history: Sequence[Graphone], one: Graphone) -> float:
        probability = 1e-5
        for order in range(ORDER):
            counts = self._counts[order].get(tuple(history[len(history) - order :]))
            if not counts:
                break
            kinds = len(counts)
            probability = (counts[one] + kinds * probability) / (counts.total() + kinds)
        return math.log(probability)

    def best(self, word: str) -> tuple[str, float]:
        """The most probable target word, and its share of the probability of the beam."""
        beam = [(0.0, ((("", ""),) * (ORDER - 1)), "")]
        for letter in word:
            more: dict[tuple[tuple[Graphone, ...], str], float] = {}
            for score, history, text in beam:
                for letters in self._targets.get(letter, set()) | {letter}:
                    one = letter, letters
                    key = (*history[1:], one), text + letters
                    more[key] = max(more.get(key, -math.inf), score + self._log(history, one))
            beam = sorted(((score, *key) for key, score in more.items()), reverse=True)[:BEAM]
        shares = defaultdict[str, float](float)
        for score, history, text in beam:
            shares[text] += math.exp(score + self._log(history, ("", "$")) - beam[0][0])
        found = max(shares, key=shares.__getitem__)
        return found, shares[found] / sum(shares.values())


def _costs(counts: Counter[Graphone]) -> Callable[[Graphone], float]:
    totals = Counter[str]()
    for (letter, _), count in counts.items():
        totals[letter] += count
    return lambda one: -math.log((counts[one] + (5 if one[0] == one[1] else 0.05)) / (totals[one[0]] + 10))


def measure(
    known: set[str], source: Sequence[str], reference: Sequence[str], model: Joint
) -> Iterator[tuple[str, int, int, float]]:
    """Rows: name, replaced words, right words, and gain of chrF; the first row keeps the words."""
    unknown = [
        (k, word)
        for k, line in enumerate(source)
        for word in dict.fromkeys(words(line))
        if len(word) >= LEAST_LETTERS and word.lower() not in known
    ]
    there = [{word.lower() for word in words(line)} for line in reference]
    found = {word: model.best(word.lower()) for word in sorted({word for _, word in unknown})}
    plain = CHRF().corpus_score(source, [reference]).score

    def row(name: str, choose: Callable[[int, str], str]) -> tuple[str, int, int, float]:
        lines, changed, right = [*source], 0, 0
        for k, word in unknown:
            new = choose(k, word)
            right += new in there[k]
            if new != word.lower():
                changed += 1
                lines[k] = replaced(lines[k], word, new.capitalize() if word[0].isupper() else new)
        return name, changed, right, CHRF().corpus_score(lines, [reference]).score - plain

    def oracle(k: int, word: str) -> str:
        others = there[k] - {one.lower() for one in words(source[k])}
        best = max(((similarity(word.lower(), one), one) for one in others), default=(0.0, ""))
        return best[1] if word.lower() not in there[k] and best[0] >= ORACLE else word.lower()

    yield row(f"kept, of {len(unknown)}", lambda k, word: word.lower())
    yield row("oracle", oracle)
    for least in CONFIDENCES:
        yield row(
            f"model, {least}",
            lambda k, word, least=least: found[word][0] if found[word][1] >= least else word.lower(),  # type: ignore[misc]
        )


def main() -> None:
    """Prints the rows.

    Raises:
        InputError: a file cannot be read.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of the texts")
    parser.add_argument("language", help="ending of the target side")
    parser.add_argument("table", type=Path, help="table of rewrites of the target side")
    args = parser.parse_args()
    text = {
        (name, side): read_lines(args.folder / f"{name}.{side}")
        for name in ("train", "dev.1", "dev.2")
        for side in ("es", args.language)
    }
    spelling = read_orthography(args.table)
    train = zip(text["train", "es"], text["train", args.language], strict=True)
    pairs = [(source, spelling.apply(target, source)) for source, target in train]
    pairs += zip(text["dev.1", "es"], text["dev.1", args.language], strict=True)
    known = {word.lower() for source, _ in pairs for word in words(source)}
    model = Joint(sorted(similar_pairs(pairs)))
    for name, changed, right, gain in measure(known, text["dev.2", "es"], text["dev.2", args.language], model):
        print(f"| {args.language} | {name} | {changed} | {right} | {gain:+.2f} |")


if __name__ == "__main__":
    main()
