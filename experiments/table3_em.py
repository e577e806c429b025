"""The EM rows of Table 3 of Saluja, Dyer & Cohen (2014): plain EM from several random starts.

    lscfg run experiments/table-3/experiment.toml --data DIR -o table-3
    python experiments/table3_em.py table-3 --data DIR -m 8 16 32 -o em.json

As in the paper: no smoothing, 50 iterations, the best of every fifth iteration on the development set, mean and
deviation over five starts. The weights of each m are those of one MERT on the model of the first start after 25
iterations. The folder is the output of lscfg run, whose system MLE gives grammar, language model and trees. A model is
deleted after it has translated the development set, since that of 32 states has gigabytes. The output file keeps
finished starts; a later call with the same arguments goes on after them.

    python experiments/table3_em.py table-3 --data DIR -m 1 --starts 1 --iterations 100 -o em.json
    python experiments/table3_em.py table-3 --data DIR -m 16 --raw -o em.json

--normalise arity lets the rules of each arity share a distribution, as in Figure 2b of the paper. --raw uses marginals
instead of their logarithms and keeps those of sentences whose sum over derivations is negative.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from correlation import stage_folders

from lscfg import log
from lscfg.decode.decoder import EmbeddedDecoder
from lscfg.estimate.em import NORMALISE, EMRun, EMSettings
from lscfg.extract.derive import Derivations
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.io.json_files import read_json, write_json
from lscfg.io.read import read_lines
from lscfg.kernel.expectation import Weights
from lscfg.tuning.bleu import corpus_bleu, corpus_stats
from lscfg.tuning.experiment.schema import START_WEIGHTS
from lscfg.tuning.experiment.stages.rules import DERIVATIONS
from lscfg.tuning.mert import MertSettings
from lscfg.tuning.tune import TuneSettings, tune

EVERY = 5
"""Iterations between two models that translate the development set."""
TUNED = 25
"""Iterations of the model whose weights are tuned."""
RAW = {"log": "false", "improper": "keep"}


class Table:
    """EM rows of an experiment that has run.

    Args:
        folder: output of ``lscfg run``.
        data: folder of the corpus.
        line: options of the line of latent features that differ from those of the experiment.
        sentences: sentences of the development set that choose iterations and tune weights; None: all.
    """

    def __init__(self, folder: Path, data: Path, line: Mapping[str, str], sentences: int | None = None):
        manifest = read_json(folder / "manifest.json")
        corpus = manifest["settings"]["corpus"]
        trees = next(iter(stage_folders(folder, manifest, "derive").values()))
        self.trees, self.derivations = trees.name, Derivations.load(trees / DERIVATIONS)
        self._config = read_ini(folder / "systems" / "MLE" / "cdec.ini")
        self._line = line
        names = [corpus[name] for name in ("dev_source", "test_source")]
        names += [corpus[name][0] for name in ("dev_reference", "test_reference")]
        # the manifest has paths of the place where lscfg run ran
        dev, test, dev_reference, test_reference = (read_lines(data / Path(name).name) for name in names)
        self._dev, self._test = [dev[:sentences], dev_reference[:sentences]], [test, test_reference]

    def config(self, model: Path) -> DecoderConfig:
        """The decoder of system MLE with another model."""
        assert self._config.latent is not None
        options = {**self._config.latent.options, **self._line, "model": str(model)}
        return dataclasses.replace(self._config, latent=dataclasses.replace(self._config.latent, options=options))

    def tuned(self, model: Path, seed: int) -> dict[str, float]:
        """Weights of MERT on the development set."""
        source, reference = self._dev
        with EmbeddedDecoder.from_config(self.config(model)) as decoder:
            start = {name: START_WEIGHTS.get(name, 0.0) for name in decoder.feature_names}
            settings = TuneSettings(5, optimiser="mert", seed=seed, learner=MertSettings(restarts=2))
            return tune(decoder, source, [reference], start, settings, log=lambda line: None).weights

    def bleu(self, model: Path, weights: Mapping[str, float], test: bool = False) -> float:
        """BLEU of the development set, or of the test set."""
        source, reference = self._test if test else self._dev
        with EmbeddedDecoder.from_config(self.config(model)) as decoder:
            lists = decoder.decode(source, weights, 1)
        output = [found[0].text if found else "" for found in lists]
        return corpus_bleu(corpus_stats(output, [reference]).sum(axis=0))

    def start(self, settings: EMSettings, weights: dict[str, float] | None, threads: int) -> dict[str, Any]:
        """One start: development BLEU of every fifth iteration, and test BLEU of the best one.

        Args:
            weights: None to tune weights first, on the model after 25 iterations, or the last fifth one of fewer.
        """
        tuned = min(TUNED, settings.iterations // EVERY * EVERY)
        run = EMRun(self.derivations, settings, settings.init, threads)
        with tempfile.TemporaryDirectory() as folder:
            models: dict[int, Path] = {}

            def keep(iteration: int, found: Weights) -> None:
                if iteration and iteration % EVERY == 0:
                    models[iteration] = Path(folder) / f"{iteration}.lscfg"
                    run.estimate_of(found, iteration).save(models[iteration])
                    if weights is not None and iteration > EVERY:
                        score(iteration - EVERY)

            dev: dict[int, float] = {}
            best: list[Path] = []

            def score(iteration: int) -> None:
                """Scores a model and deletes it unless it is the best so far."""
                assert weights is not None
                model = models.pop(iteration)
                dev[iteration] = self.bleu(model, weights)
                worse = dev[iteration] < max(dev.values()) or max(dev, key=dev.__getitem__) != iteration
                if worse:
                    model.unlink()
                else:
                    for old in best:
                        old.unlink()
                    best[:] = [model]

            run.run(keep)
            if weights is None:
                weights = self.tuned(models[tuned], settings.seed)
            for iteration in sorted(models):
                score(iteration)
            chosen = max(dev, key=dev.__getitem__)
            test = self.bleu(best[0], weights, test=True)
        log.info(f"m = {settings.m}, start {settings.seed}: iteration {chosen}, dev {dev[chosen]:.2f}, test {test:.2f}")
        return {
            "m": settings.m,
            "start": settings.seed,
            "iterations": settings.iterations,
            "dev": {str(iteration): round(score, 4) for iteration, score in sorted(dev.items())},
            "chosen": chosen,
            "test": round(test, 4),
            "weights": weights,
        }


def rows(starts: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """A row for each name, m and iterations: starts, chosen iterations, mean and deviation of dev and test BLEU."""
    found: dict[tuple[str, int, int], list[Mapping[str, Any]]] = {}
    for start in starts:
        found.setdefault((start["system"], start["m"], start["iterations"]), []).append(start)
    table = []
    for (name, _, iterations), group in found.items():
        dev = np.array([start["dev"][str(start["chosen"])] for start in group])
        test = np.array([start["test"] for start in group])
        figures = [float(figure) for one in (dev, test) for figure in (one.mean(), one.std(ddof=min(1, len(one) - 1)))]
        chosen = ", ".join(str(start["chosen"]) for start in group)
        table.append([name, len(group), iterations, chosen, *(round(figure, 2) for figure in figures)])
    return table


def main() -> None:
    """Runs the starts that are not finished and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="output of lscfg run")
    parser.add_argument("--data", type=Path, metavar="DIR", required=True)
    parser.add_argument("-m", type=int, nargs="+", default=[8, 16, 32], metavar="M", help="hidden states")
    parser.add_argument("--starts", type=int, default=5, metavar="N")
    parser.add_argument("--iterations", type=int, default=50, metavar="N")
    parser.add_argument("--sentences", type=int, metavar="N", help="use only these first ones of the development set")
    parser.add_argument("--normalise", choices=NORMALISE, default=NORMALISE[0])
    parser.add_argument("--raw", action="store_true", help="marginals instead of logarithms")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="threads of EM")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", required=True, help="JSON file of finished starts")
    args = parser.parse_args()
    if args.iterations < EVERY:
        parser.error(f"--iterations {args.iterations}: every {EVERY}th is scored; give {EVERY} or more")
    finished = read_json(args.output)["starts"] if args.output.exists() else []
    table = Table(args.folder, args.data, RAW if args.raw else {}, args.sentences)
    if any(one.get("trees", table.trees) != table.trees for one in finished):
        parser.error(f"{args.output}: contains starts on other trees; choose another file")
    suffix = ("-ARITY" if args.normalise == "arity" else "") + ("-RAW" if args.raw else "")
    for m in args.m:
        system = f"EM-{m}{suffix}"
        weights: dict[str, float] | None = None
        for seed in range(1, args.starts + 1):
            key = {"system": system, "start": seed, "iterations": args.iterations, "sentences": args.sentences}
            found = next((one for one in finished if key.items() <= one.items()), None)
            if found is None:
                settings = EMSettings(
                    m, args.iterations, seed=seed, shrink_source=0.0, shrink_arity=0.0, normalise=args.normalise
                )
                found = key | {"trees": table.trees} | table.start(settings, weights, args.jobs)
                finished.append(found)
                write_json(args.output, {"starts": finished})
            weights = found["weights"]
    for row in rows([one for one in finished if one["sentences"] == args.sentences]):
        print("\t".join(map(str, row)))


if __name__ == "__main__":
    main()
