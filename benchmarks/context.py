"""Time and memory of learning a context model, compared with the same steps in NumPy.

    python benchmarks/context.py train.ja train.en union gdfa --derivations train.deriv --reference-pairs 200

For the minimal rules of the derivations, and for Hiero's rules of the alignments: seconds of the whole estimate, peak
memory of a separate process, and time for each rule token and pass. From the first sentence pairs NumPy learns, too,
one token at a time as the method has it; both must come to the same weights before a ratio is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import runs

from lscfg.context.loglinear import LoglinearSettings, batches, estimate_context
from lscfg.extract import hiero
from lscfg.extract.derive import Derivations
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.minimal import tokens_of
from lscfg.grammar.tokens import RuleTokens
from lscfg.io.read import read_lines
from lscfg.model.context import ContextModel, context_items

KINDS, LENGTHS = 9, 7


class Reference:
    """AdaGrad over rule tokens with NumPy's arrays (docs/reference/formats.md has outcomes and items)."""

    def __init__(self, tokens: RuleTokens, source: list[str], settings: LoglinearSettings):
        self.rules, self.settings = tokens.rules, settings
        side = self.rules.source_id
        self.counts = np.bincount(tokens.places[:, 0], minlength=len(self.rules))
        by_side = np.lexsort((-self.counts, side))  # steps are taken from the most frequent target side on
        of_side = np.split(by_side, np.searchsorted(side[by_side], np.arange(1, side.max() + 1)))
        self.choices = [rules[: settings.max_targets] for rules in of_side]
        self.places = [place for place in tokens.places if place[0] in self.choices[side[place[0]]]]
        self.outcomes = [self._outcomes(rule) for rule in range(len(self.rules))]
        self.sentences = self._number(source)
        own = sum(j - i - (b - a) - (d - c) for _, _, i, j, a, b, c, d in np.array(self.places).tolist())
        self.penalty = max(settings.penalty, own / sum(map(len, self.sentences)))
        self._find_keys()

    def _outcomes(self, rule: int) -> tuple[np.ndarray, np.ndarray]:
        """Groups with all items and groups without those of the bag; keys of their first items."""
        src, tgt = self.rules.src(rule).tolist(), self.rules.tgt(rule).tolist()
        whole = [rule, *(len(self.rules) + word for word in dict.fromkeys(tgt) if word >= 0)]
        base = context_items(len(self.rules.words))
        if not any(symbol < 0 for symbol in src):
            return np.array(whole) * base, np.empty(0, np.int64)
        shape = len(self.rules) + len(self.rules.words) + shape_of(src, tgt)
        wordy = any(symbol >= 0 for symbol in src)
        return (
            (np.array(whole) * base, np.array([shape]) * base)
            if wordy
            else (np.empty(0, np.int64), np.array([*whole, shape]) * base)
        )

    def _number(self, source: list[str]) -> list[np.ndarray]:
        numbers = {word: k for k, word in enumerate(self.rules.words)}
        lines = [np.array([numbers.get(word, -1) for word in line.split()], np.int64) for line in source]
        met = np.concatenate(lines)
        rare = np.bincount(met[met >= 0], minlength=len(numbers)) < self.settings.min_word
        return [np.where((line < 0) | rare[line], -1, line) for line in lines]

    def _items(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Near items, and those of the bag."""
        line, (i, j, *gaps) = self.sentences[place[1]], place[2:].tolist()
        n, words = len(line), len(self.rules.words)
        base = words + 2
        where = [(0, i - 1), (1, i - 2), (2, j), (3, j + 1)]
        near = []
        for k in (0, 1):
            begin, end = gaps[2 * k : 2 * k + 2]
            if begin >= 0:
                where += [(4 + 2 * k, begin), (5 + 2 * k, end - 1)]
                near.append(KINDS * base + LENGTHS * k + min(end - begin, LENGTHS) - 1)
        for kind, at in where:
            word = words if at < 0 else words + 1 if at >= n else line[at]
            if word >= 0:
                near.append(kind * base + word)
        around = np.concatenate([line[: max(i - 2, 0)], line[j + 2 :]])
        return np.array(near), (KINDS - 1) * base + around[around >= 0]

    def _keys(self, outcomes: tuple[np.ndarray, np.ndarray], near: np.ndarray, bag: np.ndarray) -> np.ndarray:
        whole, narrow = outcomes
        everything = np.concatenate([near, bag])
        return np.concatenate([np.add.outer(whole, everything).ravel(), np.add.outer(narrow, near).ravel()])

    def _met(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """The outcomes of a side's choices, each once, as ``_outcomes`` has them."""
        each = [self.outcomes[rule] for rule in self.choices[side]]
        return np.unique(np.concatenate([w for w, _ in each])), np.unique(np.concatenate([n for _, n in each]))

    def _find_keys(self) -> None:
        """The weights, and how often a pass comes by each."""
        own = [self._keys(self.outcomes[place[0]], *self._items(place)) for place in self.places]
        keys, times = np.unique(np.concatenate(own), return_counts=True)
        self.keys = keys[times >= self.settings.min_count]
        self.visits = np.zeros(len(self.keys), np.float32)
        self.met = [self._met(side) for side in range(len(self.choices))]
        for place in self.places:
            met = self._keys(self.met[self.rules.source_id[place[0]]], *self._items(place))
            np.add.at(self.visits, self._find(met), 1)

    def _find(self, keys: np.ndarray) -> np.ndarray:
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        return at[self.keys[at] == keys]

    def _gradients(self, place: np.ndarray, weights: np.ndarray) -> list[tuple[float, np.ndarray]]:
        """Of each outcome that has one, and the weights that it is for."""
        near, bag = self._items(place)
        side = self.rules.source_id[place[0]]
        choices, shares = self.choices[side], self._shares(place, weights)
        found = []
        for kind, outcomes in enumerate(self.met[side]):
            for outcome in outcomes:
                has = np.array([outcome in self.outcomes[rule][kind] for rule in choices])
                gradient = (shares - (choices == place[0]))[has].sum()
                if abs(gradient) > 1e-4:
                    items = near if kind else np.concatenate([near, bag])
                    found.append((gradient, self._find(outcome + items)))
        return found

    def _shares(self, place: np.ndarray, weights: np.ndarray) -> np.ndarray:
        choices = self.choices[self.rules.source_id[place[0]]]
        items = self._items(place)
        scores = np.log(self.counts[choices])
        scores += [weights[self._find(self._keys(self.outcomes[k], *items))].sum(dtype=np.float64) for k in choices]
        scores = np.exp(scores - scores.max())
        return scores / scores.sum()

    def learn(self) -> np.ndarray:
        """The weights of ``keys``."""
        chosen = self.settings
        weights, squares = np.zeros(len(self.keys), np.float32), np.zeros(len(self.keys), np.float32)
        random = np.random.default_rng(chosen.seed)
        places = np.array(self.places)
        places = places[np.argsort(places[:, 0], kind="stable")]
        sides = self.rules.source_id[places[:, 0]]
        for number in range(chosen.passes):
            order = random.permutation(len(places))
            for part in batches(len(places), number * len(places), chosen.batch):
                batch = order[part][np.argsort(sides[order[part]], kind="stable")]
                for found in [self._gradients(places[k], weights) for k in batch]:
                    for gradient, at in found:
                        weight, times = np.unique(at, return_counts=True)
                        for before in range(times.max(initial=0)):
                            one = weight[times > before]
                            along = np.float32(gradient) + self.penalty * weights[one] / self.visits[one]
                            squares[one] += along**2
                            weights[one] -= chosen.rate * along / np.sqrt(squares[one] + 1e-4)
        return weights


def shape_of(src: list[int], tgt: list[int]) -> int:
    """Words next to nonterminals on both sides, and the order of two nonterminals."""

    def places(side: list[int]) -> int:
        return sum({1 << sum(t < 0 for t in side[:k]) for k, s in enumerate(side) if s >= 0})

    if sum(s < 0 for s in src) == 1:
        return places(src) + 4 * places(tgt)
    return 16 + places(src) + 8 * places(tgt) + 64 * ([t for t in tgt if t < 0] == [-2, -1])


def weights_of(model: ContextModel) -> dict[tuple[int, int], float]:
    """Weights by outcome and item."""
    outcome = np.repeat(np.arange(len(model.offsets) - 1), np.diff(model.offsets))
    return dict(zip(zip(outcome.tolist(), model.items.tolist(), strict=True), model.weights.tolist(), strict=True))


def compare(tokens: RuleTokens, source: list[str], pairs: int) -> dict[str, float]:
    """Seconds of the kernel and of NumPy on the first sentence pairs."""
    settings = LoglinearSettings()
    first = tokens.places[tokens.places[:, 1] < pairs]
    used, number = np.unique(first[:, 0], return_inverse=True)
    first = np.column_stack([number, first[:, 1:]]).astype(np.int32)
    some = RuleTokens(tokens.rules.select(used), first).with_choice()
    start = time.perf_counter()
    made = weights_of(estimate_context(some, source[:pairs], settings))
    seconds = time.perf_counter() - start
    reference = Reference(some, source[:pairs], settings)
    start = time.perf_counter()
    weights = reference.learn()
    theirs = time.perf_counter() - start
    items = context_items(len(some.rules.words))
    difference = max(
        abs(made.get(divmod(int(k), items), 0.0) - w) for k, w in zip(reference.keys, weights, strict=True)
    )
    assert len(made) == np.count_nonzero(weights) and difference < 1e-3, f"the weights differ by {difference}"
    return {"tokens": len(reference.places), "seconds": seconds, "reference": theirs}


def measure(tokens: RuleTokens, source: list[str], threads: int) -> dict[str, float]:
    """Seconds of the estimate and of all its threads, and peak MiB of this process."""
    start, cpu = time.perf_counter(), time.process_time()
    model = estimate_context(tokens, source, LoglinearSettings(), threads)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"tokens": len(tokens.places), "weights": len(model.weights), "seconds": seconds, "cpu": cpu, "peak": peak}


