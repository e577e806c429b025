"""Writes the states, neighbours and span marginals that docs/guides/hidden-states.md shows, as example.json.

    python experiments/hidden-states/example.py

The model is that of docs/tutorial.ipynb without contexts: 2,000 generated sentence pairs, eight states from clusters.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import lscfg
from lscfg import demo
from lscfg.decode.analysis import Analyser
from lscfg.model.parameters import Parameters
from lscfg.study.inspect import show_nearest
from lscfg.study.states import States

STATES, RULES, NEAREST = 8, 6, 4
"""States of the model, rules listed of each, and neighbours of a rule."""

RULE, SENTENCE = "watashi ||| i", "kare no uma wa totemo shiroi desu ."


def example() -> dict[str, Any]:
    """Trains the models, and returns the content of the file."""
    corpus = demo.generate(seed=1, train=2000, dev=100, test=100)
    source, target = ([pair[side] for pair in corpus.train] for side in (0, 1))
    trees = lscfg.derive(source, target, lscfg.align(source, target))
    with tempfile.TemporaryDirectory() as name:
        models = [Path(name) / "mle.lscfg", Path(name) / "clusters8.lscfg"]
        lscfg.MLE().fit(trees).save(models[0])
        lscfg.Clusters(m=STATES, seed=1).fit(trees).save(models[1])
        parameters = Parameters.load(models[1])
        states = States.of(parameters)
        assert states is not None
        one, several = (Analyser.from_model(str(model))(SENTENCE, 0).chart() for model in models)
        nearest = show_nearest(models[1], RULE, NEAREST)
    return {
        "states": [
            {"state": h, "share": round(float(states.share[h]), 4), "rules": _rules(states, h)} for h in states.order
        ],
        "rule": RULE,
        "nearest": [line.split(maxsplit=2)[::2] for line in nearest.splitlines() if line.startswith("  +")],
        "sentence": SENTENCE,
        "difference": [[*span, round(several[span] - one[span], 6)] for span in sorted({*one} & {*several})],
    }


def _rules(states: States, state: int) -> list[list[str]]:
    """Source and target of the most probable rules of a state."""
    best = np.argsort(-states.rules[:, state], kind="stable")[:RULES].tolist()
    return [[states.table.src_text(rule), states.table.tgt_text(rule)] for rule in best]


if __name__ == "__main__":
    path = Path(__file__).with_name("example.json")
    path.write_text(json.dumps(example(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
