"""Estimators of L-SCFG parameters: from derivations to a model."""
