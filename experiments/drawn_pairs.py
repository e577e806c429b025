"""Sentence pairs drawn from an L-SCFG, as further training text of a neural system.

    python experiments/drawn_pairs.py states.lscfg lm.bin 5000 -o drawn

A derivation is drawn top-down, each rule with the states of its nonterminals in proportion to C^r in the state of its
node. For N pairs twice as many are drawn; the half whose target sides have the highest scores per word by the language
model is written, in the order of drawing. The first token of each source side is <drawn> (Caswell, Chelba and Grangier,
"Tagged Back-Translation", 2019). Equal pairs are drawn again, as are pairs of more than --longest words on a side.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import kenlm
import numpy as np

from lscfg.io.write import write_lines
from lscfg.model.parameters import Parameters

TAG = "<drawn>"


class Model:
    """For each state, the rules with the states of their nonterminals in proportion to C^r."""

    def __init__(self, model: Parameters):
        if len(model.rules.categories) > 1:
            raise SystemExit("the model has labels; give one of [X] alone")
        self._words, m = model.rules.words, model.rank
        self._sides = [
            (model.rules.src(rule).tolist(), model.rules.tgt(rule).tolist()) for rule in range(len(model.rules))
        ]
        parts = [np.moveaxis(tensor, 1, 0).reshape(m, -1).astype(np.float64) for tensor in model.tensors]
        share = np.concatenate(parts, axis=1)
        if share.min() < 0 or model.root.min() < 0:
            raise SystemExit("a parameter is negative; give a model of clusters, EM or MLE")
        self._cumulative = np.cumsum(share, axis=1)
        self._root = np.cumsum(model.root.astype(np.float64))
        self._m = m
        # the first choice and the first rule of each arity
        self._begins = [0, *np.cumsum([part.shape[1] for part in parts[:-1]]).tolist()]
        self._first = [0, *np.cumsum([len(tensor) for tensor in model.tensors[:-1]]).tolist()]

    def _choose(self, state: int, random: np.random.Generator) -> tuple[int, list[int]]:
        """A rule and the states of its nonterminals in source order."""
        sums = self._cumulative[state]
        place = int(np.searchsorted(sums, random.random() * sums[-1], "right"))
        arity = int(np.searchsorted(self._begins, place, "right")) - 1
        rule, rest = divmod(place - self._begins[arity], self._m**arity)
        states = [rest // self._m ** (arity - 1 - n) % self._m for n in range(arity)]
        return self._first[arity] + rule, states

    def draw(self, random: np.random.Generator, most: int) -> tuple[list[str], list[str]] | None:
        """Both sides of a derivation; None if it has more than ``most`` rules."""
        states = [int(np.searchsorted(self._root, random.random() * self._root[-1], "right"))]
        rules: list[int] = []
        children: list[list[int]] = []
        for state in states:  # grows, level by level
            if len(rules) == most:
                return None
            rule, below = self._choose(state, random)
            rules.append(rule)
            children.append([len(states) + n for n in range(len(below))])
            states += below
        return self._words_of(rules, children, 0), self._words_of(rules, children, 1)

    def _words_of(self, rules: list[int], children: list[list[int]], side: int) -> list[str]:
        """The words of a tree's side; a source side numbers its nonterminals from left to right."""
        found, waiting = list[str](), [(0, 0, 0)]
        while waiting:
            node, begin, seen = waiting.pop()
            symbols = self._sides[rules[node]][side]
            for place in range(begin, len(symbols)):
                if symbols[place] >= 0:
                    found.append(self._words[symbols[place]])
                    continue
                child = children[node][-1 - symbols[place] if side else seen]
                waiting += [(node, place + 1, seen + 1), (child, 0, 0)]
                break
        return found


def main() -> None:
    """Writes the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL", help="model without negative parameters")
    parser.add_argument("lm", metavar="LM", help="language model of the target language")
    parser.add_argument("pairs", type=int, metavar="N")
    parser.add_argument("-o", "--output", metavar="PREFIX", required=True, help="writes PREFIX.source, PREFIX.target")
    parser.add_argument("--longest", type=int, default=40, help="words of a side at most (default: 40)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    model, random, lm = Model(Parameters.load(args.model)), np.random.default_rng(args.seed), kenlm.Model(args.lm)
    drawn: dict[tuple[str, str], float] = {}
    tries = 0
    while len(drawn) < 2 * args.pairs:
        tries += 1
        if tries > 200 * args.pairs:
            parser.error(f"only {len(drawn)} different pairs in {tries - 1} draws")
        sides = model.draw(random, 4 * args.longest)
        if sides is not None and all(0 < len(words) <= args.longest for words in sides):
            source, target = map(" ".join, sides)
            drawn[source, target] = lm.score(target) / (len(sides[1]) + 1)
    worst = sorted(drawn.values(), reverse=True)[args.pairs - 1]
    kept = [pair for pair, score in drawn.items() if score >= worst][: args.pairs]
    write_lines(f"{args.output}.source", [f"{TAG} {source}" for source, _ in kept])
    write_lines(f"{args.output}.target", [target for _, target in kept])
    print(f"{tries} draws, {len(drawn)} different pairs, {len(kept)} written")


if __name__ == "__main__":
    main()
