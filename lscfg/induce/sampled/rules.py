"""The rules of samples as a grammar."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lscfg import log
from lscfg.errors import InputError, counted
from lscfg.extract.extractor import RuleInputs
from lscfg.grammar.counts import RuleCounts
from lscfg.grammar.table import MAX_ARITY, MAX_TENSOR_ARITY, RuleTable
from lscfg.grammar.tokens import RuleTokens
from lscfg.induce.sampled.beginning import Beginning
from lscfg.induce.sampled.chain import Chain, ChainSettings, run_chain
from lscfg.induce.sampled.checkpoint import Checkpoint
from lscfg.induce.sampled.convergence import history
from lscfg.induce.sampled.text import SampledText, read_text
from lscfg.io.read import file_hash
from lscfg.parallel.choose import in_threads
from lscfg.parallel.engine import Engine, available_cores
from lscfg.parallel.worker import keep
from lscfg.settings import setting

FILTERS = ("hiero", "scope", "none")
"""Filters of sampled rules for a grammar: rules that Hiero extraction could find, rules of scope at most 2, all.

Hiero rules have at most two nonterminals, others nine."""

MAX_SCOPE = 2


@dataclass(frozen=True)
class SamplingSettings(ChainSettings):
    """Settings of sampling, and of the filter of rules for a grammar."""

    rule_filter: str = setting(
        "hiero", "filter: rules of Hiero's form, rules of scope at most 2, or all rules", choices=FILTERS
    )
    max_phrase: int = setting(
        10, "maximum words of a side that a rule of the Hiero filter covers in the text", least=1, most=1000
    )
    max_symbols: int = setting(
        5, "maximum words and nonterminals on the source side of a rule of the Hiero filter", least=1, most=1000
    )


@dataclass(frozen=True)
class SampledRules(RuleCounts):
    """Rules of samples. A count is the mean over samples, so that relative frequencies are posterior means.

    Attributes:
        outside: bool [rules], True for rules that the filter refuses; filter: name of the filter.
        samples: number of samples; pairs: sentence pairs of each sample.
    """

    outside: np.ndarray
    filter: str
    samples: int
    pairs: int

    def barred(self) -> dict[str, np.ndarray]:
        """Adds the rules that the filter refuses."""
        return super().barred() | {f"outside the filter {self.filter}": self.outside}

    def statistics(self) -> dict[str, int]:
        """Adds sizes of the samples."""
        kept = {"types in the filter": int((~self.outside).sum())}
        return {"sentences": self.pairs, "samples": self.samples} | super().statistics() | kept


class BareSampledRules(SampledRules):
    """Rules without a filter: rules of bare nonterminals are glue."""

    own_glue = True


@dataclass(frozen=True)
class SampledCorpus:
    """Samples of all chains.

    Attributes:
        rules: the rule types, with counts; places: see ``RuleTokens``, if requested.
        trace: a record for each sweep, chain by chain.
        tree: int64 [places], tree of each place; trees of all pairs for each sample, chain by chain.
        alignments: occurrences of each pair in ``pairs``.
        state: int32 [places], state of the rewritten nonterminal; None for one state.
    """

    rules: SampledRules
    places: np.ndarray
    trace: list[dict[str, Any]]
    tree: np.ndarray
    alignments: int
    state: np.ndarray | None = None


def sample_rules(
    inputs: RuleInputs,
    settings: SamplingSettings,
    jobs: int | None = None,
    places: bool = False,
    folder: Path | None = None,
    resume: bool = False,
    held_out: RuleInputs | None = None,
    init: Path | None = None,
    engine: Engine | None = None,
) -> SampledCorpus:
    """Samples the rules of a corpus.

    Args:
        jobs: number of chains and shards that run at the same time; results do not depend on it; None: one for each
            core.
        places: keep the positions of rules.
        folder: folder for checkpoints of the chains; with ``resume`` chains continue, perhaps with more sweeps.
        held_out: aligned pairs whose log-likelihood per target word is added to the trace of kept sweeps.
        init: derivations of the corpus as a start.
        engine: workers that run whole chains, with one thread each, on the same files; None: threads.

    Raises:
        InputError: text is held out in spite of hidden states; see ``read_text``, ``Beginning`` and ``run_chain``.
    """
    if settings.base == "pcfg":
        raise InputError("base pcfg needs a file of forests, because phrase pairs have no productions")
    if held_out and settings.states > 1:
        raise InputError("the likelihood of held-out text needs states = 1, because it does not sum over hidden states")
    work = ChainWork(inputs, settings, places, folder, resume, held_out, init)
    if folder or engine:
        work = replace(work, made_from=_fingerprint(work))
    text = work.text()
    if engine:
        there = work.absolute()
        parts = [(there, chain) for chain in range(settings.chains)]
        chains = list(log.progress(engine.map(run_part, parts), "chains", len(parts)))
    else:
        jobs = jobs or available_cores()
        workers = min(settings.chains, jobs)
        beginning = work.beginning(text)
        with in_threads(workers, ahead=1) as own:
            run = partial(work.run, text=text, beginning=beginning, threads=jobs // workers)
            chains = list(own.map(run, range(settings.chains)))
    if unscored := max(chain.unscored for chain in chains):
        found = counted(unscored, "held-out pair")
        log.warning(f"not scored: {found} of more than a million rules; hold out shorter pairs or lower max_cut")
    return _joined(chains, settings, text.pairs, 1 if work.chosen else len(inputs.alignments))


@dataclass(frozen=True)
class ChainWork:
    """Work that all chains share; see ``sample_rules``.

    Attributes:
        made_from: a digest of everything that the draws of a chain depend on; empty if not needed.
    """

    inputs: RuleInputs
    settings: SamplingSettings
    places: bool
    folder: Path | None
    resume: bool
    held_out: RuleInputs | None
    init: Path | None
    made_from: str = ""

    @property
    def chosen(self) -> bool:
        """True if one alignment of each pair is drawn."""
        return self.settings.alignments == "chosen"

    def absolute(self) -> ChainWork:
        """Makes the paths absolute, for workers with another working directory."""
        held_out = self.held_out.absolute() if self.held_out else None
        folder, init = (path.absolute() if path else None for path in (self.folder, self.init))
        return replace(self, inputs=self.inputs.absolute(), folder=folder, held_out=held_out, init=init)

    def text(self) -> SampledText:
        """See ``read_text``."""
        settings = self.settings
        return read_text(self.inputs, settings.max_cut, settings.max_words, self.chosen, self.held_out)

    def beginning(self, text: SampledText) -> Beginning | None:
        """First trees, if given."""
        return Beginning(self.init, self.inputs, text.pairs) if self.init else None

    def run(self, chain: int, text: SampledText, beginning: Beginning | None, threads: int) -> Chain:
        """See ``run_chain``."""
        checkpoint = Checkpoint(self.folder, chain, self.made_from, self.resume)
        settings = self.settings
        return run_chain(text, settings, chain, self.places, settings.max_phrase, checkpoint, threads, beginning)


def run_part(part: tuple[ChainWork, int]) -> Chain:
    """A chain, which any worker may run.

    Raises:
        InputError: see ``run_chain``.
    """
    work, chain = part
    text = keep("sampled text", work.made_from, work.text)
    beginning = keep("first trees", work.made_from, lambda: work.beginning(text))
    return work.run(chain, text, beginning, threads=1)


def _fingerprint(work: ChainWork) -> str:
    """A digest of what the draws of a chain depend on."""
    settings, inputs, held_out, init = work.settings, work.inputs, work.held_out, work.init
    facts = settings.facts()
    free = ("chains", "rule_filter", "max_symbols", "max_targets", "max_span")
    decide = {name: value for name, value in facts.items() if name not in free}
    if settings.sample != "last":
        decide.pop("sweeps", None)  # a resumed chain may have more
    texts = [inputs, held_out] if held_out else [inputs]
    files = [path for text in texts for path in (*text.parallel, *text.alignments)]
    hashes = [file_hash(path) for path in [*files, *([init] if init else [])]]
    return hashlib.sha256(json.dumps([decide, hashes, work.places], sort_keys=True).encode()).hexdigest()


def _joined(chains: Sequence[Chain], settings: SamplingSettings, pairs: int, alignments: int) -> SampledCorpus:
    arrays = chains[0].arrays
    rules = RuleTable.from_arrays(arrays)
    kept, short, places = arrays["kept"], arrays["kept_short"], arrays["places"]
    for chain in chains[1:]:
        rules, numbers = rules.with_those_of(RuleTable.from_arrays(chain.arrays))
        kept, short = (np.concatenate([ours, np.zeros(len(rules) - len(ours), np.int64)]) for ours in (kept, short))
        np.add.at(kept, numbers, chain.arrays["kept"])
        np.add.at(short, numbers, chain.arrays["kept_short"])
        more = chain.arrays["places"].copy()
        more[:, 0] = numbers[more[:, 0]]
        places = np.concatenate([places, more])
    trace = [record for chain in chains for record in chain.trace]
    tree = _trees(places[:, 1], trace, settings, pairs)
    there = np.flatnonzero(kept)  # others occurred only in sweeps that were not kept
    number = np.cumsum(kept > 0) - 1
    places = places.copy()
    places[:, 0] = number[places[:, 0]]
    places[:, 1] %= pairs // alignments
    rules, kept, short = rules.select(there), kept[there], short[there]
    samples = len(settings.kept()) * len(chains)
    kind = BareSampledRules if settings.rule_filter == "none" else SampledRules
    made = kind(
        rules,
        kept / samples,
        kept,
        arrays["lexicon.words"],
        arrays["lexicon.count"],
        outside=_outside(rules, short, settings),
        filter=settings.rule_filter,
        samples=samples,
        pairs=pairs,
        max_arity=MAX_TENSOR_ARITY if settings.rule_filter == "hiero" else MAX_ARITY,
        history=history(trace, settings),
    )
    return SampledCorpus(made, places, trace, tree, alignments, arrays.get("state"))


def _trees(pair: np.ndarray, trace: list[dict[str, Any]], settings: SamplingSettings, pairs: int) -> np.ndarray:
    """int64 [places], tree of each place; a sample has as many places as rule tokens, if places were kept."""
    if not len(pair):
        return np.empty(0, np.int64)
    kept = frozenset(settings.kept())
    tokens = [record["tokens"] for record in trace if record["sweep"] in kept]
    result: np.ndarray = np.repeat(np.arange(len(tokens)), tokens) * pairs + pair
    return result


def _outside(rules: RuleTable, short: np.ndarray, settings: SamplingSettings) -> np.ndarray:
    adjacent, scope = rules.scopes()
    if settings.rule_filter == "scope":
        return scope > MAX_SCOPE
    if settings.rule_filter == "none":
        return np.zeros(len(rules), bool)
    result: np.ndarray = (adjacent > 0) | (rules.src_length > settings.max_symbols) | (short == 0)
    return result


def sampled_tokens(found: SampledCorpus) -> RuleTokens:
    """Tokens of rules that a grammar and a model may contain, once for each sample that contains them."""
    rules = found.rules
    good = ~np.logical_or.reduce(list(rules.barred().values())) & (rules.rules.arity <= MAX_TENSOR_ARITY)
    places = found.places[good[found.places[:, 0]]]
    places[:, 0] = (np.cumsum(good) - 1)[places[:, 0]]
    return RuleTokens(rules.rules.select(np.flatnonzero(good)), places)
