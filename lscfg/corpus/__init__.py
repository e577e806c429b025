"""Parallel text and word alignment."""
