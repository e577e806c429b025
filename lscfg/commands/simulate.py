"""``lscfg simulate``: a corpus sampled from an L-SCFG with known parameters."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile, output_folder
    from lscfg.options import add_old_name, add_output, add_seed

    add_output(
        parser,
        "folder for train.deriv, train.src, train.tgt and a random model's model.lscfg",
        type=output_folder(),
        metavar="DIR",
        required=True,
    )
    parser.add_argument(
        "--model",
        type=InputFile,
        metavar="MODEL",
        help="model without negative parameters to sample from (default: a random one)",
    )
    pairs = parser.add_argument(
        "--pairs", type=int, default=10000, metavar="N", help="sentence pairs to sample (default: %(default)s)"
    )
    add_old_name(parser, "--sentences", pairs)
    add_seed(parser, 1, "the model and of the sample")
    group = parser.add_argument_group("random model")
    group.add_argument("-m", type=int, default=3, metavar="M", help="hidden states (default: %(default)s)")
    for name, default in (("lexical", 12), ("unary", 4), ("binary", 4)):
        group.add_argument(
            f"--{name}", type=int, default=default, metavar="N", help=f"{name} rules (default: %(default)s)"
        )
    group.add_argument(
        "--concentration",
        type=float,
        default=0.3,
        metavar="A",
        help="concentration of the Dirichlet priors; a smaller one makes states differ more (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Writes the model, its derivations and their text.

    Raises:
        InputError: the model cannot be read or sampled, or a setting is out of range.
    """
    from pathlib import Path

    from lscfg import log
    from lscfg.extract.yields import Yields
    from lscfg.io.text import check_replaceable, write_lines
    from lscfg.model.parameters import Parameters
    from lscfg.study.simulate import GrammarSettings, random_model, sample

    folder, sides = Path(args.output), ("train.src", "train.tgt")
    for name in ("train.deriv", *sides, *(() if args.model else ("model.lscfg",))):
        check_replaceable(folder / name)
    if args.model:
        model = Parameters.load(args.model)
    else:
        settings = GrammarSettings(args.m, args.lexical, args.unary, args.binary, concentration=args.concentration)
        model = random_model(settings, args.seed)
    derivations = sample(model, args.pairs, args.seed)
    if not args.model:
        model.save(folder / "model.lscfg")
    derivations.save(folder / "train.deriv")
    yields = Yields.of(derivations)
    for side, name in enumerate(sides):
        write_lines(folder / name, yields.sentences(derivations, side))
    log.table({"sentence pairs": len(derivations), "rule tokens": len(derivations.rule), "states": model.rank})
    log.info(f"wrote {folder}")
