"""Lines that the embedded decoder translates: words or lattices, possibly in a segment with grammars."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lscfg.corpus.parallel import plain_fault, sgml_fault
from lscfg.decode.columns import OwnFeatures, SourcedRows
from lscfg.decode.parsing import read_grammar
from lscfg.decode.terms import Occurrence
from lscfg.errors import InputError, quote
from lscfg.formats.ini import DecoderConfig, NamedModel, find_file
from lscfg.formats.marked import MarkedSpan, read_marked
from lscfg.formats.plf import Lattice, is_lattice, lattice_fault, parse_lattice
from lscfg.formats.rule_index import is_index
from lscfg.formats.segments import Segment, read_segment, segment_text
from lscfg.formats.word_classes import read_word_classes
from lscfg.functions.function import ParsedInput
from lscfg.functions.rows import NamedRows
from lscfg.kernel import EPSILON, Forest, Grammar, words_fault
from lscfg.kernel.base import Vocab
from lscfg.kernel.forest import live_features

NO_LATTICES = "an index gives no rules for lattices; name a grammar"
UNTAUGHT = "a lattice, to which glossaries and corrections do not apply; translate lattices without them"


def check_inputs(
    lines: Sequence[str],
    path: str | os.PathLike[str],
    config: DecoderConfig,
    xml_input: str | None = None,
    ruled: bool = False,
    taught: bool = False,
) -> None:
    """Refuses lines that are neither a lattice nor a possibly empty sentence, and missing grammars.

    Args:
        xml_input: use of the tags in the lines; None: tags are words.
        ruled: all lines have further rules, so the configuration may lack a grammar.
        taught: there are a glossary or corrections, so no line may be a lattice.

    Raises:
        InputError: the first bad line, with the cure.
    """
    for number, line in enumerate(lines, 1):
        if fault := sgml_fault(line) or input_fault(line, config, xml_input, ruled, taught):
            raise InputError(fault, path, number)


def input_fault(
    line: str, config: DecoderConfig, xml_input: str | None = None, ruled: bool = False, taught: bool = False
) -> str | None:
    """Describes the fault of a line that ``check_inputs`` refuses; None if the line is good."""
    try:
        segment = read_segment(line)
        grammars = () if segment is None else segment_grammars(segment, config)
    except InputError as error:
        return str(error)
    text = line if segment is None else segment.text
    if not (config.grammars or grammars or ruled) and text:
        return 'no grammar; name one in the line, <seg grammar="FILE">words</seg>, or in the configuration'
    if is_lattice(text):
        if taught:
            return UNTAUGHT
        return NO_LATTICES if any(map(is_index, config.grammars)) else lattice_fault(text)
    if xml_input is not None:
        try:
            text, spans, _ = read_marked(text)
        except InputError as error:
            return str(error)
        faults = (words_fault(form) for one in spans for form in one.translations)
        return words_fault(text) or next(filter(None, faults), None)
    if " ||| " in text and not words_fault(text.partition(" ||| ")[0]):
        return "only cdec's training reads a reference after |||; keep the sentence before it"
    return plain_fault(text, "a line has one segment") or words_fault(text)


def segment_grammars(segment: Segment, config: DecoderConfig) -> tuple[Path, ...]:
    """The grammar files of a segment, which lie in the working directory or in the folder of the configuration.

    Raises:
        InputError: a file is missing.
    """
    found = []
    for name in segment.grammars:
        path = find_file(name, config.path or "")
        if path is None:
            raise InputError(f"no grammar {quote(name)}")
        found.append(path.absolute())  # a decoder keeps the grammar by this path, in any working directory
    return tuple(found)


def segment_words(line: str, config: DecoderConfig) -> frozenset[str]:
    """The source words of the grammars of a segment; none of a line without attributes.

    Raises:
        InputError: a file is missing or malformed.
    """
    segment = read_segment(line)
    paths = () if segment is None else segment_grammars(segment, config)
    if not paths:
        return frozenset()
    grammar = read_grammar(replace(config, grammars=paths), on_demand=True)
    return frozenset(map(grammar.vocab.word, grammar.source_words()))


def segment_features(lines: Sequence[str], config: DecoderConfig) -> list[str]:
    """Names of features in the grammars of the first line that names any; those that are 0 in every rule are left out.

    Grammars of later lines usually have the same features, and reading all would take too long.

    Raises:
        InputError: a file is missing or malformed.
    """
    for segment in map(read_segment, lines):
        if segment is not None and segment.grammars:
            paths = segment_grammars(segment, config)
            return live_features(read_grammar(replace(config, grammars=paths), on_demand=True))
    return []


def further_names(lines: Sequence[str]) -> tuple[str, ...]:
    """Name prefixes of the features that some lines add to those of the configuration.

    Lattices add costs; grammars of lines may name any feature.
    """
    if any(segment.grammars for line in lines if (segment := read_segment(line)) is not None):
        return ("",)
    lattices = [parse_lattice(text) for text in map(segment_text, lines) if is_lattice(text)]
    return tuple({name: None for lattice in lattices for arc in lattice.arcs for name in arc.features})


def marked_terms(spans: Iterable[MarkedSpan], mode: str) -> list[Occurrence]:
    """The translations in a line as terms.

    Args:
        mode: ``exclusive``: one of the translations replaces the words; ``constraint``: rules over the words contain
            one of the translations; ``inclusive``: rules with the translations compete, and the feature
            Terminology is 1, as for soft terms, plus the logarithm of the probability; ``ignore``: no terms.
    """
    if mode == "ignore":
        return []
    return [
        Occurrence(
            one.span,
            one.translations,
            mode != "inclusive",
            mode == "exclusive",
            tuple(1 + math.log(p) for p in one.probabilities) if mode == "inclusive" else (),
        )
        for one in spans
    ]


def lattice_of(text: str) -> Lattice | None:
    """The lattice of a line; None for a line of words."""
    return parse_lattice(text) if is_lattice(text) else None


def encoded(lattice: Lattice, vocab: Vocab) -> np.ndarray:
    """The arcs for ``Grammar.parse_lattice``, int32 [arcs, 3]."""
    arcs = [(arc.begin, arc.end, EPSILON if arc.word is None else vocab.add(arc.word)) for arc in lattice.arcs]
    return np.array(arcs, np.int32).reshape(-1, 3)


def lattice_path(lattice: Lattice, forest: Forest, edge: int) -> list[tuple[int, str]]:
    """The words that the rule of an edge covers itself, with the states where their arcs begin."""
    assert forest.edge_paths is not None and forest.paths is not None
    steps = forest.paths[forest.edge_paths[edge] : forest.edge_paths[edge + 1]].tolist()
    return [(arc.begin, arc.word) for arc in (lattice.arcs[step] for step in steps) if arc.word is not None]


def own_features(
    config: DecoderConfig,
    names: Sequence[str],
    words: Sequence[str],
    forest: Forest,
    grammar: Grammar,
    lattice: Lattice | None = None,
    more: Sequence[SourcedRows] = (),
) -> OwnFeatures | None:
    """Features of feature functions and of a lattice's arcs; None if there are none.

    Args:
        names: the decoder's features.
        words: of the sentence; of a lattice, ignored.
        more: further features of the applications.

    Raises:
        InputError: two sources have features of one name, or as for ``FunctionLine.values``.
    """
    parts = [*more]
    if config.functions:
        given = ParsedInput(forest, grammar, tuple(words) if lattice is None else lattice.first_words())
        parts += [
            SourcedRows(f"feature_function={function.name}", function.names(), function.values(given))
            for function in config.functions
        ]
    for model in config.models:
        if model.classes is not None:
            given = ParsedInput(forest, grammar, tuple(words) if lattice is None else lattice.first_words())
            own = model.features[2:]
            parts.append(SourcedRows(f"the language model {model.name}", own, _emissions(given, model)))
    if lattice is not None and any(arc.features for arc in lattice.arcs):
        parts.append(SourcedRows("a lattice", (), _arc_features(lattice, forest)))
    return OwnFeatures.of(names, parts)


def _emissions(given: ParsedInput, model: NamedModel) -> NamedRows:
    """Sums over the target words of a rule of their log10 p in their classes."""
    assert model.classes is not None
    emissions, (rules, rule_of) = read_word_classes(model.classes).emissions, given.rules
    sums = [sum(emissions.get(one, 0.0) for one in rule.target if isinstance(one, str)) for rule in rules]
    return NamedRows.of([{model.features[2]: value} if value else {} for value in sums], rule_of)


def _arc_features(lattice: Lattice, forest: Forest) -> NamedRows:
    """Sums over the arcs that a rule covers itself."""
    assert forest.edge_paths is not None and forest.paths is not None
    begins, steps = forest.edge_paths.tolist(), forest.paths.tolist()
    features: list[dict[str, float]] = []
    for edge in range(forest.n_edges):
        sums: dict[str, float] = {}
        for step in steps[begins[edge] : begins[edge + 1]]:
            for name, value in lattice.arcs[step].features.items():
                sums[name] = sums.get(name, 0.0) + value
        features.append(sums)
    return NamedRows.of(features, forest.app_edge.astype(np.int64))
