"""Command lines of ``lscfg prepare`` with all of their options."""

from other_settings import option_words, other_values

from lscfg.prepare.reader import TEXT_READERS
from lscfg.prepare.settings import PrepareSettings
from lscfg.prepare.tokeniser import TOKENISERS

APPLY, RESTORE = "prepare apply folder text --side target", "prepare restore folder text"

PREPARATIONS = [*((name, "none") for name in TEXT_READERS.names()), *(("text", name) for name in TOKENISERS.names())]
"""Kinds of files and tokenisers that have to be tried."""


def prepare_values(reader, tokeniser):
    """A value of each setting that is not the default, by name."""
    own = other_values(PrepareSettings) | {"format": reader, "tokeniser": tokeniser}
    if TOKENISERS[tokeniser].SUBWORDS:
        del own["pieces"]  # for tokenisers of whole words
    return own | {"source_language": "mi", "target_language": "haw", "casing": "lower"}


def prepare_words(reader: str, tokeniser: str) -> list[str]:
    """All settings of a preparation, of a kind of files and of a tokeniser."""
    words = ["prepare", "corpus", "f", "e", "-o", "out", "--jobs", "5", "--dev-files", "a1", "--test-files", "e2", "e"]
    words += option_words(PrepareSettings, prepare_values(reader, tokeniser))
    for cls in (TEXT_READERS.settings()[reader], TOKENISERS.settings()[tokeniser]):
        words += option_words(cls, other_values(cls))
    return words
