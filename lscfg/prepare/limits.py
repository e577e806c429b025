"""Limits that are checked before any work on a line."""

from __future__ import annotations

MOST_CHARACTERS = 100_000
"""Characters of a line beyond which the line is neither cleaned nor tokenised."""


def length_fault(line: str) -> str:
    """The reason why a raw line is too long to be prepared; empty if it is not."""
    if len(line) <= MOST_CHARACTERS:
        return ""
    return f"has {len(line):,} characters; at most {MOST_CHARACTERS:,} of a line are prepared"
