"""``lscfg cdec``: builds, tests and packs the feature function for cdec, runs cdec, and reads its forests."""

from __future__ import annotations

import argparse
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lscfg import log
from lscfg.adapter import source_tree
from lscfg.cdec_bridge.decoder import find_cdec, find_library, names_of, program_below
from lscfg.cdec_bridge.forests import binary_inputs, record
from lscfg.cdec_bridge.library import LIBRARY, CdecTree, build_library, check_library
from lscfg.cdec_bridge.packing import PACKED, pack_ini, packed_if_possible
from lscfg.cdec_bridge.paths import check_latent_lines, check_paths, working_directory
from lscfg.cdec_bridge.processes import CdecProcesses
from lscfg.cli import add_action
from lscfg.errors import InputError
from lscfg.formats.ini import read_ini
from lscfg.formats.kbest import parse_hypothesis
from lscfg.formats.segments import check_ids, check_whole_lines
from lscfg.formats.weights import read_weights, write_weights
from lscfg.io.arguments import FolderName, InputFile, InputFolder, output_folder
from lscfg.io.folders import make_folder
from lscfg.io.read import read_lines
from lscfg.io.write import put_lines, write_lines
from lscfg.options import add_config, add_jobs, add_kbest, add_output, add_weights


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    build = add_action(actions, "build", "compile the library for your cdec")
    check = add_action(actions, "check", "load the library into cdec and compare its features with lscfg's own")
    for action in (build, check):
        action.add_argument(
            "--cdec-root", type=FolderName, metavar="DIR", help="source tree of cdec, built (default: CDEC_ROOT)"
        )
    add_output(build, "library to write (default: %(default)s)", default="liblscfg_cdec.so")
    check.add_argument("--library", type=InputFile, metavar="FILE", help="library to check (default: a new one)")
    pack = add_action(actions, "pack", "write a tuned configuration that cdec decodes faster, with equal results")
    add_config(pack, "configuration of one pass (cdec.ini)")
    add_weights(pack, "tuned weights", required=True)
    folder = output_folder("cdec.ini", "weights", new=True)
    add_output(pack, "folder for cdec.ini and weights", type=folder, metavar="DIR", required=True)
    pack.add_argument(
        "--library",
        type=InputFile,
        metavar="FILE",
        help="library, if the configuration names none (default: LSCFG_CDEC_PLUGIN)",
    )
    pack.add_argument("--no-unpack", action="store_true", help="leave features packed in k-best lists, which is faster")
    decode = add_action(actions, "decode", "translate with cdec, in several processes and in order")
    decode.add_argument(
        "text", type=InputFile, metavar="TEXT", help="source sentences, one per line; <seg ...> and lattices allowed"
    )
    add_config(decode)
    add_kbest(decode)
    forest = add_action(actions, "forest", "write the forests of cdec as JSON")
    forest.add_argument("text", type=InputFile, metavar="TEXT", nargs="?", help="source sentences as for decode")
    add_config(forest, "configuration (cdec.ini); the forests are taken after its last pass", required=False)
    forest.add_argument(
        "--read", type=InputFolder, metavar="DIR", help="read the forests N.bin.gz of cdec -O, instead of TEXT and -c"
    )
    forest.add_argument(
        "--binary",
        type=output_folder("*.bin.gz", new=True),
        metavar="DIR",
        help="let cdec also write the forests DIR/N.bin.gz",
    )
    forest.add_argument(
        "--library",
        type=InputFile,
        metavar="FILE",
        default="liblscfg_cdec.so",
        help="library of lscfg cdec build (default: %(default)s)",
    )
    for action in (decode, forest):
        add_weights(action)
        add_output(action)
        add_jobs(action, "; each loads the grammar")
        action.add_argument(
            "--cdec-root",
            type=FolderName,
            metavar="DIR",
            help="source tree of cdec (default: CDEC_ROOT, or the program on PATH)",
        )


def run(args: argparse.Namespace) -> None:
    """Runs the action.

    Raises:
        InputError: cdec is missing or does not fit; the message names the header, symbol or version.
        LscfgError: cdec failed.
    """
    {"build": _build, "check": _check, "pack": _pack, "decode": _decode, "forest": _forest}[args.action](args)


def _build(args: argparse.Namespace) -> None:

    root = source_tree(args.cdec_root, "--cdec-root", "CDEC_ROOT")
    build_library(CdecTree.at(root), args.output)
    named = shlex.join(["--cdec-root", str(root), "--library", str(args.output)])
    log.info(f"wrote {args.output}; check it with: lscfg cdec check {named}")


