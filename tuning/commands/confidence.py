"""``lscfg evaluate confidence``: learns and measures the confidence in the translations of a system."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lscfg import log
from lscfg.bundle.places import CONFIDENCE, MANIFEST, PREPARE, number_formats
from lscfg.bundle.system import SystemFiles, TranslationSystem, open_system
from lscfg.corpus.parallel import check_plain_sentences, read_scored_lines
from lscfg.decode.confidence import Confidence
from lscfg.errors import InputError
from lscfg.io.arguments import InputFile
from lscfg.io.columns import align_columns
from lscfg.io.read import read_lines
from lscfg.options import add_output, add_weights
from lscfg.parser import CommandParser
from lscfg.prepare.numbers import NumberFormats
from lscfg.tuning.confidence import JudgedText, Measured, judge, learn_confidence, measure

MOST_EQUAL = 0.8
"""Share of translations without a wrong word above which the references are probably the system's own output."""

WEIGHTS_OF_SYSTEM = "feature weights (default: those of the system)"

HELP = "measure, or learn, confidence in the words and sentences of a system"


class OtherFiles(SystemFiles):
    """The files of a system without its confidence, which is learned again."""

    def files(self) -> Iterator[str]:
        return (path for path in super().files() if os.path.basename(path) != CONFIDENCE)


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    parser.add_argument("system", type=OtherFiles, metavar="SYSTEM", help="bundle, folder of a system, or cdec.ini")
    parser.add_argument("source", type=InputFile, metavar="SOURCE", help="tokenised sentences, one per line")
    parser.add_argument(
        "reference", type=InputFile, metavar="REFERENCE", nargs="+", help="tokenised references, line by line"
    )
    add_weights(parser, WEIGHTS_OF_SYSTEM)
    add_output(
        parser,
        f"learn the confidence from this text and write it, as {CONFIDENCE} next to cdec.ini (default: measure)",
    )


def run(args: argparse.Namespace) -> None:
    """Prints the measures of words and sentences, and the bands of confidence.

    Raises:
        InputError: a file cannot be read or is malformed, the system has no confidence to measure, or the output is a
            file of a bundle.
    """
    if args.output:
        _check_not_packed(args.output)
    system = open_system(args.system, args.weights, confidence=not args.output)
    if system.confidence is None and not args.output:
        raise InputError(f"has no {CONFIDENCE} for these weights; learn one from another text, with -o", args.system)
    text = _judged(system, args.source, args.reference, number_formats(args.system))
    if text.left_out:
        every = text.left_out + len(text.details)
        log.info(f"sentences left out, without words, a parse or a reference: {text.left_out} of {every}")
    if args.output:
        _warn_of_copies(text, args.reference)
    try:
        made = learn_confidence(text, system.weights) if args.output else _measured(system, text)
    except InputError as error:
        raise InputError(str(error), args.source) from None
    if isinstance(made, Confidence):
        made.write(Path(args.output))
        print(format_bands(made))
    else:
        print(format_measures(made))


def _check_not_packed(output: str) -> None:
    """Refuses an output in a bundle, whose manifest would no longer fit: the bundle could not be opened.

    Raises:
        InputError: the output lies in a bundle.
    """
    place = Path(os.path.realpath(output)).parent
    for folder in (place, place.parent) if place.name == PREPARE else (place,):
        if (folder / MANIFEST).is_file():
            raise InputError(
                f"is in the bundle {folder}, whose files must stay as packed; learn the confidence of the system with "
                f"-o SYSTEM/{CONFIDENCE}, and pack the system again",
                output,
            )


def _warn_of_copies(text: JudgedText, references: list[str]) -> None:
    """Warns of references that the translations equal: nobody writes most sentences as the system does."""
    wrong = np.bincount(text.owner, 1 - text.matched, len(text.details))
    equal = int((wrong == 0).sum())
    if equal > MOST_EQUAL * len(text.details):
        log.warning(
            f"{', '.join(references)}: translations without a wrong word: {equal} of {len(text.details)}; confidence "
            "learned from this text is too high, so give references that people wrote"
        )


def _measured(system: TranslationSystem, text: JudgedText) -> Measured:
    assert system.confidence is not None
    return measure(system.confidence, text)


def _judged(system: TranslationSystem, source: str, references: list[str], numbers: NumberFormats | None) -> JudgedText:
    sentences = read_lines(source)
    check_plain_sentences(sentences, source)
    texts = [read_scored_lines(path, len(sentences), source) for path in references]
    with system.decoder() as decoder:
        found = decoder.translate(sentences, system.weights, details=True, numbers=numbers)
        return judge(log.progress(found, "decoding", len(sentences)), texts)


def format_measures(measured: Measured) -> str:
    """The measures as a table, with 95 % intervals over sentences."""
    rows = [["", *Measured._fields]]
    for name in ("ece", "auc", "brier"):
        parts = [getattr(one, name) for one in measured]
        rows.append(
            [name.upper() if name != "brier" else "Brier", *(f"{x:.3f} ({y:.3f} to {z:.3f})" for x, y, z in parts)]
        )
    for title, name in (
        ("ECE by chance", "chance_ece"),
        ("AUC of the length", "length_auc"),
        ("Brier of the base rate", "rate_brier"),
        ("base rate", "rate"),
    ):
        rows.append([title, *(f"{getattr(one, name):.3f}" for one in measured)])
    rows.append(["outputs", *(str(one.outputs) for one in measured)])
    return "\n".join(align_columns(rows))


def format_bands(confidence: Confidence) -> str:
    """The share of right words and translations in each band of confidence, in sentences not learned from."""
    rows = [["confidence", "words", "right", "translations", "right"]]
    for words, translations in zip(confidence.words.bands, confidence.translations.bands, strict=True):
        cells = [cell for band in (words, translations) for cell in (str(band.count), _share(band.right, band.count))]
        rows.append([f"{words.least:.1f} or more", *cells])
    return "\n".join(align_columns(rows))


def _share(right: int, count: int) -> str:
    return f"{100 * right / count:.1f} %" if count else "-"
