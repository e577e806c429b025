"""Rules for phrases without a translation, from files, for ``lscfg propagate rules`` and ``lscfg run``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lscfg.errors import InputError
from lscfg.formats.kbest import read_translations
from lscfg.induce.propagated.diagnosis import coverage, diagnose_lists, examples, gold_lines, read_gold
from lscfg.induce.propagated.expansion import expand, rule_lines
from lscfg.induce.propagated.phrases import PhraseFile, read_graph
from lscfg.induce.propagated.spaces import GraphSettings
from lscfg.induce.propagated.spread import GOLD, PropagationSettings
from lscfg.io.read import read_lines
from lscfg.settings import SettingError


@dataclass(frozen=True)
class NewRules:
    """Rules as lines of a grammar, figures about them, and examples of candidates; see ``diagnosis``."""

    lines: list[str]
    figures: dict[str, object]
    examples: list[dict[str, object]]


def make_rules(files: Mapping[str, Path], settings: PropagationSettings, threads: int = 1) -> NewRules:
    """The rules.

    Args:
        files: ``phrases`` and their ``graph``; optionally ``nbest``, lists of a decoder, ``gold``, a fuller grammar,
            and ``text``, for measuring coverage.

    Raises:
        InputError: a file is malformed, or the method ``gold`` lacks a fuller grammar.
    """
    gold = read_gold(files["gold"]) if "gold" in files else {}
    phrases = PhraseFile.read(files["phrases"])
    figures: dict[str, object]
    if settings.method == GOLD:
        if "gold" not in files:
            raise InputError("the method gold needs a fuller grammar; name one with --gold")
        lines, shown = list(gold_lines(phrases, files["gold"])), []
        translated = {line.split(" ||| ")[1] for line in lines}
        figures = {"rules": len(lines), "phrases with a rule": len(translated)}
    else:
        similarities, about = read_graph(files["graph"], phrases)
        nbest = (read_translations(files["nbest"]), str(files["nbest"])) if "nbest" in files else None
        found = expand(phrases, (similarities, _graph_settings(about, files["graph"])), nbest, settings, threads)
        lines, translated, figures = list(rule_lines(phrases, found)), found.translated(phrases), found.statistics()
        shown = examples(phrases, found, gold)
        if gold:
            figures |= diagnose_lists(phrases, found, gold)
    if "text" in files:
        figures |= coverage(phrases, translated, read_lines(files["text"]))
    return NewRules(lines, figures, shown)


def _graph_settings(about: dict[str, Any], path: Path) -> GraphSettings:
    """The settings of a graph.

    Raises:
        InputError: the header of the file lacks a setting or holds a wrong one.
    """
    cure = "make the graph again with lscfg propagate graph"
    try:
        settings = GraphSettings.of(about)
    except SettingError as error:
        raise InputError(f"its header has wrong settings: {error}; {cure}", path) from error
    if missing := settings.facts().keys() - about.keys():
        raise InputError(f"its header lacks the setting {min(missing)}; {cure}", path)
    return settings
