"""``lscfg explain``: what a model knows of one sentence."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.formats.ini import IniFile
    from lscfg.io.arguments import InputFile
    from lscfg.options import add_output

    def model(text: str) -> str:
        return IniFile(text) if text.endswith(".ini") else InputFile(text)

    parser.add_argument(
        "model",
        type=model,
        metavar="MODEL",
        help="model, which parses with its own rules; or cdec.ini with an LSCFG line, which parses as it says",
    )
    parser.add_argument("sentence", metavar="SENTENCE", help="tokenized source sentence, as one word of the shell")
    parser.add_argument("--beside", type=model, metavar="MODEL", help="another model, to show beside the first")
    parser.add_argument("--choices", type=int, default=3, metavar="N", help="rules shown of each span (default: 3)")
    parser.add_argument(
        "--least",
        type=float,
        default=0.05,
        metavar="X",
        help="least marginal of spans that the best derivation does not have (default: %(default)s)",
    )
    parser.add_argument(
        "--format", choices=("text", "json", "html"), default="text", help="form of the output (default: %(default)s)"
    )
    add_output(parser)


def run(args: argparse.Namespace) -> None:
    """Writes the explanation.

    Raises:
        InputError: a file cannot be read, the sentence is empty or holds what no word may, or a number is out of range.
    """
    from lscfg.corpus.parallel import check_plain, check_sentences
    from lscfg.io.text import put_lines
    from lscfg.study.explain import Explainer
    from lscfg.study.show import explanations_json, explanations_page, explanations_text

    check_plain([args.sentence], "SENTENCE")
    check_sentences([args.sentence], "SENTENCE")
    models = [args.model, *([args.beside] if args.beside else [])]
    found = [Explainer(path)(args.sentence, args.choices, args.least) for path in models]
    write = {"text": explanations_text, "json": explanations_json, "html": explanations_page}[args.format]
    put_lines(args.output, write(found).rstrip("\n").split("\n"))
