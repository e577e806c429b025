"""``lscfg decode``: translation with the embedded decoder."""

from __future__ import annotations

import argparse

HELP = "translate text with the built-in decoder"
EXAMPLE = "lscfg decode -c cdec.ini -w weights test.ja > test.out"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile
    from lscfg.options import add_config, add_jobs, add_kbest, add_output, add_weights

    parser.add_argument("text", type=InputFile, metavar="TEXT", help="tokenized source sentences, one a line")
    add_config(parser)
    add_weights(parser)
    add_output(parser)
    add_kbest(parser)
    add_jobs(parser)


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
        k = decoder.config.k_best if args.kbest is None else args.kbest
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
