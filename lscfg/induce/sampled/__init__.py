"""Rules of any size sampled from phrase-decomposition forests (Chung, Fang, Gildea & Štefankovič 2014)."""
