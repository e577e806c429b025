"""Names of the files of a preparation."""

RECORD = "prepare.json"
"""The record of the preparation, in its folder."""

PIECES_CHOICE = "pieces.json"
"""What an experiment tried to choose pieces of words, if it did."""
