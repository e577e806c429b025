"""Tuning of feature weights and evaluation: anything that yields k-best lists can be tuned."""