def _check(args: argparse.Namespace) -> None:

    tree = CdecTree.at(source_tree(args.cdec_root, "--cdec-root", "CDEC_ROOT"))
    with tempfile.TemporaryDirectory() as folder:
        library = args.library or Path(folder) / LIBRARY
        if not args.library:
            build_library(tree, library)
        print(check_library(tree, library))


def _pack(args: argparse.Namespace) -> None:

    if args.library and not Path(args.library).is_file():
        raise InputError("no such file; make it with lscfg cdec build", args.library)
    library = args.library or find_library()
    packed, weights = pack_ini(args.config, not args.no_unpack, library), read_weights(args.weights)
    missing = [name for name in packed.features if name not in weights]
    if missing and len(missing) == len(packed.features):
        raise InputError(f"no weight of {', '.join(missing)}; use the tuned weights", args.weights)
    if missing:  # programs of cdec omit weights that are 0
        log.warning(f"{args.weights}: latent features without a weight, which count as 0: {', '.join(missing)}")
    if PACKED in weights:
        raise InputError(f"{PACKED} already has a weight; use the tuned weights", args.weights)
    folder = make_folder(args.output)
    write_weights(folder / "weights", packed.weights(weights))
    write_lines(folder / "cdec.ini", [*packed.lines, f"weights={folder.resolve() / 'weights'}"])
    place = working_directory(args.config)
    program = "cdec" if shutil.which("cdec") else str(find_cdec() or "cdec")
    ini = folder / "cdec.ini" if place is None else (folder / "cdec.ini").resolve()
    change = "" if place is None else f"cd {shlex.quote(str(place))} && "
    log.info(f"wrote {folder / 'cdec.ini'}; decode with: {change}{shlex.join([program, '-c', str(ini)])}")


def _program(args: argparse.Namespace) -> Path:

    program = program_below(args.cdec_root) if args.cdec_root else find_cdec()
    if program is None:
        raise InputError("no cdec program found; name its source tree with --cdec-root, or put it on PATH")
    return program


def _decode(args: argparse.Namespace) -> None:
    program, sentences = _program(args), read_lines(args.text)
    with tempfile.TemporaryDirectory() as folder:
        ini, options = _configuration(args, Path(folder))
        if args.unique:
            options.append("-r")
        processes = CdecProcesses(program, ini, options, 1 if args.kbest is None else args.kbest, args.jobs)
        _check_config(args, sentences)
        ids = check_ids(sentences, args.text) if args.kbest else []
        lists = processes.decode(sentences)
    if args.kbest:
        lines = [
            f"{label} ||| {line.partition(' ||| ')[2]}"
            for label, found in zip(ids, lists, strict=True)
            for line in found
        ]
    else:
        lines = [parse_hypothesis(found[0], program)[1].text if found else "" for found in lists]
    put_lines(args.output, lines)


def _configuration(args: argparse.Namespace, folder: Path) -> tuple[str | Path, list[str]]:
    """The configuration to run and its options; with known weights a packed one, which is written into the folder."""
    plain = args.config, _weights(args)
    words = {word for line in read_lines(args.config) for word in line.split()}
    if words & {"pack=latent", "pack=all", "mode=pack"}:  # already packed
        return plain
    packed = packed_if_possible(args.config, args.kbest is not None, find_library())
    path = packed and (args.weights or packed.weights_file)
    if packed is None or not path or not Path(path).is_file() or PACKED in (weights := read_weights(path)):
        return plain
    write_lines(folder / "cdec.ini", packed.lines)
    write_weights(folder / "weights", packed.weights(weights))
    return folder / "cdec.ini", ["-w", str(folder / "weights")]


def _forest(args: argparse.Namespace) -> None:
    if [args.text is None, args.config is None] != [args.read is not None] * 2:
        raise InputError("give either TEXT and -c INI, or --read DIR")
    program, folder = _program(args), None
    if args.read is None:
        sentences = read_lines(args.text)
        _check_config(args, sentences)
    else:
        sentences, folder = binary_inputs(args.read), Path(args.read)
    put_lines(
        args.output,
        record(program, args.library, args.config, sentences, _weights(args), args.jobs, folder, args.binary),
    )


def _check_config(args: argparse.Namespace, sentences: Sequence[str]) -> None:
    """Refuses lines that cdec would cut and missing files; warns of features or weights without the other."""
    check_whole_lines(sentences, args.text)
    if args.action == "decode":
        check_latent_lines(args.config)
    check_paths(args.config)
    if (names := names_of(args.config, sentences)) is not None:
        path = args.weights or read_ini(args.config).weights
        if path is not None:
            names.check(read_weights(path), path)
        elif args.action == "decode":
            names.check({}, args.config)


def _weights(args: argparse.Namespace) -> list[str]:
    return [] if args.weights is None else ["-w", str(Path(args.weights).resolve())]
