"""``lscfg derive``: minimal derivation trees of a word-aligned corpus."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.kernel import DeriveOptions, TreeOptions
    from lscfg.options import add_cluster, add_jobs, add_output, add_text
    from lscfg.settings import add_options, settings_of

    add_text(parser, "word alignments i-j, source position first; each file gives every pair a tree")
    add_output(parser, "derivation file to write", required=True)
    parser.add_argument(
        "--forests", action="store_true", help="write all minimal derivations of each pair beside its tree"
    )
    add_options(parser.add_argument_group("trees"), TreeOptions)
    pairs = {item.name for item in settings_of(TreeOptions)}
    add_options(parser.add_argument_group("sentence pairs"), DeriveOptions, leave=pairs)
    add_jobs(parser)
    add_cluster(parser)


def run(args: argparse.Namespace) -> None:
    """Derives, writes the derivation file and logs its sizes.

    Raises:
        InputError: see ``lscfg.kernel.DeriveOptions`` and ``lscfg.extract.derive.derive_files``.
    """
    if args.cluster:
        from lscfg.parallel.jobs import run_there

        return run_there(run, args)

    from lscfg import log
    from lscfg.extract.derive import derive_files
    from lscfg.kernel import DeriveOptions
    from lscfg.settings import from_options

    options = from_options(DeriveOptions, args)
    sizes = derive_files(args.source, args.target, args.alignment, args.output, options, args.jobs, args.forests)
    log.table(sizes)
    log.info(f"wrote {args.output}")
