"""Biparsed rules and the other results of biparsing: derivations, word alignments, span-boundary weights, a lexicon."""

from __future__ import annotations

from typing import cast

from lscfg import log
from lscfg.commands.grammars.extraction import Extracted, Extraction, write_trace
from lscfg.errors import InputError
from lscfg.extract.extractor import RuleInputs
from lscfg.induce.biparsed.lexicon import make_lexicon, text_words, write_lexicon
from lscfg.induce.biparsed.rules import induce, induced_trees
from lscfg.induce.biparsed.settings import BiparseSettings
from lscfg.induce.biparsed.text import read_pairs_and_links
from lscfg.io.write import write_lines
from lscfg.model.parameters import Parameters

OUTPUTS = {
    "derivations": "best derivations",
    "trace": "a JSON line for each pass",
    "best-links": "word alignments of the best derivations",
    "likely-links": "word alignments with a probability of at least a half",
    "boundary": "model without rules, with the learned span-boundary weights",
    "lexicon": "lexicon of the whole text, for biparsing a part of it; alone, without -o",
}
"""Contents of ``--write``."""


def extract(extraction: Extraction) -> Extracted:
    """Biparses the text.

    Raises:
        InputError: see ``lscfg.induce.biparsed.rules.induce``; or no weights are learned that could be written.
    """
    args, settings, outputs = extraction.args, cast("BiparseSettings", extraction.settings), extraction.outputs
    if "boundary" in outputs and not settings.passes:
        raise InputError("--write boundary=MODEL writes learned weights; ask for some --passes")
    inputs = extraction.inputs
    lexicon = {"lexicon": lambda path: _write_lexicon(inputs, settings, path)}
    if set(outputs) == set(lexicon) and not (args.output or args.per_sentence or args.sizes):
        return Extracted(None, outputs, lexicon)
    found = induce(extraction.inputs, settings, args.jobs, extraction.checkpoint, args.resume)
    writers = {
        "derivations": lambda path: induced_trees(found).save(path),
        "trace": write_trace(found.trace),
        "best-links": lambda path: write_lines(path, found.link_lines(found.best_links)),
        "likely-links": lambda path: write_lines(path, found.link_lines(found.likely_links)),
        "boundary": lambda path: Parameters.without_rules(found.boundary).save(path),
    }
    return Extracted(found.rules, outputs, writers | lexicon)


def _write_lexicon(inputs: RuleInputs, settings: BiparseSettings, path: str) -> None:
    text = read_pairs_and_links(inputs, settings)
    lexicon = make_lexicon(text)
    write_lexicon(path, lexicon, text_words(text))
    log.info(f"{len(lexicon.words)} pairs of words")
