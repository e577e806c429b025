"""``lscfg tune``: feature weights tuned for BLEU with MIRA, MERT or PRO, or with a host's own optimiser."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lscfg.settings import Declared


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.decode.host import DECODER_HOSTS
    from lscfg.io.arguments import output_folder
    from lscfg.options import add_cluster, add_config, add_jobs, add_output, add_reference, add_source, add_weights
    from lscfg.settings import add_options
    from lscfg.tuning.hosts import HOSTS
    from lscfg.tuning.optimisers import OPTIMISERS
    from lscfg.tuning.tune import TuneSettings

    add_config(parser)
    add_source(parser, "tokenized source side of the development set, one sentence a line", required=True)
    add_reference(parser)
    add_weights(parser, "start weights", required=True)
    add_output(
        parser,
        "folder for weights, history and k-best lists",
        type=output_folder("weights", "history.json", "seconds.json", "kbest.*.gz"),
        metavar="DIR",
        required=True,
    )
    which = parser.add_mutually_exclusive_group()
    helps = (f"{name}: {OPTIMISERS[name].HELP}" for name in OPTIMISERS.names())
    which.add_argument(
        "--optimiser",
        default=TuneSettings.optimiser,
        choices=OPTIMISERS.names(),
        help=f"{'; '.join(helps)} (default: %(default)s)",
    )
    which.add_argument(
        "--with",
        dest="host",
        choices=HOSTS,
        help="optimiser of cdec or Moses, found by CDEC_ROOT, MOSES_ROOT or PATH",
    )
    parser.add_argument(
        "--decoder",
        choices=DECODER_HOSTS.names(),
        help="decoder to tune for (default: embedded, or cdec with cdec's optimisers)",
    )
    add_options(parser, TuneSettings, leave=("optimiser",))
    add_jobs(parser)
    add_cluster(parser)
    parser.add_argument("--resume", action="store_true", help="continue from what is already there")
    for name in OPTIMISERS.names():
        settings = OPTIMISERS[name].Settings
        add_options(parser.add_argument_group(f"optimiser {name}"), settings, prefix=name)


def run(args: argparse.Namespace) -> None:
    """Tunes; writes ``weights`` (cdec's format), ``history.json`` and the k-best lists into the output folder.

    Raises:
        InputError: see ``lscfg.tuning.tune.tune``.
    """
    import os
    from pathlib import Path

    from lscfg import log
    from lscfg.corpus.parallel import check_length, check_plain, check_sentences
    from lscfg.decode.host import DECODER_HOSTS, decoder_identity
    from lscfg.errors import InputError
    from lscfg.formats.weights import read_weights, write_weights
    from lscfg.io.text import make_folder, read_lines
    from lscfg.parallel.choose import on_cluster
    from lscfg.settings import from_options
    from lscfg.tuning.tune import TuneSettings, tune

    optimiser = args.host or args.optimiser
    settings = from_options(TuneSettings, args, optimiser=optimiser, learner=_learner(args))
    sources = read_lines(args.source)
    references = [read_lines(path) for path in args.reference]
    if not sources:
        raise InputError("the development set is empty", args.source)
    for path, lines in zip(args.reference, references, strict=True):
        check_length(len(lines), path, len(sources), args.source)
    start = read_weights(args.weights)
    learn = None
    if args.host:
        from lscfg.tuning.hosts import host_optimiser

        learn = host_optimiser(args.host, args.config, sources, references, settings.kbest)
    program = args.decoder or ("cdec" if (args.host or "").startswith("cdec") else "embedded")
    host = DECODER_HOSTS[program]
    if args.cluster and not host.SHARES:
        raise InputError(f"--cluster is for the embedded decoder; leave it out, or leave out --decoder {program}")
    if not host.SEGMENTS:
        check_plain(sources, args.source)
        check_sentences(sources, args.source, allow_empty=True)
    make_folder(args.output)
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
    ini = os.path.abspath(args.config) if args.cluster else args.config  # a worker has another working directory
    with on_cluster(args.cluster), host.open(ini, args.jobs, library=host.library()) as decoder:
        result = tune(decoder, sources, references, start, settings, args.output, args.resume, identity, learn=learn)
    path = Path(args.output) / "weights"
    write_weights(path, result.weights)
    best = result.history[result.best_iteration - 1]
    log.info(f"{result.stopped}; best BLEU {best.dev_bleu:.2f} in iteration {best.iteration}")
    log.info(f"wrote {path}")


def _learner(args: argparse.Namespace) -> Declared | None:
    """The settings of the optimiser; options of another one are refused."""
    from lscfg.errors import InputError
    from lscfg.settings import from_options, given_options, option_names
    from lscfg.tuning.optimisers import OPTIMISERS

    for name in OPTIMISERS.names():
        settings = OPTIMISERS[name].Settings
        given = option_names(settings, given_options(settings, args, name), name)
        if given and (args.host or args.optimiser) != name:
            raise InputError(f"{', '.join(given)}: for --optimiser {name} only")
    if args.host:
        return None
    learner: Declared = from_options(OPTIMISERS[args.optimiser].Settings, args, args.optimiser)
    return learner
