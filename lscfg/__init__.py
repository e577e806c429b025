"""Latent-variable synchronous context-free grammars for machine translation."""

from pathlib import Path
from pkgutil import extend_path

__version__ = "0.2.0"

if not any(Path(__file__).parent.glob("_kernel.*")):  # a checkout without its own kernel has that of an installation
    __path__ = extend_path(__path__, __name__)
