"""Makes ``corpus/model``: models of each kind, and some that have broken the kernel. Needs lscfg installed."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from helpers import random_context, random_low_dimensional, rule_table, save_model  # noqa: E402

from lscfg.kernel import SCORE_FUNCTIONS  # noqa: E402
from lscfg.model.parameters import OneState, Parameters, save_low_rank  # noqa: E402

RULES = [
    "a ||| x",
    "a ||| y",
    "b ||| y x",
    "b [X,1] ||| [X,1] y",
    "[X,1] [X,2] ||| [X,2] [X,1]",
    "[X,1] a [X,2] ||| [X,1] [X,2]",
]


def main() -> None:
    folder = HERE / "corpus" / "model"
    folder.mkdir(parents=True, exist_ok=True)
    table = rule_table(RULES)
    twice = rule_table([RULES[0]] * 4 + RULES)
    ones = tuple(np.ones([int((twice.arity == a).sum())] + [2] * (a + 1)) for a in range(3))
    Parameters(twice, ones, np.ones(2), np.ones(2)).save(folder / "rule-four-times")
    broken = folder / "not-utf-8"
    save_model(broken, rule_table(["\u00e9 ||| x"]), [np.ones(2)], np.ones(2), np.ones(2))
    broken.write_bytes(broken.read_bytes().replace(b"\xc3\xa9", b"\xc3\xc3"))
    huge = tuple(np.full([int((table.arity == a).sum())] + [4] * (a + 1), 1e308) for a in range(3))
    Parameters(table, huge, np.ones(4), np.ones(4)).save(folder / "huge", np.float64)
    rng = np.random.default_rng(1)
    for m in (1, 3):
        tensors = tuple(rng.normal(size=[int((table.arity == a).sum())] + [m] * (a + 1)) for a in range(3))
        one = OneState(np.full(len(table), 0.125), np.ones(1))
        parameters = Parameters(table, tensors, np.ones(m), np.full(m, 0.5), one=one)
        parameters.save(folder / f"single{m}", np.float32)
        parameters.save(folder / f"double{m}", np.float64)
        context = random_context(table, m)
        Parameters(table, tensors, np.ones(m), np.full(m, 0.5), one=one, context=context).save(folder / f"context{m}")
        for kind in SCORE_FUNCTIONS if m == 1 else ():
            scored = replace(context, low_dimensional=random_low_dimensional(table, m, kind))
            Parameters(table, tensors, np.ones(m), np.full(m, 0.5), one=one, context=scored).save(
                folder / f"sense-{kind}"
            )
        factors = rng.normal(size=(3, 3, m))
        save_low_rank(folder / f"low-rank{m}", parameters, np.array([0, 1, 3]), factors, {})


if __name__ == "__main__":
    main()
