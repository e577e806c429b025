"""``lscfg serve``: translation over HTTP."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from lscfg.io.arguments import InputFolder
    from lscfg.options import add_config, add_jobs, add_weights
    from lscfg.serve.settings import ServeSettings
    from lscfg.settings import add_options

    parser.add_argument(
        "system", type=InputFolder, metavar="SYSTEM", nargs="?", help="bundle of lscfg pack, or system's folder"
    )
    add_config(parser, required=False)
    add_weights(parser)
    parser.add_argument(
        "--host",
        dest="address",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="address to listen at (default: %(default)s, which this machine alone reaches)",
    )
    parser.add_argument(
        "--port", type=int, default=8080, metavar="N", help="port, 0 for any that is free (default: %(default)s)"
    )
    add_jobs(parser)
    add_options(parser, ServeSettings)


def run(args: argparse.Namespace) -> None:
    """Serves until it is told to end.

    Raises:
        InputError: the system cannot be opened, a package is missing, or the address cannot be had.
    """
    import asyncio

    from lscfg.bundle.system import one_system, open_system
    from lscfg.errors import InputError
    from lscfg.extras import need
    from lscfg.serve.settings import ServeSettings
    from lscfg.settings import from_options

    settings = from_options(ServeSettings, args)
    place = one_system(args.system, args.config)
    if not 0 <= args.port < 1 << 16:
        raise InputError(f"--port must be 0 to 65535, not {args.port}")
    need("serve")
    from lscfg.serve.application import Application
    from lscfg.serve.pool import WorkerPool
    from lscfg.serve.server import Server, listen

    with listen(args.address, args.port) as listening, WorkerPool(args.jobs) as pool:
        application = Application(open_system(place, args.weights), pool, settings)
        asyncio.run(Server(application, listening).run())
