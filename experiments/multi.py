"""Test sets of Japanese-English with several references, from a file of Tatoeba.

    python experiments/multi.py jpn.txt --data DIR -o MULTI

Each line of jpn.txt contains an English sentence, a tab and its Japanese translation, as in the files of
manythings.org/anki; further columns are ignored. DIR contains train, dev and devtest of small_parallel_enja. The script
writes two sets into MULTI, multi-dev and multi-test, of the sentences with at least two references and ten characters:

    multi-test.ja           source, segmented as the training text is
    multi-test.en.1 …       references, tokenised and lower-cased; each file contains a line for every sentence, so
                            a sentence with fewer references repeats them, which changes neither BLEU nor chrF
    multi-test.raw.ja, multi-test.raw.en.1 …    the same lines as in jpn.txt

A sentence is left out if its letters and digits, or those of one of its references, are a line of train, dev or
devtest. A hash assigns sentences to the sets, those with a common reference to the same set, and orders the references.

Counts go to standard output, with the agreement of the words with those of the corpus: F1 of the words of dev.ja,
segmented again without its blanks; and, of the English lines of jpn.txt that occur in the corpus but for blanks and
case, the number whose words are those of the corpus.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from lscfg.errors import InputError
from lscfg.io.folders import make_folder
from lscfg.io.read import read_lines
from lscfg.io.write import write_lines
from lscfg.prepare.tokeniser import TOKENISERS

SETS = ("multi-dev", "multi-test")
PARTS = ("train", "dev", "devtest")
MIN_CHARACTERS = 10
MIN_REFERENCES, MAX_REFERENCES = 2, 4
MAX_WORD = 16
"""Characters of a word that the segmenter considers."""
UNKNOWN, UNKNOWN_CHARACTER = 14.0, 4.0
"""Costs of an unknown word, as negative logarithms: of each word, and of each of its characters."""
BACK_OFF = 5.0
"""Pseudo-count of the unigram distribution in that of a word's successors."""
RUNS = ("KATAKANA", "FULLWIDTH")
"""First words of the Unicode names of characters whose sequences may be one unknown word."""


def widen(text: str) -> str:
    """Lower-cased text with full-width letters, digits and katakana, as in small_parallel_enja."""
    text = re.sub("[\uff61-\uff9f]+", lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text).lower()


def bare(text: str) -> str:
    """The letters and digits of a text, without case and width."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).lower()))


@cache
def _kind(character: str) -> str:
    """The first word of the character's Unicode name."""
    return unicodedata.name(character, "").partition(" ")[0].partition("-")[0]


class Segmenter:
    """Finds the most probable words of unsegmented text, by Viterbi over bigrams with unigrams as prior.

    Args:
        lines: segmented text.
    """

    def __init__(self, lines: Iterable[str]):
        self._follows: Counter[tuple[str, str]] = Counter()
        self._words: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        for line in lines:
            words = ["", *widen(line).split(), ""]
            self._follows.update(pairwise(words))
            self._before.update(words[:-1])
            self._words.update(words[1:])
        self._total = sum(self._words.values())

    def _unigram(self, word: str) -> float | None:
        """The probability of a word; None: it is unknown and cannot be a word."""
        if word in self._words:
            return self._words[word] / self._total
        if len(word) > 1 and ({*map(_kind, word)} - {_kind(word[0])} or _kind(word[0]) not in RUNS):
            return None
        return math.exp(-UNKNOWN - UNKNOWN_CHARACTER * len(word))

    def _cost(self, before: str, word: str, unigram: float) -> float:
        """The negative logarithm of a word's probability after another one; the empty word borders the sentence."""
        counts = self._follows[before, word] + BACK_OFF * unigram
        return -math.log(counts / (self._before[before] + BACK_OFF))

    def words(self, text: str) -> list[str]:
        """The words of a text, whose blanks are removed."""
        text = "".join(widen(text).split())
        ends: list[dict[str, tuple[float, int, str]]] = [{"": (0.0, 0, "")}, *({} for _ in text)]
        for i in range(len(text)):
            for j in range(i + 1, min(len(text), i + MAX_WORD) + 1):
                unigram = self._unigram(text[i:j])
                if unigram is not None:
                    ends[j][text[i:j]] = self._best(ends[i], i, text[i:j], unigram)
        found: list[str] = []
        _, at, word = self._best(ends[-1], len(text), "", self._words[""] / self._total)
        while word:
            found.append(word)
            _, at, word = ends[at][word]
        return found[::-1]

    def _best(
        self, cell: Mapping[str, tuple[float, int, str]], at: int, word: str, unigram: float
    ) -> tuple[float, int, str]:
        """The lowest cost of a word that begins at a place, the place, and the word before it."""
        cost, before = min((done + self._cost(before, word, unigram), before) for before, (done, _, _) in cell.items())
        return cost, at, before


def agreement(segmenter: Segmenter, lines: Iterable[str]) -> float:
    """F1 of the words of segmented lines after a new segmentation."""
    same = total = 0
    for line in lines:
        one, other = spans(widen(line).split()), spans(segmenter.words(line))
        same, total = same + 2 * len(one & other), total + len(one) + len(other)
    return same / total


def spans(words: Iterable[str]) -> set[tuple[int, int]]:
    """The places of words in the text without blanks."""
    found, at = set(), 0
    for word in words:
        found.add((at, at + len(word)))
        at += len(word)
    return found


