"""Parallel text to translations in one object, in the style of scikit-learn."""
