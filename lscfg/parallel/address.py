"""The address of a Dask cluster, as in ``--cluster``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lscfg.errors import InputError, did_you_mean, quote
from lscfg.json_text import parse_json

PATIENCE = 60.0
"""Seconds that a run waits for a scheduler or for workers that are away, by default."""

MOST_LOCAL = 1024

TLS = {"tls-ca": "tls_ca_file", "tls-cert": "tls_client_cert", "tls-key": "tls_client_key"}
"""Keys of an address file, with Dask's names for them."""


@dataclass(frozen=True)
class ClusterAddress:
    """The address of a Dask cluster."""

    scheduler: str = ""
    """``tcp://HOST:PORT`` or ``tls://HOST:PORT``; empty if another field gives the address."""
    local: int = 0
    """Number of workers to start on this machine."""
    scheduler_file: str = ""
    """A file to which the scheduler writes its address."""
    tls: dict[str, str] = field(default_factory=dict, repr=False)
    """Arguments of Dask's ``Security``: files, or the text of certificates and keys."""
    patience: float = PATIENCE
    """Seconds to wait for a scheduler or for workers that are away."""
    part: tuple[int, int] = (0, 1)
    """(k, n): this engine is number k of n that work at the same time. Its blocks go to every n-th worker as long as
    that worker is free, so that a worker keeps objects of one engine between blocks."""
    kind: str = "dask"
    """Name of the cluster engine, see ``lscfg.parallel.clusters``."""

    def find(self) -> str:
        """The address of the scheduler. A file is read again each time: a restarted scheduler has another address.

        Raises:
            OSError, ValueError: the file does not exist yet, or is incomplete.
        """
        if not self.scheduler_file:
            return self.scheduler
        with open(self.scheduler_file, encoding="utf-8") as file:
            found = parse_json(file.read())
        return str(found["address"]) if isinstance(found, dict) and "address" in found else ""


def read_address(text: str) -> ClusterAddress | None:
    """The address that ``--cluster`` gives: ``tcp://HOST:PORT``, ``local:N`` or ``FILE.yaml``; with TLS, a file.

    Returns:
        None for a text of another form.

    Raises:
        InputError: an address is incomplete, or a file is wrong.
    """
    if text.startswith("local:"):
        return ClusterAddress(local=_workers(text.removeprefix("local:"), text))
    if re.fullmatch(r"(tcp|tls)://[^\s/]+:\d+", text):
        return _with_credentials(ClusterAddress(text), text)
    if text.endswith((".yaml", ".yml")):
        return _read_file(text)
    return None


def _workers(text: object, where: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", str(text)) or not 1 <= int(str(text)) <= MOST_LOCAL:
        raise InputError(f"{where}: the number of local workers must be 1 to {MOST_LOCAL}")
    return int(str(text))


def _with_credentials(address: ClusterAddress, where: str) -> ClusterAddress:
    if address.scheduler.startswith("tls://") and len(address.tls) < len(TLS):
        raise InputError(f"{where}: TLS needs {', '.join(TLS)}; name them in a .yaml file")
    if address.tls and len(address.tls) < len(TLS):
        raise InputError(f"{where}: {', '.join(TLS)} must be given together")
    if address.tls and address.scheduler.startswith("tcp://"):
        raise InputError(f"{where}: tcp:// is without TLS; write tls:// or leave out {', '.join(TLS)}")
    return address


def _read_file(path: str) -> ClusterAddress:
    import yaml

    try:
        with open(path, encoding="utf-8") as file:
            found = yaml.safe_load(file)
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        raise InputError("not YAML", path, None if line is None else line + 1) from error
    folder = os.path.dirname(os.path.abspath(path))
    readers: dict[str, Callable[[Any], Any]] = {
        "address": str,
        "local": lambda value: _workers(value, path),
        "scheduler-file": lambda value: os.path.join(folder, str(value)),
        "patience": lambda value: _seconds(value, path),
        **dict.fromkeys(TLS, lambda value: _file(os.path.join(folder, str(value)), path)),
    }
    if not isinstance(found, dict):
        raise InputError(f"expected lines KEY: VALUE, with keys {', '.join(readers)}", path)
    for key in found:
        if key not in readers:
            raise InputError(f"unknown key {quote(key)}{did_you_mean(key, readers)}", path)
    read = {key: readers[key](value) for key, value in found.items()}
    if len({"address", "local", "scheduler-file"} & set(read)) != 1:
        raise InputError("needs one of address, local and scheduler-file", path)
    if "address" in read and not re.fullmatch(r"(tcp|tls)://[^\s/]+:\d+", read["address"]):
        raise InputError(f"address {quote(read['address'])} must be tcp://HOST:PORT or tls://HOST:PORT", path)
    tls = {TLS[key]: value for key, value in read.items() if key in TLS}
    if "local" in read and tls:
        raise InputError("local workers make their own certificates; leave out the keys of TLS", path)
    address = ClusterAddress(
        read.get("address", ""),
        read.get("local", 0),
        read.get("scheduler-file", ""),
        tls,
        read.get("patience", PATIENCE),
    )
    return _with_credentials(address, path)


def _seconds(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 86400:
        raise InputError(f"patience must be seconds, above 0 and at most 86400, not {quote(value)}", path)
    return float(value)


def _file(name: str, path: str) -> str:
    if not os.path.isfile(name):
        raise InputError(f"names {name}, which is not a file", path)
    return name
