"""An embedded demo corpus: Spanish-English sentences of the travel domain, drawn from a hand-written grammar."""

from lscfg.demo.corpus import DemoCorpus, generate, write

__all__ = ["DemoCorpus", "generate", "write"]
