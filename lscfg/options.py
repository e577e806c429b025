"""The vocabulary of the command line: options that several commands have, each declared once.

A word means the same in every command, and has the same letter, destination and default.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from lscfg import log
from lscfg.formats.ini import IniFile
from lscfg.io.arguments import ClusterName, InputFile, OutputFile
from lscfg.parallel.engine import available_cores

WEIGHTS_OF_INI = "feature weights (default: the file that the configuration names)"


def add_jobs(parser: argparse._ActionsContainer, note: str = "") -> None:
    """``--jobs``: how many threads or processes share the work.

    Args:
        note: of what more of them cost, where that is memory.
    """
    action = parser.add_argument(
        "-j",
        "--jobs",
        type=_workers,
        default=available_cores(),
        metavar="N",
        help=f"parallel workers; the output does not depend on N{note} (default: all cores, here %(default)s)",
    )
    add_old_name(parser, "--threads", action)


def add_cluster(parser: argparse._ActionsContainer) -> None:
    """``--cluster``: where work is done, if not on this machine alone."""
    parser.add_argument(
        "--cluster",
        type=ClusterName,
        metavar="PLACE",
        help="cluster of Dask's to work on: tcp://HOST:PORT, tls://HOST:PORT, local:N or a file PLACE.yaml",
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
    action = parser.add_argument(
        "-k", "--kbest", type=int, metavar="K", help="write the K best translations, in cdec's k-best format"
    )
    add_old_name(parser, "--k-best", action)
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


def add_text(parser: argparse._ActionsContainer, links: str = "word alignments i-j") -> None:
    """The parallel text that is learned from.

    Args:
        links: what the files of alignments are, of which there are one or more; empty where there are none.
    """
    parser.add_argument("source", type=InputFile, metavar="SOURCE", help="tokenized source text, one sentence a line")
    parser.add_argument("target", type=InputFile, metavar="TARGET", help="tokenized translation, line by line")
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
        help="tokenized reference, one sentence a line; repeat for several references",
    )


def add_seed(parser: argparse._ActionsContainer, default: int, what: str) -> None:
    """``--seed``: of what is drawn at random."""
    parser.add_argument("--seed", type=int, default=default, metavar="N", help=f"seed of {what} (default: %(default)s)")


def add_old_name(parser: argparse._ActionsContainer, name: str, action: argparse.Action) -> None:
    """A name that an option had in the last release: it works, is in no help, and warns."""
    parser.add_argument(
        name,
        action=_OldName,
        dest=action.dest,
        type=action.type or str,
        default=argparse.SUPPRESS,
        metavar=action.option_strings[-1],
        help=argparse.SUPPRESS,
    )


class _OldName(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        log.warning(f"{option_string} is called {self.metavar} now; the next release will not know the old name")
        setattr(namespace, self.dest, values)
