"""What a model says of sentences: forest, marginals and features, and their JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from lscfg.decode.decoder import parse_options, read_grammar
from lscfg.decode.latent import LatentFeatures
from lscfg.errors import InputError
from lscfg.formats.forests import StoredForest
from lscfg.formats.ini import DecoderConfig, read_ini
from lscfg.kernel import PASS, FeatureOptions, Forest, Grammar, Inference, Model, ParseOptions, X


@dataclass(frozen=True)
class Analysis:
    """One sentence; without a parse, forest, inference and features are None.

    Attributes:
        words: none where the forest is that of a lattice.
        features: float64 [n_apps, features].
        sides: source and target side of applications that ``words`` do not tell, by application.
    """

    words: list[str]
    forest: Forest | None = None
    inference: Inference | None = None
    features: np.ndarray | None = None
    sides: Mapping[int, tuple[str, str]] = field(default_factory=dict)

    def chart(self) -> dict[tuple[int, int], float]:
        """The marginal of each span that is a node [X] of the forest."""
        if self.forest is None or self.inference is None:
            return {}
        is_x = self.forest.node_cat == X
        spans, values = self.forest.node_span[is_x].tolist(), self.inference.nodes[is_x].tolist()
        return {(i, j): value for (i, j), value in zip(spans, values, strict=True)}


class Analyser:
    """Parses sentences and infers marginals and features. May be called by several threads at a time.

    Args:
        grammar: the grammar of ``latent``.
        options: ways to parse a sentence of some number of words; the first that gives a forest counts.
        config: the decoder's configuration, if there is one.
    """

    def __init__(
        self,
        grammar: Grammar,
        latent: LatentFeatures,
        options: Callable[[int], Sequence[ParseOptions]],
        config: DecoderConfig | None = None,
    ):
        self.grammar, self.latent, self.config = grammar, latent, config
        self._options = options
        self._quoted: dict[int, tuple[str, str]] = {}  # sides of rules as JSON, by rule

    @classmethod
    def from_model(
        cls, path: str | os.PathLike[str], options: FeatureOptions | None = None, grammar: Grammar | None = None
    ) -> Self:
        """The model's own rules, or a grammar's, over the whole sentence, unknown words as the OOV rule.

        Raises:
            InputError: the model cannot be read.
        """
        model = Model(path)
        grammar = grammar or model.grammar()
        return cls(grammar, LatentFeatures(model, grammar, options), lambda n: [ParseOptions(max(n, 1), False, 2, X)])

    @classmethod
    def from_ini(cls, path: str | os.PathLike[str], grammar: Grammar | None = None) -> Self:
        """The forests and features of a decoder with an LSCFG line; of another grammar than its own if one is given.

        Raises:
            InputError: the ini or a file that it names cannot be read or is malformed.
        """
        config = read_ini(path)
        if config.latent is None:
            raise InputError("no feature_function=LSCFG, so there is no model to ask", path)
        grammar = grammar or read_grammar(config)
        options = parse_options(config, grammar)
        return cls(grammar, LatentFeatures.from_ini(config.latent, grammar, path), lambda _: options, config)

    def __call__(self, line: str) -> Analysis:
        """The analysis of a sentence of words that blanks separate."""
        words = [word for word in line.split(" ") if word]
        forest = self.parse(words)
        return Analysis(words) if forest is None else Analysis(words, forest, *self.latent.infer(forest))

    def stored(self, stored: StoredForest) -> Analysis:
        """The analysis of a forest of the grammar that was read from a file."""
        words = stored.words or []
        if stored.forest is None:
            return Analysis(words)
        return Analysis(words, stored.forest, *self.latent.infer(stored.forest), stored.sides)

    def parse(self, words: list[str]) -> Forest | None:
        """The forest of a sentence, None where it has no derivation."""
        # looked up, not added: the vocabulary cannot grow while other threads read it
        ids = np.array([self.grammar.vocab.find(word) for word in words], np.int32)
        for options in self._options(len(words)) if words else ():
            forest = self.grammar.parse(ids, options)
            if forest is not None:
                return forest
        return None

    def sides(self, rule: int) -> tuple[str, str]:
        """Source and target side of a grammar's rule as text, nonterminals as in ``[X,1]`` on both."""
        word, k = self.grammar.vocab.word, 0
        src, names = [], []
        for symbol in self.grammar.src(rule):
            if symbol < 0:
                k += 1
                names.append(f"[{self.grammar.category_name(-1 - symbol)},{k}]")
            src.append(word(symbol) if symbol >= 0 else names[-1])
        tgt = [word(symbol) if symbol >= 0 else names[-1 - symbol] for symbol in self.grammar.tgt(rule)]
        return " ".join(src), " ".join(tgt)

    def json(self, number: int, analysis: Analysis) -> str:
        """The JSON object of a sentence (docs/FORMATS.md), in one line without a newline; numbers have nine digits."""
        head = {"id": number, "words": analysis.words, "parsed": analysis.forest is not None}
        if analysis.forest is None or analysis.inference is None or analysis.features is None:
            return json.dumps(head, ensure_ascii=False)
        forest, inference = analysis.forest, analysis.inference
        head |= {
            "words": analysis.words or None,
            "sign": inference.sign,
            "log_g": inference.log_g if inference.sign else None,
            "negative_mass": inference.negative_mass,
            "features": list(self.latent.names),
        }
        names = {c: json.dumps(self.grammar.category_name(c), ensure_ascii=False) for c in {*forest.node_cat.tolist()}}
        values = np.column_stack((inference.apps, analysis.features))
        if not (np.isfinite(values).all() and np.isfinite(inference.nodes).all()):
            raise InputError(f"sentence {number + 1} has values that are not finite, which JSON cannot hold")
        nodes = ",".join(
            f"[{names[category]},{i},{j},{value:.9g}]"
            for category, (i, j), value in zip(
                forest.node_cat.tolist(), forest.node_span.tolist(), inference.nodes.tolist(), strict=True
            )
        )
        edges = ",".join(self._edges(analysis, forest, values))
        return f'{json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1]}, "nodes": [{nodes}], "edges": [{edges}]}}'

    def _edges(self, analysis: Analysis, forest: Forest, values: np.ndarray) -> list[str]:
        template = "[%s," + ",".join(["%.9g"] * values.shape[1]) + "]"
        rules, begins, n = forest.app_rule.tolist(), forest.edge_apps.tolist(), len(self.grammar)
        for rule in {*rules}.difference(self._quoted):
            if rule < n:
                self._quoted[rule] = _quoted(self.sides(rule))
        rows, firsts, quoted, edges = values.tolist(), forest.node_span[:, 0].tolist(), self._quoted, []
        for e, (head, tails) in enumerate(zip(forest.edge_head.tolist(), forest.edge_tail.tolist(), strict=True)):
            apps, passes = range(begins[e], begins[e + 1]), ""
            if rules[apps[0]] < n:
                source = quoted[rules[apps[0]]][0]
                targets = ",".join([template % (quoted[rules[a]][1], *rows[a]) for a in apps])
            else:
                extra = rules[apps[0]] - n
                sides = analysis.sides.get(apps[0]) or extra_sides(extra, analysis.words[firsts[head]])
                source, target = _quoted(sides)
                passes = '"pass":true,' if extra >= PASS else ""
                targets = template % (target, *rows[apps[0]])
            tail = ",".join([str(t) for t in tails if t >= 0])
            edges.append(f'{{"node":{head},"tails":[{tail}],"source":{source},{passes}"targets":[{targets}]}}')
        return edges


def _quoted(sides: tuple[str, str]) -> tuple[str, str]:
    return json.dumps(sides[0], ensure_ascii=False), json.dumps(sides[1], ensure_ascii=False)


def extra_sides(extra: int, word: str) -> tuple[str, str]:
    """Both sides of a rule that no grammar file holds: glue over one node, over two, pass-through of the word."""
    text = ("[X,1]", "[S,1] [X,2]", word)[extra]
    return text, text
