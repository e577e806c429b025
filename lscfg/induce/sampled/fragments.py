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


@dataclass(frozen=True)
class _Part:
    """A part of a fragment: its tree over the source side, and the words of both sides of the rule."""

    tree: str
    source: list[str]
    target: list[str]

    @classmethod
    def of_cut(cls, category: str, number: int) -> _Part:
        """A tail at which the fragment ends, with its number from 1."""
        text = f"[{category},{number}]"
        return cls(text, [text], [f"[{number}]"])

    @classmethod
    def of_production(cls, production: Production, tails: Sequence[_Part]) -> _Part:
        """A production and the parts below it."""
        source, target = production.source, production.target
        parts = (tails[s].tree if isinstance(s, int) else BRACKETS.get(s, s) for s in source)
        words = [word for s in source for word in (tails[s].source if isinstance(s, int) else [s])]
        translated = [word for s in target for word in (tails[s].target if isinstance(s, int) else [s])]
        return cls(f"({' '.join([production.category, *parts])})", words, translated)


def _read(productions: Sequence[Production], fragment: Sequence[int]) -> _Part:
    """Reads a fragment without recursion, because it may be deeper than Python's stack."""
    due, categories = [""], list[str]()
    for number in fragment:
        categories.append(due.pop())
        due += reversed(productions[number].tails) if number != CUT else ()
    parts: list[_Part] = []  # those whose production is still to come, the next one last
    cuts = fragment.count(CUT)
    for number, category in zip(reversed(fragment), reversed(categories), strict=True):
        if number == CUT:
            parts.append(_Part.of_cut(category, cuts))
            cuts -= 1
        else:
            production = productions[number]
            parts.append(_Part.of_production(production, [parts.pop() for _ in production.tails]))
    (whole,) = parts
    return whole


def bracketed(productions: Sequence[Production], fragment: Sequence[int]) -> str:
    """The tree of a fragment over its source side, such as ``(S [NP,1] (VP saw [NP,2]))``."""
    return _read(productions, fragment).tree


def composed(productions: Sequence[Production], fragment: Sequence[int]) -> Rule:
    """The rule that a fragment composes."""
    whole = _read(productions, fragment)
    return productions[fragment[0]].category, " ".join(whole.source), " ".join(whole.target)
