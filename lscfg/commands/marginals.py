"""``lscfg marginals``: what a model says of sentences."""

from __future__ import annotations

import argparse

HELP = "parse sentences and write all marginals and features as JSON lines, or as grammars for single sentences"
EXAMPLE = "lscfg marginals spectral8.lscfg dev.ja > dev.marginals.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.formats.ini import IniFile
    from lscfg.io.arguments import InputFile, OutputFile, output_folder

    parser.add_argument(
        "model",
        type=lambda text: IniFile(text) if text.endswith(".ini") else InputFile(text),
        metavar="MODEL",
        help="model file of lscfg estimate, whose own rules parse; or a cdec.ini with a line of lscfg's, whose "
        "grammar, limits and feature options count",
    )
    parser.add_argument(
        "text", type=InputFile, metavar="TEXT", help="tokenized source sentences, one a line; or forests"
    )
    parser.add_argument(
        "--forests",
        action="store_true",
        help="TEXT holds forests, as lscfg cdec forest and this command write them; nothing is parsed",
    )
    parser.add_argument(
        "-o", "--output", type=OutputFile, metavar="FILE", help="file to write instead of standard output (.gz allowed)"
    )
    parser.add_argument(
        "--per-sentence-grammars",
        type=output_folder("cdec.ini", "segments.sgm", "grammar.*.gz"),
        metavar="DIR",
        help="write DIR/grammar.N.gz for each sentence, DIR/segments.sgm and DIR/cdec.ini, with which a plain cdec "
        "decodes as lscfg decode does with the cdec.ini that MODEL is; JSON only with -o",
    )
    parser.add_argument(
        "--features",
        metavar="NAMES",
        help="comma-separated; paper (default, which any model has), ratios and context stand for several",
    )
    parser.add_argument("--raw", action="store_true", help="features as values, not as natural logarithms")
    parser.add_argument("--floor", type=float, help="least value of which a logarithm is taken (default: 1e-6)")
    parser.add_argument(
        "--negative",
        choices=("flip", "clamp"),
        help="a negative marginal counts as its absolute value (default) or as zero",
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="the output is the same for any (default: %(default)s)"
    )


def run(args: argparse.Namespace) -> None:
    """Writes one JSON object a sentence, or grammars.

    Raises:
        InputError: a file cannot be read or is malformed, or options do not go together.
    """
    import sys
    from collections.abc import Iterable
    from contextlib import nullcontext
    from typing import Any

    from lscfg.corpus.parallel import check_plain, check_sentences
    from lscfg.decode.analysis import Analyser, Analysis
    from lscfg.decode.sentence_grammars import SentenceGrammars
    from lscfg.errors import InputError
    from lscfg.formats.forests import ForestFile, StoredForest
    from lscfg.formats.ini import read_ini
    from lscfg.io.text import atomic_write, read_lines
    from lscfg.kernel import PAPER_FEATURES, FeatureOptions
    from lscfg.log import progress
    from lscfg.parallel.engine import in_threads

    given = {
        "log": False if args.raw else None,
        "floor": args.floor,
        "negative": args.negative,
        "names": tuple(args.features.split(",")) if args.features else None,
    }
    options = {name: value for name, value in given.items() if value is not None}
    if args.forests and args.per_sentence_grammars:
        raise InputError("--per-sentence-grammars are for sentences that are parsed here, not for --forests")
    is_ini = args.model.endswith(".ini")
    if is_ini and options:
        raise InputError("the features' options stand in the LSCFG line; change them there", args.model)
    forests = ForestFile(args.text, read_ini(args.model).grammars if is_ini else ()) if args.forests else None
    grammar = None if forests is None else forests.grammar
    if is_ini:
        analyser = Analyser.from_ini(args.model, grammar)
    else:
        analyser = Analyser.from_model(args.model, FeatureOptions(**{"names": PAPER_FEATURES} | options), grammar)
    grammars, total = None, None
    items: Iterable[Any]
    if forests is not None:
        items = forests
    else:
        sentences = read_lines(args.text)
        check_plain(sentences, args.text)
        check_sentences(sentences, args.text, allow_empty=True)
        items, total = enumerate(sentences), len(sentences)
        if args.per_sentence_grammars:
            grammars = SentenceGrammars(args.per_sentence_grammars, analyser, sentences)
    with_json = grammars is None or args.output

    def work(item: Any) -> tuple[int, Analysis]:
        if isinstance(item, StoredForest):
            return item.number, analyser.stored(item)
        number, sentence = item
        analysis = analyser(sentence, number)
        if grammars is not None:
            grammars.write(number, analysis)
        return number, analysis

    output = atomic_write(args.output) if args.output else nullcontext(sys.stdout)
    with in_threads(args.threads) as engine, output as file:
        for number, analysis in progress(engine.map(work, items), "marginals", total):
            if with_json:
                file.writelines(analyser.json_parts(number, analysis))
                file.write("\n")
    if grammars is not None:
        grammars.finish()
    analyser.latent.report()
