"""``lscfg heatmap``: pictures of the span marginals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lscfg.kernel import Inference


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile, NamedFile, output_folder
    from lscfg.options import add_jobs, add_output

    parser.add_argument(
        "models",
        type=NamedFile,
        metavar="[NAME=]MODEL",
        nargs="+",
        help="models, or configurations (cdec.ini) with an LSCFG line",
    )
    parser.add_argument(
        "--text", type=InputFile, metavar="TEXT", required=True, help="tokenized source sentences, one a line"
    )
    add_output(
        parser, "folder for the pictures sentence.N.svg", type=output_folder("sentence.*"), metavar="DIR", required=True
    )
    parser.add_argument(
        "--sentences", metavar="LIST", help="sentences to draw, counted from 1, as in 1,7-9 (default: all)"
    )
    add_jobs(parser)


def run(args: argparse.Namespace) -> None:
    """Writes one picture a sentence.

    Raises:
        InputError: a file cannot be read or is malformed, or a sentence is not there.
    """
    from pathlib import Path

    from lscfg.corpus.parallel import check_plain, check_sentences
    from lscfg.decode.analysis import Analyser, Analysis
    from lscfg.errors import InputError
    from lscfg.io.text import read_lines
    from lscfg.log import progress
    from lscfg.parallel.choose import in_threads
    from lscfg.study.heatmap import draw_charts

    analysers: dict[str, Analyser] = {}
    for text in args.models:
        name, path = text.name or Path(text.path).stem, text.path
        if name in analysers:
            raise InputError(f"two models are called {name}; write NAME={path}")
        analysers[name] = Analyser.from_ini(path) if path.endswith(".ini") else Analyser.from_model(path)
    sentences = read_lines(args.text)
    check_plain(sentences, args.text)
    check_sentences(sentences, args.text, allow_empty=True)
    chosen = range(len(sentences)) if args.sentences is None else _numbers(args.sentences, len(sentences))
    chosen = [number for number in chosen if sentences[number].split()]

    def work(number: int) -> tuple[int, dict[str, Analysis]]:
        return number, {name: analyser(sentences[number], number) for name, analyser in analysers.items()}

    with in_threads(args.jobs) as engine:
        for number, found in progress(engine.map(work, chosen), "heatmap", len(chosen)):
            charts = {name + _remark(analysis.inference): analysis.chart() for name, analysis in found.items()}
            path = Path(args.output) / f"sentence.{number + 1}.svg"
            draw_charts(sentences[number].split(), charts, f"sentence {number + 1}", path)


def _remark(inference: Inference | None) -> str:
    """What is to be known of a chart beside its values."""
    if inference is None:
        return ", no parse"
    return {1: "", 0: ", g = 0", -1: ", g < 0"}[inference.sign]


def _numbers(text: str, n: int) -> list[int]:
    """The sentences of a list such as 1,7-9, which counts from 1; they are counted from 0.

    Args:
        n: how many sentences there are.

    Raises:
        InputError: it is no list, or has a number that is not from 1 to n.
    """
    from lscfg.errors import InputError, cut

    found: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isascii() and first.isdigit() and (not dash or (last.isascii() and last.isdigit()))):
            raise InputError(f"--sentences {cut(text)}: expected numbers and ranges, as 1,7-9")
        if int(last or first) < int(first):
            raise InputError(f"--sentences {cut(text)}: the range {cut(part)} ends before it begins")
        if int(first) < 1 or int(last or first) > n:
            raise InputError(f"--sentences {cut(text)}: the text has the sentences 1 to {n}")
        found |= dict.fromkeys(range(int(first) - 1, int(last or first)))
    return list(found)