def main() -> None:
    """Runs both kinds of rules in separate processes and prints a table."""
    parser = runs.parser(__doc__)
    parser.add_argument("source", metavar="SOURCE")
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("alignments", metavar="ALIGNMENT", nargs="+")
    parser.add_argument("--derivations", metavar="FILE", required=True)
    parser.add_argument(
        "--reference-pairs", type=int, default=200, metavar="N", help="pairs for NumPy (default: %(default)s)"
    )
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="threads (default: %(default)s)")
    parser.add_argument("--one", choices=("minimal", "Hiero"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        source = read_lines(args.source)
        if args.one == "minimal":
            tokens = tokens_of(Derivations.load(args.derivations))
        else:
            inputs = RuleInputs(args.source, args.target, tuple(args.alignments))
            tokens = hiero.Hiero().tokens(inputs, hiero.HieroSettings())
        print(json.dumps(compare(tokens, source, args.reference_pairs) | {"whole": measure(tokens, source, args.jobs)}))
        return
    run = runs.Run(args)
    figures = ["wall s", "CPU s", "peak MiB", "CPU us", "first pairs: CPU us", "NumPy us", "ratio"]
    run.table("CPU of a rule token and pass", ["rules", "tokens", "weights", *figures])
    passes = LoglinearSettings().passes
    for kind in ("minimal", "Hiero"):
        command = [sys.executable, *sys.argv, "--one", kind]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        whole, n = found["whole"], passes * found["tokens"] / 1e6
        mine, theirs = found["seconds"] / n, found["reference"] / n
        row = (
            whole["seconds"],
            whole["cpu"],
            whole["peak"],
            whole["cpu"] / (passes * whole["tokens"] / 1e6),
            mine,
            theirs,
        )
        run.row(kind, whole["tokens"], whole["weights"], *row, theirs / mine)
    run.save()


if __name__ == "__main__":
    main()
