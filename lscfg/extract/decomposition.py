"""Phrase-decomposition forests: all minimal derivations of an aligned sentence pair (Chung et al. 2014, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lscfg.grammar.table import RuleTable
from lscfg.kernel import REST, Deriver, Forest


@dataclass(frozen=True)
class Edge:
    """A minimal rule at its position.

    Attributes:
        head: a node of the forest; tails: its children in source order, one for each nonterminal.
        rule: number of the rule in the table.
    """

    head: int
    tails: tuple[int, ...]
    rule: int


@dataclass(frozen=True)
class Decomposition:
    """All minimal derivations of a sentence pair.

    The nodes of category X are the tight phrase pairs and, last, the whole pair; each has its source span in
    ``forest.node_span`` and its target span in ``forest.node_tgt``. The kernel's edges have at most two tails: of an
    edge with more tails, the second is a node of category ``REST`` that covers all tails but the first. ``edges``
    undoes this.

    Attributes:
        forest: a forest as in decoding; ``app_rule`` are numbers of ``rules``, -1 at the edges of ``REST`` nodes.
        rules: the rule table.
    """

    forest: Forest
    rules: RuleTable

    def nodes(self) -> Iterator[int]:
        """The phrase pairs, tails before heads."""
        return iter(np.nonzero(self.forest.node_cat != REST)[0].tolist())

    def edges(self, node: int) -> Iterator[Edge]:
        """The minimal rules that rewrite a node."""
        f = self.forest
        for edge in range(f.node_edges[node], f.node_edges[node + 1]):
            yield Edge(node, tuple(f.tails(edge)), int(f.app_rule[f.edge_apps[edge]]))

    def levels(self) -> np.ndarray:
        """int64 [nodes]: minimal rules in each derivation of the node, equal for all by lemma 3; 0 for ``REST``."""
        levels = np.zeros(self.forest.n_nodes, np.int64)
        for node in self.nodes():
            edge = next(self.edges(node))
            levels[node] = 1 + sum(levels[tail] for tail in edge.tails)
        return levels


def decompose(src: str, tgt: str, links: str) -> Decomposition:
    """The forest of one pair.

    Words without a link are terminals of the lowest node that covers them, as in the tree of ``lscfg.extract.derive``,
    which the forest contains. Time is cubic in the number of linked source words, as is memory in the worst case (a
    monotone one-to-one alignment).

    Args:
        src, tgt: words separated by blanks.
        links: ``i-j ...`` counted from 0, source position first.

    Raises:
        InputError: a side is empty or has a word that cannot appear in a grammar, or a link is malformed or out of
            range.
    """
    deriver = Deriver()
    forest = deriver.decompose(src, tgt, links)
    return Decomposition(forest, RuleTable.from_arrays(deriver.tables()))
