"""Makes ``corpus/model``: models of each kind, and some that have broken the kernel; and ``corpus/compiled``.

Needs lscfg installed.
"""

import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from helpers import (  # noqa: E402
    random_boundary,
    random_context,
    random_low_dimensional,
    random_network,
    random_orientation,
    rule_table,
    save_model,
)
from mutations import join_file, split_file  # noqa: E402
from searches import random_arpa  # noqa: E402

from lscfg.io import narrow  # noqa: E402
from lscfg.io.tensors import COMPILED, save  # noqa: E402
from lscfg.kernel import SCORE_FUNCTIONS, Grammar  # noqa: E402
from lscfg.kernel.lm import ngram_arrays  # noqa: E402
from lscfg.model import packing  # noqa: E402
from lscfg.model.compress import make_sparse  # noqa: E402
from lscfg.model.parameters import OneState, Parameters, save_low_rank  # noqa: E402
from lscfg.model.small import write_packed  # noqa: E402

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
    make_packed(folder)
    make_parts(folder)
    make_compiled(HERE / "corpus" / "compiled")


def make_packed(folder: Path) -> None:
    """A packed model and a sparse one, without checksums, which few mutations would survive."""
    rng = np.random.default_rng(2)
    table = rule_table(RULES)
    tensors = [rng.random([2] * (arity + 1)) for arity in table.arity]
    tensors[-1][:, 0] = tensors[-2][:, 0] = 0
    packing.LEAST_SAVED = -(1 << 30)
    plain = save_model(folder / "packed", table, tensors, np.ones(2), np.ones(2))
    make_sparse(plain, folder / "sparse", 1e-3)
    narrow.LEAST_SIZE = 0
    write_packed(folder / "sparse", folder / "narrow")
    for path in (plain, folder / "sparse", folder / "narrow"):
        path.write_bytes(join_file(*split_file(path.read_bytes())))


def make_parts(folder: Path) -> None:
    """Networks, orientations and weights of spans, without checksums; each network has another history."""
    table = rule_table(RULES)
    tensors = [np.ones((1,) * (arity + 1)) for arity in table.arity]
    sides = (["a", "b"], ["x", "z", "a"])
    parts = {f"neural{history}": {"neural": random_network(sides, history, history, 1)} for history in (0, 3)}
    parts["orientation"] = {"orientation": random_orientation(sides, 1)}
    parts["boundary"] = {"boundary": random_boundary(rule_table(["a ||| x"]), 1)}
    parts["parts"] = parts["neural3"] | parts["orientation"]
    for name, own in parts.items():
        path = save_model(folder / name, table, tensors, np.ones(1), np.ones(1), **own)
        path.write_bytes(join_file(*split_file(path.read_bytes())))


def make_compiled(folder: Path) -> None:
    """A grammar and a language model made from a file whose SHA-256 is 0."""
    folder.mkdir(exist_ok=True)
    grammar = Grammar()
    grammar.read_text("".join(f"[X] ||| {rule} ||| F=1 G=0.5 ||| 0-0\n" for rule in RULES))
    with tempfile.TemporaryDirectory() as temporary:
        arpa = ngram_arrays(random_arpa(Path(temporary) / "arpa", 2, random.Random(1)))
    narrow.LEAST_SIZE = 0
    for kind, arrays in (("grammar", grammar.arrays()), ("ngrams", arpa)):
        save(folder / kind, narrow.narrowed(arrays), {"lscfg": kind, "format": COMPILED, "source": "0" * 64})


if __name__ == "__main__":
    main()
