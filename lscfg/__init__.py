"""Latent-variable synchronous context-free grammars for machine translation."""

from importlib import import_module
from typing import TYPE_CHECKING

from lscfg.version import __version__

if TYPE_CHECKING:
    from lscfg import lm
    from lscfg.api.decoder import Decoder
    from lscfg.api.estimators import EM, MLE, Clusters, FeatureEM, Neural, Orientation, Spectral
    from lscfg.api.model import LatentModel
    from lscfg.api.model import load_model as load
    from lscfg.api.text import align_lines as align
    from lscfg.api.text import derive_lines as derive
    from lscfg.api.text import write_minimal_grammar as write_grammar
    from lscfg.errors import InputError, LscfgError
    from lscfg.extract.derive import Derivations
    from lscfg.tuning.facade import tune_decoder as tune
    from lscfg.tuning.pipeline.estimator import Pipeline

__all__ = [
    "EM",
    "MLE",
    "Clusters",
    "Decoder",
    "Derivations",
    "FeatureEM",
    "InputError",
    "LatentModel",
    "LscfgError",
    "Neural",
    "Orientation",
    "Pipeline",
    "Spectral",
    "__version__",
    "align",
    "derive",
    "lm",
    "load",
    "tune",
    "write_grammar",
]

_PLACES = {
    "Clusters": ("api.estimators", "Clusters"),
    "Decoder": ("api.decoder", "Decoder"),
    "Derivations": ("extract.derive", "Derivations"),
    "EM": ("api.estimators", "EM"),
    "FeatureEM": ("api.estimators", "FeatureEM"),
    "InputError": ("errors", "InputError"),
    "LatentModel": ("api.model", "LatentModel"),
    "LscfgError": ("errors", "LscfgError"),
    "MLE": ("api.estimators", "MLE"),
    "Neural": ("api.estimators", "Neural"),
    "Orientation": ("api.estimators", "Orientation"),
    "Pipeline": ("tuning.pipeline.estimator", "Pipeline"),
    "Spectral": ("api.estimators", "Spectral"),
    "align": ("api.text", "align_lines"),
    "derive": ("api.text", "derive_lines"),
    "load": ("api.model", "load_model"),
    "tune": ("tuning.facade", "tune_decoder"),
    "write_grammar": ("api.text", "write_minimal_grammar"),
}


def __getattr__(name: str) -> object:
    """Imports a public name from its module at first use, so that the command line starts without NumPy."""
    if name == "lm":
        return import_module("lscfg.lm")
    if name not in _PLACES:
        raise AttributeError(f"module 'lscfg' has no attribute {name!r}")
    module, found = _PLACES[name]
    globals()[name] = value = getattr(import_module(f"lscfg.{module}"), found)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
