"""The commands of lscfg: one row each. The help and the choice of a command read this table and load no command.

A command of another package is an entry point of the group ``lscfg.commands`` that names its module, which defines
``HELP`` and ``EXAMPLE``, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

ENTRY_POINTS = "lscfg.commands"

OTHERS = "further commands"
"""Group of the commands of other packages."""


class Command(NamedTuple):
    """A command: ``module`` defines ``add_arguments(parser)`` and ``run(args)``; ``help`` and ``example`` are lines."""

    name: str
    group: str
    module: str
    help: str
    example: str

    def load(self) -> ModuleType:
        """The module, imported at the first call."""
        return import_module(self.module)


JOBS, DATA, ESTIMATION, DECODING = "whole jobs", "data", "estimation", "decoding"
TUNING, STUDY = "tuning and evaluation", "study"

COMMANDS = (
    Command(
        "quick",
        JOBS,
        "lscfg.tuning.commands.quick",
        "make a translator from a file of sentence pairs",
        "lscfg quick words.tsv",
    ),
    Command(
        "run",
        JOBS,
        "lscfg.tuning.commands.run",
        "run an experiment, from parallel text to BLEU and a report",
        "lscfg run ja-en.toml -o ja-en",
    ),
    Command(
        "demo",
        JOBS,
        "lscfg.tuning.commands.demo",
        "run an experiment on generated Japanese and English",
        "lscfg demo -o demo",
    ),
    Command(
        "init",
        JOBS,
        "lscfg.tuning.commands.init",
        "write an experiment file, a cdec.ini and start weights",
        "lscfg init ja-en -s train.ja -t train.en",
    ),
    Command(
        "prepare",
        DATA,
        "lscfg.commands.prepare",
        "turn raw parallel text into a corpus, and back",
        "lscfg prepare corpus raw.de raw.en --dev 1000 --test 1000 -o de-en.words",
    ),
    Command(
        "align",
        DATA,
        "lscfg.commands.align",
        "align the words of a parallel corpus",
        "lscfg align train.ja train.en -o train.align",
    ),
    Command(
        "derive",
        DATA,
        "lscfg.commands.derive",
        "build minimal derivation trees of a word-aligned corpus",
        "lscfg derive train.ja train.en train.align -o train.deriv",
    ),
    Command(
        "grammar",
        DATA,
        "lscfg.commands.grammar",
        "extract, sample or biparse the rules of a grammar",
        "lscfg grammar minimal train.deriv -o min.grammar.gz",
    ),
    Command(
        "lm",
        DATA,
        "lscfg.commands.lm",
        "estimate an n-gram language model",
        "lscfg lm train.en -o lm.arpa",
    ),
    Command(
        "propagate",
        DATA,
        "lscfg.commands.propagate",
        "find translations of unseen phrases in monolingual text",
        "lscfg propagate phrases train.ja train.en train.align --mono-source mono.ja --mono-target mono.en -o phrases",
    ),
    Command(
        "estimate",
        ESTIMATION,
        "lscfg.commands.estimate",
        "estimate the parameters of a latent grammar",
        "lscfg estimate clusters train.deriv -o states.lscfg",
    ),
    Command(
        "context",
        ESTIMATION,
        "lscfg.commands.context",
        "add a context model to a model",
        "lscfg context states.lscfg train.ja --derivations train.deriv -o clusters16.lscfg",
    ),
    Command(
        "compress",
        ESTIMATION,
        "lscfg.commands.compress",
        "shrink the tensors of a model: low rank or sparse",
        "lscfg compress model.lscfg --cp 8 -o small.lscfg",
    ),
    Command(
        "decode",
        DECODING,
        "lscfg.commands.decode",
        "translate text with the built-in decoder",
        "lscfg decode -c cdec.ini -w weights test.ja > test.out",
    ),
    Command(
        "pack",
        DECODING,
        "lscfg.commands.pack",
        "pack a system into one folder that can be moved",
        "lscfg pack ja-en/systems/LATENT -o bundle",
    ),
    Command(
        "serve",
        DECODING,
        "lscfg.commands.serve",
        "translate requests over HTTP, with JSON",
        "lscfg serve bundle --port 8080",
    ),
    Command(
        "cdec",
        DECODING,
        "lscfg.cdec_bridge.commands.cdec",
        "use latent features in cdec",
        "lscfg cdec build --cdec-root ~/cdec -o liblscfg_cdec.so",
    ),
    Command(
        "moses",
        DECODING,
        "lscfg.moses_bridge.commands.moses",
        "use latent features in Moses",
        "lscfg moses build --moses-root ~/mosesdecoder -o moses_lscfg",
    ),
    Command(
        "tune",
        TUNING,
        "lscfg.tuning.commands.tune",
        "tune feature weights, or learn weights of rules",
        "lscfg tune weights -c cdec.ini -w start.weights -s dev.ja --reference dev.en -o tuned",
    ),
    Command(
        "rescore",
        TUNING,
        "lscfg.tuning.commands.rescore",
        "rerank k-best lists by new scores or Bayes risk",
        "lscfg rescore test.kbest --scores Neural=test.scores -w rescoring.weights -o test.out",
    ),
    Command(
        "evaluate",
        TUNING,
        "lscfg.tuning.commands.evaluate",
        "score translations, or find the best reachable BLEU",
        "lscfg evaluate scores --reference test.en --baseline MIN MIN=min.out LATENT=latent.out",
    ),
    Command(
        "inspect",
        STUDY,
        "lscfg.commands.inspect",
        "show models, derivations, grammars and single sentences",
        "lscfg inspect sentence clusters16.lscfg 'ein mann schläft .'",
    ),
)
"""The commands of this package, in the order of the help."""

OLD_COMMANDS = {
    "induce sample": "lscfg grammar sampled",
    "induce biparse": "lscfg grammar biparsed",
    "induce lexicon": "lscfg grammar biparsed ... --write lexicon=FILE",
    "induce phrases": "lscfg propagate phrases",
    "induce graph": "lscfg propagate graph",
    "induce propagate": "lscfg propagate rules",
    "induce states": "lscfg propagate states",
    "induce": "lscfg propagate, lscfg grammar sampled and lscfg grammar biparsed",
    "margin": "lscfg tune margin",
    "oracle": "lscfg evaluate oracle",
    "explain": "lscfg inspect sentence",
    "heatmap": "lscfg inspect sentence --format svg",
    "marginals": "lscfg inspect marginals",
    "diagnose": "lscfg inspect choices",
    "mrr": "lscfg inspect choices --measure translations",
    "simulate": "tests/support/simulate.py, in a checkout",
    "cdec fold": "lscfg cdec pack",
}
"""Names of the last release, and the new ones."""

OLD_FORMS = {
    "tune": "lscfg tune is now lscfg tune weights",
    "evaluate": "lscfg evaluate is now lscfg evaluate scores",
    "inspect": "lscfg inspect FILE is now lscfg inspect model, derivations or grammar",
    "grammar": "lscfg grammar FILE is now lscfg grammar minimal; --hiero and --phrases became names like minimal",
}
"""Commands whose first argument is new."""

OLD_OPTIONS = {
    "--threads": "--jobs",
    "--k-best": "--kbest",
    "--least": "--min-marginal",
    "--json": "--output",
    "--with": "--optimiser",
    "--rule-source": "--rules",
    "--beside": "--compare",
    "--context": "the command lscfg context",
    "--hiero-context": "lscfg context --rules hiero",
    "--context-model": "lscfg context --model",
    "--sense": "lscfg context --model",
    "--tokens": "lscfg context --rules",
    "--views-text": "lscfg context --more",
    "--hiero": "lscfg grammar hiero",
    "--phrases": "lscfg grammar phrases",
    "--rule-types": "lscfg inspect grammar",
    "--trees": "--tree all",
    "--best-links": "--write best-links=FILE",
    "--likely-links": "--write likely-links=FILE",
    "--boundary-model": "--write boundary=FILE",
    "--trace": "--write trace=FILE",
    "--derivations": "--write derivations=FILE",
    "--statistics": "--write statistics=FILE",
    "--examples": "--write examples=FILE",
    "--features": "--set names=LIST",
    "--raw": "--set log=false",
    "--protocol": "--measure translations, without --held-out for the thesis's protocol",
    "--leave-out": "--set leave_out=SHARE",
    "--hidden-states": "--set states=N",
    "--held-out-share": "--set held_out=SHARE",
    "--kind": "--rules",
    "--dev-source": "--dev-set SOURCE REFERENCE",
    "--dev-reference": "--dev-set SOURCE REFERENCE",
    "--test-source": "--test-set SOURCE REFERENCE",
    "--test-reference": "--test-set SOURCE REFERENCE",
    "--list-size": "--set r=N",
    "--target-neighbours": "--set k=N",
}
"""Options of the last release, and the new ones."""


def every_command() -> tuple[Command, ...]:
    """The commands of this package and of all others that are installed; modules of the others are loaded."""
    if not _has_others():
        return COMMANDS
    from importlib.metadata import entry_points  # takes longer than the help of all commands

    own = {command.name for command in COMMANDS}
    found = [point for point in entry_points(group=ENTRY_POINTS) if point.name not in own]
    others = ((point, point.load()) for point in sorted(found, key=lambda point: point.name))
    return (*COMMANDS, *(Command(point.name, OTHERS, point.module, it.HELP, it.EXAMPLE) for point, it in others))


def by_group(commands: Collection[Command]) -> dict[str, list[Command]]:
    """The commands by the title of their group."""
    return {group: [one for one in commands if one.group == group] for group in {one.group: None for one in commands}}


def _has_others() -> bool:
    """True if another package adds commands: searches each list of entry points without parsing any."""
    header = f"[{ENTRY_POINTS}]".encode()
    return any(header in content for folder in sys.path for content in _entry_points_below(folder or os.curdir))


def _entry_points_below(folder: str) -> Iterator[bytes]:
    try:
        names = [entry.path for entry in os.scandir(folder) if entry.name.endswith((".dist-info", ".egg-info"))]
    except OSError:  # an archive, or nothing
        return
    for name in names:
        try:
            with open(os.path.join(name, "entry_points.txt"), "rb") as file:
                yield file.read()
        except OSError:
            continue
