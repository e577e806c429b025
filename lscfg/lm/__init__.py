"""Language models: estimation from text, ARPA files, and their use while decoding."""

from lscfg.lm.estimate import NgramModel, estimate_ngrams, write_arpa

__all__ = ["NgramModel", "estimate_ngrams", "write_arpa"]
