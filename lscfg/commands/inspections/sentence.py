"""``lscfg inspect sentence``: the view of a model on one sentence, as an explanation or a heat map."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from lscfg import log
from lscfg.bundle.places import number_formats, preparation_of
from lscfg.bundle.system import INI, ini_file, open_system
from lscfg.corpus.parallel import check_plain, check_plain_sentences, check_sentences, plain_fault
from lscfg.decode.analysis import Analyser
from lscfg.errors import InputError
from lscfg.formats.ini import IniFile
from lscfg.io.arguments import InputFile
from lscfg.io.write import put_lines
from lscfg.kernel import Inference
from lscfg.options import add_output, add_weights
from lscfg.parser import CommandParser
from lscfg.prepare.record import Record
from lscfg.study.comparison import comparison_json, comparison_text
from lscfg.study.explain import Explainer
from lscfg.study.heatmap import draw_charts
from lscfg.study.show import LEGEND, ORDER, explanations_json, explanations_page, explanations_text

HELP = "explain a sentence: best derivation, targets, gains, states; or draw its span marginals"

EXPLANATIONS = {"text": explanations_text, "json": explanations_json, "html": explanations_page}


class SystemFolder(IniFile):
    """A bundle, or the folder of a system; its path is that of its ``cdec.ini``."""

    @property
    def path(self) -> str:
        return os.path.join(self, INI)


def model_or_ini(text: str) -> InputFile:
    """The type of an argument that names a model or a ``cdec.ini``."""
    return IniFile(text) if text.endswith(".ini") else InputFile(text)


def model_or_system(text: str) -> InputFile:
    """The type of an argument that names a model, a ``cdec.ini`` or a folder with one."""
    return SystemFolder(text) if os.path.isdir(text) else model_or_ini(text)


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    columns = "; ".join(f"{name}: {text}" for name, text in LEGEND.items())
    parser.epilog = f"columns: {columns}. {ORDER}"
    parser.add_argument(
        "model",
        type=model_or_system,
        metavar="MODEL",
        help="model, which parses with its own rules; or bundle, folder of a system or cdec.ini with an LSCFG line, "
        "which sets the grammar",
    )
    parser.add_argument(
        "sentence",
        metavar="SENTENCE",
        nargs="+",
        help="source sentence: tokenised, or raw if cdec.ini belongs to a system of raw text",
    )
    parser.add_argument(
        "--compare",
        type=model_or_system,
        metavar="MODEL",
        action="append",
        default=[],
        help="another model to show next to the first; repeat for several",
    )
    parser.add_argument(
        "--choices", type=int, default=3, metavar="N", help="rules shown for each span (default: %(default)s)"
    )
    parser.add_argument(
        "--min-marginal",
        type=float,
        default=0.05,
        metavar="X",
        help="minimum marginal of spans outside the best derivation (default: %(default)s)",
    )
    parser.add_argument(
        "--format",
        choices=(*EXPLANATIONS, "svg"),
        default="text",
        help="output format; svg: heat map of the span marginals (default: %(default)s)",
    )
    parser.add_argument(
        "--why-not",
        metavar="TEXT",
        help="wanted translation; shows why the system chooses another one: features, the first rule "
        "that differs, or missing rules",
    )
    add_weights(parser)
    add_output(parser)


def run(args: argparse.Namespace) -> None:
    """Writes the explanation or the heat map.

    Raises:
        InputError: a file cannot be read, the sentence is empty or contains a forbidden word, or a number is out of
            range.
    """
    models = [str(ini_file(Path(one))) if isinstance(one, SystemFolder) else one for one in (args.model, *args.compare)]
    sentence = _prepared(models, " ".join(args.sentence))
    check_plain_sentences([sentence], "SENTENCE")
    if not sentence.strip():
        raise InputError("SENTENCE is empty; give the words of a sentence")
    if args.why_not is not None:
        text = _comparison(args, models[0], sentence)
    elif args.weights is not None:
        raise InputError("-w needs --why-not")
    elif args.format == "svg":
        text = _heat_map(models, sentence)
    else:
        explained = [Explainer(path)(sentence, args.choices, args.min_marginal) for path in models]
        text = EXPLANATIONS[args.format](explained)
    put_lines(args.output, text.rstrip("\n").split("\n"))


COMPARISONS = {"text": comparison_text, "json": comparison_json}


def _comparison(args: argparse.Namespace, ini: str, sentence: str) -> str:
    """The comparison of a wanted translation with the decoder's translation.

    Raises:
        InputError: an option does not go with a wanted translation, or as for ``why_not`` and ``open_system``.
    """
    if args.compare or args.format not in COMPARISONS or not ini.endswith(".ini"):
        raise InputError(f"--why-not takes one system, without --compare, and --format {' or '.join(COMPARISONS)}")
    wanted = _prepared([ini], args.why_not, 1)
    if not wanted.split():
        raise InputError("--why-not needs the translation that you expected")
    check_plain([wanted], "WHY-NOT")
    check_sentences([wanted], "WHY-NOT")
    system = open_system(args.model, args.weights)
    why = system.decoder().why_not(sentence, wanted, system.weights, number_formats(args.model))
    return COMPARISONS[args.format](why)


def _prepared(models: Sequence[str], sentence: str, number: int = 0) -> str:
    """The sentence as the first system of raw text prepares it; words that its preparation made stay as they are.

    Args:
        number: 0 for the source side, 1 for the target side.
    """
    inis = (Path(path) for path in models if path.endswith(".ini"))
    folder = next(filter(None, map(preparation_of, inis)), None)
    if folder is None or plain_fault(sentence) or "\0" in sentence:
        return sentence
    side = Record.read(folder).sides[number].side()
    if side.encode(side.decode(sentence)) == sentence:
        return sentence
    words = side.encode(sentence)
    log.info(f"prepared as in {folder}: {words}")
    return words


def _heat_map(models: list[str], sentence: str) -> str:
    """The span marginals of the sentence under each model, as SVG."""
    stems = [Path(path).stem for path in models]
    charts = {}
    for path, stem in zip(models, stems, strict=True):
        analyser = Analyser.from_ini(path) if path.endswith(".ini") else Analyser.from_model(path)
        analysis = analyser(sentence, 0)
        name = stem if stems.count(stem) == 1 else path
        charts[name + _remark(analysis.inference)] = analysis.chart()
    return draw_charts(sentence.split(), charts)


def _remark(inference: Inference | None) -> str:
    """The limit of the chart: no parse, or a marginal total g that is not positive."""
    if inference is None:
        return ", no parse"
    return {1: "", 0: ", g = 0", -1: ", g < 0"}[inference.sign]
