"""Estimators of L-SCFG parameters."""
