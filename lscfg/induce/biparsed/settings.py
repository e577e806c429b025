"""Settings of grammar induction from sentence pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lscfg.kernel.biparse import FUTURES, MOST_WORDS, PRIORS, Beams
from lscfg.settings import Declared, setting

ROOTS = ("attach", "strict")
CUBES = ("span", "cube")


@dataclass(frozen=True)
class BiparseSettings(Declared):
    """The parser of sentence pairs, and how its weights are learned.

    Raises:
        SettingError: a value is out of its range.
    """

    passes: int = setting(0, "maximum passes over the text to learn weights", least=0, most=1000, common=True)
    rate: float = setting(0.2, "learning rate at the beginning", above=0, most=100)
    decay: float = setting(0.9, "factor of the learning rate after a pass", above=0, most=1)
    prior: str = setting(
        "corpus",
        "prior shrinks all weights at every pair (corpus), or only weights that the pair uses (visit)",
        choices=PRIORS,
    )
    strength: float = setting(1.0, "strength of the prior, its inverse variance", least=0)
    lexical_rate: float = setting(
        0.0001, "learning rate of the two lexical weights, which are fixed in the first pass", least=0, most=1
    )
    rule_weights: bool = setting(True, "no separate weight for each rule")
    leave_one_out: bool = setting(True, "rules seen in a single pair keep their weight for that pair")
    counts: str = setting(
        "initial",
        "weights for counting rules: learned or initial ones",
        choices=("initial", "learned"),
    )
    folds: int = setting(
        1, "cross-validation folds: each model counts the pairs that it did not learn from", least=1, most=100
    )
    held_out: float = setting(
        0.02,
        "share of pairs held out to decide when to stop; 0: never stop early",
        least=0,
        below=1,
        metavar="SHARE",
        option="held-out-share",
    )
    adagrad: bool = setting(
        True, "one learning rate for all weights, instead of a rate per weight that falls with its gradients"
    )
    batch: int = setting(64, "pairs that are parsed with the same weights", least=1, most=100_000)
    shards: int = setting(
        1,
        "parts of the text that learn in parallel from the same weights; their results are averaged after each pass",
        least=1,
        most=4096,
    )
    rule_cache: int = setting(20_000_000, "maximum rules, with their links, to keep", least=1)
    seed: int = setting(1, "seed of the order of pairs", least=0, common=True)
    pops: int = setting(30, "maximum edges popped per span or cube", least=1, most=1_000_000)
    pops_per: str = setting("span", "scope of the pop limit", choices=CUBES)
    nodes: int = setting(10, "maximum nodes kept per span", least=1, most=10_000)
    word_items: int = setting(10, "maximum target word sets per source word", least=1, most=10_000)
    beam: float = setting(
        8.0, "maximum gap in log probability between an edge's best derivation and the best of all, in nats", least=0
    )
    future: str = setting(
        "split",
        "future cost: each lexical direction on one side (split), or both directions on both sides (whole)",
        choices=FUTURES,
    )
    root: str = setting("attach", "unlinked words at the border join the root's rule, or not (strict)", choices=ROOTS)
    max_target: int = setting(10, "maximum target words of a rule", least=1, most=MOST_WORDS)
    neighbours: int = setting(50, "target sides of a source side that compete in learning", least=1)
    max_words: int = setting(40, "maximum words on a side; longer pairs are left out", least=1, most=MOST_WORDS)
    lexicon: Path | None = setting(
        None, "lexicon from lscfg grammar biparsed --write lexicon=FILE, trained on more text"
    )

    @property
    def beams(self) -> Beams:
        """Settings of the kernel."""
        return Beams(
            self.pops,
            self.nodes,
            self.word_items,
            self.pops_per == "cube",
            Beams.retries,
            self.max_target,
            self.root == "strict",
            self.future,
            self.neighbours,
            self.rule_weights,
            self.leave_one_out,
            self.beam,
        )
