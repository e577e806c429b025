"""Correlations of gains on held-out derivations (lscfg inspect choices) with BLEU after tuning.

    python experiments/correlation.py ja-en --held-out dev.deriv [--systems MLE,SPECTRAL-8,EM-8-SMOOTHED]

The folder is the output of lscfg run. For each system with a model of minimal rules, the table lists the gains over one
state in nats, with context if the system has context features, and BLEU. Below, the program prints the correlation of
each gain with BLEU over these systems, by rank (Spearman) and by value (Pearson), with p-values. The held-out
derivations belong to other pairs, aligned together with the training pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import pearsonr, spearmanr

from lscfg.extract.derive import Derivations
from lscfg.io.columns import align_columns
from lscfg.io.json_files import read_json
from lscfg.kernel import CONTEXT_FEATURES, feature_names
from lscfg.study.diagnose import ONE_STATE, Diagnosis

MEASURES = ("rule", "target", "blind")


def stage_folders(folder: Path, manifest: dict[str, Any], stage: str) -> dict[str, Path]:
    """Of a stage the folder that each system, by name, has; by "" where all share it."""
    return {
        name: folder / "cache" / made["folder"]
        for made in manifest["stages"]
        if made["stage"] == stage
        for name in made["systems"] or [""]
    }


def features_of(manifest: dict[str, Any], system: str) -> tuple[str, ...]:
    """The system's features by name."""
    settings = manifest["settings"]
    return feature_names(settings["systems"][system]["features"] or settings["features"]["names"])


def with_context(manifest: dict[str, Any], system: str) -> bool:
    """True if the system has context features."""
    return not {*CONTEXT_FEATURES}.isdisjoint(features_of(manifest, system))


def correlations(
    measures: Sequence[str], rows: Sequence[Sequence[float]], bleu: Sequence[Sequence[float]]
) -> list[str]:
    """A table of Spearman's and Pearson's correlation of each measure with BLEU on dev and test, with p-values.

    Args:
        rows: the measures of each system, NaN where it has none; such a system is left out.
        bleu: of each system, dev and test.
    """
    lines = [["gain", "BLEU", "systems", "Spearman", "p", "Pearson", "p"]]
    for name, column in zip(measures, np.array(rows, float).T, strict=True):
        kept = np.isfinite(column)
        for key, values in zip(("dev", "test"), np.array(bleu, float).T, strict=True):
            tests = [test(column[kept], values[kept]) for test in (spearmanr, pearsonr)]
            found = [f"{x:.3f}" for test in tests for x in (test.statistic, test.pvalue)]
            lines.append([name, key, str(kept.sum()), *found])
    return align_columns(lines)


def main() -> None:
    """Prints the table and the correlations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--held-out", required=True)
    parser.add_argument(
        "--systems", help="names separated by commas (default: all with a model, on minimal rules alone)"
    )
    args = parser.parse_args()
    manifest = read_json(args.folder / "manifest.json")
    results = read_json(args.folder / "results.json")
    models = stage_folders(args.folder, manifest, "estimate")
    rows = [row for row in results["systems"] if row["system"] in models and row["grammar"] == "minimal"]
    if args.systems:
        wanted = args.systems.split(",")
        if missing := set(wanted) - {row["system"] for row in rows}:
            parser.error(f"--systems: {', '.join(sorted(missing))}: no system there with a model of minimal rules")
        rows = [row for row in rows if row["system"] in wanted]
    if len(rows) < 3:
        parser.error(f"{len(rows)} systems are too few for a correlation")
    train = stage_folders(args.folder, manifest, "derive")[""] / "derivations"
    diagnosis = Diagnosis(Derivations.load(train), Derivations.load(args.held_out))
    base = next(result for result in diagnosis.references() if result.name == ONE_STATE).scores
    gains: list[list[float]] = []
    lines = [["system", *MEASURES, "negative", "dev BLEU", "test BLEU"]]
    for row in rows:
        around = "context" if with_context(manifest, row["system"]) else ""
        found = diagnosis.measure(models[row["system"]] / "model.lscfg", around)
        gains.append([found.scores[name].gain(base[name])[0] for name in MEASURES])
        values = [f"{gain:+.3f}" for gain in gains[-1]] + [f"{100 * found.negative_mass:.1f} %"]
        lines.append([row["system"], *values, *(f"{row[key]:.2f}" for key in ("dev_bleu", "test_bleu"))])
    print(*align_columns(lines), "", sep="\n")
    print(*correlations(MEASURES, gains, [[row["dev_bleu"], row["test_bleu"]] for row in rows]), sep="\n")


if __name__ == "__main__":
    main()
