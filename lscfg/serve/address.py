"""The address of a service, taken before the libraries of the service are loaded."""

from __future__ import annotations

import socket

from lscfg.errors import InputError, quote


def check_port(port: int) -> None:
    """Refuses a number that is not a port.

    Raises:
        InputError: see above.
    """
    if not 0 <= port < 1 << 16:
        raise InputError(f"--port must be 0 to 65535, not {port}")


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound to the address and does not accept connections yet.

    Raises:
        InputError: the address does not exist, or is in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio sends small answers at once where it sees the protocol, else 40 ms later (Nagle's algorithm)
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
        except BaseException:
            made.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen at {quote(host)} port {port}: {reason}") from error
    return made
