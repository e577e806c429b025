"""Random ARPA files, usual and odd ones, and the scores that KenLM gives to all translations of a small forest."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import kenlm
import numpy as np
from searches import EVERYTHING, quiet

from lscfg.kernel import Grammar, ParseOptions
from lscfg.kernel.lm import LanguageModel
from lscfg.kernel.search import SearchOptions, search

KNOWN = ["a", "b", "c", "d"]
TARGETS = [*KNOWN, "zz", "yy", "<unk>", "<UNK>"]
Gram = tuple[str, ...]


class RandomArpa:
    """The sections of a model, which a change may make odd."""

    def __init__(self, rng: random.Random, order: int, unknown: float = 0.0, closed: float = 1.0):
        """Draws n-grams.

        Args:
            unknown: share of longer n-grams with <unk> that are kept.
            closed: share of n-grams whose end must be in the model, too.
        """
        self.rng = rng
        self.sections: list[list[list[str]]] = []
        grams: list[list[Gram]] = [[("<unk>",), ("<s>",), ("</s>",), *((w,) for w in KNOWN)]]
        for _ in range(order - 1):
            ends = set(grams[-1])
            longer = [(*g, w) for g in grams[-1] for (w,) in grams[0] if g[-1] != "</s>" and w != "<s>"]
            grams.append(
                [
                    g
                    for g in longer
                    if rng.random() < (0.5 if "<unk>" not in g else unknown)
                    and (g[1:] in ends or rng.random() >= closed)
                ]
            )
        for n, some in enumerate(grams, 1):
            rows = []
            for gram in some:
                backoff = [f"{rng.choice((-1, -1, 0, 0.3)) * rng.random():.6f}"] if n < order else []
                rows.append([f"{-3 * rng.random() - 0.01:.6f}", " ".join(gram), *backoff])
            self.sections.append(rows)
        self.header = [f"ngram {n}={len(some)}" for n, some in enumerate(grams, 1)]

    def row(self) -> list[str]:
        """Some row of the model."""
        return self.rng.choice([row for section in self.sections for row in section])

    def count(self) -> None:
        """Makes the header agree with the sections."""
        self.header = [f"ngram {n}={len(rows)}" for n, rows in enumerate(self.sections, 1)]

    def drop(self, word: str) -> None:
        """Takes a word out of all sections."""
        for n, section in enumerate(self.sections):
            self.sections[n] = [row for row in section if word not in row[1].split()]
        self.count()

    def text(self) -> str:
        """The file."""
        lines = ["\\data\\", *self.header, ""]
        for n, rows in enumerate(self.sections, 1):
            lines += [f"\\{n}-grams:", *("\t".join(row) for row in rows), ""]
        return "\n".join([*lines, "\\end\\", ""])


def _number(model: RandomArpa, place: int, value: str) -> None:
    row = model.row()
    row[min(place, len(row) - 1)] = value


def _renamed(model: RandomArpa, old: str, new: str) -> None:
    for section in model.sections:
        for row in section:
            row[1] = " ".join(new if word == old else word for word in row[1].split())


def _twice(model: RandomArpa, section: int) -> None:
    rows = model.sections[min(section, len(model.sections) - 1)]
    rows.append(list(model.rng.choice(rows)) if rows else ["-1", "a b"])
    model.count()


def _without_some(model: RandomArpa) -> None:
    """Takes an n-gram out, which may be the beginning or the end of others."""
    rows = model.rng.choice(model.sections)
    if rows:
        rows.pop(model.rng.randrange(len(rows)))
    model.count()


def _spaces(model: RandomArpa) -> None:
    row = model.row()
    row[1] = model.rng.choice(["{}", " {}", "{} ", "{}\r"]).format(row[1].replace(" ", model.rng.choice("\t  ")))


NUMBERS = ("-inf", "inf", "nan", "-NaN", "0", "-0", "0.0", "0.5", "-1e-300", "-1e38", "-1e39", "-1e999", "1e-50", "-.5")
NUMBERS += ("-5.", "+0", "-1_0", "-0x1p3", "-99", "-1e", "--1", "", "-1,5", "-1e+1", "-1d1", "-123456789012345678901")

CHANGES: dict[str, Callable[[RandomArpa], object]] = {
    "none": lambda m: None,
    "no </s>": lambda m: m.drop("</s>"),
    "no <s>": lambda m: m.drop("<s>"),
    "no <unk>": lambda m: m.drop("<unk>"),
    "<UNK>": lambda m: _renamed(m, "<unk>", "<UNK>"),
    "<S>": lambda m: _renamed(m, "<s>", "<S>"),
    "unknown word": lambda m: _renamed(m, "d", "e") if m.rng.random() < 0.5 else m.sections[-1].append(["-1", "a e"]),
    "number": lambda m: _number(m, 0, m.rng.choice(NUMBERS)),
    "backoff": lambda m: _number(m, 2, m.rng.choice(NUMBERS)),
    "unigram twice": lambda m: _twice(m, 0),
    "n-gram twice": lambda m: _twice(m, 1),
    "n-gram missing": _without_some,
    "n-grams missing": lambda m: [_without_some(m) for _ in range(5)],
    "spaces": _spaces,
    "last backoff": lambda m: m.sections[-1] and m.sections[-1][0].append(m.rng.choice(["0", "-0", "-0.5", ""])),
    "count": lambda m: m.header.__setitem__(0, m.header[0] + m.rng.choice(["0", "1", ".0", " ", "e0", "x", "\r"])),
    "order": lambda m: m.header.__setitem__(0, m.rng.choice(["ngram 01=7", "ngram 1.0=7", "ngram  1= 7", "ngram 2=7"])),
    "empty section": lambda m: (m.sections[-1].clear(), m.count()),
    "middle marker": lambda m: (m.sections[1].append(["-1", m.rng.choice(["a <s>", "</s> a"]), "-0.1"][:3]), m.count()),
}

TEXTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda t: t,
    "windows": lambda t: t.replace("\n", "\r\n"),
    "comment": lambda t: "\n# comment\n \n" + t,
    "junk": lambda t: "junk\n" + t,
    "after the end": lambda t: t + "\n \n",
    "junk after the end": lambda t: t + "junk\n",
    "no end": lambda t: t.replace("\\end\\\n", ""),
    "open end": lambda t: t.rstrip("\n"),
    "no blank line": lambda t: t.replace("\n\n\\1-grams", "\n\\1-grams"),
    "blank count": lambda t: t.replace("\nngram 2", "\n\nngram 2"),
    "blank lines": lambda t: t.replace("-grams:\n", "-grams:\n\n"),
    "no blanks": lambda t: t.replace("\n\n\\", "\n\\").replace("\n\\1-", "\n\n\\1-"),
    "white line": lambda t: t.replace("\n\n", "\n \t\n"),
    "heading": lambda t: t.replace("\\2-grams:", "\\2-grams: "),
    "cut": lambda t: t[: len(t) // 2],
}


def random_model(seed: int) -> tuple[str, str]:
    """The text of a model and what is odd in it."""
    rng = random.Random(seed)
    order = rng.choice([2, 3, 3, 4, 5])
    model = RandomArpa(rng, order, rng.choice([0, 0, 0.3]), rng.choice([1, 1, 0.5]))
    changes = [rng.choice([*CHANGES]) for _ in range(rng.choice([0, 1, 1, 2]))]
    for name in changes:
        CHANGES[name](model)
    dressing = rng.choice([*TEXTS]) if rng.random() < 0.3 else "as it is"
    return TEXTS[dressing](model.text()), ", ".join([f"order {order}", *changes, dressing])


def open_kenlm(path: Path) -> kenlm.Model | None:
    """KenLM's own model, None if KenLM refuses the file."""
    try:
        return kenlm.Model(str(path), quiet())
    except OSError:
        return None


def scores_of_search(path: Path, rng: random.Random) -> list[tuple[str, float, float]]:
    """Words, language model score and unknown words of every derivation of a small forest."""
    grammar = Grammar()
    for source in "wxyz":
        for target in rng.sample(TARGETS, 2):
            grammar.read_text(f"[X] ||| {source} ||| {target} ||| F=1\n")
    grammar.read_text("[X] ||| [X,1] [X,2] ||| [X,1] [X,2] ||| F=1\n[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| F=1\n")
    grammar.read_text(f"[S] ||| [X,1] ||| {rng.choice(KNOWN)} [X,1] ||| F=1\n")
    grammar.finish()
    forest = grammar.parse(grammar.vocab.add_line("w x y z"), ParseOptions(glue=False, pass_through=0))
    assert forest is not None
    model = LanguageModel(path, grammar.vocab)
    found = search(forest, grammar, model, np.zeros(forest.n_apps), SearchOptions(EVERYTHING, 400, False, 1.0, 0.0))
    texts = [" ".join(map(grammar.vocab.word, words)) for words in found.word_lists()]
    return list(zip(texts, found.lm.tolist(), found.oov.tolist(), strict=True))