@cache
def _moses() -> Any:
    tokeniser = TOKENISERS["moses"]
    return tokeniser.open("en", tokeniser.Settings(), None)


def english(text: str) -> str:
    """Lower-cased words of an English sentence, with the quotation marks of small_parallel_enja."""
    text = text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
    return " ".join(_moses().encode(text)).lower().replace('"', "''")


def english_agreement(sentences: Iterable[str], lines: Iterable[str]) -> tuple[int, int]:
    """Numbers of sentences that are lines but for blanks and case, and of those whose words are those of the line."""
    known = defaultdict(set)
    for line in lines:
        known["".join(line.split())].add(line)
    words = [english(sentence) for sentence in sentences]
    shared = [line for line in words if "".join(line.split()) in known]
    return len(shared), sum(line in known["".join(line.split())] for line in shared)


def read_tatoeba(path: Path) -> list[tuple[str, str]]:
    """Pairs of a Japanese and an English sentence.

    Raises:
        InputError: the file cannot be read, or a line has no tab.
    """
    pairs = []
    for number, line in enumerate(read_lines(path), 1):
        target, *rest = line.split("\t")
        if not rest:
            raise InputError("no tab; each line needs an English sentence, a tab and its translation", path, number)
        pairs.append((rest[0], target))
    return pairs


def references(pairs: Iterable[tuple[str, str]], known: tuple[set[str], set[str]]) -> dict[str, list[str]]:
    """The references of each sentence that shares nothing with a corpus.

    Sentences, and references of a sentence, are equal if their letters and digits are; the first one is kept.

    Args:
        known: bare lines of the corpus, by side.
    """
    sources: dict[str, str] = {}
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for source, target in pairs:
        sources.setdefault(bare(source), source)
        found[bare(source)].setdefault(bare(target), target)
    return {
        sources[key]: sorted(texts.values(), key=_hash)
        for key, texts in found.items()
        if key not in known[0] and not known[1].intersection(texts)
    }


def _hash(text: str) -> str:
    return hashlib.sha256(bare(text).encode()).hexdigest()


def halves(found: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Two parts of the sentences, in the order of their hashes; those with a common reference are in the same part."""
    group = {source: source for source in found}

    def root(source: str) -> str:
        while group[source] != source:
            source = group[source]
        return source

    owners: dict[str, str] = {}
    for source, texts in found.items():
        for text in texts:
            one, other = root(owners.setdefault(bare(text), source)), root(source)
            group[max(one, other)] = min(one, other)
    for half in range(2):
        yield sorted((source for source in found if int(_hash(root(source)), 16) % 2 == half), key=_hash)


def columns(found: Sequence[Sequence[str]], number: int) -> list[list[str]]:
    """Reference files: as many as given, in which sentences with fewer references repeat theirs in turn."""
    return [[texts[column % len(texts)] for texts in found] for column in range(number)]


def main() -> None:
    """Writes both sets.

    Raises:
        InputError: a file cannot be read, or no sentence is left.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tatoeba", type=Path, metavar="FILE", help="English and Japanese sentences, separated by tabs")
    parser.add_argument("--data", type=Path, metavar="DIR", required=True, help="folder of the corpus")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", required=True, help="folder of the sets")
    args = parser.parse_args()
    pairs = read_tatoeba(args.tatoeba)
    corpus = {side: {part: read_lines(args.data / f"{part}.{side}") for part in PARTS} for side in ("ja", "en")}
    known = tuple({bare(line) for lines in corpus[side].values() for line in lines} for side in ("ja", "en"))
    unshared = {
        source: texts
        for source, texts in references(pairs, (known[0], known[1])).items()
        if len("".join(source.split())) >= MIN_CHARACTERS
    }
    kept = {source: texts for source, texts in unshared.items() if len(texts) >= MIN_REFERENCES}
    if not kept:
        raise InputError(
            f"no sentence has {MIN_REFERENCES} references and shares nothing with the corpus", args.tatoeba
        )
    segmenter = Segmenter(corpus["ja"]["train"])
    make_folder(args.output)
    sizes = {}
    for name, sources in zip(SETS, halves(kept), strict=True):
        sizes[name] = len(sources)
        words = [" ".join(segmenter.words(source)) for source in sources]
        write_lines(args.output / f"{name}.ja", words)
        write_lines(args.output / f"{name}.raw.ja", sources)
        for number, texts in enumerate(columns([kept[source] for source in sources], MAX_REFERENCES), 1):
            write_lines(args.output / f"{name}.en.{number}", map(english, texts))
            write_lines(args.output / f"{name}.raw.en.{number}", texts)
    lines, equal = english_agreement((text for _, text in pairs), known_lines(corpus["en"]))
    counts: dict[str, Any] = {
        "pairs": len(pairs),
        "sentences": len({source for source, _ in pairs}),
        "sentences apart from the corpus": len(unshared),
        **{f"with {k} references": sum(len(texts) >= k for texts in unshared.values()) for k in (2, 3, 4)},
        **sizes,
        "F1 of Japanese words, %": round(100 * agreement(segmenter, corpus["ja"]["dev"]), 2),
        "English lines of the corpus": lines,
        "with its words": equal,
    }
    for label, count in counts.items():
        print(json.dumps([label, count]))


def known_lines(parts: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The lines of all parts."""
    for lines in parts.values():
        yield from lines


if __name__ == "__main__":
    main()
