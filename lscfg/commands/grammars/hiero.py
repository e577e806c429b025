"""Hiero rules in little memory, and on demand."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial

from lscfg import log
from lscfg.commands.grammars.extraction import NO_LABELS, is_given
from lscfg.corpus.parallel import check_plain_sentences
from lscfg.errors import InputError, counted
from lscfg.extract.extractor import RuleInputs
from lscfg.extract.hiero_parts import RULE_BYTES, Extraction, write_hiero
from lscfg.extract.hiero_settings import HieroSettings
from lscfg.extract.on_demand import MOST_PLACES, RuleIndex, write_index
from lscfg.formats.segments import check_segments, grammar_path, write_segments
from lscfg.io.read import read_lines
from lscfg.io.write import write_blocks
from lscfg.log import progress
from lscfg.settings import LARGEST

ALL = 1_000_000_000
"""More target sides than any source side has."""


def write_parts(args: argparse.Namespace, inputs: RuleInputs, settings: HieroSettings) -> None:
    """Writes a Hiero grammar within the memory of ``--memory``.

    Raises:
        InputError: another option needs all rules at once, or rules with labels.
    """
    if args.per_sentence or args.sizes or args.join or args.format != "cdec" or not args.output:
        raise InputError("--memory works only with -o in cdec's format; other outputs need all rules at once")
    if args.oov:
        raise InputError(NO_LABELS)
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
        InputError: the extractor is another one, an option or a setting needs all rules, the output ends in .gz, or as
            ``write_index``.
    """
    if args.extractor != "hiero":
        raise InputError(f"--format index works with hiero, not with {args.extractor}")
    if args.per_sentence or args.sizes or args.join or args.filter or args.memory is not None or not args.output:
        raise InputError("--format index needs -o, and no --per-sentence, --sizes, --join, --filter or --memory")
    if args.output.endswith(".gz"):
        raise InputError("decoders map an index, which cannot be compressed; leave out .gz", args.output)
    places = MOST_PLACES if args.places is None else args.places
    if not 0 <= places <= LARGEST:
        raise InputError(f"--places must be 0 to {LARGEST:,}, not {places}")
    if args.most_targets is not None:  # 0: all
        settings = replace(settings, max_targets=args.most_targets or ALL)
    pairs = write_index(args.output, *inputs.parallel, inputs.alignments, settings, places)
    log.info(f"wrote {args.output}: {counted(pairs, 'sentence pair')}")


def write_demanded(args: argparse.Namespace) -> None:
    """Writes a grammar of each sentence of ``--filter`` from an index.

    Raises:
        InputError: another option needs all rules, or a file cannot be read or written.
    """
    others = (args.output, args.sizes, args.join, args.set, args.settings, args.most_targets, args.places)
    more = (args.memory, args.oov, args.format != "cdec")
    if not args.per_sentence or not args.filter or any(map(is_given, (*others, *more))):
        raise InputError("an index gives only grammars of sentences; use --per-sentence DIR --filter TEXT alone")
    index, sentences = RuleIndex(args.files[0]), read_lines(args.filter)
    check_plain_sentences(sentences, args.filter)
    check_segments(args.per_sentence, sentences)
    for number, sentence in enumerate(progress(sentences, "write", len(sentences))):
        write_blocks(grammar_path(args.per_sentence, number), [partial(bytes, index.text(sentence).encode())])
    write_segments(args.per_sentence, sentences)
    log.info(f"wrote {counted(len(sentences), 'grammar')} to {args.per_sentence}")
