"""Fragments of trees sampled from given forests: tree-substitution grammars (Chung et al. 2014, sections 5.1, 6)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lscfg.errors import InputError
from lscfg.induce.sampled.chain import Chain, ChainSettings, run_chain
from lscfg.induce.sampled.convergence import history
from lscfg.induce.sampled.productions import Production, read_productions
from lscfg.induce.sampled.text import SampledText
from lscfg.parallel.choose import in_threads
from lscfg.parallel.engine import available_cores

CUT = -1
"""Symbol of a tail at which a fragment ends."""

BRACKETS = {"(": "-LRB-", ")": "-RRB-"}

Rule = tuple[str, str, str]
"""Category, source side and target side of a composed rule, as in cdec's format."""


@dataclass(frozen=True)
class Fragments:
    """Fragments of samples.

    Attributes:
        count: mean count over samples by fragment, the numbers of its productions in preorder and ``CUT``.
        trace: a record for each sweep, chain by chain.
        history: see ``convergence.history``.
    """

    productions: Sequence[Production]
    count: dict[tuple[int, ...], float]
    trace: list[dict[str, Any]]
    history: dict[str, object]
    forests: int
    samples: int

    def statistics(self) -> dict[str, int]:
        """Sizes of the forests and the samples."""
        sizes = {"forests": self.forests, "productions": len(self.productions), "samples": self.samples}
        return sizes | {"fragments": len(self.count)}

    def lines(self) -> Iterator[str]:
        """Yields count, tree, source side and target side of each fragment, most frequent first."""
        lines = []
        for fragment, count in self.count.items():
            category, source, target = composed(self.productions, fragment)
            tree = bracketed(self.productions, fragment)
            lines.append((-count, f"{count:.6g} ||| [{category}] ||| {tree} ||| {source} ||| {target}"))
        return (line for _, line in sorted(lines))

    def grammar(self) -> Iterator[str]:
        """Yields the composed rules in cdec's format, with EgivenF, FgivenE and CountEF."""
        rules: Counter[Rule] = Counter()
        for fragment, count in self.count.items():
            rules[composed(self.productions, fragment)] += count  # type: ignore[assignment]  # counts are means
        of_source: Counter[tuple[str, str]] = Counter()
        of_target: Counter[tuple[str, str]] = Counter()
        for (category, source, target), count in rules.items():
            of_source[category, source] += count
            of_target[category, target] += count
        for (category, source, target), count in sorted(rules.items()):
            e, f = (math.log10(of / count) for of in (of_source[category, source], of_target[category, target]))
            features = f"EgivenF={e:.6g} FgivenE={f:.6g} CountEF={math.log10(1 + count):.6g}"
            yield f"[{category}] ||| {source} ||| {target} ||| {features}"


def sample_fragments(path: Path, settings: ChainSettings, jobs: int | None = None) -> Fragments:
    """Samples fragments of the forests of a file.

    Args:
        jobs: number of chains and shards that run at the same time; results do not depend on it; None: one for each
            core.

    Raises:
        InputError: a setting needs text; see ``read_productions``.
    """
    given = read_productions(path, settings.max_words)
    text = SampledText(given.kernel(settings.max_cut, settings.base == "pcfg"))
    if fault := settings.options().fault(given=True):
        raise InputError(fault)
    if settings.alignments == "chosen":
        raise InputError("alignments chosen needs text, not given forests")
    jobs = jobs or available_cores()
    workers = min(settings.chains, jobs)
    with in_threads(workers, ahead=1) as engine:
        run = partial(_run, text, settings, jobs // workers)
        chains = list(engine.map(run, range(settings.chains)))
    samples = len(settings.kept()) * len(chains)
    tokens: Counter[tuple[int, ...]] = Counter()
    for chain in chains:
        symbols, bounds = chain.arrays["rules.symbols"].tolist(), chain.arrays["rules.offsets"].tolist()
        for number, count in enumerate(chain.arrays["kept"].tolist()):
            if count:
                tokens[tuple(symbols[bounds[number] : bounds[number + 1]])] += count
    trace = [record for chain in chains for record in chain.trace]
    count = {fragment: n / samples for fragment, n in tokens.items()}
    return Fragments(given.productions, count, trace, history(trace, settings), len(given.forests), samples)


def _run(text: SampledText, settings: ChainSettings, threads: int, chain: int) -> Chain:
    return run_chain(text, settings, chain, places=False, max_phrase=1, threads=threads)


# ---- fragments as text ----


@dataclass
class _Reader:
    """Reads a fragment in preorder; ``tails`` counts its cut tails so far."""

    productions: Sequence[Production]
    symbols: Iterator[int]
    tails: int = 0

    def tree(self, category: str) -> str:
        """The tree of the next symbol: a bracketed subtree, or a cut tail with its number."""
        number = next(self.symbols)
        if number == CUT:
            self.tails += 1
            return f"[{category},{self.tails}]"
        production = self.productions[number]
        tails = iter(production.tails)
        parts = [
            self.tree(next(tails)) if isinstance(symbol, int) else BRACKETS.get(symbol, symbol)
            for symbol in production.source
        ]
        return f"({' '.join([production.category, *parts])})"

    def sides(self, category: str) -> tuple[list[str], list[str]]:
        """Both sides of the rule that the next symbol and those below it compose."""
        number = next(self.symbols)
        if number == CUT:
            self.tails += 1
            return [f"[{category},{self.tails}]"], [f"[{self.tails}]"]
        production = self.productions[number]
        children = [self.sides(tail) for tail in production.tails]
        both = []
        for side, symbols in enumerate((production.source, production.target)):
            parts = (children[symbol][side] if isinstance(symbol, int) else [symbol] for symbol in symbols)
            both.append([word for part in parts for word in part])
        return both[0], both[1]


def bracketed(productions: Sequence[Production], fragment: Sequence[int]) -> str:
    """The tree of a fragment over its source side, such as ``(S [NP,1] (VP saw [NP,2]))``."""
    return _Reader(productions, iter(fragment)).tree("")


def composed(productions: Sequence[Production], fragment: Sequence[int]) -> Rule:
    """The rule that a fragment composes."""
    source, target = _Reader(productions, iter(fragment)).sides("")
    return productions[fragment[0]].category, " ".join(source), " ".join(target)
