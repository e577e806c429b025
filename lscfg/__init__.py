"""Latent-variable synchronous context-free grammars for machine translation."""

from importlib import import_module
from pathlib import Path
from pkgutil import extend_path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lscfg.api.decoder import Decoder
    from lscfg.api.model import LatentModel
    from lscfg.api.model import load_model as load
    from lscfg.errors import InputError, LscfgError

__version__ = "0.2.0"

__all__ = ["Decoder", "InputError", "LatentModel", "LscfgError", "__version__", "load"]

if not any(Path(__file__).parent.glob("_kernel.*")):  # a checkout without its own kernel has that of an installation
    __path__ = extend_path(__path__, __name__)

_PLACES = {
    "Decoder": ("api.decoder", "Decoder"),
    "InputError": ("errors", "InputError"),
    "LatentModel": ("api.model", "LatentModel"),
    "LscfgError": ("errors", "LscfgError"),
    "load": ("api.model", "load_model"),
}


def __getattr__(name: str) -> object:
    """A public name, from its module when it is first asked for: the command line starts without NumPy."""
    if name not in _PLACES:
        raise AttributeError(f"module 'lscfg' has no attribute {name!r}")
    module, found = _PLACES[name]
    globals()[name] = value = getattr(import_module(f"lscfg.{module}"), found)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
