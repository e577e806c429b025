"""Inspection of models, grammars, derivations and sentences."""
