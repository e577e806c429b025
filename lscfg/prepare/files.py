"""Names of the files of a preparation."""

RECORD = "prepare.json"
"""The record of the preparation, in its folder."""

PIECES_CHOICE = "pieces.json"
"""The trials of an experiment that chose pieces of words."""
