"""``lscfg evaluate oracle``: the best BLEU that grammars can reach."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from lscfg import log
from lscfg.corpus.parallel import check_plain_sentences, read_scored_lines
from lscfg.errors import InputError, quote
from lscfg.formats.ini import NamedGrammar
from lscfg.io.json_files import write_json
from lscfg.io.read import read_lines
from lscfg.kernel.search import OracleOptions
from lscfg.options import add_jobs, add_output, add_reference, add_source
from lscfg.parser import CommandParser
from lscfg.settings import LARGEST
from lscfg.tuning.commands import check_system
from lscfg.tuning.doubts import doubts, reference_doubts
from lscfg.tuning.oracle import find_oracle

HELP = "find the best BLEU that grammars can reach"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    limits = OracleOptions()
    parser.add_argument(
        "grammars",
        type=NamedGrammar,
        metavar="NAME=GRAMMAR",
        nargs="+",
        help="grammar, cdec.ini (which also sets the parser), or folder of grammars of single sentences",
    )
    add_source(parser, "tokenised source sentences, one per line", required=True)
    add_reference(parser)
    parser.add_argument(
        "--pops",
        type=int,
        default=limits.pop_limit,
        metavar="N",
        help="candidates taken at each node of the forest (default: %(default)s)",
    )
    parser.add_argument(
        "--keep",
        type=int,
        default=limits.beam,
        metavar="N",
        help="partial translations kept of each node (default: %(default)s)",
    )
    add_output(parser, "file for all figures and translations, as JSON (default: none)")
    add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    """Prints a row for each grammar, as TSV.

    Raises:
        InputError: an argument is not NAME=GRAMMAR, a name occurs twice, files differ in length; or see
            ``lscfg.tuning.oracle.find_oracle``.
    """
    seen: set[str] = set()
    for item in args.grammars:
        if not item.name or item.endswith("="):
            raise InputError(f"expected NAME=GRAMMAR, found {quote(item)}")
        check_system(item.name)
        if item.name in seen:
            raise InputError(f"{quote(item.name)} names two grammars; give each a different name")
        seen.add(item.name)
    for name in ("pops", "keep"):
        if not 1 <= getattr(args, name) <= LARGEST:
            raise InputError(f"--{name} must be 1 to {LARGEST}, not {getattr(args, name)}")
    sentences = read_lines(args.source)
    check_plain_sentences(sentences, args.source)
    references = [read_scored_lines(path, len(sentences), args.source) for path in args.reference]
    if not sentences:
        raise InputError("the text contains no sentence", args.source)
    for doubt in reference_doubts(references, sentences):
        log.warning(f"{', '.join(args.reference)}: {doubt}")
    limits = OracleOptions(args.pops, args.keep)
    found = []
    head = "grammar rules BLEU sentence-BLEU 1-gram 2-gram 3-gram 4-gram length exact unparsed"
    print("\t".join(head.split()))
    for item in args.grammars:
        one = find_oracle(item.name, item.path, sentences, references, limits, args.jobs)
        found.append(asdict(one))
        row = [one.name, str(one.rules), f"{one.bleu:.2f}", f"{one.sentence_bleu:.2f}"]
        row += [*(f"{value:.1f}" for value in one.precisions), f"{one.length_ratio:.3f}"]
        print("\t".join([*row, str(one.exact), str(one.unparsed)]), flush=True)
        for doubt in doubts(one.translations, references, one.bleu, one.length_ratio, one.bleu):
            log.warning(f"{item.name}: {doubt}")
    if args.output:
        write_json(args.output, {"grammars": found, "pops": args.pops, "keep": args.keep})
