"""Correlations of measures of phrase scores on held-out text with BLEU after tuning.

    python experiments/score_correlation.py ja-thesis4 --held-out dev.deriv [--systems CONTEXT,LS,CCA]

The folder is the output of lscfg run with experiments/ja-en-context/experiment.toml. For each of its systems of phrase
pairs, the table lists gains in nats per question from the system's features:

- adds: beyond a language model, the length, P(e|f) and P(f|e) (lscfg inspect choices --measure translations);
- gain: beyond P(e|f);
- target: on target sides of minimal rules, over one state (lscfg inspect choices), for features that are ratios;

the mean reciprocal rank of the score, and BLEU. A system without features has gains of 0 and the rank of P(e|f). Below,
the program prints the correlation of each measure with BLEU, by rank (Spearman) and by value (Pearson), with p-values.
The held-out derivations belong to other pairs, aligned together with the training pairs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from correlation import correlations, features_of, stage_folders

from lscfg.extract.derive import Derivations
from lscfg.io.columns import align_columns
from lscfg.io.json_files import read_json
from lscfg.kernel import FeatureOptions, Model, feature_names
from lscfg.study.diagnose import AROUND, ONE_STATE, Diagnosis
from lscfg.study.disambiguation import InventorySettings, Questions
from lscfg.study.mrr import P_OF_TARGET, ScoreEvaluator

LM = "lm.arpa"
MEASURES = ("adds", "gain", "target", "MRR")


class Measures:
    """Gains of a model's features on held-out phrases and rules."""

    def __init__(self, train: Derivations, held_out: Derivations, lm: Path):
        self.evaluator = ScoreEvaluator.of(Questions.held_out(train, held_out, InventorySettings()), lm)
        base = self.evaluator.base()
        self._base, self._frequency = [*base.values()], base[P_OF_TARGET]
        self._losses = self.evaluator.losses(self._base), self.evaluator.losses([self._frequency])
        self._diagnosis = Diagnosis(train, held_out)
        self._one = next(found for found in self._diagnosis.references() if found.name == ONE_STATE).scores

    def without(self) -> list[float]:
        """The measures of a system without features."""
        return [0.0, 0.0, 0.0, self.evaluator.mean_rank(self._frequency)[0]]

    def of(self, path: Path, names: tuple[str, ...]) -> list[float]:
        """The measures of named features of a model."""
        model = Model(path)
        columns = [*self.evaluator.features(model, FeatureOptions(names=names), path.parent.name).T]
        columns = [column for column in columns if column.any()]
        losses = self.evaluator.losses([*self._base, *columns]), self.evaluator.losses([self._frequency, *columns])
        gains = [float((before - after).mean()) for before, after in zip(self._losses, losses, strict=True)]
        family = next((family for family in AROUND if {*feature_names([family])} <= {*names}), "")
        target = np.nan
        if family:
            target = self._diagnosis.measure(path, family).scores["target"].gain(self._one["target"])[0]
        score = feature_names([family])[0] if family else "SenseScore"
        values = self.evaluator.features(model, FeatureOptions(names=(score,)), path.parent.name)[:, 0]
        ranking = values + self._frequency if family else values
        return [*gains, target, self.evaluator.mean_rank(ranking)[0]]


def main() -> None:
    """Prints the table and the correlations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--held-out", required=True)
    parser.add_argument("--systems", help="names separated by commas (default: all of phrase pairs)")
    args = parser.parse_args()
    manifest = read_json(args.folder / "manifest.json")
    results = read_json(args.folder / "results.json")
    rows = [row for row in results["systems"] if row["grammar"] == "phrases"]
    if args.systems:
        rows = [row for row in rows if row["system"] in args.systems.split(",")]
    if len(rows) < 3:
        parser.error(f"{len(rows)} systems of phrase pairs are too few for a correlation")
    models = stage_folders(args.folder, manifest, "estimate")
    train = next(iter(stage_folders(args.folder, manifest, "derive").values())) / "derivations"
    lm = next(args.folder / "cache" / made["folder"] / LM for made in manifest["stages"] if LM in made["outputs"])
    measures = Measures(Derivations.load(train), Derivations.load(args.held_out), lm)
    lines, found = [["system", *MEASURES, "dev BLEU", "test BLEU"]], []
    for row in rows:
        system = row["system"]
        if system in models:
            found.append(measures.of(models[system] / "model.lscfg", features_of(manifest, system)))
        else:
            found.append(measures.without())
        values = [f"{value:.4f}" if np.isfinite(value) else "-" for value in found[-1]]
        lines.append([system, *values, *(f"{row[key]:.2f}" for key in ("dev_bleu", "test_bleu"))])
    print(*align_columns(lines), "", sep="\n")
    print(*correlations(MEASURES, found, [[row["dev_bleu"], row["test_bleu"]] for row in rows]), sep="\n")


if __name__ == "__main__":
    main()
