"""``lscfg moses``: builds and tests the feature function for Moses, and converts configurations of cdec."""

from __future__ import annotations

import argparse
from pathlib import Path

from lscfg import log
from lscfg.adapter import source_tree
from lscfg.cli import add_action
from lscfg.decode.parsing import read_grammar
from lscfg.formats.ini import IniFile, read_ini
from lscfg.formats.weights import read_weights, write_weights
from lscfg.io.arguments import FolderName, InputFile, output_folder
from lscfg.io.write import check_replaceable
from lscfg.moses_bridge.config import INI, TABLE, Conventions, read_moses_weights, write_moses
from lscfg.moses_bridge.program import STEPS, MosesTree, build_program, check_program, write_sources
from lscfg.moses_bridge.rule_table import GLUE_FILE
from lscfg.options import add_config, add_output, add_weights


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    build = add_action(actions, "build", "link moses_chart with the feature function, or write its sources")
    check = add_action(actions, "check", "run the decoder and compare its features with lscfg's own")
    build.add_argument(
        "--moses-root",
        type=FolderName,
        metavar="DIR",
        help="source tree of Moses, built with bjam (default: MOSES_ROOT)",
    )
    build.add_argument(
        "--flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="flag of compiler and linker, as in --flag=-I/opt/boost/include; repeat for several",
    )
    add_output(build, "decoder to write (default: %(default)s)", default="moses_lscfg")
    build.add_argument(
        "--sources",
        type=output_folder(),
        metavar="DIR",
        help="write the sources instead, into moses/FF of your Moses",
    )
    check.add_argument("program", type=InputFile, metavar="PROGRAM", help="decoder of lscfg moses build")
    convert = add_action(actions, "convert", "write rule table, glue grammar and moses.ini for a cdec.ini")
    add_config(convert)
    add_weights(convert)
    add_output(convert, "folder to write", type=output_folder(), metavar="DIR", required=True)
    weights = add_action(actions, "weights", "write the weights of a converted moses.ini for cdec and lscfg")
    weights.add_argument("ini", type=IniFile, metavar="MOSES_INI", help="moses.ini of lscfg moses convert, tuned")
    add_config(weights, "cdec.ini that it was converted from")
    add_output(weights, "weights to write", required=True)


def run(args: argparse.Namespace) -> None:
    """Runs the action.

    Raises:
        InputError: Moses is missing or does not fit; the message names the header, symbol or version.
        LscfgError: Moses failed.
    """
    {"build": _build, "check": _check, "convert": _convert, "weights": _weights}[args.action](args)


def _build(args: argparse.Namespace) -> None:

    if args.sources:
        log.info(f"wrote {write_sources(args.sources)}; the remaining steps:\n{STEPS.rstrip()}")
        return
    root = source_tree(args.moses_root, "--moses-root", "MOSES_ROOT", ", or a folder for the sources with --sources")
    build_program(MosesTree.at(root), args.output, args.flag)
    log.info(f"wrote {args.output}; check it with: lscfg moses check {args.output}")


def _check(args: argparse.Namespace) -> None:
    print(check_program(args.program))


def _convert(args: argparse.Namespace) -> None:

    for name in (TABLE, GLUE_FILE, INI):
        check_replaceable(Path(args.output) / name)
    config = read_ini(args.config)
    file = args.weights or config.weights
    ini = write_moses(args.output, config, read_weights(file) if file else {}, args.config)
    log.info(f"wrote {ini}")


def _weights(args: argparse.Namespace) -> None:

    config = read_ini(args.config)
    conventions = Conventions.of_grammar(config, read_grammar(config))
    write_weights(args.output, conventions.weights_from_moses(read_moses_weights(args.ini), args.ini))
