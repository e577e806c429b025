"""Hiero rules in little memory, and on demand."""

from __future__ import annotations

import argparse
from dataclasses import replace

from lscfg import log
from lscfg.errors import InputError, counted
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.hiero import HieroSettings
from lscfg.extract.hiero_parts import RULE_BYTES, Extraction, write_hiero
from lscfg.extract.on_demand import write_index


def write_parts(args: argparse.Namespace, inputs: RuleInputs, settings: HieroSettings) -> None:
    """Writes a Hiero grammar within the memory of ``--memory``.

    Raises:
        InputError: another option needs all rules at once.
    """
    if args.per_sentence or args.sizes or args.join or args.format != "cdec" or not args.output:
        raise InputError("--memory works only with -o in cdec's format; other outputs need all rules at once")
    if not args.memory > 0:
        raise InputError(f"--memory must be above 0, not {args.memory:g}")
    if settings.no_singletons:
        raise InputError("no_singletons needs all rules at once; leave out --memory")
    corpus = Extraction(str(inputs.source), str(inputs.target), [*map(str, inputs.alignments)], settings, inputs.wanted)
    most = settings.max_targets if args.most_targets is None else args.most_targets
    written = write_hiero(args.output, corpus, int(args.memory * 2**30 / RULE_BYTES), most, args.jobs)
    log.table(written.statistics)
    for reason, count in written.dropped.items():
        if count:
            log.info(f"dropped {counted(count, 'rule')}: {reason}")
    log.info(f"wrote {args.output}: {counted(written.rules, 'rule')}")


def write_rule_index(args: argparse.Namespace, inputs: RuleInputs, settings: HieroSettings) -> None:
    """Writes the index of a text.

    Raises:
        InputError: the rules are of another extractor, an option or a setting needs them, or as ``write_index``.
    """
    if args.extractor != "hiero":
        raise InputError(f"--format index works with hiero, not with {args.extractor}")
    if args.per_sentence or args.sizes or args.join or args.filter or args.memory is not None or not args.output:
        raise InputError("--format index works only with -o, and contains the whole text")
    if args.places < 0:
        raise InputError(f"--places must be 0 or more, not {args.places}")
    if args.most_targets is not None:
        settings = replace(settings, max_targets=args.most_targets)
    pairs = write_index(args.output, *inputs.parallel, inputs.alignments, settings, args.places)
    log.info(f"wrote {args.output}: {counted(pairs, 'sentence pair')}")
