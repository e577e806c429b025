"""What an experiment needs of a decoder that is an installed program: cdec or Moses."""

from __future__ import annotations

import os
from pathlib import Path

from cdec_bridge.decoder import find_cdec
from lscfg.errors import InputError
from moses_bridge.decoder import VARIABLE, find_moses
from tuning.experiment.config import DecoderSettings, Experiment

PLUGIN = "LSCFG_CDEC_PLUGIN"
"""Environment variable with the path of cdec's shared library."""


def check_host(experiment: Experiment) -> None:
    """Looks for all that the decoder needs, so that nothing is missing after hours of work.

    Raises:
        InputError: the decoder is not installed, or the plug-in for latent features is missing.
    """
    settings = experiment.decoder
    latent = [name for name, system in experiment.systems.items() if system.estimator != "none"]
    programs(settings, latent=settings.name == "moses" and bool(latent))
    if latent and settings.name == "cdec" and _plugin(settings) is None:
        raise InputError(
            f"{', '.join(latent)}: in cdec latent features need lscfg's plug-in; name its shared library by plugin in "
            f"[decoder] or by the environment variable {PLUGIN}, or take --decoder embedded"
        )


def programs(settings: DecoderSettings, latent: bool) -> dict[str, Path]:
    """The files outside the experiment on which the decoder's output depends.

    Raises:
        InputError: a program is not installed.
    """
    if settings.name == "moses":
        moses = find_moses(latent)
        if moses is None:
            raise InputError(f"no Moses found; make it with lscfg moses build, and put it on PATH or set {VARIABLE}")
        return {"moses": moses}
    if settings.name != "cdec":
        return {}
    program = find_cdec()
    if program is None:
        raise InputError("no cdec program found; put it on PATH or set CDEC_ROOT to its source tree")
    plugin = _plugin(settings) if latent else None
    return {"cdec": program} | ({"plug-in": plugin} if plugin else {})


def latent_library(settings: DecoderSettings) -> str | None:
    """The library that cdec loads for latent features; none for the embedded decoder, which has them built in."""
    return str(_plugin(settings)) if settings.name == "cdec" else None


def _plugin(settings: DecoderSettings) -> Path | None:
    if settings.plugin:
        return settings.plugin.resolve()
    if not (named := os.environ.get(PLUGIN)):
        return None
    if not Path(named).is_file():
        raise InputError(f"no such file; it is what the environment variable {PLUGIN} names", named)
    return Path(named).resolve()
