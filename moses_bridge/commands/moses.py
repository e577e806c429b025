"""``lscfg moses``: the feature function for Moses, built and tried out; a configuration of cdec's for Moses."""

from __future__ import annotations

import argparse

from lscfg.cli import add_action


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the actions and their options."""
    from lscfg.formats.ini import IniFile
    from lscfg.io.arguments import InputFile, output_folder
    from lscfg.options import add_config, add_output, add_weights

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    build = add_action(actions, "build", "link moses_chart with the feature function, or write its sources")
    check = add_action(actions, "check", "run the decoder and compare its features with lscfg's own")
    for action in (build, check):
        action.add_argument("--moses-root", metavar="DIR", help="source tree of Moses, built with bjam")
        action.add_argument(
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
    check.add_argument("--program", type=InputFile, metavar="FILE", help="decoder to check (default: a new one)")
    convert = add_action(actions, "convert", "write rule table, glue grammar and moses.ini for a cdec.ini")
    add_config(convert)
    add_weights(convert)
    add_output(convert, "folder to write", type=output_folder(), metavar="DIR", required=True)
    weights = add_action(actions, "weights", "write the weights of a converted moses.ini for cdec and lscfg")
    weights.add_argument("ini", type=IniFile, metavar="MOSES_INI", help="moses.ini of lscfg moses convert, tuned")
    add_config(weights, "cdec.ini that it was converted from")
    add_output(weights, "weights to write", required=True)


def run(args: argparse.Namespace) -> None:
    """Does the action.

    Raises:
        InputError: no Moses there, or something does not fit: header, symbol or version are named.
        LscfgError: Moses failed.
    """
    {"build": _build, "check": _check, "convert": _convert, "weights": _weights}[args.action](args)


def _build(args: argparse.Namespace) -> None:
    from lscfg import log
    from lscfg.errors import InputError
    from lscfg.moses_bridge.program import STEPS, MosesTree, build_program, write_sources

    if args.sources:
        log.info(f"wrote {write_sources(args.sources)}; what is left to do:\n{STEPS.rstrip()}")
        return
    if args.moses_root is None:
        raise InputError("name the source tree of Moses with --moses-root, or a folder for the sources with --sources")
    build_program(MosesTree.at(args.moses_root), args.output, args.flag)
    log.info(f"wrote {args.output}; check it with: lscfg moses check --program {args.output}")


def _check(args: argparse.Namespace) -> None:
    import tempfile
    from pathlib import Path

    from lscfg.errors import InputError
    from lscfg.moses_bridge.program import PROGRAM, MosesTree, build_program, check_program

    if args.program:
        print(check_program(args.program))
        return
    if args.moses_root is None:
        raise InputError("name the program with --program, or the source tree of Moses with --moses-root")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / PROGRAM
        build_program(MosesTree.at(args.moses_root), program, args.flag)
        print(check_program(program).replace(str(program), PROGRAM))


def _convert(args: argparse.Namespace) -> None:
    from pathlib import Path

    from lscfg import log
    from lscfg.formats.ini import read_ini
    from lscfg.formats.weights import read_weights
    from lscfg.io.text import check_replaceable
    from lscfg.moses_bridge.config import INI, TABLE, write_moses
    from lscfg.moses_bridge.rule_table import GLUE_FILE

    for name in (TABLE, GLUE_FILE, INI):
        check_replaceable(Path(args.output) / name)
    config = read_ini(args.config)
    file = args.weights or config.weights
    ini = write_moses(args.output, config, read_weights(file) if file else {}, args.config)
    log.info(f"wrote {ini}")


def _weights(args: argparse.Namespace) -> None:
    from lscfg.decode.parsing import read_grammar
    from lscfg.formats.ini import read_ini
    from lscfg.formats.weights import write_weights
    from lscfg.moses_bridge.config import Conventions, read_moses_weights

    config = read_ini(args.config)
    conventions = Conventions.of(config, read_grammar(config).feature_names)
    write_weights(args.output, conventions.weights_from_moses(read_moses_weights(args.ini)))
