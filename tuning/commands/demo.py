"""``lscfg demo``: the main job on a corpus that lscfg makes itself."""

from __future__ import annotations

import argparse
from pathlib import Path

from lscfg import log
from lscfg.demo import generate, write
from lscfg.io.arguments import output_folder
from lscfg.io.read import read_lines
from lscfg.io.write import atomic_write, check_replaceable
from lscfg.options import add_jobs, add_output, add_seed
from lscfg.tuning.experiment.cache import locked
from lscfg.tuning.experiment.run import run_experiment

EXPERIMENT = """\
# The experiment of lscfg demo: every setting that is not here has its default.
[corpus]
source = "corpus/train.ja"
target = "corpus/train.en"
dev_source = "corpus/dev.ja"
dev_reference = "corpus/dev.en"
test_source = "corpus/test.ja"
test_reference = "corpus/test.en"

[language_model]
estimator = "lscfg"

[tuning]
iterations = 6
runs = 3

[evaluation]
against = ["HIERO"]

[systems.HIERO]
grammar = "hiero"

[systems.MIN]

[systems.LATENT]
estimator = "clusters"

[systems."HIERO+LATENT"]
estimator = "clusters"
grammar = "both"
start = "LATENT"
"""

SHOWN = ("HIERO", "MIN", "LATENT")
"""Systems whose translations are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    add_output(parser, "folder to write (default: %(default)s)", type=output_folder(), metavar="DIR", default="demo")
    add_seed(parser, 1, "the corpus")
    add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    """Writes corpus and experiment file, runs the experiment, prints the table and some translations.

    Raises:
        LscfgError: the folder cannot be written, or a stage failed.
    """
    folder = Path(args.output)
    corpus = generate(args.seed)
    with locked(folder):
        write(corpus, folder / "corpus")
        log.info(f"{len(corpus.train)} sentence pairs, {len(corpus.dev)} for tuning, {len(corpus.test)} for the test")
        check_replaceable(folder / "demo.toml", EXPERIMENT)
        with atomic_write(folder / "demo.toml") as file:
            file.write(EXPERIMENT)
        summary = run_experiment(folder / "demo.toml", folder, args.jobs, held=True)
    outputs = {name: read_lines(folder / "systems" / name / "test.output") for name in SHOWN}
    print("some translations:")
    different = [k for k in range(len(corpus.test)) if outputs["MIN"][k] != outputs["LATENT"][k]]
    for k in different[:5]:
        print(f"  source     {corpus.test[k][0]}")
        print(f"  reference  {corpus.test[k][1]}")
        for name, lines in outputs.items():
            print(f"  {name:<9}  {lines[k]}")
        print()
    print(summary)
