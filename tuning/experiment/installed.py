"""What an experiment needs of a decoder that is an installed program: cdec or Moses."""

from __future__ import annotations

from pathlib import Path

from lscfg.cdec_bridge.decoder import LIBRARY_VARIABLE, find_cdec, find_library
from lscfg.errors import InputError
from lscfg.moses_bridge.decoder import VARIABLE, find_moses
from lscfg.tuning.experiment.schema import DecoderSettings, Experiment


def check_host(experiment: Experiment) -> None:
    """Looks for all that the decoder needs, so that nothing is missing after hours of work.

    Raises:
        InputError: the decoder is not installed, or the plug-in for latent features is missing.
    """
    settings = experiment.decoder
    latent = [name for name, system in experiment.systems.items() if system.estimator]
    programs(settings, bool(latent))
    if latent and settings.name == "cdec" and cdec_library(settings) is None:
        raise InputError(
            f"{', '.join(latent)}: in cdec latent features need lscfg's plug-in; name its shared library by plugin in "
            f"[decoder] or by the environment variable {LIBRARY_VARIABLE}, or take --decoder embedded"
        )


def programs(settings: DecoderSettings, latent: bool) -> dict[str, Path]:
    """The files outside the experiment on which the decoder's output depends.

    Args:
        latent: Moses has to be one with latent features.

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
    library = cdec_library(settings)
    return {"cdec": program} | ({"plug-in": library} if library else {})


def cdec_library(settings: DecoderSettings) -> Path | None:
    """The library that cdec loads for latent features and for folding, if one is named; none for other decoders.

    Raises:
        InputError: there is no such file.
    """
    if settings.name != "cdec":
        return None
    return settings.plugin.resolve() if settings.plugin else find_library()
