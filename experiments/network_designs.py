"""Held-out perplexity of networks of target words whose design differs in one point.

    lscfg derive train.ja train.en train.gdfa train.union -o train.deriv
    python experiments/network_designs.py train.deriv -o DIR \
        --corpus train.ja train.en --alignment train.gdfa --alignment train.union

DIR keeps the networks, and designs.json: perplexity given 0 to h target words before, log Z, passes, parameters and CPU
seconds of each design. Another run into DIR learns what is missing. Without --corpus, the design ``aligned`` is left
out, whose places in training are those of the word alignments (Devlin et al. 2014, section 2.1), not those of the
rules. ``two networks`` averages the log probabilities of base and seed 2.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import resource
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from target_words import log_z

from lscfg.corpus.parallel import stream_aligned
from lscfg.estimate.neural import Design, NeuralEstimator, NeuralSettings, NeuralText
from lscfg.extract.derive import Derivations
from lscfg.io.read import file_hash
from lscfg.io.write import atomic_write
from lscfg.kernel.neural import SOURCE_UNKNOWN, SOURCE_WORDS
from lscfg.model.neural import NeuralModel
from lscfg.model.parameters import Parameters
from lscfg.tuning.target_network import Contexts, Network

ENDINGS, LEAST_ENDING = 3, 3
"""Letters of the longest ending of a rare source word, and how many rare tokens an ending needs."""


class HistoryAlone(NeuralText):
    """Text whose source words are all unknown."""

    def _windows(self, tree: np.ndarray, place: np.ndarray) -> np.ndarray:
        return np.full_like(super()._windows(tree, place), SOURCE_UNKNOWN)


class NoFertility(NeuralText):
    """Text without the second task, the number of target words of each source word."""

    def fertilities_of(self, trees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inputs, labels = super().fertilities_of(trees)
        return inputs[:0], labels[:0]


class Endings(NeuralText):
    """Text whose rare source words share the row of the longest frequent ending."""

    def _vocabularies(
        self, derivations: Derivations, words: tuple[np.ndarray, np.ndarray]
    ) -> tuple[tuple[list[str], list[str]], np.ndarray]:
        (source, target), rows = super()._vocabularies(derivations, words)
        known = derivations.rules.words
        counts = np.bincount(words[0][: self.lengths[: self.pairs, 0].sum()], minlength=len(known))
        rare = [(k, known[k]) for k in np.flatnonzero(rows[:, 0] == SOURCE_UNKNOWN).tolist() if counts[k]]
        tokens: dict[str, int] = {}
        for k, word in rare:
            for n in range(1, ENDINGS + 1):
                tokens[word[-n:]] = tokens.get(word[-n:], 0) + int(counts[k])
        kept = sorted(ending for ending, number in tokens.items() if number >= LEAST_ENDING)
        row = {ending: SOURCE_WORDS + len(source) + k for k, ending in enumerate(kept)}
        for k, word in rare:
            found = [row[word[-n:]] for n in range(ENDINGS, 0, -1) if word[-n:] in row]
            rows[k, 0] = found[0] if found else SOURCE_UNKNOWN
        return (source + [f"…{ending}" for ending in kept], target), rows


def aligned(corpus: Sequence[Path], alignments: Sequence[Path]) -> type[NeuralText]:
    """Text whose target words are at the places of their links in training; held-out words as ever."""

    class Aligned(NeuralText):
        def __init__(self, derivations: Derivations, design: Design):
            super().__init__(derivations, design)
            self.place, held_out = self.place.copy(), set(self.held_out.tolist())
            for version, path in enumerate(alignments):
                for pair, (_, target, links) in enumerate(stream_aligned(*corpus, path)):
                    tree = version * self.pairs + pair
                    if pair not in held_out and self.lengths[tree, 1]:
                        start, n = self.starts[tree, 1], self.lengths[tree, 1]
                        assert n == len(target.split())
                        self.place[start : start + n] = linked_places(links, n)

    return Aligned


def linked_places(links: str, n: int) -> list[int]:
    """Places of n target words: the middle of a word's links, or the place of the nearest word with one."""
    places: list[list[int]] = [[] for _ in range(n)]
    for link in links.split():
        source, target = link.split("-")
        places[int(target)].append(int(source))
    own = [sorted(place)[(len(place) - 1) // 2] if place else None for place in places]
    found = []
    for k in range(n):
        near = (own[at] for distance in range(n) for at in (k + distance, k - distance) if 0 <= at < n)
        found.append(next((place for place in near if place is not None), 0))
    return found


@dataclass(frozen=True)
class Change:
    """One changed point of the design."""

    design: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    text: type[NeuralText] = NeuralText


CHANGES = {
    "base": Change(),
    "seed 2": Change(settings={"seed": 2}),
    "hidden 64": Change(settings={"hidden": 64}),
    "hidden 128": Change(settings={"hidden": 128}),
    "hidden 512": Change(settings={"hidden": 512}),
    "dims 32": Change(design={"dims": 32}),
    "history 0": Change(design={"history": 0}),
    "history 1": Change(design={"history": 1}),
    "history 3": Change(design={"history": 3}),
    "history alone": Change(text=HistoryAlone),
    "reach 0": Change(design={"reach": 0}),
    "reach 2": Change(design={"reach": 2}),
    "no fertility": Change(text=NoFertility),
    "no dropout": Change(design={"dropout": 0.0}),
    "endings": Change(text=Endings),
}


def learn(derivations: Derivations, change: Change, threads: int) -> tuple[Parameters, dict[str, Any]]:
    """The model of a changed design, and its figures."""
    begin = cpu_seconds()
    text = change.text(derivations, dataclasses.replace(Design(), **change.design))
    model = NeuralEstimator.learn(text, NeuralSettings(**change.settings), threads)
    assert model.neural is not None
    numbers = sum(array.size for name, array in model.neural.parameters.items() if name not in ("links", "share"))
    figures = {name: model.about[name] for name in ("held-out perplexity", "log Z", "epochs")}
    return model, figures | {"parameters": numbers, "CPU s": round(cpu_seconds() - begin, 1)}


def cpu_seconds() -> float:
    """CPU time of the process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def together(derivations: Derivations, models: Sequence[Parameters]) -> list[float]:
    """Held-out perplexity of the mean log probability of networks of the same text and design, by known words."""
    text, found = NeuralText(derivations, Design()), []
    for known in range(Design().history + 1):
        inputs, labels = text.words_of(text.held_out, known)
        own = [log_probabilities(model.neural, inputs, labels) for model in models if model.neural is not None]
        found.append(math.exp(-np.mean(own)))
    return found


def log_probabilities(model: NeuralModel, inputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Normalised log probabilities of words, [words].

    Args:
        inputs: rows of ``NeuralText.words_of``; labels: int [words].
    """
    network, window = Network(model), 2 * model.reach + 1
    sums = network.window_sums(inputs[:, :window])
    places, known = np.arange(len(inputs)), inputs[:, window:]
    z = log_z(network, Contexts(sums, places, known, labels, places))
    found: np.ndarray = network.scores(sums, places, known, labels) - z
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Learns the networks and writes their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("derivations", type=Path)
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", required=True)
    parser.add_argument("--designs", metavar="NAME,NAME", help="only these")
    parser.add_argument("--corpus", type=Path, nargs=2, metavar=("SRC", "TGT"))
    parser.add_argument("--alignment", type=Path, action="append", default=[])
    parser.add_argument("-j", "--threads", type=int, default=1)
    args = parser.parse_args(arguments)
    derivations, changes = Derivations.load(args.derivations), dict(CHANGES)
    if len(args.alignment) != (derivations.alignments if args.corpus else 0):
        parser.error(f"give --corpus and each of the {derivations.alignments} alignments of the trees, or neither")
    if args.corpus:
        changes["aligned"] = Change(text=aligned(args.corpus, args.alignment))
    args.output.mkdir(parents=True, exist_ok=True)
    file = args.output / "designs.json"
    done = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    made_from = {"derivations": file_hash(args.derivations)}
    if any(one.get("derivations", made_from["derivations"]) != made_from["derivations"] for one in done.values()):
        parser.error(f"{file}: contains figures of other derivations; choose another folder")
    for name in args.designs.split(",") if args.designs else changes:
        if name not in done:
            model, figures = learn(derivations, changes[name], args.threads)
            done[name] = figures | made_from
            model.save(args.output / f"{name.replace(' ', '-')}.lscfg")
            write(file, done)
    if {"base", "seed 2"} <= done.keys() and "two networks" not in done:
        models = [Parameters.load(args.output / f"{name}.lscfg") for name in ("base", "seed-2")]
        done["two networks"] = {"held-out perplexity": together(derivations, models)} | made_from
        write(file, done)


def write(file: Path, found: Mapping[str, Any]) -> None:
    """Writes all figures so far."""
    with atomic_write(file) as out:
        out.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
