"""Translations of phrases outside parallel text, propagated over graphs of phrases in monolingual text.

Saluja, Hassan, Toutanova & Quirk 2014; Saluja's thesis, chapter 5.
"""
