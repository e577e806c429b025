"""An embedded demo corpus: Japanese-English sentences, sampled from a hand-written grammar."""

from lscfg.demo.corpus import DemoCorpus, generate, write

__all__ = ["DemoCorpus", "generate", "write"]
