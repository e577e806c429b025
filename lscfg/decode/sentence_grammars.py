"""Grammars for single sentences with the latent features on their rules, for a cdec that knows nothing of lscfg.

A grammar is the sentence's forest: each rule application is a rule, each node a category of its own with the span in
its name, as in ``[X_0_3] ||| [X_0_2,1] の ||| of [1] ||| ...``. All categories below the goal's have a span and so a
yield of fixed words, so that the grammar's derivations are those of the forest.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lscfg.corpus.parallel import check_words
from lscfg.decode.analysis import Analyser, Analysis
from lscfg.errors import InputError
from lscfg.formats.ini import DecoderConfig, write_ini
from lscfg.formats.segments import check_segments, grammar_path, write_segments
from lscfg.io.text import write_blocks
from lscfg.kernel import Forest

MAX_SPAN = 100_000
"""Span limit of the decoder: the forests have kept to the configuration's."""


class SentenceGrammars:
    """Writes ``grammar.N.gz``, ``segments.sgm`` and ``cdec.ini`` into a folder.

    Args:
        folder: made if it is not there; ``segments.sgm`` names the grammars by this path.
        analyser: of a configuration (``Analyser.from_ini``).
        sentences: all sentences.

    Raises:
        InputError: there is no configuration, the grammar has features of the latent ones' names already, or cdec's
            input cannot hold a sentence or the folder's name.
    """

    def __init__(self, folder: str | os.PathLike[str], analyser: Analyser, sentences: Sequence[str]):
        if analyser.config is None:
            raise InputError("grammars for single sentences need the decoder's configuration; name a cdec.ini")
        check_segments(folder, sentences)
        self._folder, self._analyser, self._sentences = Path(folder), analyser, sentences
        self._config: DecoderConfig = analyser.config
        grammar, names = analyser.grammar, analyser.grammar.feature_names
        twice = {*names} & {*analyser.latent.names}
        if twice:
            raise InputError(f"the grammar has a feature {min(twice)} already; take it out of the grammar")
        indptr, indices, values = grammar.features()
        items = [f"{names[k]}={value:.12g}" for k, value in zip(indices.tolist(), values.tolist(), strict=True)]
        self._rule_features = [
            " ".join(items[begin:end]) for begin, end in zip(indptr.tolist(), indptr[1:].tolist(), strict=False)
        ] + ["", "Glue=1", "PassThrough=1"]
        self._templates: dict[int, tuple[str, str]] = {}

    def write(self, number: int, analysis: Analysis) -> None:
        """Writes the grammar of a sentence. May be called by several threads at a time.

        Raises:
            InputError: a word cannot stand in a grammar, or the file cannot be written.
        """
        if not analysis.words:
            return
        check_words(analysis.words)
        text = "".join(line + "\n" for line in self.rules(analysis))
        write_blocks(grammar_path(self._folder, number), [text.encode])

    def finish(self) -> None:
        """Writes what cdec reads beside the grammars: its input, and its configuration."""
        write_segments(self._folder, self._sentences)
        model = self._config.language_model
        config = replace(
            self._config,
            grammars=(),
            language_model=None if model is None else model.resolve(),
            latent=None,
            max_span=MAX_SPAN,
            pass_through=False,
            glue=False,
            weights=None if self._config.weights is None else self._config.weights.resolve(),
        )
        write_ini(self._folder / "cdec.ini", config)

    def rules(self, analysis: Analysis) -> list[str]:
        """The rules of a sentence's grammar; one of its words alone where it has no parse."""
        goal, forest, grammar = self._config.goal, analysis.forest, self._analyser.grammar
        if forest is None or analysis.features is None:
            words = " ".join(analysis.words)
            return [f"[{goal}] ||| {words} ||| {words} |||"]
        names = [
            f"{grammar.category_name(category)}_{i}_{j}"
            for category, (i, j) in zip(forest.node_cat.tolist(), forest.node_span.tolist(), strict=True)
        ]
        names[-1] = goal  # the root, which is nobody's tail
        latent = self._latent(analysis.features)
        lines = []
        heads, tails = forest.edge_head.tolist(), forest.edge_tail.tolist()
        for a, (rule, edge) in enumerate(zip(forest.app_rule.tolist(), forest.app_edge.tolist(), strict=True)):
            src, tgt = self._template(rule, forest, heads[edge], analysis.words)
            below = tuple(names[tail] for tail in tails[edge] if tail >= 0)
            features = f"{self._rule_features[rule]} {latent[a]}".strip()
            lines.append(f"[{names[heads[edge]]}] ||| {src % below} ||| {tgt} ||| {features}")
        return lines

    def _latent(self, features: np.ndarray) -> list[str]:
        template = " ".join(f"{name}=%.12g" for name in self._analyser.latent.names)
        return [template % tuple(row) for row in features.tolist()]

    def _template(self, rule: int, forest: Forest, head: int, words: list[str]) -> tuple[str, str]:
        """Source side with a place for each tail's name, and target side."""
        grammar = self._analyser.grammar
        extra = rule - len(grammar)
        if extra >= 0:
            word = words[int(forest.node_span[head, 0])]
            return (("[%s,1]", "[1]"), ("[%s,1] [%s,2]", "[1] [2]"), (word.replace("%", "%%"), word))[extra]
        known = self._templates.get(rule)
        if known is None:
            word_of, k, src = grammar.vocab.word, 0, []
            for symbol in grammar.src(rule):
                k += symbol < 0
                src.append(word_of(symbol).replace("%", "%%") if symbol >= 0 else f"[%s,{k}]")
            tgt = [word_of(symbol) if symbol >= 0 else f"[{-symbol}]" for symbol in grammar.tgt(rule)]
            known = self._templates[rule] = " ".join(src), " ".join(tgt)
        return known
