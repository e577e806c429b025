"""Warnings about text that a system translates worse than the development and test sets of its experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lscfg import log
from lscfg.bundle.places import PREPARE, experiment_of, preparation_of, system_folder
from lscfg.errors import InputError, quote
from lscfg.formats.marked import blank_tags
from lscfg.formats.plf import is_lattice
from lscfg.formats.segments import segment_text
from lscfg.io.json_files import check_shape, read_json
from lscfg.io.read import read_lines
from lscfg.kernel import Grammar
from lscfg.later import later

if TYPE_CHECKING:
    from lscfg.extract import extractor
    from lscfg.prepare import record
else:
    extractor = later("lscfg.extract.extractor")
    record = later("lscfg.prepare.record")

EXPERIMENT_MANIFEST = "manifest.json"

SETS = ("dev_source", "test_source")
"""Keys of [corpus] whose text the rules of a filtered grammar match."""

PREPARED_SETS = "dev", "test"
"""Names of the same sets of raw text in the folder of the preparation, before the ending, the source language."""

FIRST_LINES = 100
"""Lines that are prepared on trial."""

RAW_SHARE = 0.05
"""Text is raw if preparation makes more than this share of its words known: an unprepared text of ten words has one or
two commas and full stops; preparing a prepared text again makes no words known."""


def warn_of_filtered_rules(place: Path, text: list[str] | None = None) -> None:
    """Warns if the rules of a system are only those that match the sets of its experiment.

    Args:
        place: folder of the system, or its ini file.
        text: lines to translate, which may be one of the sets; None: any text.
    """
    experiment = experiment_of(place)
    if experiment is None or not (experiment / EXPERIMENT_MANIFEST).is_file():
        return
    name = system_folder(place).name
    try:
        settings = read_json(experiment / EXPERIMENT_MANIFEST, dict[str, Any])["settings"]
        grammar = settings["systems"][name]["rules"]["grammar"]
        check_shape(grammar, str)
        filtered = [one for one in extractor.extractor_names(grammar) if extractor.EXTRACTORS[one].FILTERED]
        sets = [settings["corpus"].get(key) for key in SETS]
        language = settings.get("prepare", {}).get("source_language")
        sets += [str(experiment / PREPARE / f"{name}.{language}") for name in PREPARED_SETS]
    except (InputError, KeyError, TypeError, AttributeError, ValueError):
        return  # a manifest of an older version, or a system of consensus
    if filtered and not any(_is_text(path, text) for path in sets):
        log.warning(
            f"{place}: the rules of {name} were filtered by the development and test sets of its experiment, so "
            f"other text lacks rules; extract rules for it with lscfg grammar {filtered[0]} --filter TEXT"
        )


def _is_text(path: object, text: list[str] | None) -> bool:
    """True if a file has exactly these lines."""
    if text is None or not isinstance(path, str) or not Path(path).is_file():
        return False
    try:
        return list(read_lines(path)) == text
    except InputError:
        return False


def warned_of_raw_text(
    lines: Iterable[str], place: Path, grammar: Callable[[], Grammar], name: str, tagged: bool = False
) -> Iterator[str]:
    """Yields the lines; warns if preparation makes words of the first ones known, so that the text seems to be raw.

    Args:
        place: folder of the system, or its ini file.
        grammar: returns the grammar of the system.
        name: of the text, for the message.
        tagged: lines contain Moses' tags, which are no words.
    """
    preparation = preparation_of(place)
    if preparation is None:
        yield from lines
        return
    first: list[str] | None = []
    for line in lines:
        text = "" if first is None else _words(line, tagged)
        if first is not None and text:
            first.append(text)
            if len(first) == FIRST_LINES:
                _warn_of_raw_text(first, preparation, grammar(), name)
                first = None
        yield line
    if first:
        _warn_of_raw_text(first, preparation, grammar(), name)


def _words(line: str, tagged: bool) -> str:
    """The words of a line; empty if it is a lattice, or a segment that the decoder refuses."""
    try:
        text = segment_text(line)
    except InputError:
        return ""
    return "" if is_lattice(text) else (blank_tags(text) if tagged else text).strip()


def _warn_of_raw_text(first: list[str], preparation: Path, grammar: Grammar, name: str) -> None:
    known, side = grammar.source_words(), record.Record.read(preparation).sides[0].side()

    def unknown_share(texts: list[str]) -> float:
        words = [word for text in texts for word in text.split()]
        return sum(grammar.vocab.find(word) not in known for word in words) / max(1, len(words))

    raw, prepared = unknown_share(first), unknown_share([side.encode(line) for line in first])
    if raw > prepared + RAW_SHARE:
        log.warning(
            f"{name}: {raw:.0%} of the words in the first {len(first)} lines are unknown, and {prepared:.0%} after "
            f"preparation; if the text is raw, decode the output of lscfg prepare apply {quote(str(preparation))}"
        )
