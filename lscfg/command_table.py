"""The commands of lscfg: one row each. The help and the choice of a command read this table and load no command.

A command of another package is an entry point of the group ``lscfg.commands`` that names its module, which defines
``HELP`` and ``EXAMPLE``, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from importlib import import_module
from importlib.metadata import entry_points
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
        "run an experiment on Japanese and English that lscfg draws",
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
        "make a corpus of raw parallel text, and text of translations",
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
        "extract a minimal grammar, phrases, a Hiero grammar, or both",
        "lscfg grammar train.deriv -o min.grammar.gz",
    ),
    Command(
        "lm",
        DATA,
        "lscfg.commands.lm",
        "estimate an n-gram language model",
        "lscfg lm train.en -o lm.arpa",
    ),
    Command(
        "estimate",
        ESTIMATION,
        "lscfg.commands.estimate",
        "estimate the parameters of a latent grammar",
        "lscfg estimate clusters train.deriv --context train.ja -o clusters16.lscfg",
    ),
    Command(
        "induce",
        ESTIMATION,
        "lscfg.commands.induce",
        "find rules by sampling, biparsing or in monolingual text",
        "lscfg induce phrases train.ja train.en train.align --mono-source mono.ja --mono-target mono.en -o phrases",
    ),
    Command(
        "compress",
        ESTIMATION,
        "lscfg.commands.compress",
        "reduce the tensors of a model to low rank",
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
        "put a system into one folder that can be moved",
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
        "latent features in cdec: build, check, fold, decode",
        "lscfg cdec build --cdec-root ~/cdec -o liblscfg_cdec.so",
    ),
    Command(
        "moses",
        DECODING,
        "lscfg.moses_bridge.commands.moses",
        "latent features in Moses: build, check, convert",
        "lscfg moses build --moses-root ~/mosesdecoder -o moses_lscfg",
    ),
    Command(
        "tune",
        TUNING,
        "lscfg.tuning.commands.tune",
        "tune feature weights for BLEU on a development set",
        "lscfg tune -c cdec.ini -w start.weights -s dev.ja --reference dev.en -o tuned",
    ),
    Command(
        "margin",
        TUNING,
        "lscfg.tuning.commands.margin",
        "learn weights of single rules and words on the training text",
        "lscfg margin train.ja train.en union.align --rule-source hiero -c cdec.ini -w tuned/weights -o margin",
    ),
    Command(
        "rescore",
        TUNING,
        "lscfg.tuning.commands.rescore",
        "choose anew from k-best lists: by new scores, or by least risk",
        "lscfg rescore test.kbest --scores Neural=test.scores -w rescoring.weights -o test.out",
    ),
    Command(
        "evaluate",
        TUNING,
        "lscfg.tuning.commands.evaluate",
        "score translations and test their differences",
        "lscfg evaluate --reference test.en --baseline MIN MIN=min.out LATENT=latent.out",
    ),
    Command(
        "oracle",
        TUNING,
        "lscfg.tuning.commands.oracle",
        "find the best BLEU that grammars can reach",
        "lscfg oracle -s test.ja --reference test.en HIERO=hiero.grammar.gz MIN=min/cdec.ini",
    ),
    Command(
        "explain",
        STUDY,
        "lscfg.commands.explain",
        "explain a sentence: best derivation, targets, gains, states",
        "lscfg explain clusters16.lscfg 'ein mann schläft .'",
    ),
    Command(
        "inspect",
        STUDY,
        "lscfg.commands.inspect",
        "show the content of a model, derivations or grammar",
        "lscfg inspect spectral8.lscfg --rules 5",
    ),
    Command(
        "diagnose",
        STUDY,
        "lscfg.commands.diagnose",
        "measure what models know of held-out derivations",
        "lscfg diagnose spectral8.lscfg clusters16.lscfg --train train.deriv --held-out dev.deriv",
    ),
    Command(
        "mrr",
        STUDY,
        "lscfg.commands.mrr",
        "measure how well models tell translations by context",
        "lscfg mrr model.lscfg --train train.deriv --held-out dev.deriv --lm lm.arpa",
    ),
    Command(
        "marginals",
        STUDY,
        "lscfg.commands.marginals",
        "write the marginals and features of sentences as JSON",
        "lscfg marginals spectral8.lscfg dev.ja > dev.marginals.jsonl",
    ),
    Command(
        "heatmap",
        STUDY,
        "lscfg.commands.heatmap",
        "draw the span marginals of sentences, models side by side",
        "lscfg heatmap MLE=mle.lscfg SPECTRAL=spectral8.lscfg --text dev.ja --sentences 1,7-9 -o charts",
    ),
    Command(
        "simulate",
        STUDY,
        "lscfg.commands.simulate",
        "sample a corpus from a model with known parameters",
        "lscfg simulate -m 4 --pairs 10000 -o simulated",
    ),
)
"""The commands of this package, in the order of the help."""


def every_command() -> tuple[Command, ...]:
    """The commands of this package and of all others that are installed; modules of the others are loaded."""
    own = {command.name for command in COMMANDS}
    found = [point for point in entry_points(group=ENTRY_POINTS) if point.name not in own] if _has_others() else []
    others = ((point, point.load()) for point in sorted(found, key=lambda point: point.name))
    return (*COMMANDS, *(Command(point.name, OTHERS, point.module, it.HELP, it.EXAMPLE) for point, it in others))


def by_group(commands: Collection[Command]) -> dict[str, list[Command]]:
    """The commands by the title of their group."""
    return {group: [one for one in commands if one.group == group] for group in {one.group: None for one in commands}}


def _has_others() -> bool:
    """Whether another package adds commands: one look at each list of entry points, without parsing any."""
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
