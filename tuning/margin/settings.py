"""Settings of learning by hope and fear."""

from __future__ import annotations

from dataclasses import dataclass

from lscfg.lm.estimate import MAX_ORDER, MIN_ORDER
from lscfg.settings import Declared, setting


@dataclass(frozen=True)
class MarginSettings(Declared):
    """Settings of the translation of training pairs, and of the changes of weights.

    Raises:
        SettingError: a value is out of its range.
    """

    passes: int = setting(2, "maximum passes over the pairs", least=1, most=1000, common=True)
    pairs: int = setting(0, "sentence pairs to translate, sampled at random; 0: all", least=0)
    folds: int = setting(
        5, "parts of the text, each translated with the rules and language model of the others", least=2, most=100
    )
    order: int = setting(4, "order of the folds' language models", least=MIN_ORDER, most=MAX_ORDER)
    rate: float = setting(0.2, "learning rate, which falls with the gradients of each weight", above=0, most=100)
    scale: float = setting(5.0, "weight of BLEU relative to the model score, for each reference word", above=0)
    kbest: int = setting(
        50, "number of translations among which hope and fear are chosen", least=2, most=10_000, metavar="K", letter="k"
    )
    pop_limit: int = setting(50, "candidates of each node in cube pruning", least=1, most=1_000_000)
    batch: int = setting(32, "pairs translated under the same weights", least=1, most=100_000)
    held_out: float = setting(
        0.05,
        "share of the pairs held out to decide when to stop; 0: never stop early",
        least=0,
        below=1,
        metavar="SHARE",
        option="held-out-share",
    )
    seed: int = setting(1, "seed of folds, sampled pairs and their order", least=0, common=True)
