"""``lscfg derive``: minimal derivation trees of a word-aligned corpus."""

from __future__ import annotations

import argparse

HELP = "build the minimal derivation tree of each word-aligned sentence pair"
EXAMPLE = "lscfg derive train.ja train.en train.align -o train.deriv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("source", metavar="SOURCE", help="tokenized source text, one sentence a line")
    parser.add_argument("target", metavar="TARGET", help="its translation, line by line")
    parser.add_argument(
        "alignment",
        metavar="ALIGNMENT",
        nargs="+",
        help="Pharaoh alignments i-j, source position first; of several files each gives every pair a tree",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="derivation file to write; all names may end in .gz"
    )
    trees = parser.add_argument_group("trees")
    trees.add_argument(
        "--max-arity",
        type=int,
        default=2,
        metavar="K",
        help="most nonterminals, 0 to 2, of a rule that counts. A rule of more stays in the derivation file but gets "
        "no parameters and no place in the grammar; the rest of its tree counts as ever, and features see it as "
        "parent, sibling or child (default: %(default)s)",
    )
    trees.add_argument(
        "--binarise",
        action="store_true",
        help="leave no rule of more than K nonterminals, so that every tree counts whole: all but the K largest "
        "children of a node become terminals of its rule",
    )
    trees.add_argument(
        "--bracketing",
        default="normal",
        metavar="NAME",
        help="of phrases A B C D in a sequence: normal (the normal form, which is left), left ((A B) C) D, right "
        "A (B (C D)), or balanced (A B) (C D) (default: %(default)s)",
    )
    pairs = parser.add_argument_group("sentence pairs")
    pairs.add_argument(
        "--max-words",
        type=int,
        default=0,
        metavar="N",
        help="drop and count pairs with a side of more words (default: no limit)",
    )
    pairs.add_argument(
        "--drop-bad",
        action="store_true",
        help="drop and count bad pairs, by reason, where the first one would else end the run",
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="the output is the same for any number (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Derives, writes the derivation file and logs its sizes.

    Raises:
        InputError: see ``lscfg.kernel.DeriveOptions`` and ``lscfg.extract.derive.derive_files``.
    """
    from lscfg import log
    from lscfg.extract.derive import derive_files
    from lscfg.io.text import check_output
    from lscfg.kernel import DeriveOptions

    check_output(args.output)
    options = DeriveOptions(args.bracketing, args.max_arity, args.binarise, args.max_words, args.drop_bad)
    sizes = derive_files(args.source, args.target, args.alignment, args.output, options, args.threads)
    log.info("; ".join(f"{what}: {count}" for what, count in sizes.items()))
