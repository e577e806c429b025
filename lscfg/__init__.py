"""Latent-variable synchronous context-free grammars for machine translation."""

__version__ = "0.2.0"
