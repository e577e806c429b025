"""The vocabulary of the command line: options that several commands have, each declared once.

A word means the same in every command, and has the same letter, destination and default.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lscfg.errors import InputError, did_you_mean
from lscfg.formats.ini import IniFile
from lscfg.io.arguments import ClusterName, FolderName, InputFile, InputFolder, NamedOutput, OutputFile
from lscfg.io.numbers import parse_number
from lscfg.parallel.engine import available_cores
from lscfg.parser import CommandParser

WEIGHTS_OF_INI = "feature weights (default: the file that the configuration names)"


def finite(text: str) -> float:
    """Returns the number of an option.

    Raises:
        argparse.ArgumentTypeError: another text, or a number that is not finite.
    """
    try:
        return parse_number(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_glossary(
    parser: argparse._ActionsContainer,
    help_text: str = "table of terms to obey, with the columns source, target, mode and match between tabs",
) -> None:
    """``--glossary``: terms that translations obey."""
    parser.add_argument("--glossary", type=InputFile, metavar="FILE", help=help_text)


def add_corrections(parser: argparse._ActionsContainer) -> None:
    """``--corrections``: folder of corrections that translations use."""
    parser.add_argument(
        "--corrections",
        type=InputFolder,
        metavar="DIR",
        help="folder of corrections: an equal sentence gets the corrected translation, others may use its phrases",
    )


def add_jobs(parser: argparse._ActionsContainer, note: str = "") -> None:
    """``--jobs``: number of threads or processes that share the work.

    Args:
        note: note on the memory of each worker, if any.
    """
    parser.add_argument(
        "-j",
        "--jobs",
        type=_workers,
        default=available_cores(),
        metavar="N",
        help=f"parallel workers; the output does not depend on N{note} (default: all cores, here %(default)s)",
    )


def add_cluster(parser: argparse._ActionsContainer) -> argparse.Action:
    """``--cluster``: address of other machines."""
    return parser.add_argument(
        "--cluster",
        type=ClusterName,
        metavar="ADDRESS",
        help="Dask cluster: tcp://HOST:PORT, local:N or a file ADDRESS.yaml",
    )


def _workers(text: str) -> int:
    try:
        workers = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}") from None
    if not 1 <= workers <= 4096:
        raise argparse.ArgumentTypeError(f"must be 1 to 4096, not {workers}")
    return workers


def add_config(
    parser: argparse._ActionsContainer, help_text: str = "decoder configuration (cdec.ini)", required: bool = True
) -> None:
    """``--config``: a ``cdec.ini``."""
    parser.add_argument("-c", "--config", type=IniFile, metavar="INI", required=required, help=help_text)


def add_weights(parser: argparse._ActionsContainer, help_text: str = WEIGHTS_OF_INI, required: bool = False) -> None:
    """``--weights``: a file of feature weights."""
    parser.add_argument("-w", "--weights", type=InputFile, metavar="WEIGHTS", required=required, help=help_text)


def add_kbest(parser: argparse._ActionsContainer) -> None:
    """``--kbest`` and ``--unique`` of a command that translates."""
    parser.add_argument(
        "-k", "--kbest", type=int, metavar="K", help="write the K best translations, in cdec's k-best format"
    )
    parser.add_argument("-r", "--unique", action="store_true", help="with --kbest: list each translation once")


def add_output(
    parser: argparse._ActionsContainer,
    help_text: str = "output file, .gz allowed (default: standard output)",
    *,
    type: Any = OutputFile,
    metavar: str = "FILE",
    **others: Any,
) -> argparse.Action:
    """``--output``: what the command writes.

    Args:
        type: ``OutputFile``, or a folder of ``output_folder``.
    """
    return parser.add_argument("-o", "--output", type=type, metavar=metavar, help=help_text, **others)


def add_outputs(parser: CommandParser, contents: Mapping[str, str]) -> argparse.Action:
    """``--write CONTENT=FILE``: outputs next to the main one.

    Args:
        contents: description of each content by its name.
    """
    parser.list_names("contents of --write", tuple(contents.items()))
    return parser.add_argument(
        "--write",
        type=NamedOutput,
        metavar="CONTENT=FILE",
        action="append",
        default=[],
        help="further output, of the list below; repeat for several",
    )


def further_outputs(args: argparse.Namespace, contents: Collection[str]) -> dict[str, str]:
    """The files of ``--write`` by content.

    Raises:
        InputError: a content is unknown, lacks its file, or is named twice.
    """
    found: dict[str, str] = {}
    for output in args.write:
        if output.content not in contents or not output.path:
            known = ", ".join(contents)
            near = did_you_mean(output.content, contents)
            raise InputError(f"--write {output}: expected CONTENT=FILE with one of {known}{near}")
        if earlier := found.get(output.content):
            raise InputError(f"--write {output}: {output.content} already goes to {earlier}; keep one of the files")
        found[output.content] = output.path
    return found


def add_text(parser: argparse._ActionsContainer, links: str = "word alignments i-j") -> None:
    """The parallel text that is learned from.

    Args:
        links: description of the alignment files, one or more; empty for none.
    """
    parser.add_argument("source", type=InputFile, metavar="SOURCE", help="tokenised source text, one sentence per line")
    parser.add_argument("target", type=InputFile, metavar="TARGET", help="tokenised translation, line by line")
    if links:
        parser.add_argument("alignment", type=InputFile, metavar="ALIGNMENT", nargs="+", help=links)


def add_source(parser: argparse._ActionsContainer, help_text: str, required: bool = False) -> None:
    """``--source``: source text."""
    parser.add_argument("-s", "--source", type=InputFile, metavar="TEXT", required=required, help=help_text)


def add_reference(parser: argparse._ActionsContainer, required: bool = True) -> None:
    """``--reference``: one or more references."""
    parser.add_argument(
        "--reference",
        type=InputFile,
        metavar="TEXT",
        required=required,
        action="append",
        help="tokenised reference, one sentence per line; repeat for several references",
    )


def add_kind(parser: CommandParser, name: str, helps: Mapping[str, str]) -> None:
    """The first argument of a command, which names a kind; the help lists all kinds."""
    parser.add_argument(name, choices=tuple(helps), metavar=name.upper(), help="one of the list below")
    parser.list_names(f"{name}s", tuple(helps.items()))
    parser.kind_argument = name


def add_checkpoint(parser: argparse._ActionsContainer) -> list[argparse.Action]:
    """``--checkpoint`` and ``--resume``."""
    return [
        parser.add_argument("--checkpoint", type=FolderName, metavar="DIR", help="folder for checkpoints"),
        parser.add_argument("--resume", action="store_true", help="continue from the last checkpoint"),
    ]


def checkpoint_folder(args: argparse.Namespace) -> Path | None:
    """The folder of ``--checkpoint``, None without the option.

    Raises:
        InputError: ``--resume`` lacks it.
    """
    if args.resume and not args.checkpoint:
        raise InputError("--resume needs --checkpoint DIR, the folder to continue from")
    return Path(args.checkpoint) if args.checkpoint else None


def add_seed(parser: argparse._ActionsContainer, default: int, what: str) -> None:
    """``--seed``: seed of random choices."""
    parser.add_argument("--seed", type=int, default=default, metavar="N", help=f"seed of {what} (default: %(default)s)")
