"""Grammars found by parsing both sides of sentence pairs at once (Xiao, Xiong, Liu, Liu & Lin 2012).

One log-linear model scores all derivations.
"""
