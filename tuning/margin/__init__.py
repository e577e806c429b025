"""Sparse weights of rules, linked words and span borders, learned by hope and fear (Xiao & Xiong 2013)."""
