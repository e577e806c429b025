"""Sparse weights of rules, linked words and borders of spans, learned by hope and fear on the training text (Xiao &
Xiong 2013)."""
