"""Experiments: from a parallel corpus to a table of BLEU scores, in cached stages."""
