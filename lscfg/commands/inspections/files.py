"""The file that an action of ``lscfg inspect`` shows."""

from __future__ import annotations

from lscfg.errors import InputError
from lscfg.extract.trees import has_trees
from lscfg.io import tensors
from lscfg.io.arguments import InputFile
from lscfg.parser import CommandParser


def add_file(parser: CommandParser, metavar: str, help_text: str) -> None:
    """The file, and ``--top``: the number of rules to show."""
    parser.add_argument("file", type=InputFile, metavar=metavar, help=help_text)
    parser.add_argument("--top", type=int, default=5, metavar="N", help="maximum rules to show (default: %(default)s)")


def check_kind(path: str, wanted: str) -> None:
    """Refuses a file of another kind.

    Raises:
        InputError: the file is of another kind; the message names the right action.
    """
    kind = "derivations" if has_trees(path) else tensors.file_kind(path)
    if kind != wanted:
        raise InputError(f"a {kind} file; use lscfg inspect {kind}", path)
