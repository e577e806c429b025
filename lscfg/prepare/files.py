"""Names of the files of a preparation."""

RECORD = "prepare.json"
"""The record of the preparation, in its folder."""
