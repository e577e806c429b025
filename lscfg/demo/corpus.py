"""Draws the demo corpus from the phrasebook and writes it as parallel text files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from lscfg.demo.features import words
from lscfg.demo.grammar import Grammar, joined_lines
from lscfg.demo.lexicon import LEXICON
from lscfg.demo.phrasebook import FRAMES, PARTS, TOPICS
from lscfg.errors import InputError
from lscfg.io.text import check_replaceable, write_lines

SHORTEST, LONGEST = 3, 16  # words of a sentence with its punctuation, on either side
PATIENCE = 20_000  # draws in a row without a new pair before the grammar counts as exhausted

Pair = tuple[str, str]

# Words that may come twice in a Spanish sentence; any other word of four letters that
# comes back, be it in another number, makes it sound odd.
_REPEATABLE = frozenset(words("mañana para tarde calle está esta este estoy media menos hora"))
# Relations of which a speaker mentions only one at a time.
_SPOUSES = frozenset(words("marido mujer esposa novio novia embarazada"))


@dataclass(frozen=True)
class DemoCorpus:
    """Spanish-English sentence pairs, tokenised and in lower case; no source of one part occurs in another."""

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]

    def parts(self) -> Iterator[tuple[str, list[Pair]]]:
        """The parts with their names."""
        yield "train", self.train
        yield "dev", self.dev
        yield "test", self.test


@cache
def phrasebook() -> Grammar:
    """The grammar of the demo corpus; its class ``sentence`` is the start."""
    return Grammar(*LEXICON, PARTS, "phrase sentence:\n" + "\n".join(_framed(text) for text in TOPICS.values()))


def _framed(topic: str) -> str:
    """The sentences of a topic within their frames, as entries of a phrase class."""
    entries = []
    for line in joined_lines(topic):
        weight, star, rest = line.partition("* ")
        if not (star and weight.isdigit()):
            weight, rest = "1", line
        mark, _, rest = rest.partition(" ")
        source, _, target = rest.partition(" = ")
        before, _, after = FRAMES[mark].partition(" = ")
        targets = " / ".join(after % variant for variant in target.split(" / "))
        sources = " / ".join(before % variant for variant in source.split(" / "))
        entries.append(f"{weight}* {sources} = {targets}")
    return "\n".join(entries)


def pairs(seed: int) -> Iterator[Pair]:
    """Distinct sentence pairs in random order, until the grammar seems exhausted."""
    grammar, rng = phrasebook(), Random(seed)
    seen: set[Pair] = set()
    idle = 0
    while idle < PATIENCE:
        idle += 1
        source, target = grammar.say(grammar.draw("sentence", rng), rng)
        if not (SHORTEST <= len(source) <= LONGEST and SHORTEST <= len(target) <= LONGEST) or sounds_odd(source):
            continue
        pair = " ".join(source), " ".join(target)
        if pair not in seen:
            seen.add(pair)
            idle = 0
            yield pair


def sounds_odd(source: list[str]) -> bool:
    """Whether a Spanish sentence repeats itself or has two spouses in it."""
    long = [word.removesuffix("s") for word in source if len(word) > 3]
    long = [word for word in long if word not in _REPEATABLE]
    return len(set(long)) < len(long) or sum(word in _SPOUSES for word in long) > 1


def generate(seed: int = 1, train: int = 6000, dev: int = 300, test: int = 300) -> DemoCorpus:
    """A corpus of distinct sentence pairs of the travel domain; equal arguments give equal corpora.

    A source sentence belongs to one part, whichever it was dealt to first. In train it may come back with other
    translations.

    Raises:
        InputError: the phrasebook does not have that many sentences.
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
            raise InputError("the phrasebook has fewer sentences than that; ask for a smaller corpus")
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
    """A part, each as likely as it still lacks sentences."""
    at = int(rng.random() * sum(wanted.values()))
    for part, lacking in wanted.items():
        if at < lacking:
            return part
        at -= lacking
    raise AssertionError("all parts are full")


def write(corpus: DemoCorpus, folder: str | os.PathLike[str]) -> None:
    """Writes train.es, train.en, dev.es, dev.en, test.es and test.en into the folder, which is made if need be.

    Raises:
        InputError: a file cannot be written, or is there already with other lines.
    """
    files = {
        Path(folder) / f"{name}.{language}": [pair[side] for pair in part]
        for name, part in corpus.parts()
        for side, language in enumerate(("es", "en"))
    }
    for path, lines in files.items():
        check_replaceable(path, "".join(f"{line}\n" for line in lines))
    for path, lines in files.items():
        write_lines(path, lines)
