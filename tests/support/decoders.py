"""A configuration of the embedded decoder with a little grammar and language model."""

from __future__ import annotations

from pathlib import Path

from lscfg.formats.ini import DecoderConfig

GRAMMAR = """[X] ||| la casa ||| the house ||| P=1.5 Count=1
[X] ||| casa ||| house ||| P=1
[X] ||| [X,1] verde ||| green [X,1] ||| P=0.5
[X] ||| [X,1] verde ||| [X,1] green ||| P=0.25
[X] ||| la ||| the ||| P=0.125
[X] ||| verde ||| green |||
"""
ARPA = """\\data\\
ngram 1=6
ngram 2=3

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.25
-0.75\t</s>
-1\tthe\t-0.5
-1.25\thouse\t-0.125
-1.125\tgreen\t-0.0625

\\2-grams:
-0.25\t<s> the
-0.5\tthe house
-0.375\tgreen house

\\end\\
"""
SENTENCES = ["la casa verde", "verde casa", "otra casa", "la casa verde", "casa"]
WEIGHTS = {"P": 1.0, "Glue": -0.5, "PassThrough": -2.0, "WordPenalty": 0.3, "LanguageModel": 0.9, "Latent": 0.75}


def small_config(folder: Path) -> DecoderConfig:
    """Of the grammar and the language model, whose files are written into the folder."""
    (folder / "grammar").write_text(GRAMMAR)
    (folder / "lm").write_text(ARPA)
    return DecoderConfig(
        grammars=(folder / "grammar",), language_model=folder / "lm", word_penalty=True, pass_through=True
    )
