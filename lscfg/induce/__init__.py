"""Grammars that are induced from more than word-aligned text."""
