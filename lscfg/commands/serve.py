"""``lscfg serve``: translation over HTTP."""

from __future__ import annotations

import argparse
import re
import socket
from collections.abc import Callable
from importlib import import_module

from lscfg.bundle.system import one_system
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.errors import InputError, quote
from lscfg.extras import need
from lscfg.io.arguments import InputFile, InputFolder
from lscfg.options import add_config, add_corrections, add_glossary, add_jobs, add_weights
from lscfg.parser import CommandParser
from lscfg.serve.address import check_port, listen
from lscfg.serve.settings import ServeSettings

TABLE = "serve"


def add_arguments(parser: CommandParser) -> None:
    """Declares the options."""
    parser.add_argument(
        "system", type=InputFolder, metavar="SYSTEM", nargs="?", help="bundle of lscfg pack, or folder of a system"
    )
    add_config(parser, required=False)
    add_weights(parser)
    parser.add_argument(
        "--host",
        dest="address",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address to listen on (default: %(default)s, reachable from this machine only)",
    )
    parser.add_argument("--port", type=int, default=8080, metavar="N", help="port, 0 for any (default: %(default)s)")
    parser.add_argument(
        "--public-name",
        action="append",
        default=[],
        metavar="HOST",
        help="name under which clients address the service, besides localhost and IP addresses; may be repeated",
    )
    parser.add_argument(
        "--cors",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="origin whose pages may call the service, or *; may be repeated",
    )
    parser.add_argument("--no-page", action="store_true", help="do not serve the translation page at /")
    parser.add_argument(
        "--languages",
        metavar="SOURCE,TARGET",
        help="languages of a system without preparation of raw text, such as de,en",
    )
    parser.add_argument(
        "--api-key-file",
        type=InputFile,
        metavar="FILE",
        help="file of API keys, one per line; each POST and request to /corrections needs one (api_key or Bearer)",
    )
    parser.add_argument(
        "--report",
        type=InputFile,
        metavar="FILE",
        help="report to offer at /report (default: report.html of the experiment that SYSTEM belongs to)",
    )
    add_glossary(parser)
    add_corrections(parser)
    add_jobs(parser)
    add_settings(parser, Table(TABLE, (ServeSettings,)))


def run(args: argparse.Namespace) -> None:
    """Serves until a signal ends the service.

    Raises:
        InputError: the system cannot be opened, or the address is not available.
    """
    GivenSettings(args, TABLE).build(TABLE, ServeSettings)  # faults show before the address is taken
    one_system(args.system, args.config)
    check_port(args.port)
    for origin in args.cors:
        if not re.fullmatch(r"\*|null|[A-Za-z][\w+.-]*://[^/\s]+/?", origin):
            raise InputError(f"--cors {quote(origin)}: not an origin such as https://example.org")
    for name in args.public_name:
        if not re.fullmatch(r"[^/:\s]+", name):
            raise InputError(f"--public-name {quote(name)}: not the name of a host such as example.org")
    if "*" in args.cors and args.corrections is not None:
        raise InputError("--cors '*' would let every page of the web store corrections; name origins instead of '*'")
    need("serve")
    with listen(args.address, args.port) as listening:
        serve_on(listening, args)


def serve_on(listening: socket.socket, args: argparse.Namespace, started: Callable[[], None] = lambda: None) -> None:
    """Serves on a socket until a signal ends the service.

    Args:
        args: the arguments of the command.
        started: called when the service accepts connections.

    Raises:
        InputError: the system cannot be opened.
    """
    service = import_module("lscfg.serve.service")  # by name, as kinds: parsers are built without the extra, too
    service.serve_on(listening, args, GivenSettings(args, TABLE).build(TABLE, ServeSettings), started)
