"""The two sides of parallel text."""

SIDES = ("source", "target")
"""Names of the sides, in settings, options, files and messages."""
