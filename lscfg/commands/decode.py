"""``lscfg decode``: translation with the embedded decoder."""

from __future__ import annotations

import argparse

HELP = "translate with the embedded decoder, configured like cdec"
EXAMPLE = "lscfg decode -c cdec.ini -w weights test.ja > test.out"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.formats.ini import IniFile
    from lscfg.io.arguments import InputFile, OutputFile

    parser.add_argument("text", type=InputFile, metavar="TEXT", help="tokenized source sentences, one a line")
    parser.add_argument(
        "-c", "--config", type=IniFile, metavar="INI", required=True, help="decoder configuration (cdec.ini)"
    )
    parser.add_argument(
        "-w", "--weights", type=InputFile, metavar="WEIGHTS", help="weights file (default: the one that the ini names)"
    )
    parser.add_argument(
        "-o", "--output", type=OutputFile, metavar="FILE", help="write there instead of standard output (.gz allowed)"
    )
    parser.add_argument(
        "-k", "--k-best", type=int, metavar="K", help="k-best lists in cdec's format instead of translations"
    )
    parser.add_argument("-r", "--unique", action="store_true", help="lists of different translations")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Translates; as many lines as the text has, or as many lists.

    Raises:
        InputError: a file cannot be read or is malformed, or there are no weights.
    """
    from lscfg import log
    from lscfg.corpus.parallel import check_plain, check_sentences
    from lscfg.decode.decoder import EmbeddedDecoder
    from lscfg.errors import InputError
    from lscfg.formats.kbest import format_hypothesis
    from lscfg.formats.weights import read_weights, unknown_weights
    from lscfg.io.text import put_lines, read_lines
    from lscfg.parallel.engine import in_processes

    sentences = read_lines(args.text)
    check_plain(sentences, args.text)
    check_sentences(sentences, args.text, allow_empty=True)
    with in_processes(args.jobs) as engine, EmbeddedDecoder.from_ini(args.config, engine, cached=0) as decoder:
        path = args.weights or decoder.config.weights
        if path is None:
            raise InputError("no weights; name them with -w, or with weights= in the ini", args.config)
        k = decoder.config.k_best if args.k_best is None else args.k_best
        unique = args.unique or decoder.config.unique_k_best
        weights = read_weights(path)
        if unknown := unknown_weights(weights, decoder.feature_names):
            log.warn(f"{path}: weights that no feature of the decoder has: {unknown}")
        lists = decoder.decode(sentences, weights, 1 if k is None else k, unique)
    if k is not None:
        lines = [format_hypothesis(n, hypothesis) for n, found in enumerate(lists) for hypothesis in found]
    else:
        lines = [found[0].text for found in lists]
    put_lines(args.output, lines)
