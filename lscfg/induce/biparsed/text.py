"""Sentence pairs as the biparser reads them."""

from __future__ import annotations

from lscfg import log
from lscfg.corpus.parallel import stream_aligned
from lscfg.errors import InputError
from lscfg.extract.extractor import RuleInputs
from lscfg.induce.biparsed.lexicon import make_lexicon, read_lexicon, text_words
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.kernel import LineError
from lscfg.kernel.biparse import Bitexts


def read_bitexts(inputs: RuleInputs, settings: BiparseSettings) -> Bitexts:
    """The pairs of a corpus, with the lexicon of its alignments or of a file.

    Raises:
        InputError: see ``read_pairs_and_links`` and ``read_lexicon``.
    """
    text = read_pairs_and_links(inputs, settings)
    lexicon = read_lexicon(settings.lexicon, text_words(text)) if settings.lexicon else make_lexicon(text)
    text.set_lexicon(lexicon.words, lexicon.probability)
    return text


def read_pairs_and_links(inputs: RuleInputs, settings: BiparseSettings) -> Bitexts:
    """The pairs of a corpus and the counts of linked words, without a lexicon.

    Raises:
        InputError: see ``lscfg.corpus.parallel.stream_aligned``; a malformed link; every pair is too long.
    """
    text = Bitexts(settings.max_words)
    for first, path in enumerate(inputs.alignments):
        pairs = stream_aligned(*inputs.parallel, path)
        for number, (src, tgt, links) in enumerate(log.progress(pairs, "links"), 1):
            try:
                if not first:
                    text.add(src, tgt)
                text.add_links(src, tgt, links)
            except LineError as error:
                raise error.at(number, path) from None
    if text.left_out == len(text):
        raise InputError(f"every pair is longer than {settings.max_words} words a side; raise max_words", inputs.source)
    if text.left_out:
        log.warning(f"{text.left_out} of {len(text)} pairs are left out: longer than {settings.max_words} words a side")
    return text
