"""Grammars found by parsing sentence pairs on both sides at once, under one log-linear model of all derivations (Xiao,
Xiong, Liu, Liu & Lin 2012)."""
