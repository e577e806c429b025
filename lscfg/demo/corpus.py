"""Sampling of the demo corpus from its grammar, and its files of parallel text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random

from lscfg.demo import english
from lscfg.demo.grammar import Grammar
from lscfg.errors import InputError
from lscfg.io.write import check_replaceable, write_lines

SHORTEST, LONGEST = 4, 16  # words of a sentence with its punctuation, on either side
PATIENCE = 20_000  # consecutive samples without a new pair before the grammar counts as exhausted
LANGUAGES = "ja", "en"

Pair = tuple[str, str]

_REPEATABLE = frozenset(("masu", "mashita", "masen", "desu", "tachi"))
"""Words that may occur twice in a Japanese sentence; repeating another word of four letters or more sounds odd."""


@dataclass(frozen=True)
class DemoCorpus:
    """Japanese-English sentence pairs, tokenised and in lower case; the parts share no source sentence."""

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]

    def parts(self) -> Iterator[tuple[str, list[Pair]]]:
        """The parts by name."""
        yield "train", self.train
        yield "dev", self.dev
        yield "test", self.test


@cache
def demo_grammar() -> Grammar:
    """The grammar of the demo corpus; its class ``sentence`` is the start."""
    folder = files("lscfg.demo")
    return Grammar(*(folder.joinpath(name).read_text("utf-8") for name in ("words.txt", "sentences.txt")))


def pairs(seed: int) -> Iterator[Pair]:
    """Distinct sentence pairs in random order, until the grammar seems exhausted."""
    grammar, rng = demo_grammar(), Random(seed)
    seen: set[Pair] = set()
    idle = 0
    while idle < PATIENCE:
        idle += 1
        source, target = grammar.draw("sentence", rng)
        if not (SHORTEST <= len(source) <= LONGEST and SHORTEST <= len(target) <= LONGEST) or sounds_odd(source):
            continue
        pair = " ".join(source), " ".join(english.polished(target))
        if pair not in seen:
            seen.add(pair)
            idle = 0
            yield pair


def sounds_odd(source: list[str]) -> bool:
    """True if a Japanese sentence repeats a word that should occur once."""
    long = [word for word in source if len(word) > 3 and word not in _REPEATABLE]
    return len(set(long)) < len(long)


def generate(seed: int = 1, train: int = 1500, dev: int = 250, test: int = 400) -> DemoCorpus:
    """A corpus of distinct sentence pairs; equal arguments give equal corpora.

    A source sentence belongs to the part of its first occurrence. In train it may occur again with other
    translations.

    Raises:
        InputError: the grammar has fewer sentences.
    """
    corpus = DemoCorpus([], [], [])
    wanted = {"train": train, "dev": dev, "test": test}
    if min(wanted.values()) < 0:
        raise InputError("the numbers of sentences must not be negative")
    parts = dict(corpus.parts())
    home: dict[str, str] = {}
    dealer = Random(seed + 1)
    source = pairs(seed)
    while any(wanted.values()):
        pair = next(source, None)
        if pair is None:
            raise InputError("the grammar has fewer sentences; ask for a smaller corpus")
        part = home.get(pair[0])
        if part is None:
            part = home[pair[0]] = _deal(wanted, dealer)
        elif part != "train":
            continue
        if wanted[part]:
            parts[part].append(pair)
            wanted[part] -= 1
    return corpus


def _deal(wanted: dict[str, int], rng: Random) -> str:
    """A random part, with probability proportional to its missing sentences."""
    at = int(rng.random() * sum(wanted.values()))
    for part, lacking in wanted.items():
        if at < lacking:
            return part
        at -= lacking
    raise AssertionError("all parts are full")


def write(corpus: DemoCorpus, folder: str | os.PathLike[str]) -> None:
    """Writes train.ja, train.en, dev.ja, dev.en, test.ja and test.en into the folder, which is created if missing.

    Raises:
        InputError: a file cannot be written, or already exists with other lines.
    """
    texts = {
        Path(folder) / f"{name}.{language}": [pair[side] for pair in part]
        for name, part in corpus.parts()
        for side, language in enumerate(LANGUAGES)
    }
    for path, lines in texts.items():
        check_replaceable(path, "".join(f"{line}\n" for line in lines))
    for path, lines in texts.items():
        write_lines(path, lines)
