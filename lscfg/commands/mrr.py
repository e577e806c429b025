"""``lscfg mrr``: how well models tell the translation of a phrase in its sentence, before any tuning."""

from __future__ import annotations

import argparse

PROTOCOLS = ("held-out", "thesis")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFile
    from lscfg.options import add_output
    from lscfg.settings import add_options
    from lscfg.study.senses import InventorySettings

    parser.add_argument("models", type=InputFile, metavar="MODEL", nargs="*", help="models of lscfg estimate --context")
    parser.add_argument(
        "--train",
        type=InputFile,
        metavar="DERIVATIONS",
        required=True,
        help="derivations that the models were estimated from",
    )
    parser.add_argument(
        "--held-out",
        type=InputFile,
        metavar="DERIVATIONS",
        help="derivations of pairs that nothing was estimated from",
    )
    parser.add_argument("--lm", type=InputFile, metavar="ARPA", help="language model of the target side")
    add_output(parser, "file for all figures, as JSON (default: none)")
    parser.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        default=PROTOCOLS[0],
        help="tokens that are asked for: those of --held-out, or, as in the thesis, a random part of --train's, which "
        "models leave out with --leave-out (default: %(default)s)",
    )
    parser.add_argument(
        "--leave-out",
        type=float,
        metavar="SHARE",
        help="share of --train's tokens that the thesis's protocol asks for (default: 0.05)",
    )
    parser.add_argument(
        "--trivial", action="store_true", help="count tokens whose source phrase has one option as right, too"
    )
    add_options(parser.add_argument_group("options of a source phrase"), InventorySettings)


def run(args: argparse.Namespace) -> None:
    """Prints the table.

    Raises:
        InputError: a file cannot be read or is of another kind, or options do not go together.
    """
    from lscfg.errors import InputError
    from lscfg.extract.derive import Derivations
    from lscfg.grammar.tokens import check_share
    from lscfg.io.text import write_json
    from lscfg.settings import from_options
    from lscfg.study.mrr import Ruler, format_scores, measure_scores
    from lscfg.study.senses import InventorySettings, Questions

    settings = from_options(InventorySettings, args)
    held_out = args.protocol == PROTOCOLS[0]
    if held_out and not args.held_out:
        raise InputError("--held-out is missing: name derivations of other pairs, or ask for --protocol thesis")
    if not held_out and args.held_out:
        raise InputError("--held-out is for the protocol held-out; the thesis's asks for tokens of --train")
    if held_out and args.leave_out is not None:
        raise InputError("--leave-out is for --protocol thesis")
    share = 0.05 if args.leave_out is None else args.leave_out
    check_share(share)
    train = Derivations.load(args.train)
    if held_out:
        questions = Questions.held_out(train, Derivations.load(args.held_out), settings)
    else:
        questions = Questions.of_tokens(train, settings, share)
    ruler = Ruler.of(questions, args.lm, args.trivial, 0.0 if held_out else share)
    content = measure_scores(ruler, args.models)
    content = {"protocol": args.protocol, "settings": settings.facts(), **content}
    print(format_scores(content))
    if args.output:
        write_json(args.output, content)
