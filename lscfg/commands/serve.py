"""``lscfg serve``: translation over HTTP."""

from __future__ import annotations

import argparse
import asyncio

from lscfg.bundle.system import one_system, open_system
from lscfg.command_settings import GivenSettings, Table, add_settings
from lscfg.errors import InputError
from lscfg.io.arguments import InputFolder
from lscfg.options import add_config, add_jobs, add_weights
from lscfg.parallel.log_thread import log_in_thread
from lscfg.parser import CommandParser
from lscfg.serve.application import Application
from lscfg.serve.guard import Hosts
from lscfg.serve.pool import WorkerPool
from lscfg.serve.server import Server, listen
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
    add_jobs(parser)
    add_settings(parser, Table(TABLE, (ServeSettings,)))


def run(args: argparse.Namespace) -> None:
    """Serves until a signal ends the service.

    Raises:
        InputError: the system cannot be opened, or the address is not available.
    """
    settings = GivenSettings(args, TABLE).build(TABLE, ServeSettings)
    place = one_system(args.system, args.config)
    if not 0 <= args.port < 1 << 16:
        raise InputError(f"--port must be 0 to 65535, not {args.port}")
    hosts = Hosts(args.address, args.public_name, args.cors)
    with log_in_thread(), listen(args.address, args.port) as listening, WorkerPool(args.jobs) as pool:
        application = Application(open_system(place, args.weights), pool, settings, hosts, args.cors)
        asyncio.run(Server(application, listening).run_until_told())
