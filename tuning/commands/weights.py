"""``lscfg tune weights``: feature weights tuned for BLEU with an optimiser of lscfg or of a host."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from lscfg import log
from lscfg.api.opened import absolute_config, absolute_segment
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.corpus.parallel import read_scored_lines
from lscfg.decode.host import DECODER_HOSTS, KBestDecoder, decoder_identity
from lscfg.decode.names import FeatureNames
from lscfg.decode.request import SentenceGraph
from lscfg.errors import InputError
from lscfg.formats.ini import ChangedIni
from lscfg.formats.kbest import Hypothesis
from lscfg.formats.segments import grammars_of_lines
from lscfg.formats.weights import listed_names, missing_names, read_weights, write_weights
from lscfg.io.arguments import output_folder
from lscfg.io.read import read_lines
from lscfg.options import add_cluster, add_config, add_jobs, add_output, add_reference, add_source, add_weights
from lscfg.parallel.choose import on_cluster
from lscfg.parser import CommandParser
from lscfg.tuning.experiment.cache import locked
from lscfg.tuning.hosts import HOSTS, host_optimiser
from lscfg.tuning.objectives import OBJECTIVES
from lscfg.tuning.optimisers import OPTIMISERS
from lscfg.tuning.tune import GraphDecoder, TuneSettings, tune

HELP = "tune feature weights on a development set"

TABLE = "tuning"

OF_EXPERIMENTS = ("runs", "latent_starts", "weights")
"""Keys of the table that only ``lscfg run`` reads."""


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    add_config(parser)
    add_source(parser, "tokenised source side of the development set, one sentence per line", required=True)
    add_reference(parser)
    add_weights(parser, "start weights", required=True)
    add_output(
        parser,
        "folder for weights, history and k-best lists",
        type=output_folder("weights", "history.json", "seconds.json", "kbest.*.gz"),
        metavar="DIR",
        required=True,
    )
    parser.add_argument(
        "--decoder",
        choices=DECODER_HOSTS.names(),
        help="decoder to tune for (default: embedded, or cdec with cdec's optimisers)",
    )
    add_jobs(parser)
    add_cluster(parser)
    parser.add_argument("--resume", action="store_true", help="continue from the last finished iteration")
    learners = OPTIMISERS.settings()
    add_settings(parser, Table(TABLE, (TuneSettings,), learners), choices={"optimiser": (*learners, *HOSTS)})


def run(args: argparse.Namespace) -> None:
    """Tunes; writes ``weights`` (cdec's format), ``history.json`` and the k-best lists into the output folder.

    Raises:
        InputError: another tuning is at work in the folder; see ``lscfg.tuning.tune.tune``, too.
    """
    settings = _settings(args)
    sources = read_lines(args.source)
    if not sources:
        raise InputError("the development set is empty", args.source)
    references = [read_scored_lines(path, len(sources), args.source) for path in args.reference]
    start = read_weights(args.weights)
    learn = None
    if settings.optimiser in HOSTS:
        learn = host_optimiser(settings.optimiser, args.config, sources, references, settings.kbest)
    program = args.decoder or ("cdec" if settings.optimiser.startswith("cdec") else "embedded")
    host = DECODER_HOSTS[program]
    if args.cluster and not host.SHARES:
        raise InputError(f"--cluster is for the embedded decoder; leave it out, or leave out --decoder {program}")
    host.check_source(sources, args.source, args.config)
    identity = decoder_identity(program, args.config, sources)
    log.table(
        {
            "sentences": str(len(sources)),
            "optimiser": settings.optimiser,
            "decoder": f"{program} {identity[:12]}",
            "seed": str(settings.seed),
            "jobs": str(args.jobs),
        }
    )
    # a worker has another working directory
    ini = ChangedIni(os.path.abspath(args.config), absolute_config(args.config)) if args.cluster else args.config
    with (
        locked(Path(args.output)),
        on_cluster(args.cluster),
        host.open(ini, args.jobs, library=host.library()) as decoder,
    ):
        sends = args.cluster and grammars_of_lines(sources)
        used: KBestDecoder = _AbsoluteSegments(decoder, args.config) if sends else decoder
        names: FeatureNames | None = getattr(used, "names", None)
        missing = [] if names is None else missing_names(start, names.live)
        if missing:
            listed = listed_names(missing)
            log.warning(f"{args.weights}: features without a start weight, which begin at 0: {listed}")
        result = tune(used, sources, references, start, settings, args.output, args.resume, identity, learn=learn)
        path = Path(args.output) / "weights"
        write_weights(path, result.weights)
    best = result.history[result.best_iteration - 1]
    title = OBJECTIVES[settings.metric].title
    log.info(f"{result.stopped}; best {title} {best.score:.2f} in iteration {best.iteration}")
    log.info(f"wrote {path}")


class _AbsoluteSegments:
    """A decoder whose workers get absolute paths of the grammars that lines name.

    The tuning keeps the lines as they are, so that it can be resumed without a cluster.
    """

    def __init__(self, decoder: KBestDecoder, ini: str):
        self._decoder, self._ini = decoder, ini
        self.names: FeatureNames | None = getattr(decoder, "names", None)

    def decode(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool = False
    ) -> Sequence[Sequence[Hypothesis]]:
        """See ``KBestDecoder``."""
        return self._decoder.decode(self._absolute(sentences), weights, k, unique)

    def decode_graphs(
        self, sentences: Sequence[str], weights: Mapping[str, float], k: int, unique: bool, edges_per_word: int
    ) -> tuple[Sequence[Sequence[Hypothesis]], Sequence[SentenceGraph | None]]:
        """See ``GraphDecoder``.

        Raises:
            InputError: the decoder returns no hypergraphs.
        """
        if not isinstance(self._decoder, GraphDecoder):
            raise InputError("the decoder returns k-best lists only; tune with an optimiser of lists")
        return self._decoder.decode_graphs(self._absolute(sentences), weights, k, unique, edges_per_word)

    def _absolute(self, sentences: Sequence[str]) -> list[str]:
        return [absolute_segment(line, self._ini) for line in sentences]


def _settings(args: argparse.Namespace) -> TuneSettings:
    """The settings of the tuning with those of the optimiser."""
    given, learners = GivenSettings(args, TABLE), OPTIMISERS.settings()
    name = given.choose(TABLE, TuneSettings, "optimiser")
    if name in HOSTS:
        made: TuneSettings = given.build(TABLE, TuneSettings, others=learners, ignore=OF_EXPERIMENTS)
        return made
    OPTIMISERS[name]  # refuses an unknown optimiser
    made, learner = given.build(TABLE, TuneSettings, learners[name], others=learners, ignore=OF_EXPERIMENTS)
    return dataclasses.replace(made, learner=learner)
