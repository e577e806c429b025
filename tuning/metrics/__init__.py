"""Automatic metrics, which are kinds: one class in one file and one row each."""
