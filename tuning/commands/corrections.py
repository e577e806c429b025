"""``lscfg evaluate corrections``: the gain by stored corrections, and the weights of their features."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from lscfg import log
from lscfg.bundle.places import number_formats
from lscfg.bundle.system import SystemFiles, open_system
from lscfg.corpus.parallel import check_plain_sentences, read_scored_lines
from lscfg.decode.memory import Memory, pair_aligner
from lscfg.errors import InputError
from lscfg.formats.weights import write_weights
from lscfg.io.arguments import InputFile, InputFolder
from lscfg.io.read import read_lines
from lscfg.options import add_output, add_weights
from lscfg.parser import CommandParser
from lscfg.tuning.corrections import Compared, compare_corrected, fit_weights, replay
from lscfg.tuning.doubts import reference_doubts

HELP = "measure the gain by corrections, or fit the weights of their features"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    parser.add_argument("system", type=SystemFiles, metavar="SYSTEM", help="bundle, folder of a system, or cdec.ini")
    parser.add_argument("corrections", type=InputFolder, metavar="DIR", help="folder of corrections")
    parser.add_argument("source", type=InputFile, metavar="SOURCE", help="tokenised sentences, one per line")
    parser.add_argument(
        "reference",
        type=InputFile,
        metavar="REFERENCE",
        nargs="+",
        help="tokenised references, line by line; the first one serves as corrections",
    )
    add_weights(parser, "feature weights (default: those of the system)")
    add_output(parser, "fit the weights Memory and Correction to this text, and write all weights (default: measure)")


def run(args: argparse.Namespace) -> None:
    """Prints BLEU without and with corrections.

    Raises:
        InputError: a file cannot be read or is malformed, or no sentence is left to measure.
    """
    system, memory = open_system(args.system, args.weights), Memory(args.corrections)
    sentences = read_lines(args.source)
    check_plain_sentences(sentences, args.source)
    references = [read_scored_lines(path, len(sentences), args.source) for path in args.reference]
    for doubt in reference_doubts(references, sentences):
        log.warning(f"{', '.join(args.reference)}: {doubt}")
    stored = {pair.source for pair in memory.pairs}
    chosen = [k for k, text in enumerate(sentences) if " ".join(text.split()) not in stored]
    if not chosen:
        fault = (
            "all sentences are stored as corrections; name a text with others"
            if sentences
            else "the text contains no sentence"
        )
        raise InputError(fault, args.source)
    numbers = number_formats(args.system)
    texts, *wanted = ([lines[k] for k in chosen] for lines in (sentences, *references))
    with system.decoder() as decoder:

        def translate(weights: Mapping[str, float], memory: Memory | None = memory) -> list[str]:
            found = decoder.translate(texts, weights, memory=memory, numbers=numbers)
            return [one.hypotheses[0].text for one in found]

        weights = dict(system.weights)
        if args.output:
            weights = fit_weights(translate, weights, wanted)
            write_weights(args.output, weights)
        outputs = translate(weights, None), translate(weights)
        found = compare_corrected(*outputs, wanted)
        align = pair_aligner(args.corrections, decoder.align)
        replayed = compare_corrected(outputs[0], replay(decoder, weights, texts, wanted[0], align, numbers), wanted)
    print(f"sentences   {len(texts)} of {len(sentences)}; the others are stored")
    print(f"BLEU        {_gain(found, args)}")
    nearest = [memory.recall(text).similar[:1] for text in texts]
    if near := [k for k, similar in enumerate(nearest) if similar]:
        decoded, joint, *references = ([lines[k] for k in near] for lines in (*outputs, *wanted))
        alone = compare_corrected([nearest[k][0].pair.target for k in near], joint, references)
        print(f"similar     {len(near)} of them: {_gain(compare_corrected(decoded, joint, references), args)}")
        print(f"            {alone.without:.2f} by the most similar correction itself{_p_value(alone, args)}")
    earlier = f"{replayed.corrected:.2f} with corrections of earlier sentences only"
    print(f"replayed    {earlier}{_p_value(replayed, args)}")
    if args.output:
        print("weights     fitted to this text, so no p-value; measure the gain on another text, with -w")


def _gain(found: Compared, args: argparse.Namespace) -> str:
    return f"{found.without:.2f} without corrections, {found.corrected:.2f} with{_p_value(found, args)}"


def _p_value(found: Compared, args: argparse.Namespace) -> str:
    """The p-value, empty if the weights were chosen on the same text, which flatters them."""
    return "" if args.output else f", p {found.p:.4f}"
