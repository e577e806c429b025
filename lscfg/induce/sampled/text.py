"""The text for sampling, as forests of all its pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lscfg import log
from lscfg.corpus.parallel import stream_aligned
from lscfg.errors import InputError
from lscfg.extract.extractor import RuleInputs
from lscfg.kernel import LineError
from lscfg.kernel.sample import PhraseForests

MAX_ALIGNMENTS = 8
"""Most alignments of a pair from which one is drawn."""


@dataclass(frozen=True)
class SampledText:
    """Forests of a corpus.

    Attributes:
        held_out: number of pairs at the end that are not sampled.
    """

    forests: PhraseForests
    held_out: int = 0

    @property
    def pairs(self) -> int:
        """The number of sampled pairs, over all alignments."""
        return self.forests.sizes().pairs - self.held_out


def read_text(
    inputs: RuleInputs, max_cut: int, max_words: int, chosen: bool = False, held_out: RuleInputs | None = None
) -> SampledText:
    """The forests of all pairs, once for each alignment.

    Args:
        max_cut: words of a side above which a phrase always begins a rule; max_words: longer pairs are left out.
        chosen: one forest for all alignments of a pair, from which one alignment is drawn.

    Raises:
        InputError: see ``lscfg.corpus.parallel.stream_aligned``; a malformed or out-of-range link; no pair is left.
    """
    forests = PhraseForests(max_cut, max_words)
    if chosen and len(inputs.alignments) > MAX_ALIGNMENTS:
        raise InputError(f"one of at most {MAX_ALIGNMENTS} alignments can be drawn, not of {len(inputs.alignments)}")
    for group in [inputs.alignments] if chosen else [(path,) for path in inputs.alignments]:
        for _ in log.progress(_add_pairs(forests, inputs, group), "forests"):
            pass
    sizes = forests.sizes()
    left_out = sum(sizes.dropped.values())
    if left_out == sizes.pairs:
        raise InputError(f"every pair is longer than {max_words} words a side; raise max_words", inputs.source)
    if left_out:
        log.warning(f"{left_out} of {sizes.pairs} pairs are left out: longer than {max_words} words a side")
    if sizes.bare:
        log.warning(f"{sizes.bare} of {sizes.pairs} pairs contain no smaller phrase; each is one rule")
    if held_out is None:
        return SampledText(forests)
    log.warning("held-out pairs also enter the lexicon; for translation, make the grammar again without --held-out")
    for _ in _add_pairs(forests, held_out, held_out.alignments):
        pass
    all_pairs = forests.sizes()
    if more := sum(all_pairs.dropped.values()) - left_out:
        log.warning(f"{more} held-out pairs are left out: longer than {max_words} words a side")
    return SampledText(forests, all_pairs.pairs - sizes.pairs)


def _add_pairs(forests: PhraseForests, inputs: RuleInputs, group: tuple[Path, ...]) -> Iterator[None]:
    """Adds the pairs with the alignments of a group, one at each step."""
    readings = zip(*(stream_aligned(*inputs.parallel, path) for path in group), strict=True)
    for number, pairs in enumerate(readings, 1):
        for path, pair in zip(group, pairs, strict=True):
            try:
                if path is group[0]:
                    forests.add(*pair)
                else:
                    forests.join(*pair)
            except LineError as error:
                raise error.at(number, path) from None
        yield
