"""Grammars that are learned rather than enumerated: rules of any size sampled from phrase-decomposition forests (Chung,
Fang, Gildea & Štefankovič 2014)."""
