"""Lines that the embedded decoder translates: words or lattices."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np

from lscfg.corpus.parallel import plain_fault
from lscfg.decode.columns import OwnFeatures
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig
from lscfg.formats.plf import Lattice, is_lattice, lattice_fault, parse_lattice
from lscfg.functions.function import ParsedInput
from lscfg.functions.rows import NamedRows
from lscfg.kernel import EPSILON, Forest, Grammar, words_fault
from lscfg.kernel.base import Vocab


def check_inputs(lines: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Refuses lines that are neither a lattice nor a possibly empty sentence.

    Raises:
        InputError: the first bad line, with the cure.
    """
    for number, line in enumerate(lines, 1):
        if fault := input_fault(line):
            raise InputError(fault, path, number)


def input_fault(line: str) -> str | None:
    """Describes the fault of a line that ``check_inputs`` refuses; None if the line is good."""
    return lattice_fault(line) if is_lattice(line) else plain_fault(line) or words_fault(line)


def cost_names(lines: Iterable[str]) -> tuple[str, ...]:
    """Names of the costs of all lattices among some lines."""
    lattices = [parse_lattice(line) for line in lines if is_lattice(line)]
    return tuple({name: None for lattice in lattices for arc in lattice.arcs for name in arc.features})


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
    more: Sequence[NamedRows] = (),
) -> OwnFeatures | None:
    """Features of feature functions and of a lattice's arcs; None if there are none.

    Args:
        names: the decoder's features.
        words: of the sentence; of a lattice, ignored.
        more: further features of the applications.
    """
    parts = [*more]
    if config.functions:
        given = ParsedInput(forest, grammar, tuple(words) if lattice is None else lattice.first_words())
        parts += [function.values(given) for function in config.functions]
    if lattice is not None and any(arc.features for arc in lattice.arcs):
        parts.append(_arc_features(lattice, forest))
    return OwnFeatures.of(names, parts)


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
